"""The verdict as a whole."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sluice.gate import reports
from sluice.gate.dossier import Dossier, Problem
from sluice.gate.verdict import Verdict

REQUIRED, OPTIONAL = "onnxruntime-fp32", "openvino-fp32"
BADNESS = {"PROMOTE": 0, "HOLD": 1, "REJECT": 2}

Worse = Callable[[Dossier], Dossier]


def _lose(report: str) -> Worse:
    return lambda dossier: replace(dossier, **{report: Problem(Path(f"{report}.json"), "is missing")})


def _change(report: str, **fields: object) -> Worse:
    def changed(dossier: Dossier) -> Dossier:
        found = getattr(dossier, report)
        if isinstance(found, Problem):
            return dossier
        return replace(dossier, **{report: found.model_copy(update=fields)})

    return changed


def _parity(engine: str, **fields: object) -> Worse:
    def changed(dossier: Dossier) -> Dossier:
        found = dossier.parity[engine].model_copy(update=fields)
        return replace(dossier, parity={**dossier.parity, engine: found})

    return changed


def _wide(value: float, low: float, high: float) -> reports.ComparedAccuracy:
    return reports.ComparedAccuracy(status="ok", difference=reports.Range(value=value, low=low, high=high), n=100)


WORSE: dict[str, Worse] = {
    "no validation": _lose("validation"),
    "no schema": _lose("schema"),
    "no training": _lose("training"),
    "no metrics": _lose("metrics"),
    "no benchmark": _lose("benchmark"),
    "no comparison": _lose("comparison"),
    "other weights": lambda dossier: replace(dossier, disk=replace(dossier.disk, weights="x")),
    "bad accuracy": _change("metrics", accuracy=reports.MeasuredShare(value=0.2)),
    "accuracy NaN": _change("metrics", accuracy=reports.MeasuredShare(value=None)),
    "bad class": _change("metrics", worst_class=reports.WorstClass(name="a", recall=0.0, n=3)),
    "no engines scored": _change("metrics", engines={}),
    "no cells": _change("benchmark", cells=()),
    "undecided accuracy": _change("comparison", accuracy=_wide(0.0, -0.02, 0.02)),
    "undecided latency": _change(
        "comparison", latency=dict.fromkeys((REQUIRED, OPTIONAL), reports.ComparedLatency(status="inconclusive"))
    ),
    "required refused": _parity(REQUIRED, status="refused"),
    "required inconclusive": _parity(REQUIRED, status="inconclusive"),
    "required not clean": _parity(REQUIRED, clean_process=reports.State(status="crashed")),
    "optional refused": _parity(OPTIONAL, status="refused"),
}
HARMLESS = {"optional refused"}
HELD = {"undecided accuracy", "undecided latency", "required inconclusive"}


@pytest.mark.parametrize("name", WORSE)
def test_each_fault_alone(good: Dossier, judged: Callable[[Dossier], Verdict], name: str) -> None:
    """One fault rejects, holds, or is noted, and its check says what to do."""
    verdict = judged(WORSE[name](good))
    assert verdict.verdict == ("PROMOTE" if name in HARMLESS else "HOLD" if name in HELD else "REJECT")
    bad = [one for one in verdict.checks if one.counts_as != "pass"]
    assert bad
    assert all(len(one.reason) > 10 and "\n" not in one.reason for one in bad)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=200)
@given(faults=st.sets(st.sampled_from(sorted(WORSE))), more=st.sampled_from(sorted(WORSE)))
def test_more_faults_never_make_a_better_verdict(
    good: Dossier, judged: Callable[[Dossier], Verdict], faults: set[str], more: str
) -> None:
    """The verdict is monotone in the evidence, whatever else is wrong with it."""
    before = _apply(good, faults)
    after = _apply(good, faults | {more})
    assert BADNESS[judged(after).verdict] >= BADNESS[judged(before).verdict]


def _apply(dossier: Dossier, faults: set[str]) -> Dossier:
    """Faults that share a report are applied mildest first, so that a later one does not undo an earlier."""
    for name in sorted(faults, key=lambda name: (name not in HARMLESS, name not in HELD, name)):
        dossier = WORSE[name](dossier)
    return dossier


def test_the_json_of_a_verdict(good: Dossier, judged: Callable[[Dossier], Verdict]) -> None:
    """The keys that register, promote and the report read."""
    found = judged(good).as_json()
    assert list(found) == ["verdict", "checks", "candidate", "champion", "repeated"]
    assert list(found["checks"][0]) == ["name", "status", "counts_as", "value", "limit", "reason"]
    assert found["candidate"] == {"weights": "w" * 64, "exported": {REQUIRED: "r" * 64, OPTIONAL: "o" * 64}}
    assert {one["name"] for one in found["checks"]} == {
        "evidence_complete",
        "digests_agree",
        "floor:accuracy",
        "floor:balanced_accuracy",
        "floor:worst_class_recall",
        "accuracy_vs_champion",
        *(
            f"{kind}:{engine}"
            for kind in ("parity", "clean_process", "benchmark", "engine_accuracy", "latency_vs_champion")
            for engine in (REQUIRED, OPTIONAL)
        ),
    }
