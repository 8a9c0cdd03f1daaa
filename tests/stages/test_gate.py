"""The stage gate on evidence as the other stages write it."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from sluice.config import Params, parse
from sluice.io import files, paths
from sluice.io.evidence import Evidence
from sluice.stages import gate

ENGINES = ("onnxruntime-fp32", "openvino-fp32")


@pytest.fixture
def params(repository: Path) -> Params:
    preset = parse((repository / "params" / "digits.yaml").read_text(), name="digits")
    return preset.model_copy(update={"gate": preset.gate.model_copy(update={"required": ENGINES[:1]})})


def _ok(**fields: Any) -> dict[str, Any]:
    return {"status": "ok", "reason": "", **fields}


def _range(value: float, low: float, high: float) -> dict[str, float]:
    return {"value": value, "low": low, "high": high}


@pytest.fixture
def evidence(workspace: Path) -> Path:
    """A workspace with all evidence of a good candidate and no champion."""
    files.write_text(paths.WEIGHTS, "weights")
    for split in ("train", "val", "gate"):
        files.write_json(paths.split_folder(split) / "split.json", {"split": split, "digest": f"digest of {split}"})
    for engine in ENGINES:
        files.write_text(paths.exported(engine) / "model", engine)
    made = {engine: files.digest_folder(paths.exported(engine)) for engine in ENGINES}
    base = Evidence(
        stage="gate",
        weights=files.digest_file(paths.WEIGHTS),
        split="val",
        split_digest="digest of val",
        params="p",
        exported=made,
    )
    on_gate = replace(base, split="gate", split_digest="digest of gate").as_json()
    for engine in ENGINES:
        own = replace(base, exported={engine: made[engine]}).as_json()
        report = _ok(engine=engine, clean_process=_ok(), sqnr_db=139.0, evidence=own)
        files.write_json(paths.exported(engine) / paths.PARITY_NAME, report)
    files.write_json(paths.VALIDATION_SUMMARY, {"accepted": 10, "findings": [], "evidence": {}})
    files.write_json(paths.SCHEMA, {"task": "image_classification", "classes": ["a", "b"], "height": 8})
    files.write_json(paths.TRAINING_SUMMARY, {"epochs": 1, "evidence": replace(base, exported={}).as_json()})
    score = _ok(accuracy=_range(0.98, 0.97, 0.99), agreement=1.0, difference=_range(0, 0, 0))
    metrics = {
        "accuracy": _range(0.98, 0.97, 0.99) | {"n": 300},
        "balanced_accuracy": _range(0.98, 0.97, 0.99),
        "worst_class": {"name": "b", "recall": 0.95, "n": 30},
        "engines": dict.fromkeys(ENGINES, score),
    }
    files.write_json(paths.METRICS, metrics | {"evidence": on_gate})
    cells = [_ok(engine=engine, scenario="offline", median_ms=1.0) for engine in ("eager", *ENGINES)]
    files.write_json(paths.BENCHMARK, {"cells": cells, "rounds": 20, "evidence": base.as_json()})
    compared = {"champion": None, "same": False, "verdict_on_record": None, "accuracy": None, "latency": {}}
    files.write_json(paths.COMPARISON, compared | {"evidence": on_gate})
    files.write_json(paths.REGISTRY, {"store": "s", "champion": None})
    return workspace


def _edit(path: Path, change: Callable[[dict[str, Any]], object]) -> None:
    report = files.read_json(path)
    change(report)
    files.write_json(path, report)


def test_a_good_candidate_is_promoted(evidence: Path, params: Params, capsys: pytest.CaptureFixture[str]) -> None:
    """The verdict is written with its evidence, printed, and the same on a second look."""
    gate.run(params)
    verdict = files.read_json(paths.VERDICT)
    assert verdict["verdict"] == "PROMOTE"
    assert verdict["candidate"]["weights"] == files.digest_file(paths.WEIGHTS)
    assert verdict["champion"] is None
    assert verdict["repeated"] is False
    assert verdict["evidence"]["split_digest"] == "digest of gate"
    assert verdict["evidence"]["params"] == params.gate.digest()
    assert capsys.readouterr().out == f"PROMOTE: {len(verdict['checks'])} of {len(verdict['checks'])} checks passed\n"
    before = paths.VERDICT.read_bytes()
    gate.run(params)
    assert paths.VERDICT.read_bytes() == before


def test_check_writes_nothing_and_answers_by_code(evidence: Path, params: Params) -> None:
    """`sluice gate --check` judges what lies there: 0, 10 or 11, and no file is touched."""
    assert gate.check(params) == 0
    _edit(paths.BENCHMARK, lambda report: report["cells"][1].update(status="inconclusive"))
    assert gate.check(params) == 10
    _edit(paths.METRICS, lambda report: report["accuracy"].update(value=None))
    assert gate.check(params) == 11
    assert not paths.VERDICT.exists()


@pytest.mark.parametrize(
    "path",
    [
        paths.VALIDATION_SUMMARY,
        paths.SCHEMA,
        paths.TRAINING_SUMMARY,
        paths.METRICS,
        paths.BENCHMARK,
        paths.COMPARISON,
        paths.exported(ENGINES[0]) / paths.PARITY_NAME,
    ],
    ids=str,
)
@pytest.mark.parametrize("spoil", [Path.unlink, lambda path: path.write_text("{"), lambda path: path.write_text("{}")])
def test_a_spoiled_report_rejects_and_does_not_raise(
    evidence: Path, params: Params, capsys: pytest.CaptureFixture[str], path: Path, spoil: Callable[[Path], object]
) -> None:
    """Missing, half-written or empty evidence is a REJECT that names the file."""
    spoil(path)
    gate.run(params)
    verdict = files.read_json(paths.VERDICT)
    assert verdict["verdict"] == "REJECT"
    assert str(path) in capsys.readouterr().out


@pytest.mark.parametrize(
    "path",
    [
        paths.WEIGHTS,
        *(paths.exported(engine) / "model" for engine in ENGINES),
        paths.split_folder("gate") / "split.json",
    ],
    ids=str,
)
@pytest.mark.parametrize("change", ["changed", None])
def test_files_that_changed_after_the_reports_reject(
    evidence: Path, params: Params, path: Path, change: str | None
) -> None:
    """Weights, exported files and splits must be those that the reports are about."""
    if change is None:
        path.unlink()
    else:
        path.write_text(json.dumps({"digest": change}))
    gate.run(params)
    verdict = files.read_json(paths.VERDICT)
    assert verdict["verdict"] == "REJECT"
    assert [one["name"] for one in verdict["checks"] if one["counts_as"] == "REJECT"] == ["digests_agree"]


def test_an_empty_workspace_is_rejected(workspace: Path, params: Params) -> None:
    """With nothing at all there is still a verdict, and it is REJECT."""
    gate.run(params)
    verdict = files.read_json(paths.VERDICT)
    assert verdict["verdict"] == "REJECT"
    assert verdict["candidate"] == {"weights": None, "exported": {}}


def test_the_champion_repeats_its_verdict(evidence: Path, params: Params) -> None:
    """After a promotion the recorded verdict is handed on, to `--check` as well."""
    gate.run(params)
    recorded = files.read_json(paths.VERDICT)
    champion = {"version": 1, "weights": files.digest_file(paths.WEIGHTS)}
    _edit(paths.COMPARISON, lambda report: report.update(champion=champion, same=True, verdict_on_record=recorded))
    _edit(paths.REGISTRY, lambda report: report.update(champion=champion))
    assert gate.check(params) == 0
    gate.run(params)
    again = files.read_json(paths.VERDICT)
    assert (again["verdict"], again["repeated"], again["champion"]) == ("PROMOTE", True, champion)
