from pathlib import Path

import pytest
from ruamel.yaml import YAML

from sluice.sweep.results import write_best, write_trials
from sluice.sweep.search import Best, Score, Value

VALUES: dict[str, Value] = {"train.optimizer.lr": 1e-05, "train.schedule.name": "no", "train.channels_last": True}
TRIALS = (
    Score(number=0, state="complete", score=0.1 + 0.2, values=VALUES),
    Score(number=1, state="failed", score=None, values=VALUES),
    Score(number=2, state="pruned", score=None, values=VALUES),
)
BEST = Best(number=0, values=VALUES, score=0.1 + 0.2, trials=TRIALS)


def test_values_are_read_back_as_they_were(tmp_path: Path) -> None:
    """D5: tiny numbers stay numbers, words that look like booleans stay words, to the last digit."""
    write_best(tmp_path / "best.yaml", BEST)

    stored = YAML(typ="safe", pure=True).load((tmp_path / "best.yaml").read_text())
    assert stored == {"values": VALUES, "score": 0.1 + 0.2, "trials": 2}
    assert [type(value) for value in stored["values"].values()] == [float, str, bool]


def test_every_trial_has_a_row(tmp_path: Path) -> None:
    """Failed and pruned ones are listed without a score."""
    write_trials(tmp_path / "trials.csv", BEST, keys=list(VALUES))

    assert (tmp_path / "trials.csv").read_text() == (
        "number,state,score,train.optimizer.lr,train.schedule.name,train.channels_last\n"
        "0,complete,0.30000000000000004,1e-05,no,True\n"
        "1,failed,,1e-05,no,True\n"
        "2,pruned,,1e-05,no,True\n"
    )


@pytest.mark.parametrize("keys", [[], ["train.optimizer.lr"]])
def test_without_a_search_there_is_a_header_and_no_values(tmp_path: Path, keys: list[str]) -> None:
    """What train reads is there, and empty."""
    write_best(tmp_path / "best.yaml", None)
    write_trials(tmp_path / "trials.csv", None, keys=keys)

    assert YAML(typ="safe", pure=True).load((tmp_path / "best.yaml").read_text())["values"] == {}
    assert (tmp_path / "trials.csv").read_text() == ",".join(["number", "state", "score", *keys]) + "\n"
