"""One process per stage, which does not outlive the one that started it."""

import ctypes
import json
import os
import signal
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import psutil
from filelock import FileLock, Timeout

from sluice.errors import Busy
from sluice.io import paths

__all__ = ["die_with_parent", "holders", "is_alive", "only_one", "process_identity"]

_PR_SET_PDEATHSIG = 1
_CLOCK_SLACK_S = 2.0


def die_with_parent(parent: int | None = None) -> None:
    """Ask Linux to kill this process when its parent ends, so that no orphan writes on (a no-op elsewhere).

    Call it first thing. With the number of the `parent`, one that ended before the call is noticed too.
    """
    if sys.platform != "linux":
        return
    parent = parent or os.getppid()
    ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os.kill(os.getpid(), signal.SIGKILL)


@contextmanager
def only_one(name: str, *, wait_s: float = 5.0) -> Iterator[None]:
    """Hold the workspace's lock `name`; Busy names the holder when it is not free within `wait_s`.

    The lock is the kernel's: it is gone with the process that held it, however that ended.
    """
    folder = paths.STATE / "locks"
    folder.mkdir(parents=True, exist_ok=True)
    holder = folder / f"{name}.json"
    try:
        with FileLock(folder / f"{name}.lock", timeout=wait_s):
            holder.write_text(json.dumps(process_identity()))
            yield
            holder.unlink(missing_ok=True)
    except Timeout:
        raise Busy(
            f"{name} is already running in this workspace ({_describe(holder)}). Wait for it or stop it."
        ) from None


def holders() -> Iterator[tuple[str, str]]:
    """(lock, who holds it) of all that runs in this workspace."""
    for holder in sorted((paths.STATE / "locks").glob("*.json")):
        try:
            known = json.loads(holder.read_text())
        except (OSError, ValueError):
            continue
        if is_alive(known) is not False:
            yield holder.stem, _describe(holder)


def process_identity() -> dict[str, str | int]:
    """Who this process is, in a form that no later process with the same number can be taken for."""
    process = psutil.Process()
    return {"host": os.uname().nodename, "pid": process.pid, "started": f"{process.create_time():.2f}"}


def is_alive(identity: Mapping[str, str | int]) -> bool | None:
    """Whether the process of that `process_identity` still runs; None when that cannot be told from this machine."""
    if not {"host", "pid", "started"} <= identity.keys() or identity["host"] != os.uname().nodename:
        return None
    try:
        holder = psutil.Process(int(identity["pid"]))
        # A number is given out again, and an adjusted clock moves the time at which a process is said to have started.
        same = abs(holder.create_time() - float(identity["started"])) <= _CLOCK_SLACK_S
        return same and holder.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def _describe(holder: Path) -> str:
    try:
        known = json.loads(holder.read_text())
        return f"process {known['pid']} on {known['host']}"
    except (OSError, ValueError, KeyError):
        return "by a process that left no name"
