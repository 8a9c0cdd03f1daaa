"""Asking a model, and reading its answers."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from sluice.errors import EngineError
from sluice.evaluation.answers import NO_ANSWER, collect_logits, predictions, softmax


class Doubler:
    """A predictor whose logits are its inputs, twice."""

    executed_precision = "fp32"

    def __init__(self, name: str = "logits", *, drop: int = 0) -> None:
        self._name, self._drop = name, drop

    def __call__(self, inputs: Mapping[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
        rows = inputs["rows"] * 2.0
        return {self._name: rows[: len(rows) - self._drop]}

    def close(self) -> None:
        pass


def _collect(rows: NDArray[Any], *, predict: Doubler, batch_size: int = 2) -> NDArray[np.float32]:
    return collect_logits(predict, lambda chosen: {"rows": rows[chosen]}, n=len(rows), batch_size=batch_size)


def test_batches_are_joined_in_order() -> None:
    """Logits of all batches come back as one float32 array, a last small batch too (A15)."""
    rows = np.arange(10).reshape(5, 2)
    logits = _collect(rows, predict=Doubler())
    assert logits.dtype == np.float32
    np.testing.assert_array_equal(logits, rows * 2)


def test_a_model_without_logits_is_refused() -> None:
    """An output of another name is an error that says what was expected."""
    with pytest.raises(EngineError, match=r"gave no logits for 1 samples, expected \[1, classes\]"):
        _collect(np.ones((1, 2)), predict=Doubler("probabilities"))


def test_a_model_that_loses_a_sample_is_refused() -> None:
    """As many answers as samples, or an error that shows both."""
    with pytest.raises(EngineError, match=r"gave logits \[2, 2\] for 3 samples"):
        _collect(np.ones((3, 2)), predict=Doubler(drop=1), batch_size=9)


def test_no_sample_is_an_error() -> None:
    """Nothing to ask about is not a perfect score."""
    with pytest.raises(EngineError, match="no sample to ask"):
        _collect(np.ones((0, 2)), predict=Doubler())


@pytest.mark.parametrize("broken", [np.nan, np.inf, -np.inf])
def test_a_row_that_is_not_finite_is_no_answer(broken: float) -> None:
    """NaN is not the largest logit: such a row equals no label and has no probability."""
    logits = np.array([[0.0, 1.0], [broken, 1.0]], dtype=np.float32)
    np.testing.assert_array_equal(predictions(logits), [1, NO_ANSWER])
    probabilities = softmax(logits)
    assert probabilities[0].sum() == pytest.approx(1)
    assert np.isnan(probabilities[1]).all()


def test_softmax_of_large_logits_is_finite() -> None:
    """Logits of a thousand do not overflow."""
    np.testing.assert_allclose(softmax(np.array([[1000.0, 0.0]], dtype=np.float32)), [[1.0, 0.0]])
