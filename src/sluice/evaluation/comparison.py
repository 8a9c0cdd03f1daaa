"""The report on two models: accuracy on the samples of classes that both know, and the states in between.

Shapes: N samples, K classes.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sluice.errors import Incomparable, MissingLibrary, SluiceError
from sluice.evaluation import answers
from sluice.stats.paired import paired_difference

__all__ = [
    "Contender",
    "accuracy_or_state",
    "compare_accuracy",
    "latency_json",
    "latency_or_state",
    "sentence",
    "unmeasured",
]

_CONFIDENCE = 0.95
_SEED = 0
_NO_ACCURACY: dict[str, Any] = {"candidate": None, "champion": None, "difference": None, "n": 0, "classes_compared": []}
_NO_LATENCY: dict[str, Any] = {"ratio": None, "aa": None, "pairs": 0}


@dataclass(frozen=True)
class Contender:
    classes: tuple[str, ...]
    logits: NDArray[np.float32]
    """[N, K], K in the order of `classes`."""


def unmeasured(champion: Mapping[str, Any] | None, *, weights: str, exported: Mapping[str, str]) -> dict[str, Any]:
    """The report before anything is measured; with these very files as champion (`same`) nothing is to be measured."""
    same = champion is not None and champion["weights"] == weights and _agree(champion["exported"], exported)
    known = {key: champion[key] for key in ("version", "weights", "run_id")} if champion else None
    verdict = champion["verdict"] if champion and same else None
    return {"champion": known, "same": same, "verdict_on_record": verdict, "accuracy": None, "latency": {}}


def sentence(found: Mapping[str, Any]) -> str:
    if found["champion"] is None:
        return "There is no champion yet, so there is nothing to compare with."
    champion = f"the champion, version {found['champion']['version']}"
    if found["same"]:
        return f"The candidate is {champion}: nothing is measured."
    difference = found["accuracy"]["difference"]
    if difference is None:
        return f"There is no accuracy against {champion}: {found['accuracy']['reason']}"
    low, high = difference["low"], difference["high"]
    return f"accuracy against {champion}: {difference['value']:+.4f}, between {low:+.4f} and {high:+.4f}"


def accuracy_or_state(engine: str | None, measure: Callable[[str], dict[str, Any]]) -> dict[str, Any]:
    """`measure(engine)`, or why there is no comparison; no engine in common is for a person to judge."""
    if engine is None:
        reason = (
            "the champion was exported for none of the required engines: promote by hand, with --force and a reason"
        )
        return {"status": "inconclusive", **_NO_ACCURACY, "reason": reason}
    return _measured_or(_NO_ACCURACY, measure, engine)


def latency_or_state(engine: str, measure: Callable[[str], dict[str, Any]], *, common: Sequence[str]) -> dict[str, Any]:
    """`measure(engine)`, or why there is no ratio; an engine new since the champion has nothing to be compared with."""
    if engine not in common:
        return {"status": "no_champion", **_NO_LATENCY, "reason": "the champion was not exported for this engine"}
    return _measured_or(_NO_LATENCY, measure, engine)


def compare_accuracy(
    candidate: Contender, champion: Contender, *, labels_N: NDArray[np.int64], classes: Sequence[str]
) -> dict[str, Any]:
    """Accuracies and their paired difference (candidate - champion) on the samples of classes that both know.

    `labels_N` are positions in `classes`. A model that answers with a class which the other lacks is wrong there.
    """
    common = [name for name in candidate.classes if name in champion.classes]
    names_N = np.asarray(classes, dtype=object)[labels_N]
    known_N = np.array([name in common for name in names_N], dtype=np.bool_)
    if not known_N.any():
        reason = f"the gate split has no sample of the {len(common)} classes that both models know"
        return {
            "status": "inconclusive",
            **_NO_ACCURACY,
            "classes_compared": common,
            "reason": f"{reason}: promote by hand",
        }
    right, champion_right = (_correct(one, names_N)[known_N] for one in (candidate, champion))
    difference = paired_difference(right, champion_right, confidence=_CONFIDENCE, seed=_SEED)
    return {
        "status": "ok",
        "candidate": float(right.mean()),
        "champion": float(champion_right.mean()),
        "difference": difference.as_json(),
        "n": int(known_N.sum()),
        "classes_compared": common,
        "reason": "",
    }


def latency_json(
    *, value: float, low: float, high: float, pairs: int, status: str, aa: Mapping[str, float], reason: str
) -> dict[str, Any]:
    """A measured ratio (candidate : champion). How slow is too slow is the gate's business: `ok` is "could be told"."""
    state = "inconclusive" if status == "inconclusive" else "ok"
    ratio = {"value": value, "low": low, "high": high}
    return {"status": state, "ratio": ratio, "aa": dict(aa), "pairs": pairs, "reason": reason}


def _measured_or(empty: Mapping[str, Any], measure: Callable[[str], dict[str, Any]], engine: str) -> dict[str, Any]:
    try:
        return measure(engine)
    except MissingLibrary as error:
        return {"status": "unavailable", **empty, "reason": str(error)}
    except Incomparable as error:
        return {"status": "inconclusive", **empty, "reason": str(error)}
    except SluiceError as error:
        return {"status": "failed", **empty, "reason": str(error)}


def _agree(recorded: Mapping[str, str], here: Mapping[str, str]) -> bool:
    return all(here.get(engine, digest) == digest for engine, digest in recorded.items())


def _correct(contender: Contender, names_N: NDArray[np.object_]) -> NDArray[np.bool_]:
    given = np.asarray([*contender.classes, None], dtype=object)
    return np.asarray(given[answers.predictions(contender.logits)] == names_N, dtype=np.bool_)
