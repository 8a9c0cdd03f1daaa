"""Precision, recall and F1 of every class.

Shapes: N samples, K classes.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sluice.stats.intervals import Interval, mean_of_proportions

__all__ = ["ClassScore", "balanced_accuracy", "class_scores", "worst_class"]


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
    """Mean recall of the classes that have support."""
    known = [(score.correct, score.support) for score in scores if score.support]
    return mean_of_proportions(known, confidence=confidence)


def worst_class(scores: Sequence[ClassScore]) -> ClassScore:
    """The class of lowest recall among those with support."""
    return min((score for score in scores if score.recall is not None), key=lambda score: score.recall or 0.0)


def _score(name: str, *, support: int, chosen: int, correct: int) -> ClassScore:
    if support == 0:
        return ClassScore(name, 0, 0, None, None, None)
    precision = correct / chosen if chosen else None
    return ClassScore(name, support, correct, precision, correct / support, 2 * correct / (support + chosen))
