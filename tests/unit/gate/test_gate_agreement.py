"""Reports that are missing, and reports about other files than those on disk."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from sluice.gate import reports
from sluice.gate.dossier import Dossier, Problem
from sluice.gate.verdict import Check, Verdict

REQUIRED, OPTIONAL = "onnxruntime-fp32", "openvino-fp32"
STAMPED = ["training", "metrics", "benchmark", "comparison", REQUIRED, OPTIONAL]

Judged = Callable[[Dossier], Verdict]
Outcome = Callable[[Dossier, str], tuple[str, Check]]


def _restamp(dossier: Dossier, report: str, **fields: object) -> Dossier:
    if report in dossier.parity:
        parity = dossier.parity[report]
        stamped = parity.model_copy(update={"evidence": parity.evidence.model_copy(update=fields)})
        return replace(dossier, parity={**dossier.parity, report: stamped})
    found = getattr(dossier, report)
    return replace(dossier, **{report: found.model_copy(update={"evidence": found.evidence.model_copy(update=fields)})})


def test_good_evidence_is_promoted(good: Dossier, judged: Judged) -> None:
    """Where nothing is wrong every check passes and the verdict names candidate and champion."""
    verdict = judged(good)
    assert verdict.verdict == "PROMOTE"
    assert {one.counts_as for one in verdict.checks} == {"pass"}
    assert (verdict.weights, verdict.champion) == ("w" * 64, {"version": 3, "weights": "c" * 64})
    assert all(one.reason for one in verdict.checks)


@pytest.mark.parametrize("report", ["validation", "schema", "training", "metrics", "benchmark", "comparison"])
@pytest.mark.parametrize("reason", ["is missing", "cannot be used (accuracy: Field required)"])
def test_each_missing_report_rejects(good: Dossier, outcome: Outcome, report: str, reason: str) -> None:
    """Evidence that is not there, or is no evidence, is never taken for good."""
    dossier = replace(good, **{report: Problem(Path(f"reports/{report}.json"), reason)})
    verdict, check = outcome(dossier, "evidence_complete")
    assert (verdict, check.status, check.counts_as) == ("REJECT", "missing", "REJECT")
    assert f"reports/{report}.json {reason}" in check.reason
    assert "dvc repro gate" in check.reason


@pytest.mark.parametrize(("engine", "verdict"), [(REQUIRED, "REJECT"), (OPTIONAL, "PROMOTE")])
def test_missing_parity_rejects_a_required_engine(good: Dossier, judged: Judged, engine: str, verdict: str) -> None:
    """The parity report of an engine that is not required may be missing, and is noted."""
    dossier = replace(good, parity={**good.parity, engine: Problem(Path("parity.json"), "is missing")})
    assert judged(dossier).verdict == verdict


@pytest.mark.parametrize("report", STAMPED)
def test_other_weights_reject(good: Dossier, outcome: Outcome, report: str) -> None:
    """A report about other weights than those on disk rejects, whichever it is."""
    verdict, check = outcome(_restamp(good, report, weights="x" * 64), "digests_agree")
    assert (verdict, check.status) == ("REJECT", "disagree")
    assert "is about other weights (xxxxxxxxxxxx, on disk wwwwwwwwwwww)" in check.reason


@pytest.mark.parametrize("report", [*STAMPED[1:]])
@pytest.mark.parametrize("engine", [REQUIRED, OPTIONAL])
def test_other_exported_files_reject(good: Dossier, outcome: Outcome, report: str, engine: str) -> None:
    """A report about other exported files rejects, of an optional engine too."""
    made = {REQUIRED: good.disk.exported[REQUIRED], OPTIONAL: good.disk.exported[OPTIONAL]} | {engine: "x" * 64}
    verdict, check = outcome(_restamp(good, report, exported=made), "digests_agree")
    assert verdict == "REJECT"
    assert f"is about another {engine}" in check.reason


@pytest.mark.parametrize("report", STAMPED)
def test_another_split_of_the_same_name_rejects(good: Dossier, outcome: Outcome, report: str) -> None:
    """The same name with other samples in it rejects."""
    verdict, check = outcome(_restamp(good, report, split_digest="x" * 64), "digests_agree")
    assert verdict == "REJECT"
    assert "used another" in check.reason


@pytest.mark.parametrize("report", ["metrics", "comparison"])
@pytest.mark.parametrize("split", ["val", None])
def test_scores_of_another_split_reject(good: Dossier, outcome: Outcome, report: str, split: str | None) -> None:
    """Only the gate split counts: numbers of the data that the model was chosen on do not."""
    digest = good.disk.splits[split] if split else None
    verdict, check = outcome(_restamp(good, report, split=split, split_digest=digest), "digests_agree")
    assert verdict == "REJECT"
    assert "instead of 'gate'" in check.reason


@pytest.mark.parametrize("report", ["metrics", "benchmark", "comparison", REQUIRED])
def test_a_report_that_does_not_say_which_files_rejects(good: Dossier, outcome: Outcome, report: str) -> None:
    """A digest that was left out is no agreement."""
    verdict, check = outcome(_restamp(good, report, exported={}), "digests_agree")
    assert verdict == "REJECT"
    assert "does not say which" in check.reason


@pytest.mark.parametrize("changes", [{"weights": None}, {"exported": {}}, {"splits": {}}, {"weights": "x"}])
def test_files_that_changed_or_went_reject(good: Dossier, judged: Judged, changes: dict[str, object]) -> None:
    """Evidence holds for files that are there and are those."""
    assert judged(replace(good, disk=replace(good.disk, **changes))).verdict == "REJECT"


def test_a_comparison_with_a_former_champion_rejects(good: Dossier, outcome: Outcome) -> None:
    """The comparison must be with the champion of now."""
    registry = reports.Registry(champion=reports.Champion(version=4, weights="n" * 64))
    verdict, check = outcome(replace(good, registry=registry), "digests_agree")
    assert verdict == "REJECT"
    assert "against another champion" in check.reason
