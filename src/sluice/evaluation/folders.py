"""What an exported folder says of itself, and whether two of them can be asked the same."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from sluice.errors import EngineError, Incomparable, MissingArtifact
from sluice.io import files, paths

__all__ = ["Face", "check_comparable", "read_face", "read_logits"]


@dataclass(frozen=True)
class Face:
    """Classes in the order of the outputs; inputs as name, type and shape."""

    classes: tuple[str, ...]
    inputs: tuple[tuple[str, str, tuple[int | str, ...]], ...]


def read_face(folder: Path) -> Face:
    """Raises EngineError when the folder's signature does not say classes and inputs."""
    file = folder / paths.SIGNATURE_NAME
    signature = files.read_json(file)
    try:
        inputs = tuple((item["name"], item["dtype"], tuple(item["shape"])) for item in signature["inputs"])
        return Face(tuple(signature["classes"]), inputs)
    except (KeyError, TypeError) as error:
        raise EngineError(f"{file} does not say its classes and inputs ({error!r}). Export the model again.") from None


def read_logits(file: Path, *, engine: str) -> NDArray[np.float32]:
    """The engine's logits from outputs.npz; EngineError when evaluate has none of it."""
    if not file.exists():
        raise MissingArtifact(f"{file} does not exist. Make it with: dvc repro evaluate")
    with np.load(file) as outputs:
        if f"{engine}.logits" not in outputs:
            raise EngineError(f"{file} has no answers of {engine}: {paths.METRICS} says why.")
        logits: NDArray[np.float32] = outputs[f"{engine}.logits"]
        return logits


def check_comparable(candidate: Path, champion: Path, *, digest: str) -> None:
    """Raises EngineError for a folder of the champion that is not the one on record, Incomparable for other inputs."""
    found = files.digest_folder(champion, without=(paths.PARITY_NAME,))
    if found != digest:
        raise EngineError(
            f"the champion's {champion.name} in the store has SHA-256 {found}, on record is {digest}: someone changed "
            "it. Go back to a version that is whole: sluice rollback"
        )
    mine, theirs = read_face(candidate), read_face(champion)
    if _form(mine) != _form(theirs):
        raise Incomparable(
            f"the champion takes {_shown(theirs)}, the candidate {_shown(mine)}: they cannot be asked the same. "
            "Promote the candidate by hand: sluice promote VERSION --force --reason ..."
        )


def _form(face: Face) -> list[tuple[str, str, tuple[int | None, ...]]]:
    """Symbolic dimensions, which are text, are equal whatever their names."""
    return [
        (name, dtype, tuple(size if isinstance(size, int) else None for size in shape))
        for name, dtype, shape in face.inputs
    ]


def _shown(face: Face) -> str:
    return ", ".join(f"{name} {dtype} [{', '.join(map(str, shape))}]" for name, dtype, shape in face.inputs)
