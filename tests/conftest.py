"""What all tests share: no telemetry, no inherited store, few threads."""

import os
from pathlib import Path

import pytest

from sluice.io import telemetry

telemetry.off()
os.environ.setdefault("OMP_NUM_THREADS", "1")
for _name in ("MLFLOW_TRACKING_URI", "MLFLOW_RUN_ID", "MLFLOW_EXPERIMENT_ID", "DVC_ROOT"):
    os.environ.pop(_name, None)


@pytest.fixture(scope="session")
def repository() -> Path:
    return Path(__file__).parents[1]


@pytest.fixture
def workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder as the current one, as stages see it."""
    monkeypatch.chdir(tmp_path)
    return tmp_path
