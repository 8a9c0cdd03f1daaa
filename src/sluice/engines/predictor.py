"""What runs a model: named arrays in, named arrays out."""

from collections.abc import Iterable, Mapping
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from sluice.errors import EngineError

__all__ = ["CheckedPredictor", "Predictor"]


class Predictor(Protocol):
    """Names are those of the folder's `signature.json`."""

    @property
    def executed_precision(self) -> str:
        """As read back from the engine ("fp32"), not as asked for."""
        ...

    def __call__(self, inputs: Mapping[str, NDArray[Any]]) -> dict[str, NDArray[Any]]: ...

    def close(self) -> None: ...


class CheckedPredictor:
    """A predictor that refuses what the signature does not allow, before the engine sees it."""

    def __init__(self, engine: Predictor, *, signature: Mapping[str, Any]) -> None:
        self._engine: Predictor | None = engine
        self._inputs = {item["name"]: (np.dtype(item["dtype"]), tuple(item["shape"])) for item in signature["inputs"]}
        self.executed_precision = engine.executed_precision

    def __call__(self, inputs: Mapping[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
        if self._engine is None:
            raise EngineError("the predictor is closed. Load the folder again.")
        if inputs.keys() != self._inputs.keys():
            raise EngineError(f"the inputs are named {_quoted(inputs)}, the model takes {_quoted(self._inputs)}.")
        return self._engine({name: _checked(inputs[name], name, *wanted) for name, wanted in self._inputs.items()})

    def close(self) -> None:
        if self._engine is not None:
            self._engine.close()
        self._engine = None


def _checked(array: NDArray[Any], name: str, dtype: np.dtype[Any], shape: tuple[int | str, ...]) -> NDArray[Any]:
    if array.dtype != dtype or not _fits(array.shape, shape):
        got = f"{array.dtype} {_brackets(array.shape)}"
        raise EngineError(f"input {name!r} is {got}, the model takes {dtype} {_brackets(shape)}.")
    return np.ascontiguousarray(array)


def _fits(shape: tuple[int, ...], wanted: tuple[int | str, ...]) -> bool:
    """Symbolic dimensions, which are text, take any size from 1 up."""
    if len(shape) != len(wanted):
        return False
    return all(size == want if isinstance(want, int) else size >= 1 for size, want in zip(shape, wanted, strict=True))


def _brackets(shape: Iterable[int | str]) -> str:
    return f"[{', '.join(map(str, shape))}]"


def _quoted(names: Iterable[str]) -> str:
    return ", ".join(map(repr, names)) or "nothing"
