import json
import sqlite3
from pathlib import Path

import pytest
from unit.tracking import judged

from sluice.errors import TrackingError
from sluice.io import files, paths
from sluice.tracking import registry
from sluice.tracking.register import register
from sluice.tracking.store import Store


@pytest.fixture
def store(workspace: Path) -> Store:
    """A store with version 1 of the tiny model, which is candidate."""
    store = judged.fresh_store(workspace)
    judged.write_all()
    register(store, judged.candidate())
    return store


def crown(store: Store, number: int = 1) -> None:
    store.client.set_registered_model_alias(judged.NAME, "champion", str(number))


def test_there_is_no_champion_before_a_promotion(store: Store) -> None:
    """F11: neither a missing model nor a missing alias is an error: there is no champion."""
    assert registry.champion(store, name=judged.NAME) is None
    assert registry.champion(store, name="other") is None
    assert registry.version(store, name=judged.NAME, number=2) is None
    assert registry.versions(store, name="other") == []


def test_the_champion_comes_with_all_that_was_recorded(store: Store) -> None:
    """Whoever compares with the champion needs no file of the workspace."""
    crown(store)
    champion = registry.champion(store, name=judged.NAME)
    assert champion
    assert champion.version == 1
    assert champion.weights == files.digest_file(paths.WEIGHTS)
    assert champion.verdict == files.read_json(paths.VERDICT)
    assert champion.exported == champion.verdict["candidate"]["exported"]
    assert champion.profile == files.digest_file(paths.PROFILE_OF_DATA)


def test_files_of_a_version_come_back_as_they_were(store: Store, tmp_path: Path) -> None:
    """A champion's export, profile and reports are downloaded with their recorded digests."""
    crown(store)
    champion = registry.champion(store, name=judged.NAME)
    assert champion
    export = registry.download(
        store, run_id=champion.run_id, artifact=f"exported/{judged.ENGINE}", to=tmp_path / "export"
    )
    profile = registry.download(store, run_id=champion.run_id, artifact="data/profile.json", to=tmp_path / "profile")
    assert files.digest_folder(export, without=(paths.PARITY_NAME,)) == champion.exported[judged.ENGINE]
    assert files.digest_file(profile) == champion.profile


def test_what_a_run_does_not_have_is_said_so(store: Store, tmp_path: Path) -> None:
    """A missing artifact is one error that names the store."""
    run_id = registry.at_alias(store, name=judged.NAME, alias="candidate").run_id
    with pytest.raises(TrackingError, match=r"mlflow.db has no nothing.json .*dvc repro -f -s register"):
        registry.download(store, run_id=run_id, artifact="nothing.json", to=tmp_path)


@pytest.mark.parametrize("artifact", ["../../etc/passwd", "/etc/passwd", "exported/../../.."])
def test_a_path_out_of_the_run_is_refused(store: Store, tmp_path: Path, artifact: str) -> None:
    """F15: what a store names is no way to files of this machine."""
    with pytest.raises(TrackingError, match="lies outside it"):
        registry.download(store, run_id="0" * 32, artifact=artifact, to=tmp_path)


def test_a_verdict_that_was_changed_is_not_believed(store: Store) -> None:
    """The verdict on record is the file whose digest was recorded, and no other."""
    crown(store)
    run_id = registry.at_alias(store, name=judged.NAME, alias="champion").run_id
    store.client.log_dict(run_id, {"verdict": "PROMOTE"}, "reports/gate/verdict.json")
    with pytest.raises(TrackingError, match="is not the file that was recorded"):
        registry.champion(store, name=judged.NAME)


def test_a_version_that_another_tool_registered_is_named(store: Store) -> None:
    """A version without our record is one sentence, not a KeyError."""
    run_id = registry.at_alias(store, name=judged.NAME, alias="candidate").run_id
    made = store.client.create_model_version(judged.NAME, "file:///etc", run_id)
    crown(store, int(made.version))
    with pytest.raises(
        TrackingError, match=r"version 2 of 'shapes' was not registered by Sluice: it lacks sluice.weights"
    ):
        registry.champion(store, name=judged.NAME)


def test_a_version_whose_source_was_bent_is_refused(store: Store, workspace: Path) -> None:
    """F15: a version that points to a path of this machine instead of a logged model is not followed."""
    with sqlite3.connect(workspace / "mlflow.db") as connection:
        connection.execute("UPDATE model_versions SET source = 'file:///etc'")
    connection.close()
    with pytest.raises(TrackingError, match="it lacks a run with a logged model"):
        registry.at_alias(store, name=judged.NAME, alias="candidate")


def test_a_version_is_found_by_its_files(store: Store) -> None:
    """The same weights with other exports are another version; one whose run was deleted is none."""
    candidate = judged.candidate()
    found = registry.find(store, name=judged.NAME, weights=candidate.weights, exported=candidate.exported)
    assert found
    assert found.number == 1
    assert json.loads(candidate.identity_tags()["sluice.exported"]) == found.exported
    assert registry.find(store, name=judged.NAME, weights=candidate.weights, exported={}) is None
    assert registry.find(store, name=judged.NAME, weights="0", exported=candidate.exported) is None
    store.client.delete_run(found.run_id)
    assert registry.find(store, name=judged.NAME, weights=candidate.weights, exported=candidate.exported) is None
