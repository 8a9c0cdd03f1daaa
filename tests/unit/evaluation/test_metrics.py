"""What the reports say of a model and of an engine beside it."""

import json

import numpy as np
import pytest

from sluice.evaluation import metrics

CLASSES = ("cat", "dog", "c++ & c#")


def _logits(predicted: list[int], *, sure: float = 3.0) -> np.ndarray:
    logits = np.zeros((len(predicted), len(CLASSES)), dtype=np.float32)
    logits[np.arange(len(predicted)), predicted] = sure
    return logits


def _model(predicted: list[int], labels: list[int]) -> dict:
    samples = [f"s{row}" for row in range(len(labels))]
    return metrics.model_metrics(
        _logits(predicted), np.array(labels), classes=CLASSES, samples=samples, confidence=0.95
    )


def test_model_metrics_are_named_by_class() -> None:
    """Names, never indices, and every number in its place (A8)."""
    found = _model([0, 0, 1, 1, 0], [0, 0, 1, 1, 1])
    assert found["accuracy"]["value"] == 0.8
    assert found["accuracy"]["n"] == 5
    assert found["accuracy"]["low"] < 0.8 < found["accuracy"]["high"]
    assert found["balanced_accuracy"]["value"] == pytest.approx((1 + 2 / 3) / 2)
    assert found["worst_class"] == {"name": "dog", "recall": pytest.approx(2 / 3), "n": 3}
    assert found["majority_baseline"] == 0.6
    assert found["worst_samples"] == [
        {"sample": "s4", "label": "dog", "predicted": "cat", "probability": pytest.approx(0.909, abs=1e-3)}
    ]
    assert found["per_class"]["dog"]["support"] == 3


def test_no_support_is_null_with_a_reason() -> None:
    """A class that the gate split lacks is null, with the words, in JSON (A6)."""
    score = _model([0, 1], [0, 1])["per_class"]["c++ & c#"]
    assert json.loads(json.dumps(score)) == {
        "precision": None,
        "recall": None,
        "f1": None,
        "support": 0,
        "reason": "no support",
    }


def test_an_answer_that_is_not_finite_is_wrong_and_listed_first() -> None:
    """NaN counts as a mistake and stands at the head of the worst samples."""
    logits = _logits([0, 1, 1])
    logits[2] = np.nan
    found = metrics.model_metrics(
        logits, np.array([0, 0, 1]), classes=CLASSES, samples=["a", "b", "c"], confidence=0.95
    )
    assert found["accuracy"]["value"] == pytest.approx(1 / 3)
    assert [one["sample"] for one in found["worst_samples"]] == ["c", "b"]
    assert found["worst_samples"][0]["predicted"] is None
    assert np.isnan(found["nll"])


def test_at_most_twenty_worst_samples_most_confident_first() -> None:
    """The list is short and sorted by how sure the model was."""
    logits = _logits([0] * 50)
    logits[:, 0] = np.linspace(1, 5, 50)
    found = metrics.model_metrics(
        logits, np.ones(50, dtype=np.int64), classes=CLASSES, samples=[f"{i}" for i in range(50)], confidence=0.95
    )
    certainties = [one["probability"] for one in found["worst_samples"]]
    assert len(certainties) == 20
    assert certainties == sorted(certainties, reverse=True)
    assert found["worst_samples"][0]["sample"] == "49"


def test_an_engine_equal_to_eager_differs_by_nothing() -> None:
    """Equal predictions leave no difference, however few the samples."""
    eager = _logits([0, 1, 2])
    found = metrics.engine_metrics(eager + 1e-6, eager, np.array([0, 1, 0]), confidence=0.95)
    assert found["status"] == "ok"
    assert found["agreement"] == 1
    assert found["difference"] == {"value": 0, "low": 0, "high": 0}


def test_an_engine_that_loses_accuracy_shows_it() -> None:
    """The difference is engine minus eager, with its interval."""
    labels = np.zeros(200, dtype=np.int64)
    found = metrics.engine_metrics(_logits([0] * 150 + [1] * 50), _logits([0] * 200), labels, confidence=0.95)
    assert found["agreement"] == 0.75
    assert found["difference"]["value"] == -0.25
    assert found["difference"]["high"] < -0.15
    assert found["accuracy"]["value"] == 0.75


def test_an_engine_with_nan_or_another_shape_failed() -> None:
    """Its numbers are not used, the reason counts the lost answers."""
    eager = _logits([0, 1])
    broken = eager.copy()
    broken[1, 0] = np.inf
    assert metrics.engine_metrics(broken, eager, np.array([0, 1]), confidence=0.95) == metrics.unusable_engine(
        "failed", "1 of 2 answers are not finite"
    )
    other = metrics.engine_metrics(eager[:, :2], eager, np.array([0, 1]), confidence=0.95)
    assert other["status"] == "failed"
    assert other["accuracy"] is None


def test_tables_say_no_support_and_count_every_sample() -> None:
    """per_class.csv speaks words where there is no number; confusion.csv has a row a sample."""
    logits, labels = _logits([0, 1, 1]), np.array([0, 1, 0])
    logits[0] = np.nan
    header, rows = metrics.per_class_rows(logits, labels, classes=CLASSES, confidence=0.95)
    assert header == ["class", "support", "precision", "recall", "recall_low", "recall_high", "f1"]
    assert rows[2] == ["c++ & c#", 0, *["no support"] * 5]
    assert rows[1][:4] == ["dog", 1, 0.5, 1.0]
    assert metrics.confusion_rows(logits, labels, classes=CLASSES) == (
        ["actual", "predicted"],
        [["cat", "(no finite answer)"], ["dog", "dog"], ["cat", "dog"]],
    )
