"""From what a run was made: the revision of the code, the locked environment, the process."""

import subprocess
from collections.abc import Mapping
from pathlib import Path

from sluice.io import files, process

__all__ = ["HOST", "PID", "STARTED", "code_tags", "is_alive", "process_tags"]

HOST = "sluice.host"
PID = "sluice.pid"
STARTED = "sluice.started"

_LOCK = Path("requirements.lock")


def code_tags() -> dict[str, str]:
    """Revision and cleanness of the workspace, and digest of requirements.lock; words where one is absent."""
    revision = _git("rev-parse", "HEAD")
    changes = _git("status", "--porcelain", "--untracked-files=no") if revision else None
    return {
        "sluice.git.revision": revision or "no git",
        "sluice.git.dirty": "unknown" if changes is None else str(bool(changes)).lower(),
        "sluice.lock": files.digest_file(_LOCK) if _LOCK.exists() else "no lock",
    }


def process_tags() -> dict[str, str]:
    identity = process.process_identity()
    return {HOST: str(identity["host"]), PID: str(identity["pid"]), STARTED: str(identity["started"])}


def is_alive(tags: Mapping[str, str]) -> bool | None:
    """Whether the process that `tags` name still runs; None when that cannot be told from this machine."""
    named = {"host": HOST, "pid": PID, "started": STARTED}
    return process.is_alive({key: tags[tag] for key, tag in named.items() if tag in tags})


def _git(*arguments: str) -> str | None:
    """What git says, stripped; None without git, a repository or a commit."""
    try:
        done = subprocess.run(["git", *arguments], capture_output=True, text=True, check=False, timeout=30)
    except (FileNotFoundError, subprocess.TimeoutExpired):
        return None
    return done.stdout.strip() if done.returncode == 0 else None
