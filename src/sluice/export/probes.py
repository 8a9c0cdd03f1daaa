"""What a model is asked: real samples in batches of several sizes, the ends of the range, inputs of no person."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["BATCHES", "batches_of", "edge_batches", "random_inputs", "spread_rows"]

BATCHES = (1, 2, 7, 64)
"""One, the size of the example that was captured, an odd one, and a large one."""
_EDGE_SAMPLES = 2

Arrays = Mapping[str, NDArray[Any]]
Range = tuple[float, float]


def spread_rows(labels_N: NDArray[np.int64], *, n: int) -> list[int]:
    """The first rows of every class in turn: at most `n`, as many of each class as can be."""
    seen: dict[int, int] = {}
    ranked = []
    for row, label in enumerate(labels_N.tolist()):
        seen[label] = seen.get(label, -1) + 1
        ranked.append((seen[label], label, row))
    return [row for _, _, row in sorted(ranked)[:n]]


def batches_of(inputs: Arrays) -> list[Arrays]:
    """The first 1, 2, 7 and 64 samples; where there are fewer, they are taken again from the start."""
    n = len(next(iter(inputs.values())))
    return [{name: array[np.arange(size) % n] for name, array in inputs.items()} for size in BATCHES]


def edge_batches(signature: Mapping[str, Any]) -> list[Arrays]:
    """All lowest and all highest values that the signature allows."""
    items = signature["inputs"]
    return [
        {
            item["name"]: np.full(_shape(item, _EDGE_SAMPLES), _range(item)[end], np.dtype(item["dtype"]))
            for item in items
        }
        for end in (0, 1)
    ]


def random_inputs(signature: Mapping[str, Any], *, n: int, seed: int) -> dict[str, NDArray[Any]]:
    """Uniform over the values that the signature allows."""
    generator = np.random.default_rng(seed)
    inputs = {}
    for item in signature["inputs"]:
        dtype, (low, high) = np.dtype(item["dtype"]), _range(item)
        if dtype.kind in "iu":
            inputs[item["name"]] = generator.integers(
                int(low), int(high), _shape(item, n), dtype=dtype.type, endpoint=True
            )
        else:
            inputs[item["name"]] = generator.uniform(low, high, _shape(item, n)).astype(dtype)
    return inputs


def _shape(item: Mapping[str, Any], n: int) -> list[int]:
    return [n if isinstance(size, str) else size for size in item["shape"]]


def _range(item: Mapping[str, Any]) -> Range:
    """All values of an integer type, and -1..1 of a float, where the signature does not say."""
    if item.get("range"):
        low, high = item["range"]
        return low, high
    dtype = np.dtype(item["dtype"])
    if dtype.kind in "iu":
        return int(np.iinfo(dtype).min), int(np.iinfo(dtype).max)
    return -1.0, 1.0
