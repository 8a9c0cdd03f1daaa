"""Search the space of `tune.space` for the values with the highest score."""

import logging
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias

import optuna
from optuna.trial import FrozenTrial, TrialState

from sluice.config.learning import TuneConfig
from sluice.errors import TrainingError
from sluice.sweep import study as studies

__all__ = ["Best", "Objective", "Pruned", "Report", "Score", "Value", "search"]

_LOGGER = logging.getLogger(__name__)
_STATES: dict[TrialState, Literal["complete", "pruned", "failed"]] = {
    TrialState.COMPLETE: "complete",
    TrialState.PRUNED: "pruned",
    TrialState.FAIL: "failed",
}

Value: TypeAlias = int | float | str | bool


class Pruned(Exception):
    """The trial is clearly worse than the others at this epoch: stop it."""


@dataclass(frozen=True, kw_only=True)
class Report:
    """Given to the objective, which calls it after each epoch, counted from 1. Raises Pruned.

    `number` counts the trials from 0 and is the same however often the search was interrupted.
    """

    number: int
    epochs: int
    trial: optuna.Trial

    def __call__(self, epoch: int, score: float) -> None:
        if not math.isfinite(score):
            return
        self.trial.report(score, step=epoch)
        if epoch < self.epochs and self.trial.should_prune():
            raise Pruned(f"trial {self.number} stopped after epoch {epoch}: below the median of the trials before it")


Objective: TypeAlias = Callable[[dict[str, Value], Report], float]


@dataclass(frozen=True, kw_only=True)
class Score:
    """What became of one trial; the score is there when it completed."""

    number: int
    state: Literal["complete", "pruned", "failed"]
    score: float | None
    values: Mapping[str, Value]


@dataclass(frozen=True, kw_only=True)
class Best:
    number: int
    values: Mapping[str, Value]
    score: float
    trials: tuple[Score, ...]


def search(config: TuneConfig, *, objective: Objective, storage: Path, study_key: str, seed: int) -> Best:
    """Run trials until `config.trials` are finished, those of earlier and interrupted runs included.

    Complete and pruned trials are finished; failed ones are not, but as many failures as trials were asked for end the
    search. The result depends on config, key and seed alone. `storage` is the folder that holds the studies.
    Raises TrainingError when no trial completed.
    """
    space = studies.distributions(config)
    study = studies.open_study(storage, name=studies.study_name(study_key, config=config))
    studies.recover_stale_trials(study, space=space)
    while True:
        trials = studies.trials_that_count(study, space=space)
        wanted = _first_needed(trials, wanted=config.trials)
        if wanted is not None:
            return _best(trials[:wanted])
        trial = studies.next_trial(study, space=space, position=len(trials), seed=seed)
        _run(
            study,
            trial=trial,
            objective=objective,
            report=Report(number=len(trials), epochs=config.epochs, trial=trial),
        )


def _run(study: optuna.Study, *, trial: optuna.Trial, objective: Objective, report: Report) -> None:
    """Any exception but these two ends the search and leaves the trial to the next start, as a kill would."""
    try:
        score = objective(dict(trial.params), report)
    except Pruned as reason:
        _LOGGER.info("%s", reason)
        study.tell(trial, state=TrialState.PRUNED)
    except TrainingError as error:
        _LOGGER.warning("trial %d failed: %s", report.number, error)
        study.tell(trial, state=TrialState.FAIL)
    else:
        finite = math.isfinite(score)
        study.tell(trial, score if finite else None, state=TrialState.COMPLETE if finite else TrialState.FAIL)


def _first_needed(trials: list[FrozenTrial], *, wanted: int) -> int | None:
    """How many of the first trials make up the search, or None while it is not over.

    More may be stored: a study that was once asked for more answers as one that was not.
    """
    finished = failed = 0
    for count, trial in enumerate(trials, start=1):
        failed += trial.state == TrialState.FAIL
        finished += trial.state != TrialState.FAIL
        if wanted in (finished, failed):
            return count
    return None


def _best(trials: list[FrozenTrial]) -> Best:
    scores = tuple(_score(trial, number=number) for number, trial in enumerate(trials))
    complete = [score for score in scores if score.score is not None]
    if not complete:
        raise TrainingError(
            f"all {len(scores)} trials of the search failed. Their reasons stand above; the usual one is a range in "
            f"tune.space that is too wide, such as a learning rate that is too high."
        )
    best = max(complete, key=lambda score: (score.score or 0.0, -score.number))
    assert best.score is not None
    return Best(number=best.number, values=best.values, score=best.score, trials=scores)


def _score(trial: FrozenTrial, *, number: int) -> Score:
    state = _STATES[trial.state]
    return Score(number=number, state=state, score=trial.value if state == "complete" else None, values=trial.params)
