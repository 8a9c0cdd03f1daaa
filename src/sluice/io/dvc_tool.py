"""What DVC is asked by its command, and read from its two files."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML

from sluice.errors import WorkspaceError

__all__ = ["ask", "changes", "read_stages"]


def ask(*arguments: str) -> str:
    """What `dvc ARGUMENTS` prints in the current folder, stripped; WorkspaceError with its own words when it fails."""
    command = [sys.executable, "-m", "dvc", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise WorkspaceError(f"dvc {' '.join(arguments)} failed: {done.stderr.strip() or done.stdout.strip()}")
    return done.stdout.strip()


def changes(*targets: str) -> dict[str, list[Any]]:
    """What `dvc repro` would find changed: stage or .dvc file, and what of it, as `dvc status` says it."""
    found: dict[str, list[Any]] = json.loads(ask("--wait-for-lock", "status", "--json", *targets) or "{}")
    return found


def read_stages(file: Path) -> dict[str, Any]:
    """The stages of a `dvc.yaml` or `dvc.lock`."""
    stages: dict[str, Any] = YAML(typ="safe", pure=True).load(file.read_text(encoding="utf-8"))["stages"]
    return stages
