"""Candidate against champion, and the candidate that is the champion."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from sluice.gate import reports
from sluice.gate.dossier import Dossier, Problem
from sluice.gate.verdict import Check, Verdict

REQUIRED, OPTIONAL = "onnxruntime-fp32", "openvino-fp32"

Change = Callable[..., Dossier]
Judged = Callable[[Dossier], Verdict]
Outcome = Callable[[Dossier, str], tuple[str, Check]]


def _accuracy(value: float, low: float, high: float, *, n: int = 300) -> reports.ComparedAccuracy:
    return reports.ComparedAccuracy(status="ok", difference=reports.Range(value=value, low=low, high=high), n=n)


@pytest.mark.parametrize(
    ("value", "low", "high", "verdict"),
    [(0.01, 0.002, 0.02, "PROMOTE"), (0.0, -0.012, 0.012, "HOLD"), (-0.03, -0.05, -0.01, "REJECT")],
)
def test_the_interval_decides(
    good: Dossier, outcome: Outcome, change: Change, value: float, low: float, high: float, verdict: str
) -> None:
    """Above -margin passes, below it is refused, an interval that straddles it is held."""
    dossier = change(good, "comparison", accuracy=_accuracy(value, low, high))
    assert outcome(dossier, "accuracy_vs_champion")[0] == verdict


def test_hold_says_what_so_many_samples_can_show(good: Dossier, outcome: Outcome, change: Change) -> None:
    """With 300 samples the reason prints the smallest difference they show and how many would tell."""
    check = outcome(change(good, "comparison", accuracy=_accuracy(0.0, -0.012, 0.012)), "accuracy_vs_champion")[1]
    assert "300 samples can show a difference of 0.0120" in check.reason
    assert "about 1728 would tell" in check.reason


@pytest.mark.parametrize(
    "accuracy",
    [None, reports.ComparedAccuracy(status="failed", reason="gone"), reports.ComparedAccuracy(status="no_champion")],
)
def test_a_champion_that_was_not_compared_rejects(
    good: Dossier, outcome: Outcome, change: Change, accuracy: reports.ComparedAccuracy | None
) -> None:
    """With a champion there must be a comparison, and nothing in its place."""
    assert outcome(change(good, "comparison", accuracy=accuracy), "accuracy_vs_champion")[0] == "REJECT"


def test_no_champion_passes(good: Dossier, judged: Judged, change: Change) -> None:
    """The first model has nothing to be worse than."""
    none = change(good, "comparison", champion=None, accuracy=None, latency={})
    verdict = judged(replace(none, registry=reports.Registry(champion=None)))
    assert verdict.verdict == "PROMOTE"
    assert verdict.champion is None
    against = [one for one in verdict.checks if "champion" in one.name]
    assert {one.status for one in against} == {"no_champion"}
    assert len(against) == 3


def _latency(status: str, ratio: tuple[float, float] | None, aa: tuple[float, float] | None) -> reports.ComparedLatency:
    low_high = [
        None if pair is None else reports.Range(value=sum(pair) / 2, low=pair[0], high=pair[1]) for pair in (ratio, aa)
    ]
    return reports.ComparedLatency(status=status, reason="because", ratio=low_high[0], aa=low_high[1])


QUIET = (0.99, 1.01)


@pytest.mark.parametrize(
    ("latency", "verdict"),
    [
        (_latency("ok", (0.95, 1.04), QUIET), "PROMOTE"),
        (_latency("ok", (1.0, 1.09), QUIET), "HOLD"),
        (_latency("ok", (1.07, 1.2), QUIET), "REJECT"),
        (_latency("ok", (1.07, 1.2), (0.9, 1.1)), "HOLD"),
        (_latency("ok", (0.9, 0.95), None), "HOLD"),
        (_latency("ok", None, QUIET), "REJECT"),
        (_latency("inconclusive", (1.0, 1.09), QUIET), "HOLD"),
        (_latency("no_champion", None, None), "PROMOTE"),
        (_latency("failed", None, None), "REJECT"),
        (_latency("unavailable", None, None), "REJECT"),
        (None, "REJECT"),
    ],
)
@pytest.mark.parametrize("engine", [REQUIRED, OPTIONAL])
def test_latency(
    good: Dossier,
    outcome: Outcome,
    change: Change,
    engine: str,
    latency: reports.ComparedLatency | None,
    verdict: str,
) -> None:
    """Slower than the margin rejects, not to be told holds, an optional engine is only noted (G13)."""
    others = {name: found for name, found in good.comparison.latency.items() if name != engine}
    dossier = change(good, "comparison", latency=others if latency is None else others | {engine: latency})
    assert outcome(dossier, f"latency_vs_champion:{engine}")[0] == (verdict if engine == REQUIRED else "PROMOTE")


def test_reject_beats_hold(good: Dossier, judged: Judged, change: Change) -> None:
    """An undecided latency does not soften an accuracy that is refused."""
    slow = good.comparison.latency | {REQUIRED: _latency("inconclusive", None, None)}
    dossier = change(good, "comparison", accuracy=_accuracy(-0.03, -0.05, -0.01), latency=slow)
    verdict = judged(dossier)
    assert {one.counts_as for one in verdict.checks} == {"pass", "HOLD", "REJECT"}
    assert verdict.verdict == "REJECT"


def test_no_comparison_at_all_rejects(good: Dossier, outcome: Outcome) -> None:
    """Without compare.json every check against the champion is missing."""
    dossier = replace(good, comparison=Problem(Path("reports/compare/compare.json"), "is missing"))
    for name in ("accuracy_vs_champion", f"latency_vs_champion:{REQUIRED}"):
        verdict, check = outcome(dossier, name)
        assert (verdict, check.status) == ("REJECT", "missing")


def _same(good: Dossier, change: Change, record: dict[str, Any] | None) -> Dossier:
    champion = reports.Champion(version=3, weights=good.disk.weights or "")
    dossier = change(
        good, "comparison", champion=champion, same=True, verdict_on_record=record, accuracy=None, latency={}
    )
    return replace(dossier, registry=reports.Registry(champion=champion))


def _record(good: Dossier, verdict: object = "PROMOTE", **candidate: object) -> dict[str, Any]:
    known = {"weights": good.disk.weights, "exported": dict(good.disk.exported)}
    return {"verdict": verdict, "candidate": known | candidate}


@pytest.mark.parametrize("recorded", ["PROMOTE", "HOLD", "REJECT"])
def test_the_champion_itself_repeats_its_verdict(good: Dossier, judged: Judged, change: Change, recorded: str) -> None:
    """The verdict on record is repeated, a forced promotion of a HOLD too, and nothing is judged anew."""
    verdict = judged(_same(good, change, _record(good, recorded)))
    assert (verdict.verdict, verdict.repeated) == (recorded, True)
    assert [one.name for one in verdict.checks] == ["evidence_complete", "digests_agree", "verdict_on_record"]


@pytest.mark.parametrize(
    "spoil",
    [
        lambda record: None,
        lambda record: {},
        lambda record: record | {"verdict": ["PROMOTE"]},
        lambda record: record | {"verdict": "FINE"},
        lambda record: record | {"candidate": None},
        lambda record: record | {"candidate": record["candidate"] | {"weights": "other"}},
        lambda record: record | {"candidate": record["candidate"] | {"exported": {REQUIRED: "other"}}},
    ],
)
def test_without_a_record_on_these_files_it_is_judged_anew(
    good: Dossier, judged: Judged, change: Change, spoil: Callable[[dict[str, Any]], dict[str, Any] | None]
) -> None:
    """A verdict that is missing, no verdict, or about other files is not repeated; the champion checks fall away."""
    dossier = _same(good, change, spoil(_record(good)))
    verdict = judged(dossier)
    assert (verdict.verdict, verdict.repeated) == ("PROMOTE", False)
    assert not [one for one in verdict.checks if "champion" in one.name]
    bad = change(dossier, "metrics", accuracy=reports.MeasuredShare(value=0.1))
    assert judged(bad).verdict == "REJECT"


def test_a_record_does_not_cover_evidence_that_does_not_agree(good: Dossier, judged: Judged, change: Change) -> None:
    """Weights that changed after the reports, or a report that is gone, reject the champion too."""
    dossier = _same(good, change, _record(good))
    changed = replace(dossier, disk=replace(dossier.disk, exported={REQUIRED: "x", OPTIONAL: "y"}))
    gone = replace(dossier, validation=Problem(Path("summary.json"), "is missing"))
    for spoiled in (changed, gone):
        assert (judged(spoiled).verdict, judged(spoiled).repeated) == ("REJECT", False)


def test_only_the_champions_weights_are_the_champion(good: Dossier, outcome: Outcome, change: Change) -> None:
    """A comparison that calls another model the champion itself is refused."""
    dossier = change(_same(good, change, _record(good)), "comparison", champion=good.comparison.champion)
    verdict, check = outcome(replace(dossier, registry=good.registry), "digests_agree")
    assert verdict == "REJECT"
    assert "calls the candidate the champion" in check.reason
