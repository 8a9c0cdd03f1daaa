import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from sluice.config.data import DataConfig
from sluice.data.index import COLUMNS
from sluice.data.scan import Scanned, scan
from sluice.errors import DataError

FOLDERS = DataConfig(source="folder")


def _scan(root: Path, *, limit: float = 1.0, max_pixels: int = 10**6) -> Scanned:
    return scan(root, config=DataConfig(source="folder", limit=limit), max_pixels=max_pixels)


@pytest.fixture
def raw(tmp_path: Path, save_image: Callable[..., Path]) -> Path:
    """Two classes of four images each."""
    for number, label in enumerate(["cat", "dog"]):
        for row in range(4):
            save_image(tmp_path / "raw" / label / f"{row}.png", seed=10 * number + row)
    return tmp_path / "raw"


@pytest.fixture
def split_raw(tmp_path: Path, save_image: Callable[..., Path]) -> Path:
    """Splits train, validation and test of the classes a, b and c."""
    for number, name in enumerate(["train/a", "train/b", "train/c", "validation/b", "validation/c", "test/a"]):
        for row in range(2):
            save_image(tmp_path / "raw" / name / f"{row}.png", seed=10 * number + row)
    return tmp_path / "raw"


def test_index_has_a_row_per_sample(raw: Path) -> None:
    """Columns and order are fixed; measures are those of the decoded pixels."""
    scanned = _scan(raw)
    assert list(scanned.index.columns) == list(COLUMNS)
    assert scanned.index["sample"].tolist() == [f"{label}/{row}.png" for label in ("cat", "dog") for row in range(4)]
    first = scanned.index.iloc[0]
    assert (first["split"], first["label"], first["width"], first["height"], first["channels"]) == (
        "",
        "cat",
        10,
        12,
        3,
    )
    assert 90 < first["mean"] < 160
    assert 20 < first["std"] < 90
    assert (scanned.quarantined, scanned.ignored, scanned.turned) == ((), 0, 0)


def test_damaged_files_are_listed_together(raw: Path) -> None:
    """One report has all bad files with their reasons, and the others go on (A1, A2)."""
    content = (raw / "cat/0.png").read_bytes()
    (raw / "cat/cut.png").write_bytes(content[:-100])
    (raw / "cat/empty.jpg").touch()
    (raw / "dog/page.jpg").write_text("<html>404</html>")
    scanned = _scan(raw)
    reasons = {item.path: item.reason for item in scanned.quarantined}
    assert reasons.keys() == {"cat/cut.png", "cat/empty.jpg", "dog/page.jpg"}
    assert "cut short" in reasons["cat/cut.png"]
    assert "HTML" in reasons["dog/page.jpg"]
    assert len(scanned.index) == 8


def test_litter_is_ignored_and_counted(raw: Path) -> None:
    """What macOS, Windows and notebooks leave is neither sample nor class (A4, A5)."""
    (raw / "cat/._0.png").write_bytes(b"\0\5\x16\7")
    (raw / "cat/.DS_Store").write_bytes(b"x")
    (raw / "Thumbs.db").write_bytes(b"x")
    for hidden in ("__MACOSX/cat", ".ipynb_checkpoints", "cat/.ipynb_checkpoints"):
        (raw / hidden).mkdir(parents=True)
        shutil.copy(raw / "cat/0.png", raw / hidden / "0.png")
    scanned = _scan(raw)
    assert scanned.ignored == 6
    assert sorted(set(scanned.index["label"])) == ["cat", "dog"]
    assert len(scanned.index) == 8
    assert not scanned.quarantined


def test_split_folders_are_known_by_all_their_names(split_raw: Path) -> None:
    """validation is val; a class that val lacks is no error (A6, A7)."""
    index = _scan(split_raw).index
    assert index.groupby("split")["label"].agg(lambda labels: "".join(sorted(set(labels)))).to_dict() == {
        "test": "a",
        "train": "abc",
        "val": "bc",
    }


def test_a_class_named_like_a_split_is_a_class(raw: Path, save_image: Callable[..., Path]) -> None:
    """Folders are splits only when all of them are."""
    save_image(raw / "train/1.png", seed=99)
    assert set(_scan(raw).index["label"]) == {"cat", "dog", "train"}
    assert set(_scan(raw).index["split"]) == {""}


def test_split_folders_beside_others_are_ambiguous(split_raw: Path) -> None:
    """train, validation and annotations are not three classes."""
    (split_raw / "annotations").mkdir()
    with pytest.raises(DataError, match="split folders and 'annotations' beside them"):
        _scan(split_raw)


def test_splits_need_train(split_raw: Path) -> None:
    """Without train there is nothing to learn from."""
    shutil.rmtree(split_raw / "train")
    with pytest.raises(DataError, match="test, validation.*no 'train'"):
        _scan(split_raw)


def test_empty_class_in_train_is_named(split_raw: Path) -> None:
    """No phantom class (A6)."""
    (split_raw / "train/dog").mkdir()
    with pytest.raises(DataError, match="class 'dog' has no samples"):
        _scan(split_raw)


def test_empty_class_in_val_is_no_error(split_raw: Path) -> None:
    """It has no rows, and validation says so (A6)."""
    (split_raw / "validation/a").mkdir()
    assert len(_scan(split_raw).index) == 12


def test_names_that_are_not_utf8_are_quarantined(raw: Path, save_image: Callable[..., Path]) -> None:
    """They are reported in a form that every file and database takes; odd but valid names are samples (A18)."""
    content = (raw / "cat/0.png").read_bytes()
    Path(os.fsdecode(os.fsencode(raw) + b"/cat/r\xe9.png")).write_bytes(content)
    save_image(raw / "cat/with space\nand line.png", seed=50)
    save_image(raw / "dog/r\u00e9.png", seed=51)
    scanned = _scan(raw)
    assert [(item.path, "not valid UTF-8" in item.reason) for item in scanned.quarantined] == [("cat/r\\xe9.png", True)]
    assert len(scanned.index) == 10
    scanned.index.to_csv(raw.parent / "index.csv")


def test_class_names_are_composed(raw: Path, save_image: Callable[..., Path]) -> None:
    """Two spellings of the same name in Unicode are one class (A18)."""
    save_image(raw / "r\u00e9/0.png", seed=60)
    save_image(raw / "re\u0301/1.png", seed=61)
    assert set(_scan(raw).index["label"]) == {"cat", "dog", "r\u00e9"}


def test_images_outside_class_folders_are_reported(raw: Path) -> None:
    """A stray image is named; a README is nobody's sample."""
    shutil.copy(raw / "cat/0.png", raw / "stray.png")
    (raw / "README.md").write_text("about")
    assert [(item.path, item.reason) for item in _scan(raw).quarantined] == [("stray.png", "lies in no class folder")]


def test_what_is_no_regular_file_is_quarantined(raw: Path) -> None:
    """A pipe does not block the scan, and a broken link does not end it."""
    os.mkfifo(raw / "cat/pipe.png")
    (raw / "cat/link.png").symlink_to("nowhere")
    assert {item.path: item.reason for item in _scan(raw).quarantined} == {
        "cat/link.png": "not a regular file",
        "cat/pipe.png": "not a regular file",
    }


def test_limit_takes_a_share_of_each_class(tmp_path: Path, save_image: Callable[..., Path]) -> None:
    """The same samples each time, and at least one of each class of each split."""
    for label, count in {"many": 20, "few": 2}.items():
        for row in range(count):
            save_image(tmp_path / label / f"{row}.png", seed=row, height=2, width=2)
    first, second = _scan(tmp_path, limit=0.25).index, _scan(tmp_path, limit=0.25).index
    assert first["label"].value_counts().to_dict() == {"many": 5, "few": 1}
    assert first["sample"].tolist() == second["sample"].tolist()


def test_too_large_images_are_quarantined(raw: Path, save_image: Callable[..., Path]) -> None:
    """max_pixels acts before decoding."""
    save_image(raw / "cat/large.png", height=40, width=40)
    assert [item.path for item in _scan(raw, max_pixels=200).quarantined] == ["cat/large.png"]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda root: None, "does not exist. Put your data there, or run: sluice fetch"),
        (lambda root: root.mkdir(), "holds no folders"),
        (lambda root: (root / ".hidden").mkdir(parents=True), "holds no folders"),
        (lambda root: (root / "train").mkdir(parents=True), "holds no samples"),
    ],
)
def test_missing_data_are_said(tmp_path: Path, make: Callable[[Path], object], message: str) -> None:
    """No folder, an empty one, and one without classes are each one clear sentence."""
    make(tmp_path / "raw")
    with pytest.raises(DataError, match=message):
        _scan(tmp_path / "raw")
