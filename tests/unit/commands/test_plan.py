import subprocess
import sys
from pathlib import Path

import pytest

from sluice.commands.plan import plan

DAG = """
stages:
  look: {cmd: "date > look.txt", always_changed: true, outs: [look.txt]}
  first: {cmd: "cp in.txt first.txt", deps: [in.txt], params: [train], outs: [first.txt]}
  second: {cmd: "cp first.txt second.txt", deps: [first.txt, look.txt], outs: [second.txt]}
  other: {cmd: "cp look.txt other.txt", deps: [look.txt], params: [seed], outs: [other.txt]}
"""


@pytest.fixture
def made(workspace: Path) -> Path:
    """A DVC workspace in which everything was run."""
    (workspace / "dvc.yaml").write_text(DAG)
    (workspace / "params.yaml").write_text("seed: 0\ntrain: {epochs: 5, optimizer: {lr: 0.1}}\n")
    (workspace / "in.txt").write_text("1\n")
    for command in (["init", "--no-scm", "-q"], ["repro", "-q"]):
        subprocess.run([sys.executable, "-m", "dvc", *command], check=True)
    return workspace


def test_nothing_changed_leaves_what_always_looks(made: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A stage that always runs is no reason for what follows it."""
    plan()
    out = capsys.readouterr().out
    assert "look   runs always, to look" in out
    assert set(out.partition("unchanged: ")[2].strip().split(", ")) == {"first", "second", "other"}


def test_every_reason_is_named(made: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Values before and now, files, lost results, and what follows from them."""
    (made / "params.yaml").write_text("seed: 1\ntrain: {epochs: 3, optimizer: {lr: 0.1}}\n")
    (made / "in.txt").write_text("2\n")
    (made / "other.txt").unlink()
    plan()
    out = capsys.readouterr().out
    for line in (
        "train.epochs: 5 -> 3",
        "in.txt modified",
        "seed: 0 -> 1",
        "other.txt is deleted",
        "if something new comes from first",
        "unchanged: none",
    ):
        assert line in out
    assert "lr" not in out


def test_a_stage_that_never_ran(made: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Without an entry in dvc.lock there is nothing to compare with."""
    (made / "dvc.lock").unlink()
    plan()
    assert "has never run here" in capsys.readouterr().out
