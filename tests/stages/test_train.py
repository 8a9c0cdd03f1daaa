import csv
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch
from mlflow.tracking import MlflowClient
from ruamel.yaml import YAML
from stages.tiny_store import runs, tiny_params

from sluice.config import Params
from sluice.config.learning import OptimizerConfig, Range
from sluice.errors import ConfigError, MissingArtifact, TrainingError
from sluice.io import files, paths
from sluice.models.trained import read_card
from sluice.stages import train
from sluice.tasks.trained import load_trained
from sluice.training.fit import Epoch

SPACE = {"train.optimizer.lr": Range(kind="float", low=0.001, high=0.5)}
CHECKPOINTS = paths.STATE / "checkpoints"
OUTS = (paths.WEIGHTS, paths.MODEL_CARD, paths.RESOLVED, paths.CURVES, paths.TRAINING_SUMMARY)


def params_of(repository: Path, **training: Any) -> Params:
    params = tiny_params(repository, train={"epochs": 3, "keep": "best"} | training)
    return params.model_copy(update={"tune": params.tune.model_copy(update={"space": SPACE})})


def outs() -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in OUTS}


def test_writes_weights_card_curves_and_summary(prepared: Path, repository: Path) -> None:
    """What is on disk answers, and says from what it was made."""
    params = params_of(repository)
    train.run(params)
    net, card = load_trained(paths.TRAINED)
    assert net(torch.rand(2, 1, 8, 8)).shape == (2, 3)
    assert (card.model, card.seed, card.task) == (params.model, params.seed, params.task)
    with paths.CURVES.open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert list(rows[0]) == ["epoch", "lr", "train_loss", "val_loss", "val_accuracy", "grad_norm"]
    assert [row["epoch"] for row in rows] == ["1", "2", "3"]
    summary = files.read_json(paths.TRAINING_SUMMARY)
    best = max(rows, key=lambda row: float(row["val_accuracy"]))
    assert str(summary["best_epoch"]) == str(summary["kept_epoch"]) == best["epoch"]
    assert summary["val_accuracy"] == float(best["val_accuracy"])
    assert summary["parameters"] == 64 * 8 + 8 + 8 * 3 + 3
    assert summary["evidence"]["weights"] == files.digest_file(paths.WEIGHTS)
    assert (summary["evidence"]["split"], summary["evidence"]["split_digest"]) == ("val", "val")
    speed = files.read_json(paths.TRAINING_SPEED)
    assert speed["images_per_s"] > 0
    assert speed["resumed_from_epoch"] is None


def test_is_tracked_live_and_tagged_with_its_weights(
    prepared: Path, repository: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """One run with parameters, a point per epoch and the digest; one line per epoch on a plain output."""
    train.run(params_of(repository))
    (run,) = runs(prepared, repository)
    assert run.info.status == "FINISHED"
    assert run.data.tags["sluice.weights"] == files.digest_file(paths.WEIGHTS)
    assert run.data.params["train.epochs"] == "3"
    client = MlflowClient(f"sqlite:///{prepared / 'mlflow.db'}")
    points = client.get_metric_history(run.info.run_id, "val_accuracy")
    assert [point.step for point in points] == [1, 2, 3]
    lines = capsys.readouterr().out.splitlines()
    assert [line.split("  ")[0] for line in lines] == ["epoch 1/3", "epoch 2/3", "epoch 3/3"]


def test_a_second_run_really_trains_and_gives_the_same_bytes(prepared: Path, repository: Path) -> None:
    """No checkpoint is left to answer for it, and only speed.json differs."""
    train.run(params_of(repository))
    first = outs()
    assert list(CHECKPOINTS.iterdir()) == []
    for path in OUTS:
        path.unlink()
    train.run(params_of(repository))
    assert outs() == first
    assert len(runs(prepared, repository)) == 2


def test_tuned_values_are_used_when_asked_for(prepared: Path, repository: Path) -> None:
    """Exactly the keys of tune.space, with their source on record; else best_params.yaml is not looked at."""
    files.write_text(paths.BEST_PARAMS, "values: {train.optimizer.lr: 0.123}\n")
    for use_tuned, lr, source in ((True, 0.123, "tune"), (False, 0.4, "params.yaml")):
        train.run(params_of(repository, use_tuned=use_tuned))
        resolved = YAML(typ="safe", pure=True).load(paths.RESOLVED.read_text())
        assert resolved["train"]["optimizer"]["lr"] == lr
        assert resolved["sources"]["train.optimizer.lr"] == source
        assert files.read_json(paths.TRAINING_SUMMARY)["sources"] == resolved["sources"]
        assert resolved["sources"]["train.epochs"] == "params.yaml"


@pytest.mark.parametrize(
    ("text", "error", "message"),
    [
        ("values: {train.optimizer.lr: -1}\n", ConfigError, r"train\.optimizer\.lr: Input should be greater than 0"),
        ("values: {train.epochs: 2}\n", ConfigError, r"has train\.epochs, tune\.space asks for train\.optimizer\.lr"),
        (None, MissingArtifact, r"best_params\.yaml does not exist"),
    ],
)
def test_tuned_values_that_do_not_fit_are_refused(
    prepared: Path, repository: Path, text: str | None, error: type[Exception], message: str
) -> None:
    """Before anything is trained or tracked."""
    if text:
        files.write_text(paths.BEST_PARAMS, text)
    with pytest.raises(error, match=message):
        train.run(params_of(repository, use_tuned=True))
    assert not paths.TRAINED.exists()


def test_a_training_that_fails_leaves_a_failed_run(prepared: Path, repository: Path) -> None:
    """B19: lr = 1e30 ends with the remedy, no model, and a run that says FAILED."""
    with pytest.raises(TrainingError, match=r"Lower train\.optimizer\.lr"):
        train.run(params_of(repository, optimizer=OptimizerConfig(name="sgd", lr=1e30)))
    assert [run.info.status for run in runs(prepared, repository)] == ["FAILED"]
    assert not paths.WEIGHTS.exists()


STOPPED = """
import os, sys
from pathlib import Path
sys.path.insert(0, sys.argv[2])
from sluice.io import telemetry
telemetry.off()
from sluice.training import state
from stages.test_train import params_of
from sluice.stages import train
plain = state.Epoch.line
def line(self, *, epochs):
    if self.epoch == 3:
        os.kill(os.getpid(), int(sys.argv[3]))
    return plain(self, epochs=epochs)
state.Epoch.line = line
train.run(params_of(Path(sys.argv[1])))
"""


@pytest.mark.parametrize(
    ("number", "code"),
    [
        (signal.SIGKILL, -signal.SIGKILL),
        pytest.param(signal.SIGTERM, 128 + signal.SIGTERM, marks=pytest.mark.long),
    ],
)
def test_a_stopped_training_goes_on_where_it_was(
    prepared: Path, repository: Path, number: signal.Signals, code: int
) -> None:
    """Stopped in epoch 3 and run again: the bytes of an undisturbed one, in the same run; SIGTERM ends KILLED."""
    command = [sys.executable, "-c", STOPPED, str(repository), str(repository / "tests"), str(int(number))]
    assert subprocess.run(command, check=False, timeout=120).returncode == code
    (run,) = runs(prepared, repository)
    assert run.info.status == ("RUNNING" if number == signal.SIGKILL else "KILLED")
    assert not paths.WEIGHTS.exists()

    train.run(params_of(repository))
    resumed = outs()
    assert files.read_json(paths.TRAINING_SPEED)["resumed_from_epoch"] == 2
    (same,) = runs(prepared, repository)
    assert (same.info.run_id, same.info.status) == (run.info.run_id, "FINISHED")

    train.run(params_of(repository))
    assert files.read_json(paths.TRAINING_SPEED)["resumed_from_epoch"] is None
    assert outs() == resumed


def test_changed_parameters_start_afresh(prepared: Path, repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A checkpoint answers for its own training only."""

    def interrupt(epoch: Epoch, *, epochs: int) -> str:
        raise RuntimeError("stopped")

    with monkeypatch.context() as patch, pytest.raises(RuntimeError, match="stopped"):
        patch.setattr(Epoch, "line", interrupt)
        train.run(params_of(repository))
    train.run(params_of(repository, batch_size=20))
    assert files.read_json(paths.TRAINING_SPEED)["resumed_from_epoch"] is None
    assert sorted(run.info.status for run in runs(prepared, repository)) == ["FAILED", "FINISHED"]
    assert len(list(CHECKPOINTS.iterdir())) == 1


def test_own_model_needs_one_file(prepared: Path, repository: Path) -> None:
    """plugins/*.py and two lines of params.yaml; no edit under src."""
    plugins = prepared / paths.PLUGINS
    plugins.mkdir()
    (plugins / "own_net_of_train.py").write_text(
        "from torch import nn\n"
        "def make(*, in_channels, height, width, num_classes, depth):\n"
        "    return nn.Sequential(nn.Flatten(), nn.Linear(in_channels * height * width, num_classes))\n"
    )
    params = params_of(repository)
    model = params.model.model_copy(update={"name": "own_net_of_train:make", "options": {"depth": 2}})
    train.run(params.model_copy(update={"model": model}))
    assert read_card(paths.TRAINED).model == model
