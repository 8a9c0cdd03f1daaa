"""The index of each class name, once given and never moved."""

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from sluice.errors import DataError
from sluice.io import files

__all__ = ["ClassMap", "natural_order", "update"]


@dataclass(frozen=True)
class ClassMap:
    classes: tuple[str, ...]
    """Position is the index that models give; classes that the data no longer hold keep theirs."""

    def indices(self, labels: Iterable[str]) -> NDArray[np.int64]:
        position = {name: number for number, name in enumerate(self.classes)}
        return np.array([position[label] for label in labels], dtype=np.int64)


def update(path: Path, labels: Iterable[str]) -> ClassMap:
    """Append the labels that the file lacks, in natural order. Raises DataError for a damaged file."""
    known = _read(path)
    new = natural_order(set(labels) - set(known))
    if new:
        files.write_json(path, {"classes": [*known, *new]})
    return ClassMap((*known, *new))


def natural_order(names: Iterable[str]) -> list[str]:
    """Numbers inside names count as numbers: 1, 2, 10."""
    return sorted(names, key=_natural_key)


def _natural_key(name: str) -> tuple[list[tuple[int, int, str]], str]:
    parts = [part for part in re.split(r"([0-9]+)", name) if part]
    key = [(0, int(part), "") if part.isascii() and part.isdigit() else (1, 0, part) for part in parts]
    return key, name


def _read(path: Path) -> tuple[str, ...]:
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return ()
    except ValueError as error:
        raise _damaged(path, f"is not valid JSON ({error})") from None
    classes = value.get("classes") if isinstance(value, dict) else None
    if not isinstance(classes, list) or not all(isinstance(name, str) for name in classes):
        raise _damaged(path, "has no list of names under 'classes'")
    if len(set(classes)) != len(classes):
        raise _damaged(path, "names a class twice")
    return tuple(classes)


def _damaged(path: Path, what: str) -> DataError:
    return DataError(
        f"{path} {what}. It fixes what each output of registered models means: bring it back with dvc checkout {path}; "
        f"delete it only if no registered model is in use."
    )
