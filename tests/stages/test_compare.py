"""The stage compare against a champion in a real store."""

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from stages.exported_workspace import ENGINE, UNMADE, exported_once, small_params

from sluice.config import Params
from sluice.config.release import TrackingConfig
from sluice.io import files, paths
from sluice.stages import compare, evaluate
from sluice.tracking.store import open_store


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory, repository: Path) -> Path:
    """An evaluated candidate, and a fresh store."""
    root = tmp_path_factory.mktemp("evaluated")
    shutil.copytree(exported_once(tmp_path_factory.getbasetemp(), repository), root, dirs_exist_ok=True)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(root)
        evaluate.run(small_params(repository))
        open_store(TrackingConfig())
    return root


@pytest.fixture
def evaluated(made: Path, workspace: Path) -> Path:
    shutil.copytree(made, workspace, dirs_exist_ok=True)
    return workspace


@pytest.fixture
def params(repository: Path) -> Params:
    return small_params(repository)


Crown = Callable[..., dict[str, Any]]


@pytest.fixture
def crown(evaluated: Path) -> Crown:
    """Put a copy of the candidate's engine into the store as the champion, changed by `change` first."""

    def crowned(change: Callable[[Path], object] = lambda folder: None, **fields: Any) -> dict[str, Any]:
        store, folder = open_store(TrackingConfig()), evaluated / "champion" / ENGINE
        shutil.copytree(paths.exported(ENGINE), folder)
        change(folder)
        run = store.client.create_run(store.experiment("shapes"))
        store.client.log_artifacts(run.info.run_id, str(folder), f"exported/{ENGINE}")
        champion = {
            "version": 7,
            "weights": "c" * 64,
            "run_id": run.info.run_id,
            "exported": {ENGINE: files.digest_folder(folder, without=(paths.PARITY_NAME,))},
            "verdict": {"verdict": "PROMOTE"},
            "profile": None,
        } | fields
        files.write_json(paths.REGISTRY, {"store": "s", "champion": champion})
        return champion

    return crowned


def _run(params: Params) -> dict[str, Any]:
    compare.run(params)
    report: dict[str, Any] = files.read_json(paths.COMPARISON)
    return report


def test_no_champion(evaluated: Path, params: Params) -> None:
    """Nothing is measured, and the report says so with its evidence."""
    files.write_json(paths.REGISTRY, {"store": "s", "champion": None})
    report = _run(params)
    assert (report["champion"], report["same"], report["accuracy"], report["latency"]) == (None, False, None, {})
    assert report["evidence"]["split_digest"] == "e" * 64
    assert set(report["evidence"]["exported"]) == {ENGINE, UNMADE}


def test_the_champion_itself_hands_its_verdict_on(params: Params, crown: Crown) -> None:
    """The same files measure nothing: a promotion sets no machine to work, and the store is not asked."""
    crown(weights=files.digest_file(paths.WEIGHTS), run_id="no such run")
    report = _run(params)
    assert (report["same"], report["verdict_on_record"]) == (True, {"verdict": "PROMOTE"})
    assert (report["accuracy"], report["latency"]) == (None, {})


def test_a_champion_is_scored_and_timed_on_the_same_samples(params: Params, crown: Crown) -> None:
    """An equal model in the store has the same accuracy, and its latency is measured in pairs."""
    crown()
    report = _run(params)
    accuracy, latency = report["accuracy"], report["latency"][ENGINE]
    assert report["champion"] == {"version": 7, "weights": "c" * 64, "run_id": report["champion"]["run_id"]}
    assert accuracy["status"] == "ok"
    assert accuracy["candidate"] == accuracy["champion"] == files.read_json(paths.METRICS)["accuracy"]["value"]
    assert accuracy["difference"]["low"] < accuracy["difference"]["value"] == 0 < accuracy["difference"]["high"]
    assert (accuracy["n"], accuracy["classes_compared"]) == (70, ["bag", "coat", "dress"])
    assert latency["status"] in {"ok", "inconclusive"}
    assert latency["ratio"]["low"] <= latency["ratio"]["value"] <= latency["ratio"]["high"]
    assert latency["aa"]["low"] <= latency["aa"]["high"]
    assert latency["pairs"] in {10, 20, 40}
    assert report["latency"][UNMADE]["status"] == "no_champion"


def _edit_signature(**fields: Any) -> Callable[[Path], None]:
    def edit(folder: Path) -> None:
        file = folder / paths.SIGNATURE_NAME
        files.write_json(file, files.read_json(file) | fields)

    return edit


def test_classes_are_matched_by_name(params: Params, crown: Crown) -> None:
    """The champion's own class names count: in another order it gives other answers, unknown ones are left out (A7)."""
    crown(_edit_signature(classes=["coat", "bag", "hat"]))
    accuracy = _run(params)["accuracy"]
    assert accuracy["classes_compared"] == ["bag", "coat"]
    assert accuracy["n"] == 47
    with np.load(paths.OUTPUTS) as outputs:
        labels, answers = outputs["labels"], outputs[f"{ENGINE}.logits"].argmax(axis=1)
    renamed = np.array([1, 0, 9])[answers]
    assert accuracy["champion"] == pytest.approx((renamed == labels)[labels < 2].mean())


OTHER_INPUT = [{"name": "images", "dtype": "uint8", "shape": ["N", 24, 24, 3]}]


@pytest.mark.parametrize(
    ("change", "fields", "state", "reason"),
    [
        (_edit_signature(inputs=OTHER_INPUT), {}, "inconclusive", r"takes images uint8 [N, 24, 24, 3]"),
        (_edit_signature(inputs=None), {}, "failed", "does not say its classes and inputs"),
        (lambda folder: (folder / "model.onnx").write_bytes(b"broken"), {}, "failed", "cannot load"),
        (lambda folder: None, {"exported": {ENGINE: "0" * 64}}, "failed", "someone changed it"),
        (lambda folder: None, {"run_id": "0" * 32}, "failed", "0" * 32),
    ],
)
def test_whatever_goes_wrong_is_a_state(
    params: Params, crown: Crown, change: Callable[[Path], object], fields: dict[str, Any], state: str, reason: str
) -> None:
    """Another input is for a person to decide, a broken, changed or missing artifact failed; the stage ends well."""
    crown(change, **fields)
    report = _run(params)
    for found in (report["accuracy"], report["latency"][ENGINE]):
        assert found["status"] == state
        assert reason in found["reason"]


def test_a_champion_without_a_common_engine_is_for_a_person(params: Params, crown: Crown) -> None:
    """A champion that was exported for other engines only cannot be compared, and cannot be refused for it."""
    crown(exported={"tensorrt-fp32": "0" * 64})
    report = _run(params)
    assert report["accuracy"]["status"] == "inconclusive"
    assert {found["status"] for found in report["latency"].values()} == {"no_champion"}


def test_a_candidate_without_answers_is_a_state(params: Params, crown: Crown) -> None:
    """An engine that evaluate could not score is not compared in accuracy either."""
    crown()
    np.savez(paths.OUTPUTS, labels=np.zeros(70, dtype=np.int64))
    assert "has no answers of" in _run(params)["accuracy"]["reason"]
