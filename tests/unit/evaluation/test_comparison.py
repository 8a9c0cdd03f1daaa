"""Candidate and champion on the classes that both know."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from sluice.errors import EngineError, Incomparable, MissingLibrary, TrackingError
from sluice.evaluation.comparison import (
    Contender,
    accuracy_or_state,
    compare_accuracy,
    latency_json,
    latency_or_state,
    unmeasured,
)


def _contender(classes: tuple[str, ...], answers: list[str]) -> Contender:
    logits = np.zeros((len(answers), len(classes)), dtype=np.float32)
    logits[np.arange(len(answers)), [classes.index(answer) for answer in answers]] = 5
    return Contender(classes, logits)


def test_models_are_matched_by_name_not_by_index() -> None:
    """The same answers in another order of classes are the same answers (A7)."""
    answers = ["a", "b", "c"] * 100
    found = compare_accuracy(
        _contender(("a", "b", "c"), answers),
        _contender(("c", "a", "b"), answers),
        labels_N=np.array([0, 1, 2] * 100),
        classes=("a", "b", "c"),
    )
    assert (found["status"], found["candidate"], found["champion"], found["n"]) == ("ok", 1.0, 1.0, 300)
    assert found["difference"]["value"] == 0


def test_only_samples_of_classes_that_both_know_count() -> None:
    """A class that the champion never saw is left out, and said so."""
    labels = np.array([0] * 50 + [1] * 50 + [2] * 50)
    found = compare_accuracy(
        _contender(("a", "b", "new"), ["a"] * 50 + ["b"] * 50 + ["new"] * 50),
        _contender(("a", "b"), ["a"] * 50 + ["a"] * 50 + ["b"] * 50),
        labels_N=labels,
        classes=("a", "b", "new"),
    )
    assert found["classes_compared"] == ["a", "b"]
    assert (found["n"], found["candidate"], found["champion"]) == (100, 1.0, 0.5)
    assert found["difference"]["low"] > 0.3


def test_an_old_sample_taken_for_the_new_class_is_wrong() -> None:
    """A new class that swallows samples of the old ones costs the candidate."""
    found = compare_accuracy(
        _contender(("a", "new"), ["new"] * 20),
        _contender(("a",), ["a"] * 20),
        labels_N=np.zeros(20, dtype=np.int64),
        classes=("a", "new"),
    )
    assert (found["candidate"], found["champion"], found["difference"]["value"]) == (0.0, 1.0, -1.0)


def test_an_answer_that_is_not_finite_is_wrong() -> None:
    """NaN of the candidate is worse than any answer of the champion."""
    candidate = _contender(("a",), ["a"] * 10)
    candidate.logits[:] = np.nan
    found = compare_accuracy(
        candidate, _contender(("a",), ["a"] * 10), labels_N=np.zeros(10, dtype=np.int64), classes=("a",)
    )
    assert (found["candidate"], found["champion"]) == (0.0, 1.0)


@pytest.mark.parametrize("champion", [("x",), ("b",)])
def test_nothing_to_compare_is_a_state(champion: tuple[str, ...]) -> None:
    """Without a sample of a common class the comparison is for a person to decide."""
    found = compare_accuracy(
        _contender(("a", "b"), ["a"]), _contender(champion, [champion[0]]), labels_N=np.array([0]), classes=("a", "b")
    )
    assert found["status"] == "inconclusive"
    assert "no sample of the" in found["reason"]


CHAMPION = {
    "version": 3,
    "weights": "w",
    "run_id": "r",
    "exported": {"x": "1", "y": "2"},
    "verdict": {"verdict": "PROMOTE"},
}


def test_no_champion_leaves_nothing_to_measure() -> None:
    """Without a champion the report says null and is done."""
    assert unmeasured(None, weights="w", exported={}) == {
        "champion": None,
        "same": False,
        "verdict_on_record": None,
        "accuracy": None,
        "latency": {},
    }


def test_the_champion_itself_hands_its_verdict_on() -> None:
    """The same files need no measurement: the verdict on record goes on."""
    found = unmeasured(CHAMPION, weights="w", exported={"x": "1", "new": "3"})
    assert found["same"]
    assert found["verdict_on_record"] == {"verdict": "PROMOTE"}
    assert found["champion"] == {"version": 3, "weights": "w", "run_id": "r"}


@pytest.mark.parametrize(("weights", "exported"), [("other", {"x": "1"}), ("w", {"x": "changed"})])
def test_other_files_are_another_model(weights: str, exported: dict[str, str]) -> None:
    """Other weights, or the same weights exported to other files, are measured and inherit no verdict."""
    found = unmeasured(CHAMPION, weights=weights, exported=exported)
    assert not found["same"]
    assert found["verdict_on_record"] is None


def _refuse(error: Exception) -> Callable[[str], dict[str, Any]]:
    def measure(engine: str) -> dict[str, Any]:
        raise error

    return measure


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (EngineError("broken"), "failed"),
        (Incomparable("sizes"), "inconclusive"),
        (MissingLibrary("not here"), "unavailable"),
        (TrackingError("gone"), "failed"),
    ],
)
def test_what_goes_wrong_is_a_state(error: Exception, status: str) -> None:
    """An error on the way is a state with its words, in the form of a result."""
    accuracy = accuracy_or_state("x", _refuse(error))
    latency = latency_or_state("x", _refuse(error), common=["x"])
    assert (accuracy["status"], latency["status"]) == (status, status)
    assert accuracy["reason"] == latency["reason"] == str(error)
    assert accuracy["difference"] is latency["ratio"] is None


def test_no_engine_in_common_is_for_a_person_to_judge() -> None:
    """Without an engine that both have accuracy is inconclusive; an engine new to both has no champion."""
    assert accuracy_or_state(None, _refuse(EngineError("x")))["status"] == "inconclusive"
    assert latency_or_state("new", _refuse(EngineError("x")), common=[])["status"] == "no_champion"


@pytest.mark.parametrize(("given", "state"), [("pass", "ok"), ("fail", "ok"), ("inconclusive", "inconclusive")])
def test_a_measured_ratio_is_ok_whatever_it_is(given: str, state: str) -> None:
    """Slow or not is the gate's judgement; compare says only whether it could be told."""
    aa = {"value": 1.0, "low": 0.99, "high": 1.01}
    found = latency_json(value=1.1, low=1.0, high=1.2, pairs=40, status=given, aa=aa, reason="why")
    expected = {"value": 1.1, "low": 1.0, "high": 1.2}
    assert found == {"status": state, "ratio": expected, "aa": aa, "pairs": 40, "reason": "why"}
