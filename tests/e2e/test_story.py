"""What a user does, in order, with the real DVC, MLflow and git. Each test goes on where the one before ended."""

import re
import shutil
from pathlib import Path

import pytest
from e2e.workspace import Workspace
from ruamel.yaml import YAML

pytestmark = pytest.mark.e2e
ALWAYS = ["environment", "registry"]
MEASURING = {"tune", "train", "profile", "capture", "evaluate", "benchmark"}


def ran(workspace: Workspace) -> set[str]:
    return set(workspace.repro())


def test_first_run_registers_a_candidate(digits: Workspace) -> None:
    """From raw data to a registered candidate in one command."""
    stages = digits.repro()
    assert len(stages) == 17
    assert digits.json("reports/gate/verdict.json")["verdict"] == "PROMOTE"
    registered = digits.json("models/registered.json")
    assert registered["version"] == 1
    assert registered["digest"] == digits.json("reports/gate/verdict.json")["candidate"]["weights"]
    page = (digits.root / "reports/index.html").read_text(encoding="utf-8")
    assert "PROMOTE" in page
    assert not re.search(r"""(src|href|url)\s*[=(]\s*["']?https?:""", page)
    assert "PROMOTE" in digits.run("sluice", "summary")


def test_second_run_looks_and_does_nothing(digits: Workspace) -> None:
    """Nothing changed: environment and registry look, nothing else runs, the lock stays."""
    lock = (digits.root / "dvc.lock").read_bytes()
    assert sorted(digits.repro()) == ALWAYS
    assert (digits.root / "dvc.lock").read_bytes() == lock
    digits.commit("First model")


def test_dvc_habits(digits: Workspace) -> None:
    """metrics, plots and params answer."""
    shown = digits.run("dvc", "metrics", "show")
    assert "val_accuracy" in shown
    assert "worst_class_recall" in shown
    assert "evidence" not in shown
    assert "file://" in digits.run("dvc", "plots", "show", "-o", "plots")
    shutil.rmtree(digits.root / "plots")
    digits.edit(train__epochs=7)
    assert "train.epochs" in digits.run("dvc", "params", "diff")
    digits.edit(train__epochs=6)


def test_promotion_sets_nothing_to_work(digits: Workspace) -> None:
    """After a promotion the DAG takes notice without training or measuring, and the verdict stays."""
    before = digits.json("reports/gate/verdict.json")
    digits.run("sluice", "promote")
    stages = ran(digits)
    assert not stages & MEASURING
    after = digits.json("reports/gate/verdict.json")
    assert after["verdict"] == before["verdict"] == "PROMOTE"
    assert after["champion"]["version"] == 1
    assert digits.json("models/registered.json")["version"] == 1


def test_what_is_lost_or_in_conflict_is_mended(digits: Workspace) -> None:
    """The gate rejects what has a hole, markers of a merge are named; one side taken, dvc repro mends both (D6)."""
    (digits.root / "reports/evaluation/metrics.json").unlink()
    digits.run("sluice", "gate", "--check", ok=11)
    lock = digits.root / "dvc.lock"
    whole = lock.read_text(encoding="utf-8")
    lock.write_text(f"<<<<<<< ours\n{whole}=======\n{whole}>>>>>>> theirs\n", encoding="utf-8")
    assert "dvc.lock" in digits.run("dvc", "status", ok=1)
    lock.write_text(whole, encoding="utf-8")
    assert sorted(digits.repro()) == ALWAYS
    digits.run("sluice", "gate", "--check")


def test_another_seed_is_compared_with_the_champion(digits: Workspace) -> None:
    """A new candidate is judged by the paired interval, and the verdict follows from it."""
    digits.edit(seed=1, tune__trials=0)
    assert ran(digits) >= MEASURING
    verdict = digits.json("reports/gate/verdict.json")
    interval = digits.json("reports/compare/compare.json")["accuracy"]["difference"]
    (check,) = [check for check in verdict["checks"] if check["name"] == "accuracy_vs_champion"]
    expected = "REJECT" if interval["high"] < -0.01 else "pass" if interval["low"] > -0.01 else "HOLD"
    assert check["counts_as"] == expected
    assert verdict["champion"]["version"] == 1


def test_rollback_returns_the_alias(digits: Workspace) -> None:
    """The second champion goes, the first is back, and both moves are on record."""
    registered = digits.json("models/registered.json")
    if registered["version"] is None:
        pytest.fail("the second model got no version: make the seeds of this story comparable")
    digits.run("sluice", "promote", str(registered["version"]), "--force", "--reason", "story")
    digits.run("sluice", "rollback", "--reason", "story")
    digits.repro("registry")
    assert digits.json("models/registry.json")["champion"]["version"] == 1
    assert digits.run("sluice", "history").count("story") == 2


def test_going_back_in_git_brings_the_model_back(digits: Workspace) -> None:
    """git checkout and dvc checkout give an older revision's model, and dvc repro trains nothing."""
    digits.commit("Second model")
    second = digits.json("reports/gate/verdict.json")["candidate"]["weights"]
    digits.run("git", "checkout", "--quiet", "HEAD~1")
    digits.run("dvc", "checkout", "--quiet", "--force")
    first = digits.json("reports/gate/verdict.json")["candidate"]["weights"]
    assert first != second
    assert not ran(digits) & MEASURING
    digits.run("git", "checkout", "--quiet", "--force", "-")
    digits.run("dvc", "checkout", "--quiet", "--force")


@pytest.mark.long
def test_a_new_store_is_filled_again(digits: Workspace) -> None:
    """A deleted mlflow.db costs a registration, no training."""
    (digits.root / "mlflow.db").unlink()
    stages = ran(digits)
    assert "register" in stages
    assert not stages & MEASURING
    assert digits.json("models/registered.json")["version"] == 1


def test_another_clone_stands_where_this_one_stands(digits: Workspace, tmp_path: Path) -> None:
    """Push, clone, pull, repro: registered there, nothing trained."""
    digits.run("dvc", "remote", "add", "--default", "--force", "near", str(tmp_path / "remote"))
    digits.run("dvc", "push", "--quiet")
    digits.commit("Remote")
    digits.run("git", "clone", "--quiet", str(digits.root), str(tmp_path / "clone"))
    clone = Workspace(tmp_path / "clone")
    clone.run("dvc", "pull", "--quiet")
    stages = ran(clone)
    assert "register" in stages
    assert not stages & MEASURING
    assert clone.json("models/registered.json")["digest"] == digits.json("models/registered.json")["digest"]


@pytest.mark.long
def test_shuffled_labels_are_rejected(digits: Workspace, tmp_path: Path) -> None:
    """A model of nothing does not pass, and gets no version."""
    images = sorted((digits.root / "data/raw").glob("*/*.png"))
    for number, image in enumerate(images):
        image.rename(tmp_path / f"{number}.png")
    for number, image in enumerate(images):
        shutil.move(tmp_path / f"{number * 7919 % len(images)}.png", image)
    digits.run("dvc", "add", "--quiet", "data/raw")
    digits.repro()
    assert digits.json("reports/gate/verdict.json")["verdict"] == "REJECT"
    assert digits.json("models/registered.json")["version"] is None
    digits.run("sluice", "gate", "--check", ok=11)


@pytest.mark.long
def test_an_experiment_runs_and_is_listed(digits: Workspace) -> None:
    """dvc exp run -S tries a value without editing params.yaml by hand."""
    digits.commit("Before the experiment")
    digits.run("dvc", "exp", "run", "--quiet", "-S", "train.epochs=2")
    assert digits.json("reports/training/summary.json")["epochs"] == 2
    assert "train.epochs" in digits.run("dvc", "exp", "show", "--csv")


def test_lock_names_every_stage(digits: Workspace) -> None:
    """dvc.lock is complete."""
    lock = YAML(typ="safe", pure=True).load((digits.root / "dvc.lock").read_text(encoding="utf-8"))
    assert len(lock["stages"]) == 17
