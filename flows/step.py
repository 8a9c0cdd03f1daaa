"""One stage, run by DVC as `dvc repro` would run it, with what it prints passed on line by line."""

import re
import subprocess
import sys
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from flows.child import Child, end, started

__all__ = ["StageFailed", "StepResult", "run_command", "run_stage", "stop_all"]

_TAIL = 50
_PASSED_ON = 2000
"""Lines; a stage that prints more is heard again with its last ones."""
_LONGEST_LINE = 2000
_ESCAPES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\r")
_SIGNS = (
    ("Running stage '", "Ran"),
    ("is cached - skipping run, checking out outputs", "Restored"),
    ("didn't change, skipping", "Unchanged"),
)


_RUNNING: set[Child] = set()


class StageFailed(Exception):
    """The message ends with the last lines that the stage printed."""


@dataclass(frozen=True)
class StepResult:
    outcome: str
    """Ran, Restored (from DVC's run cache) or Unchanged."""
    seconds: float


def run_stage(name: str, *, root: Path, log: Callable[[str], None]) -> StepResult:
    """Bring one stage up to date; raises StageFailed. `dvc` waits for its locks, so that steps may run side by side."""
    begin, outcome = time.monotonic(), "Unchanged"

    def look(line: str) -> None:
        nonlocal outcome
        outcome = next((found for sign, found in _SIGNS if sign in line), outcome)

    command = [sys.executable, "-m", "dvc", "--wait-for-lock", "repro", "--single-item", name]
    run_command(command, what=f"stage {name!r}", root=root, log=log, look=look)
    return StepResult(outcome, time.monotonic() - begin)


def run_command(
    command: Sequence[str],
    *,
    what: str,
    root: Path,
    log: Callable[[str], None],
    look: Callable[[str], None] = lambda _line: None,
) -> None:
    """Run to the end, with each line given to `look`, and to `log` until there are too many; raises StageFailed."""
    tail: deque[str] = deque(maxlen=_TAIL)
    count = 0
    with started(command, cwd=root, output=subprocess.PIPE) as process, _listed(process):
        assert process.stdout is not None
        for line in _lines(process.stdout):
            count += 1
            tail.append(line)
            look(line)
            if count <= _PASSED_ON:
                log(line)
        code = process.wait()
    if count > _PASSED_ON:
        log("\n".join([f"... {count - _PASSED_ON} lines more, of which the last are:", *tail]))
    if code != 0:
        raise StageFailed(f"{what} ended with code {code}. It said last:\n" + "\n".join(tail))


def stop_all() -> None:
    """End every command that runs, so that the threads that wait for them come back."""
    end(list(_RUNNING))


@contextmanager
def _listed(process: Child) -> Iterator[None]:
    _RUNNING.add(process)
    try:
        yield
    finally:
        _RUNNING.discard(process)


def _lines(stream: IO[bytes]) -> Iterator[str]:
    """Lines without colours; one that has no end comes in parts."""
    while raw := stream.readline(_LONGEST_LINE):
        line = _ESCAPES.sub("", raw.decode(errors="replace")).rstrip()
        if line:
            yield line
