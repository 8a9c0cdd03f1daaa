"""From an engine's name to its predictor, or to the reason why this machine lacks it."""

import importlib
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

from sluice.config.plugins import ENGINES, EngineEntry, engine_names, split_engine_name
from sluice.engines.predictor import CheckedPredictor, Predictor
from sluice.errors import EngineError, MissingLibrary, UnknownPlugin
from sluice.io import files, paths

__all__ = ["Available", "Missing", "import_plugin", "load", "probe"]


@dataclass(frozen=True)
class Available:
    version: str


@dataclass(frozen=True)
class Missing:
    reason: str
    remedy: str


def load(engine: str, folder: Path, *, threads: int) -> Predictor:
    """Load an exported folder into `engine`, named as in `export.engines` ("onnxruntime-fp32").

    Each call of the predictor checks its inputs against the signature. Raises UnknownPlugin, MissingLibrary,
    MissingArtifact (no signature) and EngineError (files that cannot be loaded; inputs that do not fit).
    """
    if engine not in engine_names():
        raise UnknownPlugin(f"engine {engine!r} does not exist. Take one of: {', '.join(engine_names())}")
    kind, _ = split_engine_name(engine)
    signature = files.read_json(folder / paths.SIGNATURE_NAME)
    module = import_plugin(kind, module=ENGINES[kind].loads)
    return CheckedPredictor(module.load(folder, threads=threads), signature=signature)


def import_plugin(kind: str, *, module: str) -> ModuleType:
    """Import one of an engine's two files; a missing library becomes one sentence with the command that installs it."""
    entry = ENGINES[kind]
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        library = (error.name or "").partition(".")[0]
        if library in {"", "sluice"}:
            raise
        raise MissingLibrary(
            f"engine {kind!r} needs the library {library!r}. Install it with: {entry.install}"
        ) from None
    except ImportError as error:
        raise EngineError(f"engine {kind!r}: its library does not import: {error}. {_reinstall(entry)}") from error


def probe(kind: str, *, timeout_s: float = 60.0) -> Available | Missing:
    """Import the engine's library in a process of its own, which may crash or hang without harm."""
    if kind not in ENGINES:
        raise UnknownPlugin(f"engine {kind!r} does not exist. Take one of: {', '.join(ENGINES)}")
    entry = ENGINES[kind]
    code = f"import {entry.library} as library; print(getattr(library, '__version__', 'unknown'))"
    command = [sys.executable, "-I", "-c", code]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=timeout_s, check=False)
    except subprocess.TimeoutExpired:
        return Missing(f"the import of {entry.library!r} took over {timeout_s:g} s", "Try again on an idle machine.")
    if done.returncode == 0:
        return Available(done.stdout.split()[-1])
    last = (done.stderr.strip().splitlines() or [f"the process ended with code {done.returncode}"])[-1]
    if last == f"ModuleNotFoundError: No module named '{entry.library}'":
        return Missing(f"the library {entry.library!r} is not installed", f"Install it with: {entry.install}")
    return Missing(f"the library {entry.library!r} does not import: {last}", _reinstall(entry))


def _reinstall(entry: EngineEntry) -> str:
    return f"Install it anew with: {entry.install.replace('pip install', 'pip install --force-reinstall')}"
