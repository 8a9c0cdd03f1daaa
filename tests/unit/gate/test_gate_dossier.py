"""Reading evidence: whatever lies on disk is read or said to be wrong, and never raises."""

import json
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sluice.gate.dossier import Problem, read_dossier
from sluice.gate.reports import Metrics
from sluice.io import paths

ENGINE = "onnxruntime-fp32"
METRICS = {
    "accuracy": {"value": 0.9, "low": 0.8, "high": 1.0, "n": 10},
    "balanced_accuracy": {"value": 1, "low": 0.8, "high": 1.0},
    "worst_class": {"name": "a", "recall": None, "n": 0},
    "engines": {},
    "evidence": {"weights": "w", "split": "gate", "split_digest": "g", "exported": {}, "code": "ignored"},
}


def _write(path: Path, content: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)


def test_an_empty_workspace_is_all_missing(workspace: Path) -> None:
    """Nothing there is a list of what is missing, each by its path."""
    dossier = read_dossier([ENGINE])
    assert dossier.disk.weights is None
    assert dossier.disk.exported == dossier.disk.splits == {}
    found = dossier.problems(required=[ENGINE])
    assert {one.reason for one in found} == {"is missing"}
    assert [str(one.path) for one in found] == [
        "reports/validation/summary.json",
        "data/prepared/schema.json",
        "reports/training/summary.json",
        "reports/evaluation/metrics.json",
        "reports/benchmark/benchmark.json",
        "reports/compare/compare.json",
        f"models/exported/{ENGINE}/parity.json",
    ]


def test_a_good_report_is_read(workspace: Path) -> None:
    """Keys that the gate does not need are ignored; a whole number is a number; null is none."""
    _write(paths.METRICS, json.dumps(METRICS).encode())
    metrics = read_dossier([]).metrics
    assert isinstance(metrics, Metrics)
    assert (metrics.accuracy.value, metrics.balanced_accuracy.value, metrics.worst_class.recall) == (0.9, 1.0, None)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"accuracy": {"value": "0.9"}}, "accuracy.value: Input should be a valid number"),
        ({"accuracy": {"value": True}}, "accuracy.value: Input should be a valid number"),
        ({"accuracy": {"value": 97.3}}, "accuracy.value: Input should be less than or equal to 1"),
        ({"accuracy": {"value": float("nan")}}, "accuracy.value: Input should be"),
        ({"accuracy": {"value": float("inf")}}, "accuracy.value: Input should be"),
        ({"accuracy": 0.9}, "accuracy: Input should be an object"),
        ({"engines": []}, "engines: Input should be an object"),
        ({"evidence": None}, "evidence: Input should be an object"),
        ({"evidence": {"split": "gate"}}, "evidence.weights: Field required"),
    ],
)
def test_a_report_of_wrong_types_is_no_evidence(workspace: Path, change: dict[str, object], reason: str) -> None:
    """A number as text, a percentage, NaN or a missing key is said by its place in the file."""
    _write(paths.METRICS, json.dumps(METRICS | change).encode())
    metrics = read_dossier([]).metrics
    assert isinstance(metrics, Problem)
    assert reason in metrics.reason


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"null", b"\xff\xfe\x00", b'"text"', b"[" * 5000])
def test_no_json_is_no_evidence(workspace: Path, content: bytes) -> None:
    """A half-written, empty or binary file is a problem with a reason, not a crash."""
    _write(paths.METRICS, content)
    metrics = read_dossier([]).metrics
    assert isinstance(metrics, Problem)
    assert metrics.reason.startswith("cannot be used (the whole file: ")


def test_a_folder_in_the_place_of_a_report_is_no_evidence(workspace: Path) -> None:
    """A path that cannot be read is a problem too."""
    paths.METRICS.mkdir(parents=True)
    assert read_dossier([]).metrics == Problem(paths.METRICS, "cannot be read (Is a directory)")


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=50)
@given(
    value=st.recursive(
        st.none() | st.booleans() | st.floats() | st.text(max_size=5),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from([*METRICS, "value"]), inner),
    )
)
def test_no_content_ever_raises(workspace: Path, value: object) -> None:
    """Whatever JSON stands in every report, reading it gives a report or a problem."""
    content = json.dumps(value).encode()
    for path in (paths.METRICS, paths.BENCHMARK, paths.COMPARISON, paths.TRAINING_SUMMARY, paths.VALIDATION_SUMMARY):
        _write(path, content)
    _write(paths.exported(ENGINE) / paths.PARITY_NAME, content)
    assert read_dossier([ENGINE]).problems(required=[ENGINE])


def test_digests_are_of_the_files_themselves(workspace: Path) -> None:
    """Weights, exported files without their parity report, and what each split says of itself."""
    _write(paths.WEIGHTS, b"weights")
    _write(paths.exported(ENGINE) / "model.onnx", b"model")
    before = read_dossier([ENGINE, "openvino-fp32"]).disk
    _write(paths.exported(ENGINE) / paths.PARITY_NAME, b"{}")
    _write(paths.split_folder("val") / "split.json", b'{"digest": "v", "n": 3}')
    _write(paths.split_folder("gate") / "split.json", b"broken")
    after = read_dossier([ENGINE, "openvino-fp32"]).disk
    assert after.exported == before.exported
    assert list(after.exported) == [ENGINE]
    assert after.splits == {"val": "v"}
    _write(paths.exported(ENGINE) / "model.onnx", b"changed")
    assert read_dossier([ENGINE]).disk.exported != before.exported
