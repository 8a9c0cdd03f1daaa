"""What reports/evaluation says of one model's answers, and of an engine's beside it.

Shapes: N samples, K classes.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sluice.evaluation import answers, calibration, per_class
from sluice.stats.intervals import Interval, wilson
from sluice.stats.paired import paired_difference

__all__ = [
    "confusion_rows",
    "engine_metrics",
    "model_metrics",
    "per_class_rows",
    "scores",
    "sentence",
    "unusable_engine",
]

_WORST_SAMPLES = 20
_SEED = 0
_NO_SUPPORT = "no support"


def model_metrics(
    logits_NK: NDArray[np.float32],
    labels_N: NDArray[np.int64],
    *,
    classes: Sequence[str],
    samples: Sequence[str],
    confidence: float,
) -> dict[str, Any]:
    """Accuracy, calibration, every class, and the samples that were most confidently wrong.

    A row of logits that is not finite counts as a wrong answer.
    """
    predicted_N = answers.predictions(logits_NK)
    probabilities_NK = answers.softmax(logits_NK)
    scores = per_class.class_scores(predicted_N, labels_N, classes=classes)
    worst = per_class.worst_class(scores)
    return {
        "accuracy": _accuracy(predicted_N == labels_N, confidence=confidence),
        "balanced_accuracy": per_class.balanced_accuracy(scores, confidence=confidence).as_json(),
        "worst_class": {"name": worst.name, "recall": worst.recall, "n": worst.support},
        "majority_baseline": max(score.support for score in scores) / len(labels_N),
        "ece": calibration.expected_calibration_error(probabilities_NK, labels_N),
        "nll": calibration.negative_log_likelihood(probabilities_NK, labels_N),
        "confidence": confidence,
        "per_class": {score.name: _class_json(score) for score in scores},
        "worst_samples": _worst_samples(predicted_N, probabilities_NK, labels_N, classes=classes, samples=samples),
    }


def scores(metrics: Mapping[str, Any]) -> dict[str, float]:
    """Of `model_metrics`, what `dvc metrics` shows."""
    return {
        "accuracy": metrics["accuracy"]["value"],
        "balanced_accuracy": metrics["balanced_accuracy"]["value"],
        "worst_class_recall": metrics["worst_class"]["recall"],
        "nll": metrics["nll"],
        "ece": metrics["ece"],
    }


def sentence(metrics: Mapping[str, Any]) -> str:
    accuracy, worst = metrics["accuracy"], metrics["worst_class"]
    interval = f"between {accuracy['low']:.4f} and {accuracy['high']:.4f}"
    return f"accuracy {accuracy['value']:.4f}, {interval}; worst class {worst['name']!r}, recall {worst['recall']:.4f}"


def engine_metrics(
    logits_NK: NDArray[np.float32], eager_NK: NDArray[np.float32], labels_N: NDArray[np.int64], *, confidence: float
) -> dict[str, Any]:
    """An engine's accuracy, and how it differs from the eager model's on the same samples (engine - eager).

    Where both give the same class for every sample the difference is exactly 0: they are one model, as parity showed.
    """
    if logits_NK.shape != eager_NK.shape:
        return unusable_engine("failed", f"its logits are {list(logits_NK.shape)}, the model's {list(eager_NK.shape)}")
    if not answers.finite_rows(logits_NK).all():
        lost = int((~answers.finite_rows(logits_NK)).sum())
        return unusable_engine("failed", f"{lost} of {len(logits_NK)} answers are not finite")
    predicted_N, eager_N = answers.predictions(logits_NK), answers.predictions(eager_NK)
    agreement = float((predicted_N == eager_N).mean())
    difference = Interval(0.0, 0.0, 0.0)
    if agreement < 1:
        difference = paired_difference(predicted_N == labels_N, eager_N == labels_N, confidence=confidence, seed=_SEED)
    return {
        "status": "ok",
        "reason": "",
        "accuracy": _accuracy(predicted_N == labels_N, confidence=confidence),
        "agreement": agreement,
        "difference": difference.as_json(),
    }


def unusable_engine(status: str, reason: str) -> dict[str, Any]:
    return {"status": status, "reason": reason, "accuracy": None, "agreement": None, "difference": None}


def per_class_rows(
    logits_NK: NDArray[np.float32], labels_N: NDArray[np.int64], *, classes: Sequence[str], confidence: float
) -> tuple[list[str], list[list[Any]]]:
    """Header and rows of per_class.csv, with Wilson's interval of every recall."""
    rows = []
    for score in per_class.class_scores(answers.predictions(logits_NK), labels_N, classes=classes):
        recall = wilson(score.correct, score.support, confidence=confidence)
        interval = [recall.low, recall.high] if score.support else [None, None]
        values = [score.precision, score.recall, *interval, score.f1]
        rows.append([score.name, score.support, *(_NO_SUPPORT if score.support == 0 else value for value in values)])
    return ["class", "support", "precision", "recall", "recall_low", "recall_high", "f1"], rows


def confusion_rows(
    logits_NK: NDArray[np.float32], labels_N: NDArray[np.int64], *, classes: Sequence[str]
) -> tuple[list[str], list[list[str]]]:
    """Header and rows of confusion.csv: one row a sample, which is the form that `dvc plots` counts."""
    names = [*classes, "(no finite answer)"]
    pairs = zip(labels_N, answers.predictions(logits_NK), strict=True)
    return ["actual", "predicted"], [[classes[label], names[chosen]] for label, chosen in pairs]


def _accuracy(correct_N: NDArray[np.bool_], *, confidence: float) -> dict[str, float]:
    return wilson(int(correct_N.sum()), len(correct_N), confidence=confidence).as_json() | {"n": len(correct_N)}


def _class_json(score: per_class.ClassScore) -> dict[str, Any]:
    values = {"precision": score.precision, "recall": score.recall, "f1": score.f1, "support": score.support}
    return values if score.support else values | {"reason": _NO_SUPPORT}


def _worst_samples(
    predicted_N: NDArray[np.int64],
    probabilities_NK: NDArray[np.float64],
    labels_N: NDArray[np.int64],
    *,
    classes: Sequence[str],
    samples: Sequence[str],
) -> list[dict[str, Any]]:
    """Wrong answers, the most confident first; answers that are not finite before all."""
    certainty_N = np.nan_to_num(probabilities_NK.max(axis=1), nan=np.inf)
    wrong = np.flatnonzero(predicted_N != labels_N)
    order = wrong[np.argsort(-certainty_N[wrong], kind="stable")][:_WORST_SAMPLES]
    return [
        {
            "sample": samples[row],
            "label": classes[labels_N[row]],
            "predicted": classes[predicted_N[row]] if predicted_N[row] != answers.NO_ANSWER else None,
            "probability": float(certainty_N[row]),
        }
        for row in order
    ]
