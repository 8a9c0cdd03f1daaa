import csv
import shutil
import signal
import subprocess
import sys
from contextlib import chdir
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML
from stages.tiny_store import runs, tiny_params, write_store

from sluice.config import Params
from sluice.config.learning import Choice, Range
from sluice.errors import ConfigError, TrainingError
from sluice.io import paths
from sluice.stages import tune
from sluice.training.resolved import overlay, read_tuned

SPACE: dict[str, Range | Choice] = {
    "train.optimizer.lr": Range(kind="float", low=0.001, high=0.5, log=True),
    "model.options.dropout": Choice(kind="choice", values=(0.0, 0.2)),
}


def params_of(repository: Path, **tuning: Any) -> Params:
    return tiny_params(repository, tune={"trials": 2, "epochs": 1, "subset": 0.5, "space": SPACE} | tuning)


def best_params() -> dict[str, Any]:
    found: dict[str, Any] = YAML(typ="safe", pure=True).load(paths.BEST_PARAMS.read_text())
    return found


def trials() -> list[dict[str, str]]:
    with paths.TRIALS.open(newline="") as file:
        return list(csv.DictReader(file))


def test_writes_the_best_values_and_a_row_a_trial(prepared: Path, repository: Path) -> None:
    """What is handed on is the best row, in a form that train takes for exactly the keys of the space."""
    params = params_of(repository)

    tune.run(params)

    best, rows = best_params(), trials()
    assert list(rows[0]) == ["number", "state", "score", *SPACE]
    assert [row["number"] for row in rows] == ["0", "1"]
    assert best["score"] == max(float(row["score"]) for row in rows)
    assert best["trials"] == 2
    tuned = read_tuned(paths.BEST_PARAMS, space=SPACE)
    assert overlay(tuned, model=params.model, train=params.train).train.optimizer.lr == tuned["train.optimizer.lr"]


def test_is_tracked_as_a_run_with_a_child_a_trial(prepared: Path, repository: Path) -> None:
    """MLflow shows the search as one run with its trials below it, all of them ended."""
    tune.run(params_of(repository))

    found = runs(prepared, repository)
    parent = next(run for run in found if run.info.run_name.startswith("tune "))
    children = [run for run in found if run.data.tags.get("mlflow.parentRunId") == parent.info.run_id]
    assert sorted(run.info.run_name for run in children) == ["trial 0", "trial 1"]
    assert {run.info.status for run in found} == {"FINISHED"}
    assert all("train.optimizer.lr" in run.data.params and "val_accuracy" in run.data.metrics for run in children)


def test_no_trials_is_no_search(prepared: Path, repository: Path) -> None:
    """tune.trials: 0 writes empty results and neither a study nor a run."""
    tune.run(params_of(repository, trials=0))

    assert best_params() == {"values": {}, "score": None, "trials": 0}
    assert trials() == []
    assert not paths.STATE.exists()
    assert not Path("mlartifacts").exists()


KILLED = """
import os, signal, sys
from pathlib import Path
sys.path.insert(0, sys.argv[2])
from sluice.io import telemetry
telemetry.off()
from sluice.training import state
from stages.test_tune import params_of
from sluice.stages import tune
plain = state.Epoch.line
seen = []
def line(self, *, epochs):
    seen.append(self)
    if len(seen) == 2:
        os.kill(os.getpid(), signal.SIGKILL)
    return plain(self, epochs=epochs)
state.Epoch.line = line
tune.run(params_of(Path(sys.argv[1])))
"""


def test_a_kill_leaves_nothing_running_and_the_same_result(
    tmp_path: Path, repository: Path, empty_mlflow: Path
) -> None:
    """C1: killed in its second trial and run again, the outs are equal to the bit to those of an undisturbed search."""
    outs = []
    command = [sys.executable, "-c", KILLED, str(repository), str(repository / "tests")]
    for name in ("calm", "killed"):
        (tmp_path / name).mkdir()
        with chdir(tmp_path / name):
            shutil.copy(empty_mlflow, tmp_path / name)
            write_store()
            if name == "killed":
                assert subprocess.run(command, check=False, timeout=120).returncode == -signal.SIGKILL
            tune.run(params_of(repository))
            outs.append((paths.BEST_PARAMS.read_bytes(), paths.TRIALS.read_bytes()))

    assert outs[0] == outs[1]
    states = [(run.info.run_name.split()[0], run.info.status) for run in runs(tmp_path / "killed", repository)]
    assert states.count(("trial", "FINISHED")) == 2
    assert (
        states.count(("trial", "KILLED")) == states.count(("tune", "KILLED")) == states.count(("tune", "FINISHED")) == 1
    )


def test_a_value_that_fits_no_key_is_named(prepared: Path, repository: Path) -> None:
    """A space that the model does not have is the user's to correct, before anything is trained."""
    space = {"train.optimizer.speed": Range(kind="float", low=0, high=1)}

    with pytest.raises(ConfigError, match=r"train\.optimizer\.speed"):
        tune.run(params_of(repository, space=space))
    assert {run.info.status for run in runs(prepared, repository)} == {"FAILED"}


def test_a_search_in_which_all_diverge_fails(prepared: Path, repository: Path) -> None:
    """Every trial's run is FAILED, nothing is written, and the error says what to change."""
    space = {"train.optimizer.lr": Range(kind="float", low=1e30, high=1e38)}

    with pytest.raises(TrainingError, match="all 2 trials of the search failed"):
        tune.run(params_of(repository, space=space))
    assert {run.info.status for run in runs(prepared, repository)} == {"FAILED"}
    assert not paths.BEST_PARAMS.exists()
