"""Two models on the same samples: what differs is only where they differ."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sluice.stats.intervals import Interval, bootstrap_counts

__all__ = ["paired_difference"]

_DRAWS = 10_000


def paired_difference(
    candidate_correct_N: ArrayLike, champion_correct_N: ArrayLike, *, confidence: float, seed: int
) -> Interval:
    """Interval of the difference of two accuracies, candidate - champion, on the same N samples.

    A bootstrap over (worse, equal, better) counts, with one sample added to each of worse and better as Bonett
    and Price (2012) do: without them two models that never differ on a few samples would count as proven equal.
    Raises ValueError unless both are equally long and not empty.
    """
    candidate, champion = np.asarray(candidate_correct_N, dtype=bool), np.asarray(champion_correct_N, dtype=bool)
    if candidate.shape != champion.shape or candidate.ndim != 1 or candidate.size == 0:
        raise ValueError(
            f"both models need a result for the same samples, got shapes {candidate.shape} and {champion.shape}"
        )
    better, worse = int((candidate & ~champion).sum()), int((champion & ~candidate).sum())
    counts = [worse + 1, candidate.size - better - worse, better + 1]
    interval = bootstrap_counts(counts, _difference, confidence=confidence, draws=_DRAWS, seed=seed)
    value = (better - worse) / candidate.size
    return Interval(value, min(interval.low, value), max(interval.high, value))


def _difference(counts: NDArray[np.float64]) -> NDArray[np.float64]:
    result: NDArray[np.float64] = (counts[..., 2] - counts[..., 0]) / counts.sum(axis=-1)
    return result
