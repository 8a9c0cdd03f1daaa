"""One Optuna study in one SQLite file, put in order before the search goes on with it."""

import logging
import os
import sqlite3
from contextlib import closing
from pathlib import Path

import numpy as np
import optuna
from optuna.distributions import BaseDistribution, CategoricalDistribution, FloatDistribution, IntDistribution
from optuna.trial import FrozenTrial, TrialState

from sluice.config.learning import Choice, Range, TuneConfig
from sluice.errors import Busy, WorkspaceError
from sluice.io import files
from sluice.io.process import is_alive, process_identity

__all__ = ["distributions", "next_trial", "open_study", "recover_stale_trials", "study_name", "trials_that_count"]

_LOGGER = logging.getLogger(__name__)
_OWNER = "owner"
_RETRY_OF = "retry_of"
_LOCK_WAIT_S = 60


def study_name(study_key: str, *, config: TuneConfig) -> str:
    """Another space is another study, so that no stored trial meets a distribution it was not drawn from."""
    space = {key: entry.model_dump(mode="json") for key, entry in config.space.items()}
    return files.digest_json([study_key, space])[:32]


def distributions(config: TuneConfig) -> dict[str, BaseDistribution]:
    return {key: _distribution(entry) for key, entry in config.space.items()}


def open_study(storage: Path, *, name: str) -> optuna.Study:
    """The study in `storage/<name>.db`, made when there is none; WorkspaceError for a file that is none of ours."""
    file = (storage / f"{name}.db").absolute()
    file.parent.mkdir(parents=True, exist_ok=True)
    others = any(other != file for other in file.parent.glob("*.db"))
    if others and not file.exists():
        _LOGGER.info("the data, the code or tune.space changed: a new study starts, %s", file.name)
    _refuse_damaged(file)
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    database = optuna.storages.RDBStorage(
        f"sqlite:///{file}", engine_kwargs={"connect_args": {"timeout": _LOCK_WAIT_S}}
    )
    pruner = optuna.pruners.MedianPruner()
    study = optuna.create_study(
        storage=database, study_name=name, direction="maximize", load_if_exists=True, pruner=pruner
    )
    if study.direction != optuna.study.StudyDirection.MAXIMIZE:
        raise WorkspaceError(
            f"{file} holds a study with the direction {study.direction.name.lower()!r}, but tune maximises. "
            f"Delete it and run: dvc repro tune"
        )
    return study


def recover_stale_trials(study: optuna.Study, *, space: dict[str, BaseDistribution]) -> None:
    """Fail every trial whose process is gone, and queue its values once more.

    A trial that dies a second time is taken to be the cause, stays failed and is not tried again. One that
    died before it had all its values needs no queue: the next trial draws the same ones.
    """
    retried = _retried(study)
    for trial in study.get_trials(deepcopy=False, states=(TrialState.RUNNING,)):
        owner = trial.user_attrs.get(_OWNER)
        if owner is not None and owner["pid"] != os.getpid() and is_alive(owner):
            raise Busy(
                f"trial {trial.number} of this study is being run by process {owner['pid']}. Wait for it or stop it."
            )
        complete = trial.params.keys() == space.keys()
        # Queue before failing: killed in between, the next start finds the queued one and does not queue another.
        if complete and _RETRY_OF not in trial.user_attrs and trial.number not in retried:
            study.enqueue_trial(trial.params, user_attrs={_RETRY_OF: trial.number})
        study.tell(trial.number, state=TrialState.FAIL)
        _LOGGER.info("trial %d was cut short by the end of its process", trial.number)


def trials_that_count(study: optuna.Study, *, space: dict[str, BaseDistribution]) -> list[FrozenTrial]:
    """Trials that reached an end of their own, in order; one that was queued again is left to its second try.

    Position in this list, unlike Optuna's number, does not depend on how often the search was interrupted.
    """
    retried = _retried(study)
    ended = study.get_trials(deepcopy=False, states=(TrialState.COMPLETE, TrialState.PRUNED, TrialState.FAIL))
    return [trial for trial in ended if trial.params.keys() == space.keys() and trial.number not in retried]


def next_trial(study: optuna.Study, *, space: dict[str, BaseDistribution], position: int, seed: int) -> optuna.Trial:
    """Draw from a sampler seeded by `position`, so that a restarted search draws what an undisturbed one would."""
    draw_seed = int(np.random.SeedSequence([seed, position]).generate_state(1)[0])
    study.sampler = optuna.samplers.TPESampler(seed=draw_seed)
    trial = study.ask(space)
    trial.set_user_attr(_OWNER, process_identity())
    return trial


def _refuse_damaged(file: Path) -> None:
    try:
        with closing(sqlite3.connect(file, timeout=_LOCK_WAIT_S)) as connection:
            problem = connection.execute("PRAGMA quick_check(1)").fetchone()[0]
    except sqlite3.DatabaseError as error:
        problem = str(error)
    if problem != "ok":
        raise WorkspaceError(f"{file} is not a study that can be read ({problem}). Delete it and run: dvc repro tune")


def _distribution(entry: Range | Choice) -> BaseDistribution:
    if isinstance(entry, Choice):
        return CategoricalDistribution(entry.values)
    if entry.kind == "int":
        return IntDistribution(int(entry.low), int(entry.high), log=entry.log)
    return FloatDistribution(entry.low, entry.high, log=entry.log)


def _retried(study: optuna.Study) -> set[int]:
    everything = study.get_trials(deepcopy=False)
    return {trial.user_attrs[_RETRY_OF] for trial in everything if _RETRY_OF in trial.user_attrs}
