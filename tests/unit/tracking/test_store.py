import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from mlflow.tracking import MlflowClient
from unit.tracking.judged import fresh_store

from sluice.config.release import TrackingConfig
from sluice.errors import ConfigError, TrackingError
from sluice.tracking.store import open_store

OPEN_AND_WRITE = """
from sluice.config.release import TrackingConfig
from sluice.tracking.store import open_store
store = open_store(TrackingConfig())
run = store.client.create_run(store.experiment("four"))
store.client.set_terminated(run.info.run_id)
print(store.identity)
"""


def test_four_processes_at_once_make_one_store(workspace: Path) -> None:
    """F1: processes that open a store which is not there yet all get it, whole, and the same one."""
    command = [sys.executable, "-W", "ignore", "-c", OPEN_AND_WRITE]
    started = [subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) for _ in range(4)]
    ended = [process.communicate(timeout=120) for process in started]

    assert [process.returncode for process in started] == [0, 0, 0, 0], ended
    assert len({out for out, _ in ended}) == 1
    store = open_store(TrackingConfig())
    assert len(store.client.search_runs([store.experiment("four")])) == 4
    assert [path.name for path in workspace.glob("mlflow.db.new-*")] == []


def test_who_only_reads_makes_no_store(workspace: Path) -> None:
    """A deleted mlflow.db is said to be gone, not replaced by an empty one."""
    with pytest.raises(TrackingError, match=r"no MLflow store at .*mlflow.db.*dvc repro"):
        open_store(TrackingConfig(), make=False)
    assert list(workspace.iterdir()) == []


def test_the_default_store_has_an_absolute_path_in_the_workspace(workspace: Path) -> None:
    """F5: the store does not depend on the folder from which its URI is used later, nor do its artifacts."""
    store = fresh_store(workspace)

    experiment = store.client.get_experiment(store.experiment("mine"))
    assert store.uri == f"sqlite:///{workspace}/mlflow.db"
    assert experiment.artifact_location == f"file://{workspace}/mlartifacts/mine"


def test_the_environment_goes_before_the_config_and_the_config_before_the_default(
    workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """F5: MLFLOW_TRACKING_URI > tracking.uri > mlflow.db in the workspace; a relative file is made absolute."""
    fresh_store(workspace)
    for name in ("first.db", "second.db"):
        (workspace / name).write_bytes((workspace / "mlflow.db").read_bytes())

    assert open_store(TrackingConfig(uri="sqlite:///second.db")).uri == f"sqlite:///{workspace}/second.db"
    monkeypatch.setenv("MLFLOW_TRACKING_URI", f"sqlite:///{workspace}/first.db")
    assert open_store(TrackingConfig(uri="sqlite:///second.db")).uri == f"sqlite:///{workspace}/first.db"


@pytest.mark.parametrize("uri", ["file:./mlruns", "file:///tmp/mlruns", "./mlruns", "mlruns"])
def test_folders_are_refused_with_the_way_out(uri: str, workspace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """F5: a file store is refused by naming the key, the value, SQLite and the command that migrates."""
    with pytest.raises(ConfigError, match=r"tracking.uri: '.*mlruns' is a folder.*sqlite:////.*migrate-filestore"):
        open_store(TrackingConfig(uri=uri))
    monkeypatch.setenv("MLFLOW_TRACKING_URI", uri)
    with pytest.raises(ConfigError, match=r"MLFLOW_TRACKING_URI: '.*mlruns'"):
        open_store(TrackingConfig())


def test_sqlite_without_a_file_is_refused(workspace: Path) -> None:
    """F5: a database in memory would lose every model at the end of the process."""
    with pytest.raises(ConfigError, match="names no file"):
        open_store(TrackingConfig(uri="sqlite:///:memory:"))


@pytest.mark.parametrize("scheme", ["http", "postgresql"])
def test_a_server_that_is_gone_is_said_so_within_seconds(scheme: str, workspace: Path) -> None:
    """A store that cannot be reached fails at once and not after MLflow's many retries; no password is shown."""
    began = time.monotonic()
    with pytest.raises(TrackingError, match=r"ann:\*\*\*@127.0.0.1:9 refused: .*Check that it runs") as caught:
        open_store(TrackingConfig(uri=f"{scheme}://ann:secret@127.0.0.1:9"))
    assert time.monotonic() - began < 15
    assert "secret" not in str(caught.value)


def test_a_damaged_file_is_said_so_at_once(workspace: Path) -> None:
    """A file that is no database fails at once and is left as it is."""
    (workspace / "mlflow.db").write_text("these are not the bytes of a database" * 100)
    with pytest.raises(TrackingError, match=r"mlflow.db refused: file is not a database"):
        open_store(TrackingConfig())
    assert (workspace / "mlflow.db").read_text().startswith("these are not")


def test_a_store_made_by_another_version_of_mlflow_is_not_upgraded(workspace: Path) -> None:
    """F6: a schema that does not fit is refused with the words backup and upgrade; the file stays as it is."""
    import sqlite3

    fresh_store(workspace)
    (workspace / "other.db").write_bytes((workspace / "mlflow.db").read_bytes())
    with sqlite3.connect(workspace / "other.db") as connection:
        connection.execute("UPDATE alembic_version SET version_num = 'bbbbbbbbbbbb'")
    connection.close()
    with pytest.raises(TrackingError, match=r"out-of-date database schema.*backup.*db upgrade"):
        open_store(TrackingConfig(uri="sqlite:///other.db"))


def test_what_a_killed_initialisation_left_is_cleared(workspace: Path) -> None:
    """F1: a half-made database has another name, so it is never taken for the store."""
    (workspace / "mlflow.db.new-0123").write_text("half")
    store = open_store(TrackingConfig())
    assert len(store.identity) == 32
    assert sorted(path.name for path in workspace.iterdir()) == ["mlflow.db", "mlflow.db.lock"]


def test_a_store_keeps_its_identity_and_a_new_one_has_another(workspace: Path) -> None:
    """An empty store is told from the one before it, so that register runs again."""
    store = fresh_store(workspace)
    again = open_store(TrackingConfig())
    assert again.identity == store.identity

    home = store.client.get_experiment_by_name("sluice")
    store.client.delete_experiment(home.experiment_id)
    assert open_store(TrackingConfig()).identity == store.identity
    (workspace / "other.db").write_bytes((workspace / "mlflow.db").read_bytes())
    other = MlflowClient(f"sqlite:///{workspace}/other.db")
    other.delete_experiment_tag(home.experiment_id, "sluice.store_id")
    assert open_store(TrackingConfig(uri="sqlite:///other.db")).identity != store.identity


def test_an_experiment_deleted_in_the_ui_is_restored(workspace: Path) -> None:
    """A deleted experiment keeps its name from being made again; it is brought back."""
    store = fresh_store(workspace)
    before = store.experiment("mine")
    store.client.delete_experiment(before)
    assert store.experiment("mine") == before
    assert store.client.get_experiment(before).lifecycle_stage == "active"


def test_the_default_store_is_lent_and_given_back(workspace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """MLflow's process-wide URI is set only while it is needed."""
    store = fresh_store(workspace)
    with store.as_default():
        assert os.environ["MLFLOW_TRACKING_URI"] == store.uri
    assert "MLFLOW_TRACKING_URI" not in os.environ
    monkeypatch.setenv("MLFLOW_TRACKING_URI", "http://elsewhere")
    with store.as_default():
        pass
    assert os.environ["MLFLOW_TRACKING_URI"] == "http://elsewhere"
