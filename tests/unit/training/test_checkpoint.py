"""States on disk."""

import logging
from pathlib import Path
from typing import Any

import pytest
import torch
from unit.training import tiny

from sluice.training import checkpoint
from sluice.training.determinism import get_rng
from sluice.training.state import Best, Epoch, TrainState

EPOCH = Epoch(epoch=1, lr=0.1, train_loss=1, val_loss=1, val_accuracy=0.5, grad_norm=1, images_per_s=1, seconds=1)


def _state(epoch: int) -> dict[str, Any]:
    return {"epoch": epoch, "weights": torch.full((2,), float(epoch)), "rng": get_rng()}


def test_the_two_newest_states_are_kept(tmp_path: Path) -> None:
    """What a kill left of an unfinished file goes as well."""
    (tmp_path / ".epoch-0001.pt.left-over").write_text("half")
    for epoch in (1, 2, 3):
        checkpoint.save(tmp_path, _state(epoch), epoch=epoch)
    names = sorted(item.name for item in tmp_path.iterdir())
    assert names == ["epoch-0002.pt", "epoch-0002.sha256", "epoch-0003.pt", "epoch-0003.sha256"]
    loaded = checkpoint.load(tmp_path)
    assert loaded is not None
    assert (loaded["epoch"], loaded["weights"].tolist()) == (3, [3.0, 3.0])


def test_no_state_is_no_warning(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """The first start is quiet."""
    assert checkpoint.load(tmp_path / "absent") is None
    assert not caplog.records


def test_when_no_state_can_be_read_the_start_is_afresh_and_said(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """B8: files that are there and bad are each named."""
    for epoch in (1, 2):
        checkpoint.save(tmp_path, _state(epoch), epoch=epoch)
    (tmp_path / "epoch-0001.pt").write_bytes(b"half")
    (tmp_path / "epoch-0002.sha256").unlink()
    assert checkpoint.load(tmp_path) is None
    assert [record.levelno for record in caplog.records] == [logging.WARNING] * 3
    assert "training starts afresh" in caplog.text


def test_a_state_that_is_more_than_data_is_not_unpickled(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """A file that would run code is refused even where its digest agrees."""
    checkpoint.save(tmp_path, {"path": Path("code")}, epoch=1)
    assert checkpoint.load(tmp_path) is None
    assert "epoch-0001.pt cannot be read" in caplog.text


def test_unfinished_trainings_are_forgotten_in_time(tmp_path: Path) -> None:
    """The one that runs and two others stay."""
    for key in ("a", "b", "c", "d"):
        checkpoint.save(checkpoint.open_folder(tmp_path, key=key), _state(1), epoch=1)
    assert sorted(item.name for item in tmp_path.iterdir()) == ["b", "c", "d"]
    checkpoint.open_folder(tmp_path, key="b")
    checkpoint.open_folder(tmp_path, key="e")
    assert sorted(item.name for item in tmp_path.iterdir()) == ["b", "d", "e"]


@pytest.mark.parametrize(
    ("scores", "best"),
    [
        ([0.5, 0.7, 0.7, 0.6], 2),
        ([float("nan"), 0.4], 2),
        ([0.4, float("nan"), 0.3], 1),
        ([float("nan")], None),
    ],
)
def test_best_ignores_nan(scores: list[float], best: int | None) -> None:
    """B19: NaN is never better, and never in the way of a number."""
    config = tiny.config()
    state = TrainState.start(config, net=tiny.net(), steps=4, threads=1, channels_last=False)
    for number, score in enumerate(scores, start=1):
        values = vars(EPOCH) | {"epoch": number, "val_accuracy": score}
        state.finish(Epoch(**values), keep="best")
    assert (state.best.epoch if isinstance(state.best, Best) else None) == best
