from pathlib import Path

import pytest
from unit.report import reports

from sluice.commands.summary import summary
from sluice.io import files, paths


@pytest.fixture(autouse=True)
def wide(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "120")


def test_says_it_all_on_one_screen(workspace: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Verdict, accuracy with interval, engines, version, tuned values, what to do next, in 24 lines."""
    reports.write_all()

    summary()

    said = capsys.readouterr().out
    for text in (
        "PROMOTE",
        "91.00 % (90.00 to 92.00)",
        "0.18 ms",
        "refused",
        "clothes version 4, alias candidate",
        "train.optimizer.lr = 0.31",
        "sluice promote",
        "make ui",
    ):
        assert text in said
    assert said.count("\n") <= 24


def test_failing_checks_come_with_their_reason(workspace: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What stands against the model is right below the verdict, word for word: brackets are no markup."""
    reports.write_all(verdict="REJECT")

    summary()

    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "REJECT"
    assert "floor:accuracy" in lines[1]
    assert "its floor [0.88]" in lines[1]


def test_names_the_page_when_there_is_one(workspace: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The way to the figures is shown."""
    reports.write_all()
    files.write_text(paths.REPORT, "<html>")

    summary()

    assert "reports/index.html" in capsys.readouterr().out


def test_an_empty_workspace_says_what_to_run(workspace: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Before the first run there are dashes and a command, no traceback."""
    summary()

    said = capsys.readouterr().out
    assert "No verdict yet" in said
    assert "dvc repro" in said


def test_each_report_may_be_damaged(workspace: Path) -> None:
    """A report of another form never breaks the summary."""
    reports.write_all()
    for path in reports.every_report():
        before = path.read_bytes()
        path.write_text('{"accuracy": 3, "champion": 3, "checks": 3, "cells": [3], "engines": {"a": 3}, "values": 3}')
        summary()
        path.write_bytes(before)
