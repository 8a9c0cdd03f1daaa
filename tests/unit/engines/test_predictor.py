from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from sluice.engines.predictor import CheckedPredictor
from sluice.errors import EngineError

SIGNATURE = {"inputs": [{"name": "images", "dtype": "uint8", "shape": ["N", 4, 3, 1]}]}


class _Echo:
    executed_precision = "fp32"

    def __init__(self) -> None:
        self.closed = 0

    def __call__(self, inputs: Mapping[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
        return dict(inputs)

    def close(self) -> None:
        self.closed += 1


def _images(n: int = 2) -> NDArray[np.uint8]:
    return np.arange(n * 12, dtype=np.uint8).reshape(n, 4, 3, 1)


@pytest.mark.parametrize(
    ("inputs", "said"),
    [
        ({"image": _images()}, "the inputs are named 'image', the model takes 'images'"),
        ({}, "the inputs are named nothing, the model takes 'images'"),
        ({"images": _images(), "mask": _images()}, "named 'images', 'mask', the model takes 'images'"),
        ({"images": _images().astype(np.float32)}, r"is float32 \[2, 4, 3, 1\], the model takes uint8 \[N, 4, 3, 1\]"),
        ({"images": _images()[0]}, r"is uint8 \[4, 3, 1\], the model takes uint8 \[N, 4, 3, 1\]"),
        ({"images": _images().reshape(2, 3, 4, 1)}, r"is uint8 \[2, 3, 4, 1\], the model takes"),
        ({"images": _images()[:0]}, r"is uint8 \[0, 4, 3, 1\], the model takes"),
    ],
)
def test_what_the_signature_does_not_allow_is_refused(inputs: dict[str, NDArray[Any]], said: str) -> None:
    """Name, type, rank, size and an empty batch: each is said with what came and what was wanted."""
    with pytest.raises(EngineError, match=said):
        CheckedPredictor(_Echo(), signature=SIGNATURE)(inputs)


def test_the_engine_gets_contiguous_memory() -> None:
    """A view of every second row is the caller's right."""
    given = np.concatenate([_images(4)] * 2)[::2]
    got = CheckedPredictor(_Echo(), signature=SIGNATURE)({"images": given})["images"]
    assert got.flags.c_contiguous
    np.testing.assert_array_equal(got, given)


def test_closing_twice_closes_once_and_ends_it() -> None:
    """A closed predictor says so."""
    echo = _Echo()
    predictor = CheckedPredictor(echo, signature=SIGNATURE)
    predictor.close()
    predictor.close()
    assert echo.closed == 1
    with pytest.raises(EngineError, match="the predictor is closed"):
        predictor({"images": _images()})
