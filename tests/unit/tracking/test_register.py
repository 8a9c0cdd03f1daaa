import signal
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from mlflow.entities import Run
from mlflow.entities.model_registry import ModelVersion
from unit.tracking import judged

from sluice.errors import MissingArtifact
from sluice.io import files, paths
from sluice.tracking import registry
from sluice.tracking.register import Registered, register
from sluice.tracking.store import Store
from sluice.tracking.verification import verify

KILLED_IN = """
import os, signal, sys
from pathlib import Path
sys.path.insert(0, {tests!r})
from importlib import import_module
from unit.tracking import judged
from sluice.config.release import TrackingConfig
from sluice.tracking.register import register
from sluice.tracking.store import open_store
setattr(import_module({module!r}), {function!r}, lambda *_, **__: os.kill(os.getpid(), signal.SIGKILL))
register(open_store(TrackingConfig()), judged.candidate())
"""


@pytest.fixture
def store(workspace: Path) -> Store:
    return judged.fresh_store(workspace)


def again(store: Store, verdict: str | None = None, *, repeated: bool = False, note: str = "") -> Registered:
    if verdict is not None:
        judged.write_verdict(verdict, repeated=repeated, note=note)
    return register(store, judged.candidate())


def run_of(store: Store, registered: Registered) -> Run:
    return store.client.get_run(registered.run_id)


def all_versions(store: Store) -> list[ModelVersion]:
    return list(store.client.search_model_versions(f"name = '{judged.NAME}'"))


def alias(store: Store, name: str = "candidate") -> int | None:
    found = registry.at_alias(store, name=judged.NAME, alias=name)
    return found.number if found else None


def test_promote_makes_a_version_that_is_candidate(store: Store) -> None:
    """A passed model is a version with alias candidate, and all that was judged is recorded with it."""
    judged.write_all()
    registered = again(store)

    version = registry.version(store, name=judged.NAME, number=1)
    assert version
    assert registered.as_json() == {
        "name": judged.NAME,
        "version": 1,
        "digest": files.digest_file(paths.WEIGHTS),
        "verdict": "PROMOTE",
        "run_id": version.run_id,
        "store": store.identity,
    }
    assert alias(store) == 1
    assert version.verdict == "PROMOTE"
    assert version.verdict_digest == files.digest_file(paths.VERDICT)
    assert registry.recorded_verdict(store, version) == files.read_json(paths.VERDICT)


def test_hold_makes_a_version_without_alias_and_reject_none(store: Store) -> None:
    """What may not be promoted as it is gets no alias; what was rejected leaves a run with its verdict."""
    judged.write_all(verdict="HOLD")
    assert again(store).version == 1
    assert alias(store) is None
    judged.write_all(verdict="REJECT", seed=1)
    rejected = again(store)
    assert rejected.version is None
    assert len(all_versions(store)) == 1
    assert run_of(store, rejected).data.tags["sluice.verdict"] == "REJECT"


def test_the_same_candidate_again_changes_nothing(store: Store, workspace: Path) -> None:
    """Register is idempotent on the model's digest: no second run, model, version or point."""
    judged.write_all()
    first = again(store)
    before = run_of(store, first).to_dictionary()
    assert again(store) == first
    after = run_of(store, first).to_dictionary()

    assert after["data"] == before["data"]
    assert after["inputs"] == before["inputs"]
    assert len(all_versions(store)) == 1
    assert len(list((workspace / "mlartifacts" / judged.NAME / "models").iterdir())) == 1
    assert len(store.client.search_runs([store.experiment(judged.NAME)])) == 1
    assert len(store.client.get_metric_history(first.run_id, "gate.accuracy")) == 1


def test_a_changed_verdict_is_brought_up_to_date(store: Store) -> None:
    """The same files judged anew keep their version; tags, verdict and alias follow."""
    judged.write_all()
    for verdict, holder in (("PROMOTE", 1), ("HOLD", None), ("PROMOTE", 1), ("REJECT", None)):
        registered = again(store, verdict, note=f"now {verdict}")
        version = registry.version(store, name=judged.NAME, number=1)
        assert version
        assert (registered.version, registered.verdict, version.verdict) == (1, verdict, verdict)
        assert alias(store) == holder
        assert registry.recorded_verdict(store, version)["checks"][0]["reason"] == f"now {verdict}"
    assert len(all_versions(store)) == 1


def test_candidate_is_what_passed_last(store: Store) -> None:
    """A newer PROMOTE takes the alias; so does an older model that is brought back and judged again."""
    for seed, holder in ((0, 1), (1, 2), (0, 1)):
        judged.write_all(seed=seed)
        assert again(store).version == alias(store) == holder


@pytest.mark.parametrize("name", ["model.onnx", "golden.npz"])
@pytest.mark.parametrize("how", ["changed", "gone"])
def test_a_damaged_model_is_registered_anew(store: Store, workspace: Path, name: str, how: str) -> None:
    """What the store lost or someone changed gets a new version; the old one is left as it is, for its record."""
    judged.write_all()
    again(store)
    (file,) = (workspace / "mlartifacts" / judged.NAME / "models").glob(f"*/artifacts/{name}")
    file.unlink() if how == "gone" else file.write_bytes(b"!")
    assert again(store).version == alias(store) == 2
    version = registry.version(store, name=judged.NAME, number=2)
    assert version
    verify(store, version)
    assert again(store).version == 2


def test_the_champion_is_never_touched(store: Store) -> None:
    """Candidate = champion: whatever verdict is repeated or found, the champion's record stays."""
    judged.write_all()
    first = again(store)
    store.client.set_registered_model_alias(judged.NAME, "champion", "1")
    before = (all_versions(store)[0].tags, run_of(store, first).to_dictionary())
    assert again(store, "PROMOTE", repeated=True, note="repeated") == first
    assert again(store, "HOLD", note="judged anew") == first
    (paths.exported(judged.ENGINE) / paths.SIGNATURE_NAME).write_text("{}")
    assert again(store, "PROMOTE", repeated=True) == first

    assert (all_versions(store)[0].tags, run_of(store, first).to_dictionary()) == before
    assert len(all_versions(store)) == 1
    assert registry.champion(store, name=judged.NAME)


def test_other_exports_of_the_same_weights_are_another_version(store: Store) -> None:
    """What was judged and promoted is the exported files: they are not exchanged under a version."""
    judged.write_all()
    first = again(store)
    files.write_json(paths.exported(judged.ENGINE) / paths.SIGNATURE_NAME, {"classes": []})
    second = again(store, "PROMOTE")
    assert (first.version, second.version) == (1, 2)
    assert first.run_id != second.run_id
    version = registry.version(store, name=judged.NAME, number=1)
    assert version
    assert registry.recorded_verdict(store, version)["candidate"]["exported"] == version.exported


def test_reports_exports_and_weights_are_artifacts(store: Store, tmp_path: Path) -> None:
    """Everything that is needed to compare, explain and roll back lies in the store, links and read-only files too."""
    judged.write_all()
    paths.METRICS.chmod(stat.S_IRUSR)
    for _ in range(2):
        registered = again(store)
    folder = Path(store.client.download_artifacts(registered.run_id, "", str(tmp_path / "all")))
    found = {file.relative_to(folder).as_posix() for file in folder.rglob("*") if file.is_file()}
    assert {
        "models/trained/weights.safetensors",
        "models/trained/resolved.yaml",
        "reports/gate/verdict.json",
        "reports/evaluation/metrics.json",
        "reports/evaluation/per_class.csv",
        "reports/evaluation/sample.png",
        "reports/training/curves.csv",
        f"exported/{judged.ENGINE}/model.onnx",
        f"exported/{judged.ENGINE}/parity.json",
        "data/profile.json",
    } <= found


def test_pictures_stay_at_home_when_asked(store: Store, tmp_path: Path) -> None:
    """report.images: false keeps samples out of MLflow, and nothing else."""
    judged.write_all()
    registered = register(store, judged.candidate(images=False))
    folder = Path(store.client.download_artifacts(registered.run_id, "reports/evaluation", str(tmp_path / "all")))
    assert sorted(file.name for file in folder.iterdir()) == ["metric_names.json", "metrics.json", "per_class.csv"]


@pytest.mark.parametrize(
    ("module", "function"),
    [
        pytest.param("sluice.tracking.register", "describe", marks=pytest.mark.long),
        ("sluice.tracking.onnx_model", "infer_signature"),
        ("sluice.tracking.register", "_move_alias"),
    ],
)
def test_a_registration_that_was_killed_is_completed(store: Store, workspace: Path, module: str, function: str) -> None:
    """kill -9 in the run, in the model or before the alias: the next call leaves what one call would have."""
    judged.write_all()
    program = KILLED_IN.format(tests=str(Path(__file__).parents[2]), module=module, function=function)
    killed = subprocess.run([sys.executable, "-W", "ignore", "-c", program], capture_output=True, check=False)
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    registered = again(store)

    assert registered.version == 1
    assert alias(store) == 1
    runs = store.client.search_runs([store.experiment(judged.NAME)])
    assert [run.info.status for run in runs] == ["FINISHED"]
    models = store.client.search_logged_models([store.experiment(judged.NAME)])
    assert [model.status for model in models] == ["READY"]
    assert len(all_versions(store)) == 1


def test_a_missing_model_is_named(store: Store) -> None:
    """A passed verdict without its ONNX is one sentence with the way out, and ends the run FAILED."""
    judged.write_all()
    (paths.exported(judged.ENGINE) / paths.ONNX_NAME).unlink()
    judged.write_verdict("PROMOTE")
    with pytest.raises(
        MissingArtifact, match=r"model.onnx does not exist, so there is no model to register.*dvc repro"
    ):
        again(store)
    runs = store.client.search_runs([store.experiment(judged.NAME)])
    assert [run.info.status for run in runs] == ["FAILED"]
