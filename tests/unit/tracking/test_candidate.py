from pathlib import Path

import pytest
from unit.tracking import judged

from sluice.errors import MissingArtifact, TrackingError
from sluice.io import files, paths
from sluice.tracking.candidate import read_candidate


@pytest.mark.parametrize("file", [paths.WEIGHTS, paths.exported(judged.ENGINE) / paths.ONNX_NAME])
def test_files_that_were_not_judged_are_not_registered(workspace: Path, file: Path) -> None:
    """A verdict is no verdict on files that changed after it."""
    judged.write_all()
    file.write_bytes(b"something else")
    with pytest.raises(TrackingError, match="judged other files than those in models/.*dvc repro gate"):
        judged.candidate()


def test_a_rejected_candidate_may_be_incomplete(workspace: Path) -> None:
    """Files that are missing or do not agree are a reason to reject; the run still gets what is there."""
    judged.write_all(verdict="REJECT")
    for file in paths.exported(judged.ENGINE).iterdir():
        file.unlink()
    paths.exported(judged.ENGINE).rmdir()
    assert judged.candidate().exported == {}
    assert judged.candidate().engines == ()


def test_parity_is_no_part_of_what_was_judged(workspace: Path) -> None:
    """parity.json says how the files did; it is not one of them."""
    judged.write_all()
    before = judged.candidate().exported
    files.write_json(paths.exported(judged.ENGINE) / paths.PARITY_NAME, {"status": "ok", "seconds": 1})
    assert judged.candidate().exported == before


@pytest.mark.parametrize(
    ("required", "expected"),
    [
        (("openvino-fp32", "onnxruntime-fp32"), paths.exported("onnxruntime-fp32")),
        (("openvino-fp32",), paths.CAPTURED),
        (("onnxruntime-int8",), paths.CAPTURED),
    ],
)
def test_the_registry_serves_fp32_onnx(workspace: Path, required: tuple[str, ...], expected: Path) -> None:
    """What ONNX Runtime was judged with is served; without it, the graph that all engines were made from."""
    judged.write_all()
    candidate = read_candidate(name=judged.NAME, engines=(judged.ENGINE,), required=required, images=True)
    assert candidate.model == expected


@pytest.mark.parametrize("text", ["[]", "{}", '"PROMOTE"', '{"verdict": "PROMOTE", "candidate": []}'])
def test_what_is_no_verdict_is_said_so(workspace: Path, text: str) -> None:
    """Valid JSON of another form is one sentence, with the command that makes it anew."""
    judged.write_all()
    paths.VERDICT.write_text(text)
    with pytest.raises(MissingArtifact, match="is not a verdict of sluice gate.*dvc repro -f -s gate"):
        judged.candidate()
