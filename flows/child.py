"""Child processes that end with us: on a signal, with their whole group; on our sudden death, by the kernel."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from sluice.io import telemetry

__all__ = ["Child", "end", "started"]

_GRACE_S = 5.0
_BOUND = """import os, sys
from sluice.io.process import die_with_parent
die_with_parent(int(sys.argv[1]))
os.execvp(sys.argv[2], sys.argv[2:])"""

Child = subprocess.Popen[bytes]


@contextmanager
def started(
    command: Sequence[str], *, cwd: Path, output: int | IO[bytes] | None = None, extra: Mapping[str, str] | None = None
) -> Iterator[Child]:
    """Run `command` in a group of its own; on leaving, whatever of the group still lives is ended.

    `output` takes stdout and stderr together. The thread that enters must stay until the child ends: Linux takes its
    end for the parent's.
    """
    telemetry.off()
    process = subprocess.Popen(
        [sys.executable, "-c", _BOUND, str(os.getpid()), *command],
        cwd=cwd,
        stdin=subprocess.DEVNULL,
        stdout=output,
        stderr=subprocess.STDOUT if output is not None else None,
        env={**os.environ, **(extra or {})},
        start_new_session=True,
    )
    try:
        yield process
    finally:
        end([process])
        process.wait()
        if process.stdout is not None:
            process.stdout.close()


def end(processes: Sequence[Child]) -> None:
    """SIGTERM to the groups, and SIGKILL to what is left of them after the grace."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        living = [process for process in processes if _signalled(process, number)]
        deadline = time.monotonic() + _GRACE_S
        while any(map(_lives, living)) and time.monotonic() < deadline:
            time.sleep(0.05)


def _signalled(process: Child, number: int) -> bool:
    try:
        os.killpg(process.pid, number)
    except (ProcessLookupError, PermissionError):
        return False
    return True


def _lives(process: Child) -> bool:
    process.poll()  # a dead leader that nobody asked after would count as alive
    return _signalled(process, 0)
