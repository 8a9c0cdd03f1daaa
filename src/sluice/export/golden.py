"""golden.npz: a few inputs and the model's own outputs, with which an exported folder can check itself."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

from sluice.errors import MissingArtifact

__all__ = ["Golden", "read_golden", "write_golden"]

Arrays = Mapping[str, NDArray[Any]]


@dataclass(frozen=True)
class Golden:
    inputs: Arrays
    outputs: Arrays


def write_golden(path: Path, golden: Golden) -> None:
    """Equal arrays give equal bytes: NumPy writes neither a time nor a path."""
    arrays = {f"input.{name}": array for name, array in golden.inputs.items()}
    arrays |= {f"output.{name}": array for name, array in golden.outputs.items()}
    np.savez(path, allow_pickle=False, **arrays)


def read_golden(path: Path) -> Golden:
    """Raises MissingArtifact."""
    try:
        with path.open("rb") as file, np.load(file, allow_pickle=False) as stored:
            arrays = {key.partition(".")[::2]: stored[key] for key in stored.files}
    except FileNotFoundError:
        raise MissingArtifact(f"{path} does not exist. Make it with: dvc repro") from None
    except (ValueError, OSError, EOFError, BadZipFile) as error:
        raise MissingArtifact(f"{path} cannot be read ({error}). Delete it and run: dvc repro") from None
    return Golden(
        {name: array for (side, name), array in arrays.items() if side == "input"},
        {name: array for (side, name), array in arrays.items() if side == "output"},
    )
