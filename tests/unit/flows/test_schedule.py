"""The order of starts, with plain threads."""

import threading
import time
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor

import pytest

from flows.schedule import run_all
from sluice.io.dag import Stage


class Recorder:
    """Runs stages that take a moment, and records who ran beside whom."""

    def __init__(self, broken: Sequence[str] = ()) -> None:
        self.order: list[str] = []
        self.most = 0
        self.beside: dict[str, set[str]] = {}
        self.skipped: dict[str, list[str]] = {}
        self._broken, self._now, self._lock = set(broken), set[str](), threading.Lock()

    def run(self, stages: Sequence[Stage], *, max_parallel: int) -> dict[str, bool | None]:
        with ThreadPoolExecutor(32) as pool:
            return dict(
                run_all(
                    stages,
                    max_parallel=max_parallel,
                    start=lambda stage: pool.submit(self._work, stage.name),
                    succeeded=lambda _stage, future: bool(future.result()),
                    skip=lambda stage, because: self.skipped.update({stage.name: list(because)}),
                )
            )

    def _work(self, name: str) -> bool:
        with self._lock:
            self.order.append(name)
            self._now.add(name)
            self.most = max(self.most, len(self._now))
            for other in self._now:
                self.beside.setdefault(other, set()).update(self._now - {other})
        time.sleep(0.02)
        with self._lock:
            self._now.remove(name)
        return name not in self._broken


def stage(name: str, *after: str, exclusive: bool = False) -> Stage:
    return Stage(name=name, after=frozenset(after), exclusive=exclusive)


DIAMOND = (stage("a"), *(stage(f"b{number}", "a") for number in range(6)), stage("c", *(f"b{n}" for n in range(6))))


@pytest.mark.parametrize("max_parallel", [1, 3, 6])
def test_what_is_independent_runs_at_once_up_to_the_limit(max_parallel: int) -> None:
    """After what they need, never more than allowed, and as many as allowed."""
    recorder = Recorder()
    assert set(recorder.run(DIAMOND, max_parallel=max_parallel).values()) == {True}
    assert (recorder.order[0], recorder.order[-1], len(recorder.order)) == ("a", "c", 8)
    assert recorder.most == max_parallel


def test_a_stage_that_measures_runs_alone() -> None:
    """Nothing starts beside it, and it starts beside nothing."""
    stages = (stage("a"), stage("b"), stage("m", exclusive=True), stage("n", exclusive=True), stage("c"))
    recorder = Recorder()
    recorder.run(stages, max_parallel=8)
    assert recorder.beside.get("m", set()) == recorder.beside.get("n", set()) == set()
    assert recorder.most == 3


def test_a_failure_stops_what_depends_on_it_and_nothing_else() -> None:
    """Dependants, near and far, are skipped with the reason; siblings go on."""
    stages = (stage("a"), stage("bad", "a"), stage("good", "a"), stage("next", "bad", "good"), stage("last", "next"))
    recorder = Recorder(broken=["bad"])
    assert recorder.run(stages, max_parallel=2) == {"a": True, "bad": False, "good": True, "next": None, "last": None}
    assert recorder.skipped == {"next": ["bad"], "last": ["next"]}


def test_an_error_of_a_future_is_not_swallowed() -> None:
    """What the caller's own functions raise comes out."""
    broken: Future[bool] = Future()
    broken.set_exception(RuntimeError("gone"))
    with pytest.raises(RuntimeError, match="gone"):
        run_all(
            (stage("a"),),
            max_parallel=1,
            start=lambda _stage: broken,
            succeeded=lambda _stage, future: bool(future.result()),
            skip=lambda _stage, _because: None,
        )
