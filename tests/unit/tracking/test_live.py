import logging
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import psutil
import pytest
from unit.tracking.judged import fresh_store

from sluice.config.release import TrackingConfig
from sluice.io import files
from sluice.tracking import lineage
from sluice.tracking.live import LiveRun, close_stale_runs, start_run
from sluice.tracking.names import slug
from sluice.tracking.store import Store, open_store

TRAINING = """
import signal, time
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background jobs start with it ignored
from sluice.config.release import TrackingConfig
from sluice.tracking.live import start_run
from sluice.tracking.store import open_store
with start_run(open_store(TrackingConfig()), experiment="live", run_name="r", tags={}) as run:
    run.log_metrics({"loss": 1.0}, step=1)
    print(run.run_id, flush=True)
    time.sleep(60)
"""


def begin(store: Store, **options: object) -> LiveRun:
    return start_run(store, experiment="live", run_name="r", tags={"mine": "1"}, **options)


def status(store: Store, run_id: str) -> str:
    return str(store.client.get_run(run_id).info.status)


def history(store: Store, run_id: str, key: str) -> list[tuple[int, float]]:
    return [(point.step, point.value) for point in store.client.get_metric_history(run_id, key)]


def test_a_run_that_ends_is_finished_and_says_what_it_was(workspace: Path) -> None:
    """A run has its tags, parameters, curves, the revision of the code and the process that made it."""
    store = fresh_store(workspace)
    with begin(store) as run:
        run.log_params({"train": {"epochs": 2}})
        run.log_params({"train": {"epochs": 3, "lr": 0.1}})
        run.log_metrics({"loss": 1.0}, step=1)
        run.log_metrics({"loss": 0.5}, step=2)
        run.tag("sluice.weights", "abc")

    data = store.client.get_run(run.run_id).data
    assert status(store, run.run_id) == "FINISHED"
    assert data.params == {"train.epochs": "2", "train.lr": "0.1"}
    assert history(store, run.run_id, "loss") == [(1, 1.0), (2, 0.5)]
    assert data.tags["mine"] == "1"
    assert data.tags["sluice.weights"] == "abc"
    assert data.tags["sluice.git.revision"] == "no git"
    assert data.tags["sluice.pid"] == str(os.getpid())


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (ValueError("bad"), "FAILED"),
        (KeyboardInterrupt(), "KILLED"),
        (SystemExit(143), "KILLED"),
        (SystemExit(0), "FINISHED"),
    ],
)
def test_a_run_ends_as_what_it_was(workspace: Path, error: BaseException, expected: str) -> None:
    """F7: an exception is FAILED, an interruption KILLED, and neither is swallowed."""
    store = fresh_store(workspace)
    with pytest.raises(type(error), match=r"bad|143|0|^$"), begin(store) as run:
        raise error
    assert status(store, run.run_id) == expected


def test_no_signal_leaves_a_run_running(workspace: Path) -> None:
    """F7: SIGTERM and SIGINT end it KILLED at once; after kill -9 the next start does."""
    store = fresh_store(workspace)
    command = [sys.executable, "-W", "ignore", "-c", TRAINING]
    signals = (signal.SIGTERM, signal.SIGINT, signal.SIGKILL)
    started = [subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) for _ in signals]
    run_ids = [process.stdout.readline().strip() for process in started if process.stdout]
    for process, signum in zip(started, signals, strict=True):
        process.send_signal(signum)
    codes = [process.wait(timeout=30) for process in started]
    for process in started:
        assert process.stdout
        process.stdout.close()

    assert codes == [143, -signal.SIGINT, -signal.SIGKILL]
    assert [status(store, run_id) for run_id in run_ids] == ["KILLED", "KILLED", "RUNNING"]
    with begin(store) as alive:
        assert close_stale_runs(store, experiment="live") == 1
        assert status(store, alive.run_id) == "RUNNING"
    assert status(store, run_ids[2]) == "KILLED"
    assert close_stale_runs(store, experiment="live") == 0


def test_a_run_of_another_machine_is_left_alone(workspace: Path) -> None:
    """F7: a process that cannot be asked is not taken for dead; one whose number was given out again is."""
    me = lineage.process_tags()
    assert lineage.is_alive(me) is True
    assert lineage.is_alive(me | {lineage.HOST: "elsewhere"}) is None
    assert lineage.is_alive({}) is None
    assert lineage.is_alive(me | {lineage.STARTED: "1.00"}) is False

    store = fresh_store(workspace)
    run = store.client.create_run(store.experiment("live"), tags=me | {lineage.HOST: "elsewhere"})
    assert close_stale_runs(store, experiment="live") == 0
    store.client.set_terminated(run.info.run_id)


def test_a_dead_process_that_nobody_waited_for_is_dead(workspace: Path) -> None:
    """F7: kill -9 leaves a zombie under a parent that does not look; its run is closed all the same."""
    process = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
    started = f"{psutil.Process(process.pid).create_time():.2f}"
    tags = {lineage.HOST: os.uname().nodename, lineage.PID: str(process.pid), lineage.STARTED: started}
    assert lineage.is_alive(tags) is True
    process.kill()
    os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
    assert lineage.is_alive(tags) is False
    process.wait()
    assert lineage.is_alive(tags) is False


def test_a_signal_handler_is_put_back(workspace: Path) -> None:
    """A run takes SIGTERM for as long as it lasts, in nested runs too, and works in a thread, where it cannot."""
    store = fresh_store(workspace)
    before = signal.getsignal(signal.SIGTERM)
    with begin(store) as parent, begin(store, parent=parent) as child:
        assert signal.getsignal(signal.SIGTERM) is not before
    assert signal.getsignal(signal.SIGTERM) is before
    assert store.client.get_run(child.run_id).data.tags["mlflow.parentRunId"] == parent.run_id

    ended: list[str] = []

    def train() -> None:
        with begin(store) as run:
            pass
        ended.append(status(store, run.run_id))

    thread = threading.Thread(target=train)
    thread.start()
    thread.join()
    assert ended == ["FINISHED"]


def test_odd_names_and_numbers_do_no_harm(workspace: Path) -> None:
    """F9, F10: punctuation becomes a slug whose name is stored, NaN is left out, and training goes on."""
    store = fresh_store(workspace)
    with begin(store) as run:
        run.log_metrics({"recall/c++ & c#": 0.5, "loss": float("nan"), "rate": float("inf")}, step=1)

    names = files.read_json(Path(store.client.download_artifacts(run.run_id, "names.json", str(workspace))))
    assert names == {"recall/c++ & c#": slug("recall/c++ & c#")}
    assert store.client.get_run(run.run_id).data.metrics == {slug("recall/c++ & c#"): 0.5}


def test_a_resumed_run_goes_on_without_repeating_a_point(workspace: Path) -> None:
    """Epochs that are trained again after a resume give no second point, and the run is RUNNING in between."""
    store = fresh_store(workspace)
    with pytest.raises(ValueError, match="crash"), begin(store) as first:
        first.log_metrics({"loss": 1.0}, step=1)
        first.log_metrics({"loss": 0.5}, step=2)
        raise ValueError("crash")
    with begin(store, resume_run_id=first.run_id) as second:
        assert status(store, second.run_id) == "RUNNING"
        second.log_metrics({"loss": 0.5}, step=2)
        second.log_metrics({"loss": 0.25}, step=3)

    assert second.run_id == first.run_id
    assert history(store, first.run_id, "loss") == [(1, 1.0), (2, 0.5), (3, 0.25)]
    assert status(store, first.run_id) == "FINISHED"


@pytest.mark.parametrize("deleted", [True, False])
def test_a_run_that_the_store_lacks_is_begun_anew(workspace: Path, deleted: bool) -> None:
    """A checkpoint may remember a run of another store, or one that was deleted."""
    store = fresh_store(workspace)
    with begin(store) as first:
        pass
    store.client.delete_run(first.run_id)
    with begin(store, resume_run_id=first.run_id if deleted else "0" * 32) as second:
        pass
    assert second.run_id != first.run_id


def test_a_store_that_fails_does_not_stop_training(workspace: Path, caplog: pytest.LogCaptureFixture) -> None:
    """A failing store is warned of once; points it did not take are sent when it works again."""
    store = fresh_store(workspace)
    with begin(store) as run, caplog.at_level(logging.WARNING):
        (workspace / "mlflow.db").rename(workspace / "away.db")
        run.log_metrics({"loss": 1.0}, step=1)
        run.log_metrics({"loss": 0.5}, step=2)
        run.log_params({"a": 1})
        run.tag("b", "2")
        (workspace / "away.db").rename(workspace / "mlflow.db")
        run.log_metrics({"loss": 0.25}, step=3)

    assert [record.levelname for record in caplog.records if record.name.startswith("sluice")] == ["WARNING"]
    assert history(open_store(TrackingConfig()), run.run_id, "loss") == [(1, 1.0), (2, 0.5), (3, 0.25)]
