import hashlib
import json
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from sluice.config.data import ImageConfig
from sluice.data import store
from sluice.data.class_map import ClassMap
from sluice.data.decode import Quarantined
from sluice.data.source import Listing, Measured, open_source
from sluice.data.store import Split, open_split, statistics, subset, write_split
from sluice.errors import DataError, MissingArtifact

IMAGE = ImageConfig(height=4, width=3, channels=3)
CLASSES = ClassMap(("gone", "b", "a"))


class Memory:
    """A source of images that are known beforehand."""

    def __init__(self, images: np.ndarray) -> None:
        self.images_NHWC = images

    def listing(self) -> Listing:
        raise NotImplementedError

    def measure(self, samples: Sequence[str]) -> list[Measured | Quarantined]:
        raise NotImplementedError

    def images(self, samples: Sequence[str], *, image: ImageConfig) -> np.ndarray:
        return self.images_NHWC[[int(sample) for sample in samples]]


@pytest.fixture
def images() -> np.ndarray:
    return np.random.default_rng(0).integers(0, 256, (10, 4, 3, 3), dtype=np.uint8)


@pytest.fixture
def rows() -> pd.DataFrame:
    return pd.DataFrame(
        {"sample": [str(row) for row in range(10)], "digest": [f"d{row}" for row in range(10)], "label": ["a", "b"] * 5}
    )


def test_reads_what_was_written(
    tmp_path: Path, images: np.ndarray, rows: pd.DataFrame, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Pixels, indices of the class map, names and digest come back, also when written in many chunks."""
    monkeypatch.setattr(store, "_CHUNK_BYTES", 4 * 3 * 3 * 3)
    write_split(tmp_path / "train", rows, source=Memory(images), image=IMAGE, classes=CLASSES)
    split = open_split(tmp_path / "train")
    assert isinstance(split.images, np.memmap)
    assert (split.images == images).all()
    assert split.labels.tolist() == [2, 1] * 5
    assert split.labels.dtype == np.int64
    assert (split.name, split.samples, len(split)) == ("train", rows["sample"].tolist(), 10)
    lines = "".join(f"d{row} {'ab'[row % 2]}\n" for row in range(10))
    assert split.digest == hashlib.sha256(lines.encode()).hexdigest()
    assert json.loads((tmp_path / "train/split.json").read_text()) == {
        "split": "train",
        "n": 10,
        "digest": split.digest,
        "counts": {"gone": 0, "b": 5, "a": 5},
    }


def test_two_writes_are_equal(tmp_path: Path, images: np.ndarray, rows: pd.DataFrame) -> None:
    """Every file is the same, byte for byte."""
    for folder in ("x/val", "y/val"):
        write_split(tmp_path / folder, rows, source=Memory(images), image=IMAGE, classes=CLASSES)
    for file in (tmp_path / "x/val").iterdir():
        assert file.read_bytes() == (tmp_path / "y/val" / file.name).read_bytes()


def test_mapped_images_cannot_change_the_file(tmp_path: Path, images: np.ndarray, rows: pd.DataFrame) -> None:
    """The map is copy on write."""
    write_split(tmp_path / "train", rows, source=Memory(images), image=IMAGE, classes=CLASSES)
    open_split(tmp_path / "train").images[:] = 0
    assert (open_split(tmp_path / "train").images == images).all()


def test_a_failed_write_leaves_nothing(tmp_path: Path, save_image: Callable[..., Path]) -> None:
    """An image that was damaged after validation is named, and no half store is left."""
    save_image(tmp_path / "raw/a/0.png")
    (tmp_path / "raw/a/1.png").write_bytes(b"")
    source = open_source("folder", tmp_path / "raw")
    rows = pd.DataFrame({"sample": ["a/0.png", "a/1.png"], "digest": "0", "label": "a"})
    with pytest.raises(DataError, match=r"a/1.png: empty file. It changed since it was validated"):
        write_split(tmp_path / "out/train", rows, source=source, image=IMAGE, classes=CLASSES)
    assert not list((tmp_path / "out").iterdir())


def test_damaged_store_says_what_to_run(tmp_path: Path, images: np.ndarray, rows: pd.DataFrame) -> None:
    """Absent, cut short, and of two writes."""
    folder = tmp_path / "gate"
    with pytest.raises(MissingArtifact, match=r"split.json does not exist"):
        open_split(folder)
    write_split(folder, rows, source=Memory(images), image=IMAGE, classes=CLASSES)
    np.save(folder / "labels.npy", np.zeros(3, np.int64))
    with pytest.raises(MissingArtifact, match="do not belong together"):
        open_split(folder)
    (folder / "images.npy").write_bytes((folder / "images.npy").read_bytes()[:-1])
    with pytest.raises(MissingArtifact, match="cannot be read"):
        open_split(folder)


def test_statistics_are_those_of_all_pixels(images: np.ndarray, monkeypatch: pytest.MonkeyPatch) -> None:
    """Chunk by chunk gives what numpy gives at once; a constant channel can still be divided by."""
    monkeypatch.setattr(store, "_CHUNK_BYTES", 100)
    found = statistics(images)
    np.testing.assert_allclose(found.mean, images.mean(axis=(0, 1, 2)) / 255)
    np.testing.assert_allclose(found.std, images.std(axis=(0, 1, 2)) / 255)
    constant = statistics(np.full((2, 3, 3, 1), 51, np.uint8))
    assert constant.mean == pytest.approx((0.2,))
    assert constant.std == pytest.approx((1 / 255,))


def test_subset_is_stratified(images: np.ndarray) -> None:
    """The same share of each class, at least one, the same for the same seed."""
    split = Split("train", images, np.array([0] * 8 + [1] * 2), [str(row) for row in range(10)], "d")
    part = subset(split, share=0.25, seed=3)
    assert np.bincount(part.labels).tolist() == [2, 1]
    assert (part.images == images[[int(sample) for sample in part.samples]]).all()
    assert part.samples == subset(split, share=0.25, seed=3).samples
    assert subset(split, share=1.0, seed=3) is split
