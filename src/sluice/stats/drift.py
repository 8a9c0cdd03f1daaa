"""Has a distribution moved, and by how much."""

from collections.abc import Sequence
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import stats

__all__ = ["chi_square", "holm", "psi", "two_sample"]

_EXACT_UP_TO = 100
_SMOOTHING = 0.5


def psi(expected_counts: ArrayLike, actual_counts: ArrayLike) -> float:
    """Population stability index of two histograms over the same bins: 0 is equal, 0.1 slight, 0.25 large.

    Half a count is added to every bin, so that an empty one does not make it infinite.
    """
    expected, actual = _counts(expected_counts, actual_counts)
    smoothed_expected, smoothed_actual = expected + _SMOOTHING, actual + _SMOOTHING
    share_expected, share_actual = smoothed_expected / smoothed_expected.sum(), smoothed_actual / smoothed_actual.sum()
    return float(((share_actual - share_expected) * np.log(share_actual / share_expected)).sum())


def two_sample(a: ArrayLike, b: ArrayLike) -> float:
    """The p value of the Kolmogorov-Smirnov test that two samples of numbers come from one distribution."""
    first, second = np.asarray(a, dtype=np.float64), np.asarray(b, dtype=np.float64)
    if first.size == 0 or second.size == 0:
        raise ValueError(f"both samples need at least one value, got {first.size} and {second.size}")
    method: Literal["exact", "asymp"] = "exact" if max(first.size, second.size) <= _EXACT_UP_TO else "asymp"
    return float(stats.ks_2samp(first, second, method=method).pvalue)


def chi_square(expected_counts: ArrayLike, actual_counts: ArrayLike) -> float:
    """The p value of the test that two tables of counts over the same categories come from one distribution.

    Categories that neither table holds tell nothing and are left out; with fewer than two left it is 1.
    """
    table = np.stack(_counts(expected_counts, actual_counts))
    table = table[:, table.sum(axis=0) > 0]
    if table.shape[1] < 2 or not table.sum(axis=1).all():
        return 1.0
    return float(stats.chi2_contingency(table, correction=False).pvalue)


def holm(p_values: Sequence[float]) -> list[float]:
    """The p values adjusted for having looked at all of them (Holm 1979), in the order given."""
    order = np.argsort(np.asarray(p_values, dtype=np.float64), kind="stable")
    adjusted = [0.0] * len(p_values)
    running = 0.0
    for rank, index in enumerate(order):
        running = max(running, min(1.0, (len(p_values) - rank) * float(p_values[index])))
        adjusted[index] = running
    return adjusted


def _counts(expected_counts: ArrayLike, actual_counts: ArrayLike) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    expected, actual = np.asarray(expected_counts, dtype=np.float64), np.asarray(actual_counts, dtype=np.float64)
    if expected.shape != actual.shape or expected.ndim != 1 or expected.size == 0:
        raise ValueError(f"both need a count for the same bins, got shapes {expected.shape} and {actual.shape}")
    if (expected < 0).any() or (actual < 0).any():
        raise ValueError("counts must be at least 0")
    return expected, actual
