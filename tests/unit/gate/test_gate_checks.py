"""Every check on the candidate itself, in every state, for required and optional engines."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from sluice.gate import reports
from sluice.gate.dossier import Dossier, Problem
from sluice.gate.verdict import Check, Verdict

ENGINES = {"onnxruntime-fp32": True, "openvino-fp32": False}
BAD = ["refused", "failed", "crashed", "timeout", "unsupported", "skipped", "unavailable", "built", "never heard of"]

Change = Callable[..., Dossier]
Judged = Callable[[Dossier], Verdict]
Outcome = Callable[[Dossier, str], tuple[str, Check]]


def _with_state(dossier: Dossier, where: str, engine: str, status: str) -> Dossier:
    if where == "benchmark":
        cells = tuple(
            cell.model_copy(update={"status": status, "reason": "because"})
            if (cell.engine, cell.scenario) == (engine, "offline")
            else cell
            for cell in dossier.benchmark.cells
        )
        return replace(dossier, benchmark=dossier.benchmark.model_copy(update={"cells": cells}))
    if where == "engine_accuracy":
        scored = dossier.metrics.engines | {engine: reports.EngineMetrics(status=status, reason="because")}
        return replace(dossier, metrics=dossier.metrics.model_copy(update={"engines": scored}))
    parity = dossier.parity[engine]
    if where == "parity":
        parity = parity.model_copy(update={"status": status, "reason": "because"})
    else:
        parity = parity.model_copy(update={"clean_process": reports.State(status=status, reason="because")})
    return replace(dossier, parity={**dossier.parity, engine: parity})


@pytest.mark.parametrize("status", BAD)
@pytest.mark.parametrize("where", ["parity", "clean_process", "benchmark", "engine_accuracy"])
@pytest.mark.parametrize(("engine", "required"), ENGINES.items())
def test_a_bad_state_rejects_a_required_engine_and_is_noted_of_others(
    good: Dossier, outcome: Outcome, where: str, engine: str, required: bool, status: str
) -> None:
    """Each state of each cell of an engine decides as the table says, with its reason handed on."""
    verdict, check = outcome(_with_state(good, where, engine, status), f"{where}:{engine}")
    assert (verdict, check.counts_as) == (("REJECT", "REJECT") if required else ("PROMOTE", "noted"))
    assert check.status == status
    assert "because" in check.reason
    assert ("mend that" in check.reason) is required


@pytest.mark.parametrize(("engine", "verdict"), [("onnxruntime-fp32", "HOLD"), ("openvino-fp32", "PROMOTE")])
def test_an_inconclusive_cell_holds(good: Dossier, outcome: Outcome, engine: str, verdict: str) -> None:
    """A required engine that could not be told is for a person."""
    assert outcome(_with_state(good, "benchmark", engine, "inconclusive"), f"benchmark:{engine}")[0] == verdict


@pytest.mark.parametrize(("engine", "required"), ENGINES.items())
def test_an_engine_that_no_report_knows(
    good: Dossier, outcome: Outcome, judged: Judged, change: Change, engine: str, required: bool
) -> None:
    """No cell, no score, no parity: missing, which rejects what is required."""
    cells = tuple(cell for cell in good.benchmark.cells if cell.engine != engine)
    scored = {name: found for name, found in good.metrics.engines.items() if name != engine}
    parity = {name: found for name, found in good.parity.items() if name != engine}
    dossier = replace(change(change(good, "benchmark", cells=cells), "metrics", engines=scored), parity=parity)
    for name in ("parity", "clean_process", "benchmark", "engine_accuracy"):
        assert outcome(dossier, f"{name}:{engine}")[1].status == "missing"
    assert judged(dossier).verdict == ("REJECT" if required else "PROMOTE")


@pytest.mark.parametrize(
    ("low", "high", "verdict"),
    [(-0.004, 0.001, "PROMOTE"), (-0.01, 0.001, "HOLD"), (-0.03, -0.01, "REJECT"), (None, None, "REJECT")],
)
def test_an_engine_may_not_lose_accuracy(
    good: Dossier, outcome: Outcome, change: Change, low: float | None, high: float | None, verdict: str
) -> None:
    """The interval of engine minus eager must lie above -margin."""
    name = "onnxruntime-fp32"
    scored = reports.EngineMetrics(status="ok", difference=reports.Range(value=low, low=low, high=high))
    dossier = change(good, "metrics", engines=good.metrics.engines | {name: scored})
    assert outcome(dossier, f"engine_accuracy:{name}")[0] == verdict


@pytest.mark.parametrize(
    ("floor", "fields"),
    [
        ("accuracy", {"accuracy": reports.MeasuredShare(value=0.87)}),
        ("balanced_accuracy", {"balanced_accuracy": reports.MeasuredShare(value=0.5)}),
        ("worst_class_recall", {"worst_class": reports.WorstClass(name="b", recall=0.1, n=9)}),
        ("accuracy", {"accuracy": reports.MeasuredShare(value=None)}),
        ("worst_class_recall", {"worst_class": reports.WorstClass(name="b", recall=None, n=0)}),
    ],
)
def test_each_floor_rejects_alone(
    good: Dossier, outcome: Outcome, judged: Judged, change: Change, floor: str, fields: dict[str, Any]
) -> None:
    """One number below its floor, or no number, rejects and names the worst class (F10, A21)."""
    dossier = change(good, "metrics", **fields)
    verdict, check = outcome(dossier, f"floor:{floor}")
    assert (verdict, check.status) == ("REJECT", "failed")
    assert "worst in class 'b'" in check.reason
    assert [one.name for one in judged(dossier).checks if one.counts_as == "REJECT"] == [f"floor:{floor}"]


def test_a_model_trained_on_shuffled_labels_is_rejected(good: Dossier, judged: Judged, change: Change) -> None:
    """A model at chance level passes every technical check and is rejected by its numbers."""
    chance = reports.MeasuredShare(value=0.1)
    worst = reports.WorstClass(name="b", recall=0.02, n=1000)
    verdict = judged(change(good, "metrics", accuracy=chance, balanced_accuracy=chance, worst_class=worst))
    assert verdict.verdict == "REJECT"
    assert [one.name for one in verdict.checks if one.counts_as != "pass"] == [
        "floor:accuracy",
        "floor:balanced_accuracy",
        "floor:worst_class_recall",
    ]


def test_without_metrics_every_check_that_needs_them_is_missing(good: Dossier, outcome: Outcome) -> None:
    """A check is never left out: it says which file is missing and how to make it."""
    dossier = replace(good, metrics=Problem(Path("reports/evaluation/metrics.json"), "is missing"))
    for name in ("floor:accuracy", "floor:worst_class_recall", "engine_accuracy:onnxruntime-fp32"):
        verdict, check = outcome(dossier, name)
        assert (verdict, check.status) == ("REJECT", "missing")
        assert "reports/evaluation/metrics.json is missing: run dvc repro gate" in check.reason
