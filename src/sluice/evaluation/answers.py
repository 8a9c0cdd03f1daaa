"""What a model answers to labelled samples.

Shapes: N samples, K classes.
"""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sluice.engines import Predictor
from sluice.errors import EngineError

__all__ = ["NO_ANSWER", "collect_logits", "finite_rows", "predictions", "softmax"]

NO_ANSWER = -1


def collect_logits(
    predict: Predictor, inputs_of: Callable[[slice], Mapping[str, NDArray[Any]]], *, n: int, batch_size: int
) -> NDArray[np.float32]:
    """Ask for all `n` samples in batches and join the output `logits` [N, K].

    `inputs_of` gives the named inputs of a slice of samples. Raises EngineError when an answer has another form.
    """
    if n == 0:
        raise EngineError("there is no sample to ask the model about. Look at data/prepared/gate.")
    parts = []
    for start in range(0, n, batch_size):
        size = min(batch_size, n - start)
        logits = predict(inputs_of(slice(start, start + size))).get("logits")
        if logits is None or logits.ndim != 2 or len(logits) != size:
            given = "no logits" if logits is None else f"logits {list(logits.shape)}"
            raise EngineError(
                f"the model gave {given} for {size} samples, expected [{size}, classes]. "
                "Export it again: dvc repro -f -s export@ENGINE"
            )
        parts.append(np.asarray(logits, dtype=np.float32))
    return np.concatenate(parts)


def finite_rows(logits_NK: NDArray[np.float32]) -> NDArray[np.bool_]:
    result: NDArray[np.bool_] = np.all(np.isfinite(logits_NK), axis=1)
    return result


def predictions(logits_NK: NDArray[np.float32]) -> NDArray[np.int64]:
    """Index of the largest logit, NO_ANSWER (which no label equals) where a row holds NaN or infinity."""
    return np.where(finite_rows(logits_NK), logits_NK.argmax(axis=1), NO_ANSWER)


def softmax(logits_NK: NDArray[np.float32]) -> NDArray[np.float64]:
    """Probabilities [N, K]; a row that is not finite is NaN."""
    logits = np.where(finite_rows(logits_NK)[:, None], logits_NK, np.nan).astype(np.float64)
    exponents = np.exp(logits - logits.max(axis=1, keepdims=True))
    result: NDArray[np.float64] = exponents / exponents.sum(axis=1, keepdims=True)
    return result
