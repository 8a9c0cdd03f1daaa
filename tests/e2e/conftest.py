"""One small workspace for each story."""

from pathlib import Path

import pytest
from e2e.workspace import Workspace, make_workspace


@pytest.fixture(scope="module")
def digits(tmp_path_factory: pytest.TempPathFactory, repository: Path) -> Workspace:
    """A workspace with the digits fetched, committed, and nothing run yet."""
    workspace = make_workspace(tmp_path_factory.mktemp("digits"), repository=repository)
    workspace.run("sluice", "fetch")
    workspace.commit("Start")
    return workspace
