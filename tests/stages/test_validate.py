import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from sluice.config import Params, load
from sluice.data.index import read_index
from sluice.errors import DataError
from sluice.io import files, paths
from sluice.stages import validate
from sluice.validation.profile import read_profile

MakeParams = Callable[..., Params]


@pytest.fixture
def make_params(repository: Path) -> MakeParams:
    def make(**validate: Any) -> Params:
        params = load(repository / "params.yaml")
        data = params.data.model_copy(update={"source": "folder"})
        return params.model_copy(
            update={
                "data": data,
                "validate_": params.validate_.model_copy(update={"imbalance_warning": 99.0} | validate),
            }
        )

    return make


@pytest.fixture
def raw(workspace: Path) -> Path:
    """Eight images each of two classes for train, four each for test."""
    random = np.random.default_rng(0)
    for split, number in (("train", 8), ("test", 4)):
        for label in ("cat", "dog"):
            folder = workspace / "data/raw" / split / label
            folder.mkdir(parents=True)
            for row in range(number):
                Image.fromarray(random.integers(0, 256, (12, 10, 3), dtype=np.uint8)).save(folder / f"{row}.png")
    return workspace / "data/raw"


def summary() -> dict[str, Any]:
    values: dict[str, Any] = json.loads(paths.VALIDATION_SUMMARY.read_text())
    return values


def test_sound_data_are_indexed(raw: Path, make_params: MakeParams, capsys: pytest.CaptureFixture[str]) -> None:
    """A5: classes are shown by name and stored, and hidden folders are none; all that is promised is written."""
    (raw / "train/.ipynb_checkpoints").mkdir()
    (raw / "train/cat/0.png").rename(raw / "train/cat/zero.png")
    (raw / "train/.ipynb_checkpoints/x.png").write_bytes((raw / "train/cat/1.png").read_bytes())
    validate.run(make_params())
    assert "2: cat (12), dog (12)" in capsys.readouterr().out
    assert summary()["classes"] == {"cat": 12, "dog": 12}
    assert summary()["splits"] == {"train": 16, "test": 8}
    assert summary()["ignored"] == 1
    assert summary()["findings"] == []
    assert len(read_index()) == 24
    assert read_profile(paths.PROFILE_OF_DATA).n == 24
    assert (paths.DATA_DOCS / "index.html").exists()


def test_two_runs_write_the_same_bytes(raw: Path, make_params: MakeParams) -> None:
    """Index, summary and profile do not change when nothing has changed."""
    made = (paths.INDEX, paths.VALIDATION_SUMMARY, paths.PROFILE_OF_DATA)
    validate.run(make_params())
    first = [files.digest_file(path) for path in made]
    validate.run(make_params())
    assert [files.digest_file(path) for path in made] == first


def test_broken_files_are_left_out_by_name(raw: Path, make_params: MakeParams) -> None:
    """A1, A2: truncated images, an error page and an empty file are in the summary with reasons, not in the index."""
    whole = (raw / "train/cat/1.png").read_bytes()
    (raw / "train/cat/cut.png").write_bytes(whole[: len(whole) // 2])
    Image.open(raw / "train/cat/2.png").save(raw / "train/cat/cut.jpg")
    jpeg = (raw / "train/cat/cut.jpg").read_bytes()
    (raw / "train/cat/cut.jpg").write_bytes(jpeg[:-60])
    (raw / "train/dog/page.jpg").write_text("<!DOCTYPE html><html><body>404</body></html>")
    (raw / "train/dog/empty.jpg").write_bytes(b"")
    validate.run(make_params(max_quarantined_share=0.5))
    quarantined = {item["path"]: item["reason"] for item in summary()["quarantined"]}
    assert set(quarantined) == {"train/cat/cut.png", "train/cat/cut.jpg", "train/dog/page.jpg", "train/dog/empty.jpg"}
    assert all(quarantined.values())
    assert "HTML" in quarantined["train/dog/page.jpg"]
    assert [item["rule"] for item in summary()["findings"]] == ["quarantined"]
    assert len(read_index()) == 24
    assert not set(read_index()["sample"]) & set(quarantined)


def test_blocked_data_leave_a_summary_and_no_index(raw: Path, make_params: MakeParams) -> None:
    """A1, A13: all blocking findings are said at once; the summary and docs are there to look at, the index is not."""
    validate.run(make_params())
    (raw / "train/cat/cut.png").write_bytes((raw / "train/cat/1.png").read_bytes()[:100])
    (raw / "test/dog/copy.png").write_bytes((raw / "train/dog/1.png").read_bytes())
    with pytest.raises(DataError, match="2 problems that block") as raised:
        validate.run(make_params(quarantine="refuse"))
    assert "train/cat/cut.png" in str(raised.value)
    assert "test/dog/copy.png = train/dog/1.png" in str(raised.value)
    assert [item["rule"] for item in summary()["findings"]] == ["quarantined", "cross_split_duplicates"]
    assert (paths.DATA_DOCS / "index.html").exists()
    assert not paths.INDEX.exists()
    assert not paths.PROFILE_OF_DATA.exists()


def test_no_data_is_one_sentence(workspace: Path, make_params: MakeParams) -> None:
    """H1: an empty folder is refused, and there is no index."""
    (workspace / "data/raw").mkdir(parents=True)
    with pytest.raises(DataError, match=r"data/raw"):
        validate.run(make_params())
    assert not paths.INDEX.exists()


def _class_of_damaged_files(raw: Path) -> None:
    for file in (raw / "train/dog").iterdir():
        file.write_bytes(b"")


def _class_unknown_to_train(raw: Path) -> None:
    (raw / "test/bird").mkdir()
    shutil.copy(raw / "test/dog/0.png", raw / "test/bird/0.png")


def _one_class(raw: Path) -> None:
    shutil.rmtree(raw / "train/dog")
    shutil.rmtree(raw / "test/dog")


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (_class_of_damaged_files, "every sample is unreadable in train/dog"),
        (_class_unknown_to_train, "though val or test has some, in class: bird"),
        (_one_class, "has 1 class"),
    ],
)
def test_classes_that_cannot_be_learned_block(
    raw: Path, make_params: MakeParams, spoil: Callable[[Path], None], words: str
) -> None:
    """A6, A7, A21: a class that vanished, one that train does not know, and one class alone are named."""
    spoil(raw)
    with pytest.raises(DataError, match=words):
        validate.run(make_params(min_samples_per_class=1))
    assert summary()["findings"]
    assert not paths.INDEX.exists()
