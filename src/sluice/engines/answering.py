"""Ask an exported folder for its outputs, in a process of its own."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sluice.engines.isolated import State, run_isolated
from sluice.engines.loading import load

__all__ = ["Answers", "answer_files", "ask"]

Arrays = Mapping[str, NDArray[Any]]


@dataclass(frozen=True)
class Answers:
    state: State
    reason: str
    outputs: tuple[Arrays, ...] = ()
    """One for each batch asked, in order; none unless the state is "ok"."""
    executed_precision: str | None = None


def ask(
    engine: str, folder: Path, batches: Sequence[Arrays], *, timeout_s: float, without: Sequence[str] = ()
) -> Answers:
    """Load `folder` once and run every batch, on one thread; libraries in `without` cannot be imported there."""
    with TemporaryDirectory(prefix="sluice-") as scratch:
        asked, answered = Path(scratch, "asked.npz"), Path(scratch, "answered.npz")
        _write(asked, batches)
        request = {"engine": engine, "folder": str(folder.resolve()), "asked": str(asked), "answered": str(answered)}
        outcome = run_isolated("sluice.engines.answering:answer_files", request, timeout_s=timeout_s, without=without)
        if outcome.state != "ok":
            return Answers(outcome.state, outcome.reason)
        return Answers("ok", "", tuple(_read(answered)), outcome.reply)


def answer_files(*, engine: str, folder: str, asked: str, answered: str) -> str:
    """The other end of `ask`. Returns the executed precision."""
    predictor = load(engine, Path(folder), threads=1)
    try:
        _write(Path(answered), [predictor(batch) for batch in _read(Path(asked))])
        return predictor.executed_precision
    finally:
        predictor.close()


def _write(path: Path, batches: Sequence[Arrays]) -> None:
    arrays = {f"{index}.{name}": array for index, batch in enumerate(batches) for name, array in batch.items()}
    np.savez(path, allow_pickle=False, **arrays)


def _read(path: Path) -> list[Arrays]:
    batches: dict[int, dict[str, NDArray[Any]]] = {}
    with np.load(path, allow_pickle=False) as stored:
        for key in stored.files:
            index, _, name = key.partition(".")
            batches.setdefault(int(index), {})[name] = stored[key]
    return [batches[index] for index in sorted(batches)]
