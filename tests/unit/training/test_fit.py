"""Whole trainings: equal over kills, and never from a bad state."""

import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn
from unit.training import tiny

from sluice.config.learning import OptimizerConfig
from sluice.errors import TrainingError
from sluice.io import files
from sluice.training.fit import Epoch

GOLDEN = Path(__file__).with_name("golden_losses.json")
ADAMW = OptimizerConfig(name="adamw", lr=0.01)


class Interrupted(Exception):
    pass


def _interrupt(at: int) -> Any:
    def on_epoch_end(epoch: Epoch) -> None:
        if epoch.epoch == at:
            raise Interrupted

    return on_epoch_end


@pytest.mark.parametrize("channels_last", [False, True], ids=["contiguous", "channels_last"])
@pytest.mark.parametrize("changes", [{}, {"optimizer": ADAMW, "clip_norm": 1.0}], ids=["sgd", "adamw"])
@pytest.mark.parametrize("keep", ["last", "best"])
def test_a_resumed_training_equals_a_straight_one(
    tmp_path: Path, channels_last: bool, changes: dict[str, Any], keep: str
) -> None:
    """B9: 2 epochs, a stop, 2 more: `==` on every loss, bit-equal weights, with dropout and batch norm."""
    changes = changes | {"channels_last": channels_last, "keep": keep}
    straight = tiny.train(**changes)
    with pytest.raises(Interrupted):
        tiny.train(checkpoints=tmp_path, on_epoch_end=_interrupt(3), **changes)
    again: list[int] = []
    resumed = tiny.train(checkpoints=tmp_path, on_epoch_end=lambda epoch: again.append(epoch.epoch), **changes)
    assert (again, resumed.resumed_from, straight.resumed_from) == ([3, 4], 2, None)
    assert tiny.curves(resumed) == tiny.curves(straight)
    assert tiny.same_bits(resumed.net, straight.net)
    assert (resumed.best_epoch, resumed.kept.epoch) == (straight.best_epoch, straight.kept.epoch)


@pytest.mark.parametrize("where", ["state", pytest.param("digest", marks=pytest.mark.long)])
def test_a_training_killed_while_saving_equals_a_straight_one(
    tmp_path: Path, where: str, caplog: pytest.LogCaptureFixture
) -> None:
    """B8, B9: SIGKILL in the save of epoch 3 costs one epoch and changes no bit."""
    tests = Path(__file__).parents[2]
    environment = {**os.environ, "PYTHONPATH": str(tests), "OMP_NUM_THREADS": "1"}
    command = [sys.executable, str(Path(__file__).with_name("killed.py")), str(tmp_path), where]
    assert subprocess.run(command, env=environment, check=False).returncode == -signal.SIGKILL
    straight, resumed = tiny.train(), tiny.train(checkpoints=tmp_path)
    assert resumed.resumed_from == 2
    assert tiny.curves(resumed) == tiny.curves(straight)
    assert tiny.same_bits(resumed.net, straight.net)
    assert ("epoch-0003.pt cannot be read" in caplog.text) == (where == "digest")
    assert sorted(item.name for item in tmp_path.iterdir()) == [
        "epoch-0003.pt",
        "epoch-0003.sha256",
        "epoch-0004.pt",
        "epoch-0004.sha256",
    ]


@pytest.mark.parametrize("damage", [b"", b"PK half"], ids=["empty", "half"])
def test_a_damaged_checkpoint_costs_one_epoch(tmp_path: Path, damage: bytes, caplog: pytest.LogCaptureFixture) -> None:
    """B8: the state before the damaged one is taken, with a warning, and the end is the same."""
    tiny.train(checkpoints=tmp_path)
    (tmp_path / "epoch-0004.pt").write_bytes(damage)
    resumed = tiny.train(checkpoints=tmp_path)
    assert resumed.resumed_from == 3
    assert tiny.same_bits(resumed.net, tiny.train().net)
    assert "epoch-0004.pt cannot be read (its SHA-256 is not the one on record)" in caplog.text


def test_a_finished_training_is_not_run_again(tmp_path: Path) -> None:
    """A kill after the last epoch, before the outs were written, leaves only the writing to do."""
    first = tiny.train(checkpoints=tmp_path)
    second = tiny.train(checkpoints=tmp_path, on_epoch_end=_interrupt(4))
    assert second.resumed_from == 4
    assert tiny.same_bits(first.net, second.net)


def test_threads_and_memory_format_of_the_checkpoint_win(tmp_path: Path) -> None:
    """Equal bits need equal threads and memory format, so a resume on another machine keeps those of the start."""
    with pytest.raises(Interrupted):
        tiny.train(checkpoints=tmp_path, on_epoch_end=_interrupt(2), channels_last=True)
    seen: list[int] = []
    before = torch.get_num_threads()
    resumed = tiny.train(checkpoints=tmp_path, threads=2, on_epoch_end=lambda _: seen.append(torch.get_num_threads()))
    assert (set(seen), resumed.threads, torch.get_num_threads()) == ({1}, 1, before)
    assert tiny.same_bits(resumed.net, tiny.train(channels_last=True).net)


def test_a_checkpoint_of_another_model_is_refused(tmp_path: Path) -> None:
    """It says so, and what to do."""
    tiny.train(checkpoints=tmp_path)
    with pytest.raises(TrainingError, match=r"another model or optimizer.*Remove its folder"):
        tiny.train(checkpoints=tmp_path, module=nn.Sequential(nn.Flatten(), nn.Linear(64, 3)))


def test_a_number_that_is_not_finite_costs_no_good_checkpoint(tmp_path: Path) -> None:
    """B19: NaN in epoch 3 ends the run; on disk are the states of epochs 1 and 2, and all their numbers finite."""

    def nan_in_epoch_3(epoch: int) -> list[tiny.Batch]:
        batches = tiny.batches(epoch)
        if epoch == 3:
            batches[1].inputs[0, 0, 0, 0] = torch.nan
        return batches

    with pytest.raises(TrainingError, match="epoch 3, step 2 of 5: the loss is nan"):
        tiny.train(checkpoints=tmp_path, of=tiny.learning(train_batches=nan_in_epoch_3))
    assert sorted(item.name for item in tmp_path.glob("*.pt")) == ["epoch-0001.pt", "epoch-0002.pt"]
    saved = torch.load(tmp_path / "epoch-0002.pt", weights_only=True)
    assert all(tensor.isfinite().all() for tensor in saved["net"].values())
    assert tiny.same_bits(tiny.train(checkpoints=tmp_path).net, tiny.train().net)


def test_a_rate_that_is_far_too_high_ends_with_a_remedy(tmp_path: Path) -> None:
    """B19: lr = 1e30 blows up; nothing that is not finite is saved."""
    with pytest.raises(TrainingError, match=r"Lower train\.optimizer\.lr"):
        tiny.train(checkpoints=tmp_path, optimizer=OptimizerConfig(name="sgd", lr=1e30))
    assert not list(tmp_path.glob("*.pt"))


def test_a_validation_loss_that_is_not_finite_is_not_saved(tmp_path: Path) -> None:
    """B19: neither is a state that only training finds good."""

    def broken() -> list[tiny.Batch]:
        batches = tiny.batches()
        batches[0].inputs[0, 0, 0, 0] = torch.nan
        return batches

    with pytest.raises(TrainingError, match="epoch 1: the validation loss is nan"):
        tiny.train(checkpoints=tmp_path, of=tiny.learning(val_batches=broken))
    assert not list(tmp_path.glob("*.pt"))


def test_best_weights_are_those_of_the_best_epoch() -> None:
    """keep: best gives back exactly what the net was at the end of that epoch."""
    seen: dict[int, dict[str, torch.Tensor]] = {}
    net = tiny.net()

    def remember(epoch: Epoch) -> None:
        seen[epoch.epoch] = {name: tensor.clone() for name, tensor in net.state_dict().items()}

    def good_in_epoch_2(outputs: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
        return tiny.correct(outputs, targets) & torch.tensor(len(seen) == 1)

    of = tiny.learning(correct=good_in_epoch_2)
    fitted = tiny.train(module=net, of=of, on_epoch_end=remember, keep="best")
    assert (fitted.best_epoch, fitted.kept) == (2, fitted.epochs[1])
    assert all(torch.equal(tensor, seen[2][name]) for name, tensor in net.state_dict().items())
    last = tiny.train(of=of, on_epoch_end=remember, keep="last")
    assert last.kept == last.epochs[3]


def test_nothing_of_the_process_is_changed() -> None:
    """The generators go on as if there had been no training."""
    torch.manual_seed(1)
    expected = torch.rand(3)
    torch.manual_seed(1)
    tiny.train(epochs=1)
    assert torch.equal(torch.rand(3), expected)


def test_golden_losses() -> None:
    """A change that should not change numbers changes none of these (relative 1e-6, one thread)."""
    losses = [[epoch.train_loss, epoch.val_loss, epoch.grad_norm] for epoch in tiny.train(epochs=3).epochs]
    golden = files.read_json(GOLDEN)
    assert [value for row in losses for value in row] == pytest.approx([v for row in golden for v in row], rel=1e-6)
