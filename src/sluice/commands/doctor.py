"""What is wrong with this machine or workspace, before it costs a run; nothing is changed."""

import os
import platform
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Literal

from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name
from rich.console import Console
from rich.table import Table
from rich.text import Text

from sluice import config
from sluice.commands import services
from sluice.config.plugins import ENGINES, split_engine_name
from sluice.engines.loading import Available, probe
from sluice.errors import SluiceError, WorkspaceError
from sluice.io import dvc_tool, paths, process

__all__ = ["Finding", "doctor"]

_LEAST_FREE_GIB = 5.0
_LEAST_SHARED_MIB = 64
_COLOUR = {"ok": "green", "note": "yellow", "problem": "bold red"}


@dataclass(frozen=True)
class Finding:
    level: Literal["ok", "note", "problem"]
    what: str
    remedy: str = ""


def doctor(*, export: bool) -> bool:
    """Print all findings, each with its remedy; True when one is a problem."""
    checks: list[Callable[[], Iterator[Finding]]] = [
        _python, _libraries, _parameters, _engines, _disk, _workspace, _locks, _mlflow, _prefect,
    ]  # fmt: skip
    if export:
        checks.append(_export)
    console, found = Console(highlight=False), []
    table = Table(box=None, show_header=False, pad_edge=False, padding=(0, 2, 0, 0))
    for check in checks:
        try:
            found += list(check())
        except SluiceError as error:
            found.append(Finding("problem", str(error)))
    for one in found:
        table.add_row(Text(one.level, style=_COLOUR[one.level]), Text(f"{one.what} {one.remedy}".strip()))
    console.print(table)
    return any(one.level == "problem" for one in found)


def _python() -> Iterator[Finding]:
    version = platform.python_version()
    wanted = metadata.metadata("sluice")["Requires-Python"]
    known = SpecifierSet(wanted).contains(version, prereleases=True)
    remedy = "" if known else f"Sluice wants {wanted}: make clean setup PYTHON=python3.11"
    yield Finding(
        "ok" if known else "problem", f"Python {version} on {platform.system()} {platform.machine()}.", remedy
    )


def _libraries() -> Iterator[Finding]:
    """What requirements.lock pins, and what is installed."""
    if not (lock := Path("requirements.lock")).exists():
        yield Finding("note", "There is no requirements.lock to compare the installed libraries with.")
        return
    lines = [line.rstrip("\\ ") for line in lock.read_text(encoding="utf-8").splitlines() if line[:1].isalnum()]
    pinned = [one for one in map(Requirement, lines) if one.marker is None or one.marker.evaluate()]
    installed = {canonicalize_name(one.name): one.version for one in metadata.distributions()}
    found = {one: installed.get(canonicalize_name(one.name)) for one in pinned}
    wrong = [
        f"{one.name} {version or 'missing'}"
        for one, version in found.items()
        if version is None or not one.specifier.contains(version, prereleases=True)
    ]
    if wrong:
        yield Finding("problem", f"Not as in requirements.lock: {', '.join(wrong)}.", "Install them with: make setup")
    else:
        yield Finding("ok", f"{len(pinned)} libraries as in requirements.lock.")


def _parameters() -> Iterator[Finding]:
    params = config.load()
    yield Finding(
        "ok", f"{paths.PARAMS}: {params.registry.name}, {params.model.name}, {', '.join(params.export.engines)}."
    )


def _engines() -> Iterator[Finding]:
    wanted = {split_engine_name(name)[0] for name in config.load().export.engines}
    for kind in ENGINES:
        found = probe(kind)
        if isinstance(found, Available):
            yield Finding("ok", f"Engine {kind} {found.version}.")
        else:
            level: Literal["note", "problem"] = "problem" if kind in wanted else "note"
            yield Finding(level, f"Engine {kind}: {found.reason}.", found.remedy)


def _disk() -> Iterator[Finding]:
    free = shutil.disk_usage(".").free / 2**30
    level: Literal["ok", "problem"] = "ok" if free >= _LEAST_FREE_GIB else "problem"
    remedy = "" if level == "ok" else "Make room, for example with: dvc gc --workspace"
    yield Finding(level, f"{free:.0f} GiB free on the disk of this workspace.", remedy)
    shared = Path("/dev/shm")  # noqa: S108 - looked at, not written to
    if shared.exists() and (size := shutil.disk_usage(shared).total / 2**20) < _LEAST_SHARED_MIB:
        remedy = "Give the container more, for example with: --shm-size 1g"
        yield Finding("note", f"{shared} has {size:.0f} MiB: workers that load data may run out.", remedy)


def _workspace() -> Iterator[Finding]:
    if not Path(".dvc").is_dir():
        yield Finding("problem", "This is no DVC workspace.", "Run: git init && dvc init")
        return
    cache = Path(dvc_tool.ask("cache", "dir"))
    if cache.exists() and cache.stat().st_dev != Path().stat().st_dev:
        remedy = "It works; links cannot reach it, so every file takes its room twice."
        yield Finding("note", f"DVC's cache {cache} lies on another file system.", remedy)
    if os.geteuid() == 0 and _links_to_cache():
        remedy = "Run as another user, or: dvc config cache.type reflink,copy"
        yield Finding(
            "note", "You are root, and DVC links files to its cache: a write in place would damage it.", remedy
        )
    for lock in services.dvc_locks():
        remedy = "Its process is gone; DVC drops it by itself." if not lock.alive else "Wait for it, or stop it."
        yield Finding("note", f"DVC: {lock.what} is locked by process {lock.pid}.", remedy)


def _links_to_cache() -> bool:
    try:
        return dvc_tool.ask("config", "cache.type") in {"hardlink", "symlink"}
    except WorkspaceError:  # it is not set, and DVC copies
        return False


def _locks() -> Iterator[Finding]:
    for name, holder in process.holders():
        yield Finding("note", f"{name} is running in this workspace ({holder}).")


def _mlflow() -> Iterator[Finding]:
    params = config.load()
    store = services.open_mlflow(params)
    if store is None:
        yield Finding(
            "note", "There is no MLflow store yet.", "dvc repro makes it, or name one with MLFLOW_TRACKING_URI."
        )
        return
    yield Finding("ok", f"MLflow store {store.shown}.")
    if store.version_skew:
        yield Finding("note", store.version_skew, "Use the same version on both sides.")
    if store.stale:
        remedy = "The next dvc repro that trains ends them."
        yield Finding("note", f"{store.stale} run(s) left RUNNING by processes that are gone.", remedy)


def _prefect() -> Iterator[Finding]:
    url = os.environ.get("PREFECT_API_URL")
    if url is None:
        yield Finding("ok", "PREFECT_API_URL is not set: flows start a server for themselves.")
        return
    server, mine = services.prefect_version(url), metadata.version("prefect")
    if server is None:
        yield Finding("problem", f"No Prefect server answers at {url}.", "Start it, or unset PREFECT_API_URL.")
    elif server != mine:
        yield Finding("note", f"Prefect is {mine} here and {server} at {url}.", "Use the same version on both sides.")
    else:
        yield Finding("ok", f"Prefect {server} at {url}.")


def _export() -> Iterator[Finding]:
    """The configured model, untrained, captured as one graph and written as ONNX."""
    from sluice.export.dry import dry_export

    with TemporaryDirectory() as folder:
        dry_export(config.load(), folder=Path(folder))
    yield Finding("ok", "The configured model can be captured and written as ONNX.")
