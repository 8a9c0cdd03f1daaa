"""Confidence intervals of proportions and of any statistic.

Shapes: N values, D bootstrap draws, K cells of a table of counts.
"""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from statistics import NormalDist
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = ["Interval", "bootstrap", "bootstrap_counts", "mean_of_proportions", "wilson"]

_VALUES_AT_ONCE = 4_000_000

Statistic = Callable[..., Any]


@dataclass(frozen=True)
class Interval:
    """A value and where it may lie; NaN where nothing is known."""

    value: float
    low: float
    high: float

    def as_json(self) -> dict[str, float]:
        return asdict(self)


def wilson(successes: int, n: int, *, confidence: float) -> Interval:
    """Score interval of a proportion (Wilson 1927): it stays within 0..1 and is not empty at 0 or n successes.

    Of nothing (n = 0) nothing is known: the value is NaN, the interval 0..1.
    """
    if not 0 <= successes <= n:
        raise ValueError(f"successes must lie in 0..n, got {successes} of {n}")
    if n == 0:
        return Interval(float("nan"), 0.0, 1.0)
    z = NormalDist().inv_cdf((1 + confidence) / 2)
    share = successes / n
    centre = (share + z * z / (2 * n)) / (1 + z * z / n)
    half = z / (1 + z * z / n) * ((share * (1 - share) / n + z * z / (4 * n * n)) ** 0.5)
    low = 0.0 if successes == 0 else max(0.0, centre - half)
    high = 1.0 if successes == n else min(1.0, centre + half)
    return Interval(share, low, high)


def mean_of_proportions(proportions: Sequence[tuple[int, int]], *, confidence: float) -> Interval:
    """Mean of independent proportions, each (successes, n > 0): Wilson's limits, combined (MOVER; Zou, Donner 2008)."""
    parts = [wilson(successes, n, confidence=confidence) for successes, n in proportions]
    value = sum(part.value for part in parts) / len(parts)
    below = sum((part.value - part.low) ** 2 for part in parts) ** 0.5 / len(parts)
    above = sum((part.high - part.value) ** 2 for part in parts) ** 0.5 / len(parts)
    return Interval(value, value - below, value + above)


def bootstrap(
    values_N: ArrayLike,
    statistic: Statistic,
    *,
    confidence: float,
    draws: int,
    seed: int,
    method: Literal["percentile", "bca"] = "percentile",
) -> Interval:
    """Bootstrap interval of a statistic of one sample (Efron 1987 for the bias-corrected, accelerated form).

    `statistic` is called as numpy's are, `statistic(array, axis=-1)`. Raises ValueError on an empty sample.
    """
    values = np.asarray(values_N, dtype=np.float64)
    if values.ndim != 1 or values.size == 0:
        raise ValueError(f"a bootstrap needs a list of at least one value, got shape {values.shape}")
    generator = np.random.default_rng(seed)
    rows_at_once = max(1, _VALUES_AT_ONCE // values.size)
    parts = [
        statistic(
            values[generator.integers(values.size, size=(min(rows_at_once, draws - start), values.size))], axis=-1
        )
        for start in range(0, draws, rows_at_once)
    ]
    drawn_D = np.concatenate(parts)
    value = float(statistic(values, axis=-1))
    levels = np.array([(1 - confidence) / 2, (1 + confidence) / 2])
    if method == "bca":
        levels = _bca_levels(values, statistic, value, drawn_D, levels)
    low, high = np.quantile(drawn_D, levels)
    return Interval(value, float(low), float(high))


def bootstrap_counts(
    counts_K: ArrayLike, statistic: Statistic, *, confidence: float, draws: int, seed: int
) -> Interval:
    """Percentile bootstrap of a statistic of counts, by drawing whole tables: quick whatever the number of samples.

    `statistic` maps counts [..., K] to values [...]. A draw whose statistic is NaN is left out.
    """
    counts = np.asarray(counts_K, dtype=np.float64)
    total = counts.sum()
    if counts.size == 0 or (counts < 0).any() or total <= 0:
        raise ValueError(f"counts must be at least 0 and not all 0, got {counts.tolist()}")
    generator = np.random.default_rng(seed)
    rows_at_once = max(1, _VALUES_AT_ONCE // counts.size)
    parts = [
        statistic(generator.multinomial(round(total), counts / total, size=min(rows_at_once, draws - start)))
        for start in range(0, draws, rows_at_once)
    ]
    levels = [(1 - confidence) / 2, (1 + confidence) / 2]
    low, high = np.nanquantile(np.concatenate(parts), levels)
    return Interval(float(statistic(counts)), float(low), float(high))


def _bca_levels(
    values: NDArray[np.float64],
    statistic: Statistic,
    value: float,
    drawn_D: NDArray[np.float64],
    levels: NDArray[np.float64],
) -> NDArray[np.float64]:
    """The levels that correct bias and skew; those given where the draws do not vary enough to tell."""
    normal = NormalDist()
    below = float(np.mean(drawn_D < value) + np.mean(drawn_D == value) / 2)
    left_out = np.array(
        [statistic(np.delete(values, index), axis=-1) for index in range(values.size)] if values.size > 1 else []
    )
    deviations = left_out.mean() - left_out if left_out.size else left_out
    spread = float((deviations**2).sum())
    if not 0 < below < 1 or spread == 0:
        return levels
    bias = normal.inv_cdf(below)
    acceleration = float((deviations**3).sum()) / (6 * spread**1.5)
    shifted = [bias + normal.inv_cdf(float(level)) for level in levels]
    return np.array([normal.cdf(bias + z / (1 - acceleration * z)) for z in shifted])
