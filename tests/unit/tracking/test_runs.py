import os
import subprocess
from pathlib import Path

import pytest
from mlflow.entities import Run
from unit.tracking import judged
from unit.tracking.test_names import ODD

from sluice.io import files, paths
from sluice.tracking.live import start_run
from sluice.tracking.names import slug
from sluice.tracking.register import register
from sluice.tracking.store import Store


@pytest.fixture
def store(workspace: Path) -> Store:
    return judged.fresh_store(workspace)


def registered_run(store: Store) -> Run:
    return store.client.get_run(register(store, judged.candidate()).run_id)


def test_the_run_of_the_training_is_used(store: Store) -> None:
    """The newest run with these weights gets the reports; it keeps its end, its parameters and its curve."""
    judged.write_all()
    weights = files.digest_file(paths.WEIGHTS)
    for mine in ("old", "new", "deleted"):
        tags = {"sluice.weights": weights, "sluice.git.revision": "abc"}
        with start_run(store, experiment=judged.NAME, run_name=mine, tags=tags) as live:
            live.log_params({"train": {"epochs": mine}})
            live.log_metrics({"train_loss": 7.0}, step=1)
        if mine == "deleted":
            store.client.delete_run(live.run_id)
    run = registered_run(store)

    assert run.info.run_name == "new"
    assert run.data.params == {"seed": "0", "train.epochs": "new", "train.optimizer.lr": "0.1"}
    assert run.data.metrics["train_loss"] == 7.0
    assert run.data.metrics["gate.accuracy"] == 0.9
    assert run.data.tags["sluice.git.revision"] == "abc"


def test_a_run_that_the_store_lacks_is_made_from_files(store: Store) -> None:
    """A new store gets the run as training left it: parameters, curves without NaN, lineage, data sets, reports."""
    judged.write_all()
    files.write_text(Path("requirements.lock"), "torch==1\n")
    run = registered_run(store)

    assert run.info.status == "FINISHED"
    assert run.data.tags["sluice.restored"] == "true"
    assert run.data.params == {"seed": "0", "train.epochs": "2", "train.optimizer.lr": "0.1"}
    losses = store.client.get_metric_history(run.info.run_id, "train_loss")
    assert [(point.step, point.value) for point in losses] == [(1, 1.0), (2, 0.5)]
    assert [point.step for point in store.client.get_metric_history(run.info.run_id, "val_loss")] == [2]
    assert {
        "gate.accuracy": 0.9,
        "gate.nll": 0.3,
        f"gate.{judged.ENGINE}.accuracy": 0.9,
    }.items() <= run.data.metrics.items()
    assert "gate.ece" not in run.data.metrics
    assert run.data.tags["sluice.git.revision"] == "no git"
    assert run.data.tags["sluice.lock"] == files.digest_file(Path("requirements.lock"))
    assert run.data.tags["sluice.split.gate"] == "gate" * 12
    assert [item.dataset.name for item in run.inputs.dataset_inputs] == [
        f"shapes/{split}" for split in ("train", "val", "gate")
    ]


def test_revision_and_dirty_files_are_recorded(store: Store) -> None:
    """D8: inside git the run says which commit, and whether the files were those of the commit."""
    judged.write_all()
    environment = os.environ | {
        f"GIT_{who}_{what}": "t@t" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")
    }
    for command in (["init", "-q"], ["add", "reports/gate"], ["commit", "-qm", "one"]):
        subprocess.run(["git", *command], check=True, env=environment)
    judged.write_verdict("PROMOTE", note="changed after the commit")
    tags = registered_run(store).data.tags
    assert len(tags["sluice.git.revision"]) == 40
    assert tags["sluice.git.dirty"] == "true"
    assert tags["sluice.lock"] == "no lock"


def test_odd_class_names_break_nothing(store: Store, tmp_path: Path) -> None:
    """F9: each class has its metric under a slug, and the map back is an artifact."""
    classes = tuple(name for name in ODD if name.isprintable())
    judged.write_all(classes=classes)
    run = registered_run(store)
    names = files.read_json(
        Path(store.client.download_artifacts(run.info.run_id, "reports/evaluation/metric_names.json", str(tmp_path)))
    )
    metrics = run.data.metrics
    assert names == {name: slug(name) for name in classes}
    assert all(metrics[f"gate.class.{short}.recall"] == 0.5 for short in names.values())
