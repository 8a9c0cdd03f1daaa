"""Precision, recall and F1 of every class.

Shapes: N samples, K classes.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sluice.stats.intervals import Interval, bootstrap_counts

__all__ = ["ClassScore", "balanced_accuracy", "class_scores", "worst_class"]

_DRAWS = 10_000
_SEED = 0


@dataclass(frozen=True)
class ClassScore:
    """None where nothing can be said: no label of the class (no support), or, for precision, no prediction of it."""

    name: str
    support: int
    correct: int
    precision: float | None
    recall: float | None
    f1: float | None


def class_scores(
    predicted_N: NDArray[np.int64], labels_N: NDArray[np.int64], *, classes: Sequence[str]
) -> list[ClassScore]:
    support_K = np.bincount(labels_N, minlength=len(classes))
    chosen_K = np.bincount(predicted_N[predicted_N >= 0], minlength=len(classes))
    correct_K = np.bincount(labels_N[predicted_N == labels_N], minlength=len(classes))
    rows = zip(classes, support_K.tolist(), chosen_K.tolist(), correct_K.tolist(), strict=True)
    return [_score(name, support=support, chosen=chosen, correct=correct) for name, support, chosen, correct in rows]


def balanced_accuracy(scores: Sequence[ClassScore], *, confidence: float) -> Interval:
    """Mean recall of the classes that have support; the interval is a bootstrap over samples."""
    known = [score for score in scores if score.support]
    counts = [count for score in known for count in (score.correct, score.support - score.correct)]
    return bootstrap_counts(counts, _mean_recall, confidence=confidence, draws=_DRAWS, seed=_SEED)


def worst_class(scores: Sequence[ClassScore]) -> ClassScore:
    """The class of lowest recall among those with support."""
    return min((score for score in scores if score.recall is not None), key=lambda score: score.recall or 0.0)


def _score(name: str, *, support: int, chosen: int, correct: int) -> ClassScore:
    if support == 0:
        return ClassScore(name, 0, 0, None, None, None)
    precision = correct / chosen if chosen else None
    return ClassScore(name, support, correct, precision, correct / support, 2 * correct / (support + chosen))


def _mean_recall(counts: NDArray[np.float64]) -> NDArray[np.float64]:
    """Counts [..., 2 K], right and wrong of each class in turn; a class that was not drawn is left out of the mean."""
    right, wrong = counts[..., 0::2], counts[..., 1::2]
    drawn = right + wrong
    recall = np.divide(right, drawn, out=np.zeros(right.shape), where=drawn > 0)
    result: NDArray[np.float64] = recall.sum(axis=-1) / (drawn > 0).sum(axis=-1)
    return result
