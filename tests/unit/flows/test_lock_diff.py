from copy import deepcopy
from typing import Any

import pytest

from flows.lock_diff import differences

LOCK: dict[str, Any] = {
    "train": {
        "cmd": "train",
        "deps": [{"path": "src", "md5": "1"}],
        "params": {"params.yaml": {"seed": 0}},
        "outs": [{"path": "models/trained", "md5": "2"}, {"path": "reports/training/speed.json", "md5": "3"}],
    },
    "benchmark": {
        "cmd": "benchmark",
        "deps": [{"path": "models/trained", "md5": "2"}, {"path": "reports/training", "md5": "4"}],
        "outs": [{"path": "reports/benchmark.json", "md5": "5"}],
    },
}
VOLATILE = {"reports/training/speed.json"}


def changed(*at: Any, to: Any) -> dict[str, Any]:
    lock = deepcopy(LOCK)
    place: Any = lock
    for key in at[:-1]:
        place = place[key]
    place[at[-1]] = to
    return lock


def test_equal_locks_have_no_difference() -> None:
    """Nothing to say."""
    assert list(differences(LOCK, deepcopy(LOCK), volatile=VOLATILE)) == []


@pytest.mark.parametrize(
    "other",
    [
        changed("train", "outs", 1, "md5", to="9"),
        changed("benchmark", "outs", 0, "md5", to="9"),
        changed("benchmark", "deps", 1, "md5", to="9"),
        changed("train", "deps", 0, "md5", to="9"),
    ],
)
def test_what_may_differ_may(other: dict[str, Any]) -> None:
    """Timings, what is made of them, and the code's own digest."""
    assert list(differences(LOCK, other, volatile=VOLATILE)) == []


@pytest.mark.parametrize(
    ("other", "line"),
    [
        (changed("train", "outs", 0, "md5", to="9"), "train: outs: models/trained is 2 in A, 9 in B"),
        (changed("benchmark", "deps", 0, "md5", to="9"), "benchmark: deps: models/trained is 2 in A, 9 in B"),
        (changed("train", "cmd", to="x"), "train: cmd: train in A, x in B"),
        (changed("train", "params", "params.yaml", "seed", to=1), "train: params: "),
        (changed("train", "deps", 0, "path", to="lib"), "train: deps: lib only in B"),
        ({"train": LOCK["train"]}, "benchmark: only in A"),
    ],
)
def test_what_must_be_equal_is_named(other: dict[str, Any], line: str) -> None:
    """Commands, parameters, paths, and the bytes that are the same every time."""
    assert any(found.startswith(line) for found in differences(LOCK, other, volatile=VOLATILE))
