"""A prepared workspace with an MLflow store, for the stages that learn."""

import shutil
from contextlib import chdir
from pathlib import Path

import pytest
from stages.tiny_store import write_store

from sluice.config.release import TrackingConfig
from sluice.tracking.store import open_store


@pytest.fixture(scope="session")
def empty_mlflow(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Making a store takes seconds, copying one does not."""
    folder = tmp_path_factory.mktemp("mlflow")
    with chdir(folder):
        open_store(TrackingConfig())
    return folder / "mlflow.db"


@pytest.fixture
def prepared(workspace: Path, empty_mlflow: Path) -> Path:
    shutil.copy(empty_mlflow, workspace)
    write_store()
    return workspace
