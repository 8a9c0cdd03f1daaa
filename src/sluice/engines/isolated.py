"""Run a function in a process of its own, where a crash or a hang becomes a state.

The process starts isolated (`python -I`) and in another folder, so that it can lean on nothing but what is installed.
"""

import importlib
import json
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.machinery import ModuleSpec
from pathlib import Path
from tempfile import TemporaryDirectory
from types import ModuleType
from typing import Any, Literal

import sluice
from sluice.errors import MissingLibrary, SluiceError
from sluice.io.process import die_with_parent

__all__ = ["Outcome", "State", "main", "run_isolated"]

State = Literal["ok", "failed", "crashed", "timeout", "unavailable"]

_BOOTSTRAP = "import sys; sys.path.append(sys.argv[1]); from sluice.engines.isolated import main; main(sys.argv[2])"


@dataclass(frozen=True)
class Outcome:
    state: State
    reason: str
    reply: Any = None
    """What the function returned, as JSON carries it."""


def run_isolated(target: str, request: Mapping[str, Any], *, timeout_s: float, without: Sequence[str] = ()) -> Outcome:
    """Call `module:function` with the keywords in `request` (JSON). Libraries in `without` cannot be imported there."""
    with TemporaryDirectory(prefix="sluice-") as folder:
        reply = Path(folder, "reply.json")
        call = {"target": target, "request": dict(request), "without": list(without), "reply": str(reply)}
        package = str(Path(sluice.__file__).parents[1])
        command = [sys.executable, "-I", "-c", _BOOTSTRAP, package, json.dumps(call)]
        try:
            done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=timeout_s, check=False)
        except subprocess.TimeoutExpired:
            return Outcome("timeout", f"it took over {timeout_s:g} s and was stopped")
        if done.returncode < 0:
            return Outcome("crashed", f"its process was ended by {signal.Signals(-done.returncode).name}")
        if done.returncode > 0 or not reply.exists():
            last = done.stderr.strip().splitlines() or [f"its process ended with code {done.returncode}"]
            return Outcome("failed", last[-1])
        return Outcome(**json.loads(reply.read_text(encoding="utf-8")))


def main(text: str) -> None:
    """The other end: errors raised on purpose are replies, all others end the process."""
    die_with_parent()
    call = json.loads(text)
    sys.meta_path.insert(0, _Without(call["without"]))
    module, _, function = call["target"].partition(":")
    try:
        answer = {
            "state": "ok",
            "reason": "",
            "reply": getattr(importlib.import_module(module), function)(**call["request"]),
        }
    except MissingLibrary as error:
        answer = {"state": "unavailable", "reason": str(error)}
    except SluiceError as error:
        answer = {"state": "failed", "reason": str(error)}
    Path(call["reply"]).write_text(json.dumps(answer), encoding="utf-8")


class _Without:
    """An import finder that knows better than to find some libraries."""

    def __init__(self, libraries: Sequence[str]) -> None:
        self._libraries = frozenset(libraries)

    def find_spec(self, name: str, path: Any = None, target: ModuleType | None = None) -> ModuleSpec | None:
        del path, target
        if name.partition(".")[0] in self._libraries:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
        return None
