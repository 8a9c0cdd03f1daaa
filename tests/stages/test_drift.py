import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from sluice.config import Params, load
from sluice.io import files, paths
from sluice.stages import drift
from sluice.tracking.store import Store, open_store
from sluice.validation.profile import profile_of


@pytest.fixture
def params(workspace: Path, repository: Path) -> Params:
    write_profile(paths.PROFILE_OF_DATA, mean=100)
    return load(repository / "params.yaml")


def write_profile(path: Path, *, mean: float) -> Path:
    random = np.random.default_rng(0)
    index = pd.DataFrame(
        {"mean": random.normal(mean, 20, 500), "std": random.normal(50, 5, 500), "width": 28, "height": 28}
    )
    profile = profile_of(index.assign(label=["cat", "dog"] * 250))
    files.write_json(path, profile.model_dump(mode="json"))
    return path


def drifted_from(params: Params, champion: dict[str, Any] | None) -> dict[str, Any]:
    files.write_json(paths.REGISTRY, {"store": "x", "champion": champion})
    drift.run(params)
    report: dict[str, Any] = json.loads(paths.DRIFT.read_text())
    return report


def run_with(store: Store, profile: Path | None) -> str:
    run = store.client.create_run(store.experiment("drift"))
    if profile:
        store.client.log_artifact(run.info.run_id, str(profile), "data")
    return str(run.info.run_id)


def test_no_champion(params: Params, capsys: pytest.CaptureFixture[str]) -> None:
    """Before the first promotion there is nothing to compare with, and the report says so."""
    report = drifted_from(params, None)
    assert (report["status"], report["champion"], report["features"]) == ("no_champion", None, [])
    assert "no champion yet" in capsys.readouterr().out


def test_same_data(params: Params) -> None:
    """The champion's own data are recognised by digest, without asking the store."""
    digest = files.digest_file(paths.PROFILE_OF_DATA)
    report = drifted_from(params, {"version": 3, "run_id": "none", "profile": digest})
    assert (report["status"], report["champion"]) == ("same_data", {"version": 3})
    assert not Path("mlflow.db").exists()


def test_against_a_store(params: Params, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Moved data are reported by feature, other data are not, and a profile that is gone or damaged blocks nothing."""
    store = open_store(params.tracking)
    darker = run_with(store, write_profile(tmp_path / "a/profile.json", mean=60))
    report = drifted_from(params, {"version": 1, "run_id": darker, "profile": "other"})
    assert report["status"] == "drift"
    assert {item["name"]: item["drifted"] for item in report["features"]} == {
        "mean": True,
        "std": False,
        "width": False,
        "height": False,
    }
    assert set(report["features"][0]) == {"name", "psi", "p_value", "p_adjusted", "drifted"}
    assert report["labels"]["drifted"] is False
    assert "champion, version 1: mean" in capsys.readouterr().out

    alike = run_with(store, write_profile(tmp_path / "b/profile.json", mean=100.5))
    assert drifted_from(params, {"version": 2, "run_id": alike, "profile": None})["status"] == "ok"

    (tmp_path / "c").mkdir()
    (tmp_path / "c/profile.json").write_text("{}")
    for run_id in (run_with(store, None), run_with(store, tmp_path / "c/profile.json"), "0" * 32):
        report = drifted_from(params, {"version": 4, "run_id": run_id, "profile": "other"})
        assert (report["status"], report["labels"]) == ("unavailable", None)
        assert "cannot be had" in report["message"]
