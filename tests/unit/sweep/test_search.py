import os
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path

import optuna
import psutil
import pytest

from sluice.config.learning import Choice, Range, TuneConfig
from sluice.errors import Busy, TrainingError, WorkspaceError
from sluice.sweep.search import Best, Report, Value, search
from sluice.sweep.study import study_name

SPACE: dict[str, Range | Choice] = {
    "train.optimizer.lr": Range(kind="float", low=0.01, high=1.0, log=True),
    "train.batch_size": Range(kind="int", low=8, high=64),
    "train.schedule.name": Choice(kind="choice", values=("constant", "cosine")),
}


def config(*, trials: int, epochs: int = 1, space: dict[str, Range | Choice] | None = None) -> TuneConfig:
    return TuneConfig(trials=trials, epochs=epochs, space=SPACE if space is None else space)


def score_of(values: dict[str, Value]) -> float:
    return 1.0 - abs(float(values["train.optimizer.lr"]) - 0.1) - float(values["train.batch_size"]) / 1000


def quick(values: dict[str, Value], report: Report) -> float:
    score = score_of(values)
    report(1, score)
    return score


def counting(calls: list[int]) -> Callable[[dict[str, Value], Report], float]:
    def objective(values: dict[str, Value], report: Report) -> float:
        calls.append(report.number)
        return quick(values, report)

    return objective


def run(folder: Path, *, trials: int = 4, objective: Callable[[dict[str, Value], Report], float] = quick) -> Best:
    return search(config(trials=trials), objective=objective, storage=folder, study_key="key", seed=3)


def stored(folder: Path, *, of: TuneConfig) -> optuna.Study:
    name = study_name("key", config=of)
    return optuna.load_study(study_name=name, storage=f"sqlite:///{folder / name}.db")


KILLED = """
import os, signal, sys
from pathlib import Path
sys.path.insert(0, sys.argv[3])
from test_search import quick, run
def objective(values, report):
    if report.number == int(sys.argv[2]):
        os.kill(os.getpid(), signal.SIGKILL)
    return quick(values, report)
run(Path(sys.argv[1]), trials=12, objective=objective)
"""


def run_and_kill(folder: Path, *, in_trial: int) -> None:
    command = [sys.executable, "-c", KILLED, str(folder), str(in_trial), str(Path(__file__).parent)]
    assert subprocess.run(command, check=False, timeout=60).returncode == -signal.SIGKILL


def test_two_searches_with_equal_inputs_find_equal_values(tmp_path: Path) -> None:
    """Two clones agree on every trial, not only on the best one."""
    first, second = (asdict(run(tmp_path / name, trials=5)) for name in ("a", "b"))

    assert first == second
    assert len({tuple(trial["values"].items()) for trial in first["trials"]}) == 5
    assert isinstance(first["values"]["train.batch_size"], int)


def test_another_seed_draws_other_values(tmp_path: Path) -> None:
    """The seed reaches the sampler."""
    one = search(config(trials=2), objective=quick, storage=tmp_path, study_key="a", seed=1)
    two = search(config(trials=2), objective=quick, storage=tmp_path, study_key="b", seed=2)

    assert one.values != two.values


def test_the_best_value_is_the_highest_score(tmp_path: Path) -> None:
    """The values handed on are those of the trial with the highest score."""
    best = run(tmp_path, trials=6)

    assert best.score == max(trial.score or 0 for trial in best.trials) == score_of(dict(best.values))
    assert best.values == best.trials[best.number].values


def test_a_killed_trial_is_failed_and_its_values_are_tried_once_more(tmp_path: Path) -> None:
    """C1: no trial stays RUNNING, and the search ends as the undisturbed one does, past the random start too."""
    undisturbed = run(tmp_path / "calm", trials=12)
    run_and_kill(tmp_path / "killed", in_trial=10)

    resumed = run(tmp_path / "killed", trials=12)

    assert asdict(resumed) == asdict(undisturbed)
    states = [trial.state.name for trial in stored(tmp_path / "killed", of=config(trials=12)).trials]
    assert sorted(states) == ["COMPLETE"] * 12 + ["FAIL"]


def test_a_trial_that_dies_twice_is_not_tried_again(tmp_path: Path) -> None:
    """C1: re-queued once; a trial that takes its process with it cannot stop the search for ever."""
    run_and_kill(tmp_path, in_trial=1)
    run_and_kill(tmp_path, in_trial=1)

    best = run(tmp_path)

    assert [trial.state for trial in best.trials] == ["complete", "failed", "complete", "complete", "complete"]


def test_a_process_that_dies_before_its_trial_has_values_costs_nothing(tmp_path: Path) -> None:
    """C1: a trial that was opened but not filled is failed, and the same values are drawn again."""
    undisturbed = run(tmp_path / "calm")
    run(tmp_path / "cut", trials=2)
    stored(tmp_path / "cut", of=config(trials=2)).ask({})

    assert asdict(run(tmp_path / "cut")) == asdict(undisturbed)


def test_an_interrupt_is_continued_like_a_kill(tmp_path: Path) -> None:
    """C1: an exception that is no TrainingError ends the search and leaves the trial to the next start."""

    def interrupted(values: dict[str, Value], report: Report) -> float:
        if report.number == 1:
            raise KeyboardInterrupt
        return quick(values, report)

    with pytest.raises(KeyboardInterrupt, match=r"^$"):
        run(tmp_path / "cut", objective=interrupted)

    assert asdict(run(tmp_path / "cut")) == asdict(run(tmp_path / "calm"))


def test_a_trial_of_a_living_process_is_not_taken_over(tmp_path: Path) -> None:
    """C1: only the dead are failed; a second search beside a running one says who runs."""
    run(tmp_path, trials=1)
    trial = stored(tmp_path, of=config(trials=1)).ask({})
    parent = os.getppid()
    started = psutil.Process(parent).create_time()
    trial.set_user_attr("owner", {"host": os.uname().nodename, "pid": parent, "started": f"{started:.2f}"})

    with pytest.raises(Busy, match=f"being run by process {parent}"):
        run(tmp_path, trials=2)


def test_trials_means_the_total_over_all_starts(tmp_path: Path) -> None:
    """C2: a second start runs what is missing, and a third nothing."""
    run(tmp_path, trials=3)
    second: list[int] = []
    third: list[int] = []

    more = run(tmp_path, trials=5, objective=counting(second))
    again = run(tmp_path, trials=5, objective=counting(third))

    assert second == [3, 4]
    assert third == []
    assert asdict(again) == asdict(more) == asdict(run(tmp_path / "fresh", trials=5))


def test_fewer_trials_than_are_stored_answer_as_a_fresh_search_does(tmp_path: Path) -> None:
    """C2: what an earlier, longer search found does not leak into a shorter one."""
    run(tmp_path, trials=5)

    assert asdict(run(tmp_path, trials=2)) == asdict(run(tmp_path / "fresh", trials=2))


@pytest.mark.parametrize(
    "changed",
    [
        {**SPACE, "train.schedule.name": Choice(kind="choice", values=("constant", "cosine", "one_cycle"))},
        {**SPACE, "train.optimizer.lr": Range(kind="float", low=0.01, high=1.0)},
        {**SPACE, "train.batch_size": Range(kind="float", low=8, high=64)},
        {**SPACE, "train.optimizer.lr": Range(kind="float", low=0.01, high=0.5, log=True)},
    ],
    ids=["choice added", "log removed", "int to float", "range narrowed"],
)
def test_a_changed_space_is_a_new_study(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, changed: dict[str, Range | Choice]
) -> None:
    """C4: a new study with a message, never a crash in the middle nor values from outside the new space."""
    run(tmp_path, trials=2)
    caplog.set_level("INFO")

    best = search(config(trials=2, space=changed), objective=quick, storage=tmp_path, study_key="key", seed=3)

    assert [trial.number for trial in best.trials] == [0, 1]
    assert len(list(tmp_path.glob("*.db"))) == 2
    assert "a new study starts" in caplog.text


def test_a_study_with_the_other_direction_is_refused(tmp_path: Path) -> None:
    """C5: reopening compares the stored direction instead of inheriting it in silence."""
    name = study_name("key", config=config(trials=2))
    optuna.create_study(study_name=name, storage=f"sqlite:///{tmp_path / name}.db", direction="minimize")

    with pytest.raises(WorkspaceError, match=r"direction 'minimize', but tune maximises.*Delete it"):
        run(tmp_path)


@pytest.mark.parametrize("damage", [b"garbage" * 1000, None], ids=["no database", "cut short"])
def test_a_damaged_study_is_named(tmp_path: Path, damage: bytes | None) -> None:
    """A file that is no readable study is refused with its path and the remedy."""
    run(tmp_path, trials=1)
    (file,) = tmp_path.glob("*.db")
    file.write_bytes(file.read_bytes()[: file.stat().st_size // 2] if damage is None else damage)

    with pytest.raises(WorkspaceError, match=rf"{file.name} is not a study that can be read .*Delete it"):
        run(tmp_path)


def test_a_trial_that_diverges_is_failed_and_the_search_goes_on(tmp_path: Path) -> None:
    """C2: failed trials do not count as finished."""

    def diverges(values: dict[str, Value], report: Report) -> float:
        if report.number == 1:
            raise TrainingError("loss is nan in epoch 1")
        return float("nan") if report.number == 2 else quick(values, report)

    best = run(tmp_path, objective=diverges)

    assert [trial.state for trial in best.trials] == [
        "complete",
        "failed",
        "failed",
        "complete",
        "complete",
        "complete",
    ]
    assert best.trials[1].score is None


def test_a_search_in_which_everything_fails_ends_with_an_error(tmp_path: Path) -> None:
    """As many failures as trials were asked for are enough, at once on a second start as well."""
    calls: list[int] = []

    def fails(values: dict[str, Value], report: Report) -> float:
        calls.append(report.number)
        raise TrainingError("loss is inf")

    for _ in range(2):
        with pytest.raises(TrainingError, match=r"all 3 trials of the search failed.*tune\.space"):
            run(tmp_path, trials=3, objective=fails)
    assert calls == [0, 1, 2]


def test_a_hopeless_trial_is_pruned_and_counts(tmp_path: Path) -> None:
    """C2: a pruned trial is finished, has no score, and is never the best; the last epoch is never pruned."""
    epochs_seen: dict[int, int] = {}

    def falling(values: dict[str, Value], report: Report) -> float:
        score = -float(report.number)
        for epoch in (1, 2):
            epochs_seen[report.number] = epoch
            report(epoch, score)
        return score

    settings = config(trials=7, epochs=2)
    best = search(settings, objective=falling, storage=tmp_path, study_key="key", seed=0)

    assert [trial.state for trial in best.trials] == ["complete"] * 5 + ["pruned"] * 2
    assert epochs_seen == {0: 2, 1: 2, 2: 2, 3: 2, 4: 2, 5: 1, 6: 1}
    assert best.number == 0


def test_the_study_is_a_whole_sqlite_file(tmp_path: Path) -> None:
    """What is stored can be read with SQLite alone, by a dashboard for one."""
    run(tmp_path, trials=2)
    (file,) = tmp_path.glob("*.db")

    connection = sqlite3.connect(file)
    assert connection.execute("select count(*) from trials where state = 'COMPLETE'").fetchone() == (2,)
    connection.close()
