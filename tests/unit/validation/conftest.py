"""An index that every rule accepts, to be spoilt by the tests."""

from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest

MakeIndex = Callable[..., pd.DataFrame]


@pytest.fixture
def make_index() -> MakeIndex:
    def make(
        rows: int = 60, *, classes: tuple[str, ...] = ("cat", "dog", "eel"), splits: tuple[str, ...] = ("",)
    ) -> pd.DataFrame:
        """Classes take turns, and so do splits, after each round of classes."""
        random = np.random.default_rng(0)
        labels = [classes[row % len(classes)] for row in range(rows)]
        chosen = [splits[row // len(classes) % len(splits)] for row in range(rows)]
        paths = [
            f"{split}/{label}/{row}.png".lstrip("/")
            for row, (split, label) in enumerate(zip(chosen, labels, strict=True))
        ]
        return pd.DataFrame(
            {
                "sample": paths,
                "split": chosen,
                "label": labels,
                "digest": [f"{row:064x}" for row in range(rows)],
                "width": 28,
                "height": 28,
                "channels": 1,
                "mean": random.uniform(20, 200, rows),
                "std": random.uniform(5, 100, rows),
            }
        )

    return make
