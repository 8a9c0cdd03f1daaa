import gzip
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from sluice.config.data import DataConfig, ImageConfig
from sluice.data.decode import pixel_digest
from sluice.data.scan import Scanned, scan
from sluice.data.source import open_source
from sluice.errors import DataError

TRAIN = ("train-images-idx3-ubyte", "train-labels-idx1-ubyte")
TEST = ("t10k-images-idx3-ubyte", "t10k-labels-idx1-ubyte")
PLAIN = ("images-idx3-ubyte", "labels-idx1-ubyte")


def _scan(root: Path, *, max_pixels: int = 10**6) -> Scanned:
    return scan(root, config=DataConfig(source="idx"), max_pixels=max_pixels)


@pytest.fixture
def images_NHW() -> np.ndarray:
    return np.random.default_rng(0).integers(0, 256, (6, 5, 4), dtype=np.uint8)


@pytest.fixture
def raw(tmp_path: Path, write_idx: Callable[..., Path], images_NHW: np.ndarray) -> Path:
    """Six training images and three for the test."""
    labels = np.array([0, 1, 10, 0, 1, 10], dtype=np.uint8)
    for (images_name, labels_name), count in {TRAIN: 6, TEST: 3}.items():
        write_idx(tmp_path / images_name, images_NHW[:count])
        write_idx(tmp_path / labels_name, labels[:count])
    return tmp_path


def test_pairs_are_splits(raw: Path, images_NHW: np.ndarray) -> None:
    """train- is train, t10k- is test; measures and digest are those of the pixels."""
    index = _scan(raw).index
    assert index["split"].tolist() == ["train"] * 6 + ["test"] * 3
    assert index["sample"].tolist()[5:7] == ["train-images-idx3-ubyte#5", "t10k-images-idx3-ubyte#0"]
    assert index["label"].tolist()[:3] == ["0", "1", "10"]
    assert index["digest"].tolist()[1] == pixel_digest(images_NHW[1][:, :, None]) == index["digest"].tolist()[7]
    np.testing.assert_allclose(index["mean"][:6], images_NHW.mean(axis=(1, 2)))
    np.testing.assert_allclose(index["std"][:6], images_NHW.std(axis=(1, 2)))
    assert set(index[["width", "height", "channels"]].itertuples(index=False, name=None)) == {(4, 5, 1)}


def test_gzip_reads_the_same(raw: Path) -> None:
    """.gz gives the very same index."""
    plain = _scan(raw).index
    for file in list(raw.iterdir()):
        raw.joinpath(f"{file.name}.gz").write_bytes(gzip.compress(file.read_bytes()))
        file.unlink()
    assert _scan(raw).index.equals(plain)


def test_a_pair_without_prefix_has_no_split(raw: Path, write_idx: Callable[..., Path]) -> None:
    """images and labels alone are to be split; beside train they are too much."""
    for prefixed, plain in zip(TRAIN, PLAIN, strict=True):
        (raw / plain).write_bytes((raw / prefixed).read_bytes())
    with pytest.raises(DataError, match="images-idx3-ubyte beside files with a prefix"):
        _scan(raw)
    for name in (*TRAIN, *TEST):
        (raw / name).unlink()
    assert set(_scan(raw).index["split"]) == {""}


def test_images_are_fitted(raw: Path, images_NHW: np.ndarray) -> None:
    """Equal size is handed on as it is, in the order asked for; another is resized."""
    source = open_source("idx", raw)
    samples = ["t10k-images-idx3-ubyte#2", "train-images-idx3-ubyte#0"]
    same = source.images(samples, image=ImageConfig(height=5, width=4, channels=1))
    assert (same[..., 0] == images_NHW[[2, 0]]).all()
    assert source.images(samples, image=ImageConfig(height=10, width=8, channels=3)).shape == (2, 10, 8, 3)


def test_too_large_images_are_quarantined(raw: Path) -> None:
    """All images have one size, so none is left, and each has its reason."""
    scanned = _scan(raw, max_pixels=10)
    assert scanned.index.empty
    assert {"more than max_pixels 10" in item.reason for item in scanned.quarantined} == {True}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda raw: (raw / TRAIN[0]).write_bytes((raw / TRAIN[0]).read_bytes()[:-1]), f"{TRAIN[0]} is cut short"),
        (lambda raw: (raw / TRAIN[0]).write_bytes(b"\0\0\x08"), "cut short: 3 bytes, less than its header"),
        (lambda raw: (raw / TRAIN[0]).write_bytes(b""), "cut short: 0 bytes"),
        (
            lambda raw: (raw / TRAIN[1]).write_bytes((raw / TRAIN[1]).read_bytes() + b"0"),
            f"{TRAIN[1]} has bytes after its end: 15 bytes.* 14",
        ),
        (lambda raw: (raw / TRAIN[0]).write_bytes((raw / TRAIN[1]).read_bytes() * 3), "magic number 0x00000801"),
        (lambda raw: (raw / TRAIN[1]).write_bytes((raw / TEST[1]).read_bytes()), "6 images, .* has 3 labels"),
        (lambda raw: (raw / TRAIN[1]).unlink(), f"{TRAIN[1]} is missing"),
        (lambda raw: [(raw / name).unlink() for name in TRAIN], "no train-images-idx3-ubyte"),
        (lambda raw: [file.unlink() for file in raw.iterdir()], "holds no idx files"),
        (lambda raw: (raw / TRAIN[0]).rename(raw / "kept") and (raw / f"{TRAIN[0]}.gz").write_bytes(b"no"), "unpacked"),
    ],
)
def test_damaged_files_are_named(raw: Path, change: Callable[[Path], object], message: str) -> None:
    """Cut short, too long, another kind, unequal halves: each says which file and what (A1)."""
    change(raw)
    with pytest.raises(DataError, match=message):
        _scan(raw)


def test_a_gzip_file_cut_short_is_named(raw: Path) -> None:
    """Half an archive is no archive (A1)."""
    packed = gzip.compress((raw / TRAIN[0]).read_bytes())
    (raw / TRAIN[0]).unlink()
    (raw / f"{TRAIN[0]}.gz").write_bytes(packed[:-20])
    with pytest.raises(DataError, match=r"ubyte.gz cannot be unpacked"):
        _scan(raw)


def test_sizes_of_train_and_test_must_agree(raw: Path, write_idx: Callable[..., Path]) -> None:
    """Two image sizes in one set are a mix-up."""
    write_idx(raw / TEST[0], np.zeros((3, 9, 9), np.uint8))
    with pytest.raises(DataError, match="differ in size"):
        _scan(raw)


def test_no_images_are_no_data(raw: Path, write_idx: Callable[..., Path]) -> None:
    """A header alone holds nothing."""
    write_idx(raw / TRAIN[0], np.zeros((0, 5, 4), np.uint8))
    write_idx(raw / TRAIN[1], np.zeros(0, np.uint8))
    with pytest.raises(DataError, match="holds no pixels"):
        _scan(raw)
