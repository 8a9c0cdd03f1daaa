"""The stage evaluate on a small model and its export."""

import csv
import shutil
from pathlib import Path

import numpy as np
import pytest
from stages.exported_workspace import ENGINE, UNMADE, exported_once, small_params

from sluice.config import Params
from sluice.io import files, paths
from sluice.stages import evaluate


@pytest.fixture
def exported(tmp_path_factory: pytest.TempPathFactory, repository: Path, workspace: Path) -> Path:
    shutil.copytree(exported_once(tmp_path_factory.getbasetemp(), repository), workspace, dirs_exist_ok=True)
    return workspace


@pytest.fixture
def params(repository: Path) -> Params:
    return small_params(repository)


def test_model_and_engines_are_scored(exported: Path, params: Params) -> None:
    """All reports are written, an engine agrees with the model, one that was not made keeps its state."""
    evaluate.run(params)
    metrics = files.read_json(paths.METRICS)
    assert metrics["accuracy"]["n"] == 70
    assert metrics["accuracy"]["low"] < metrics["accuracy"]["value"] < metrics["accuracy"]["high"]
    assert set(metrics["per_class"]) == {"bag", "coat", "dress"}
    assert metrics["engines"][ENGINE]["status"] == "ok"
    assert metrics["engines"][ENGINE]["agreement"] == 1.0
    assert metrics["engines"][ENGINE]["accuracy"] == metrics["accuracy"]
    assert metrics["engines"][UNMADE]["status"] == "unavailable"
    assert metrics["engines"][UNMADE]["reason"] == "not installed here"
    evidence = metrics["evidence"]
    assert (evidence["split"], evidence["split_digest"]) == ("gate", "e" * 64)
    assert evidence["weights"] == files.digest_file(paths.WEIGHTS)
    assert evidence["exported"][ENGINE] == files.digest_folder(paths.exported(ENGINE), without=("parity.json",))
    assert evidence["params"] == params.evaluate.digest()
    with np.load(paths.OUTPUTS) as outputs:
        assert sorted(outputs) == ["eager.logits", "labels", f"{ENGINE}.logits"]
        assert outputs["eager.logits"].shape == (70, 3)
        np.testing.assert_allclose(outputs["eager.logits"], outputs[f"{ENGINE}.logits"], atol=1e-4)
    assert len(_rows(paths.CONFUSION)) == 70
    assert [row["class"] for row in _rows(paths.PER_CLASS)] == ["bag", "coat", "dress"]


def _rows(path: Path) -> list[dict[str, str]]:
    with path.open() as file:
        return list(csv.DictReader(file))


def test_it_gives_the_same_bytes_twice(exported: Path, params: Params) -> None:
    """Nothing in the reports depends on when they were made."""
    reports = (paths.METRICS, paths.OUTPUTS, paths.PER_CLASS, paths.CONFUSION)
    evaluate.run(params)
    first = [path.read_bytes() for path in reports]
    evaluate.run(params)
    assert [path.read_bytes() for path in reports] == first


@pytest.mark.parametrize("file", ["model.onnx", "signature.json", "parity.json"])
def test_an_engine_that_breaks_is_a_state(exported: Path, params: Params, file: str) -> None:
    """A broken file of one engine is that engine's failure, with a reason, and the model is scored all the same."""
    (paths.exported(ENGINE) / file).write_bytes(b"broken")
    evaluate.run(params)
    metrics = files.read_json(paths.METRICS)
    assert metrics["engines"][ENGINE]["status"] == "failed"
    assert file in metrics["engines"][ENGINE]["reason"]
    assert metrics["engines"][ENGINE]["accuracy"] is None
    assert metrics["accuracy"]["n"] == 70


def test_engines_come_from_params_not_from_the_folder(exported: Path, params: Params) -> None:
    """A folder left by an engine that was taken out of the list is not scored."""
    one = params.model_copy(update={"export": params.export.model_copy(update={"engines": (ENGINE,)})})
    evaluate.run(one)
    metrics = files.read_json(paths.METRICS)
    assert list(metrics["engines"]) == list(metrics["evidence"]["exported"]) == [ENGINE]
