"""Scores of every class against scikit-learn, and classes that nothing can be said of."""

import numpy as np
import pytest
from sklearn import metrics as reference

from sluice.evaluation.per_class import balanced_accuracy, class_scores, worst_class

CLASSES = ("a", "b", "c", "d")


def _draw(classes: int = 4, n: int = 500) -> tuple[np.ndarray, np.ndarray]:
    generator = np.random.default_rng(0)
    labels = generator.integers(classes, size=n)
    predicted = np.where(generator.uniform(size=n) < 0.8, labels, generator.integers(classes, size=n))
    return predicted, labels


def test_scores_equal_scikit_learn() -> None:
    """Precision, recall, F1 and support are the usual ones."""
    predicted, labels = _draw()
    expected = reference.precision_recall_fscore_support(labels, predicted, labels=range(4))
    scores = class_scores(predicted, labels, classes=CLASSES)
    actual = [(score.precision, score.recall, score.f1, score.support) for score in scores]
    np.testing.assert_allclose(np.array(actual, dtype=float).T, np.array(expected, dtype=float))


def test_balanced_accuracy_equals_scikit_learn_within_its_interval() -> None:
    """The mean recall, and an interval around it."""
    predicted, labels = _draw()
    interval = balanced_accuracy(class_scores(predicted, labels, classes=CLASSES), confidence=0.95)
    assert interval.value == pytest.approx(reference.balanced_accuracy_score(labels, predicted))
    assert 0.7 < interval.low < interval.value < interval.high < 0.95


def test_a_class_without_support_has_no_score() -> None:
    """No label of a class gives None, not 0 or NaN, and leaves mean and worst class alone (A6)."""
    predicted, labels = np.array([0, 0, 3, 1]), np.array([0, 0, 1, 1])
    scores = class_scores(predicted, labels, classes=CLASSES)
    assert (scores[3].support, scores[3].precision, scores[3].recall, scores[3].f1) == (0, None, None, None)
    assert balanced_accuracy(scores, confidence=0.95).value == 0.75
    assert worst_class(scores).name == "b"


def test_a_class_that_is_never_predicted_has_no_precision() -> None:
    """Recall and F1 are 0 there; precision is unknown."""
    scores = class_scores(np.array([0, 0]), np.array([0, 1]), classes=("a", "b"))
    assert (scores[1].precision, scores[1].recall, scores[1].f1) == (None, 0.0, 0.0)
    assert worst_class(scores).name == "b"


def test_imbalance_does_not_hide_the_small_class() -> None:
    """99 to 1 and always the majority: accuracy 0.99, balanced accuracy 0.5 (A21)."""
    labels = np.array([0] * 99 + [1])
    scores = class_scores(np.zeros(100, dtype=np.int64), labels, classes=("a", "b"))
    interval = balanced_accuracy(scores, confidence=0.95)
    assert interval.value == 0.5
    assert interval.low < 0.5 < interval.high < 0.95


def test_a_small_split_without_an_error_is_no_certainty() -> None:
    """Five of five right in each of three classes: the interval has a width, as Wilson's has."""
    labels = np.repeat(np.arange(3), 5)
    interval = balanced_accuracy(class_scores(labels, labels, classes=("a", "b", "c")), confidence=0.95)
    assert interval.value == interval.high == 1.0
    assert 0.7 < interval.low < 0.8
