"""The workspace that these flows belong to, wherever they were started from."""

import os
from pathlib import Path

from sluice.errors import WorkspaceError
from sluice.io import paths, process

__all__ = ["ROOT", "enter"]

ROOT = Path(__file__).resolve().parents[1]


def enter() -> dict[str, str]:
    """Make the workspace the current folder; also the pull step of the deployments, which name no path.

    A run that a worker started ends with its worker: nobody else would ever say how it ended.
    """
    if "PREFECT__FLOW_RUN_ID" in os.environ:
        process.die_with_parent()
    if not (ROOT / paths.DAG).exists():
        raise WorkspaceError(f"{ROOT} is no Sluice workspace: no {paths.DAG}. Install from your clone: make setup")
    os.chdir(ROOT)
    return {"directory": str(ROOT)}
