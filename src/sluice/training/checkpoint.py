"""States of a training on disk: whole or not there, verified before they are believed, the one before kept.

`epoch-0003.pt` counts only beside `epoch-0003.sha256` with its digest, which is written after it.
"""

import logging
import os
import pickle
import shutil
from pathlib import Path
from typing import Any

import torch

from sluice.errors import MissingArtifact
from sluice.io import files

__all__ = ["load", "open_folder", "save"]

_KEPT_STATES = 2
_KEPT_TRAININGS = 3
_UNREADABLE = (MissingArtifact, OSError, RuntimeError, EOFError, ValueError, KeyError, pickle.UnpicklingError)

_LOGGER = logging.getLogger(__name__)


def save(folder: Path, state: dict[str, Any], *, epoch: int) -> None:
    """Only one process may write to a folder. `state` holds plain types and tensors."""
    path = folder / f"epoch-{epoch:04d}.pt"
    with files.atomic_file(path) as temporary:
        torch.save(state, temporary)
    files.write_text(path.with_suffix(".sha256"), files.digest_file(path))
    _remove_old(folder)


def load(folder: Path) -> dict[str, Any] | None:
    """The newest state that is whole; a warning for each that is not, and None when there is none."""
    states = _newest_first(folder)
    for path in states:
        try:
            return _read(path)
        except _UNREADABLE as error:
            _LOGGER.warning("checkpoint %s cannot be read (%s); trying the one before", path, error)
    if states:
        _LOGGER.warning("no checkpoint in %s can be read; training starts afresh", folder)
    return None


def open_folder(folder: Path, *, key: str) -> Path:
    """The folder of the training `key`. Beside it stay the most recently used of other, unfinished trainings."""
    opened = folder / key
    opened.mkdir(parents=True, exist_ok=True)
    os.utime(opened)
    trainings = sorted(folder.iterdir(), key=lambda item: item.stat().st_mtime_ns, reverse=True)
    for old in [item for item in trainings if item != opened][_KEPT_TRAININGS - 1 :]:
        shutil.rmtree(old)
    return opened


def _read(path: Path) -> dict[str, Any]:
    expected = path.with_suffix(".sha256").read_text(encoding="utf-8").strip()
    if files.digest_file(path) != expected:
        raise ValueError("its SHA-256 is not the one on record")
    state: dict[str, Any] = torch.load(path, map_location="cpu", weights_only=True)
    return state


def _newest_first(folder: Path) -> list[Path]:
    return sorted(folder.glob("epoch-*.pt"), reverse=True)


def _remove_old(folder: Path) -> None:
    """The digest goes first: what a kill leaves in between is then no state."""
    for path in _newest_first(folder)[_KEPT_STATES:]:
        path.with_suffix(".sha256").unlink(missing_ok=True)
        path.unlink()
    for left_over in folder.glob(".epoch-*"):
        left_over.unlink()
