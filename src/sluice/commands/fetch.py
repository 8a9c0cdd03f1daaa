"""Bring a published data set to data/raw and hand it to DVC, all or nothing."""

import importlib
import shutil
from pathlib import Path
from typing import Protocol

from sluice.errors import ConfigError, DataError, WorkspaceError
from sluice.io import dvc_tool, files, paths, process

__all__ = ["fetch"]

_DATA_SETS = {
    "digits": "sluice.data.fetch_digits",
    "fashion-mnist": "sluice.data.fetch_fashion_mnist",
    "mnist": "sluice.data.fetch_mnist",
}
_DVC_FILE = paths.RAW.with_name(f"{paths.RAW.name}.dvc")


class _DataSet(Protocol):
    def holds(self, folder: Path) -> bool: ...

    def fill(self, folder: Path, *, origin: str | None) -> None: ...


def fetch(name: str | None, *, origin: str | None = None) -> None:
    """Put the data set `name` in data/raw; nothing is fetched when it is there already, or for None: own data.

    `origin` is where its files lie: a folder, or what else the data set's own module takes.
    Raises DataError rather than lose files that DVC does not have, and WorkspaceError without git or DVC.
    """
    _require_workspace()
    if name is None:
        print(f"data.fetch is null: {paths.RAW} is yours, nothing to fetch.")
        return
    if name not in _DATA_SETS:
        raise ConfigError(f"data set {name!r} is unknown: expected one of {', '.join(map(repr, _DATA_SETS))}")
    data_set: _DataSet = importlib.import_module(_DATA_SETS[name])
    with process.only_one("fetch"):
        if _has_files(paths.RAW) and data_set.holds(paths.RAW):
            print(f"{paths.RAW} holds {name} already.")
        else:
            _refuse_to_lose()
            _remove_left_overs()
            with files.atomic_folder(paths.RAW) as folder:
                data_set.fill(folder, origin=origin)
            print(f"{name} is in {paths.RAW}.")
        dvc_tool.ask("add", "-q", str(paths.RAW))


def _has_files(folder: Path) -> bool:
    return folder.is_dir() and any(folder.iterdir())


def _require_workspace() -> None:
    if not Path(".dvc").is_dir():
        raise WorkspaceError(f"{Path.cwd()} is no DVC workspace. Run: git init && dvc init")
    here = Path.cwd()
    if any((folder / ".git").exists() for folder in (here, *here.parents)):
        return
    if not _does_without_git():
        raise WorkspaceError(
            f"{here} is not in a git repository. Run: git init, or without git: dvc config core.no_scm true"
        )


def _does_without_git() -> bool:
    try:
        return dvc_tool.ask("config", "core.no_scm") == "true"
    except WorkspaceError:  # dvc itself wants git, or to be told that there is none
        return False


def _refuse_to_lose() -> None:
    """Pass when data/raw is empty, or DVC has exactly what it holds."""
    if not _has_files(paths.RAW) or _is_kept_by_dvc():
        return
    raise DataError(
        f"{paths.RAW} holds other files, which DVC does not have. Keep them with: dvc add {paths.RAW}, "
        f"or move them away, and run this again."
    )


def _is_kept_by_dvc() -> bool:
    return _DVC_FILE.exists() and not dvc_tool.changes(str(_DVC_FILE))


def _remove_left_overs() -> None:
    """Of a fetch that was killed."""
    for folder in paths.RAW.parent.glob(f".{paths.RAW.name}.*"):
        shutil.rmtree(folder, ignore_errors=True)
