"""`make serve`: a server, a worker and a clock, from another folder. Each test goes on where the one before ended."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from e2e.flow import Flow, make_flow
from waiting import wait

from flows.server import answers, free_port

pytestmark = [pytest.mark.e2e, pytest.mark.long, pytest.mark.timeout(900)]


class Served:
    """A workspace with its server and worker, which may be ended and started again."""

    def __init__(self, flow: Flow, port: int) -> None:
        self.flow, self.port = flow, port
        self.process = self.start()

    def start(self) -> "subprocess.Popen[bytes]":
        environment = {**self.flow.environment, "PYTHONPATH": str(self.flow.root)}
        environment.pop("PREFECT_API_URL")
        with (self.flow.root / "serve.log").open("ab") as log:
            command = [sys.executable, "-m", "flows.serve", str(self.port)]
            self.process = subprocess.Popen(command, cwd="/", env=environment, stdout=log, stderr=log)
        wait(
            lambda: answers(self.flow.url) and any("worker start" in line for line in self.flow.children()), seconds=180
        )
        return self.process

    def prefect(self, *arguments: str) -> str:
        return subprocess.run(
            [sys.executable, "-m", "prefect", *arguments],
            cwd="/", env=self.flow.environment, check=True, capture_output=True, text=True,
        ).stdout  # fmt: skip

    def runs(self, state: str) -> list[str]:
        """Messages of the runs in a state, by its type."""
        return [run["state"]["message"] or "" for run in self.flow.ask("flow_runs") if run["state_type"] == state]


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory, repository: Path) -> Iterator[Served]:
    port = free_port()
    root = tmp_path_factory.mktemp("served")
    found = Served(make_flow(root, repository=repository, url=f"http://127.0.0.1:{port}/api"), port)
    try:
        yield found
    finally:
        found.process.kill()
        found.process.wait()


def test_a_clock_starts_a_run_that_completes(served: Served) -> None:
    """A cron of one minute fires, the worker finds the workspace from any folder, the run ends Completed (E8)."""
    served.prefect("deployment", "schedule", "create", "pipeline/pipeline", "--cron", "* * * * *")
    wait(lambda: served.runs("COMPLETED") != [], seconds=150)
    assert (served.flow.root / "last.txt").read_text() == "1\n1\n"
    listed = served.prefect("deployment", "inspect", "pipeline/pipeline")
    assert str(served.flow.root) not in listed


def test_a_broken_stage_fails_the_run_with_its_words(served: Served) -> None:
    """The next run of the clock ends Failed, and says why (E11)."""
    (served.flow.root / "input.txt").write_text("2\n")
    served.flow.change(left="echo this is why; exit 3")
    wait(lambda: served.runs("FAILED") != [], seconds=150)
    assert "this is why" in served.runs("FAILED")[0]


def test_nothing_piles_up_behind_a_long_run(served: Served) -> None:
    """While one runs for longer than the interval, those that come are cancelled, not kept (E6)."""
    served.flow.slow_down("right", seconds=100)
    before = len(served.runs("CANCELLED"))
    wait(lambda: len(served.runs("CANCELLED")) > before, seconds=240)
    assert len(served.runs("RUNNING")) == 1
    assert served.runs("PENDING") == []


def test_a_cancelled_run_ends_with_its_children(served: Served) -> None:
    """From the API, as the UI does: the tree is gone in seconds (E5)."""
    served.prefect("deployment", "schedule", "clear", "pipeline/pipeline", "--accept-yes")
    wait(lambda: any("slow.py" in line for line in served.flow.children()), seconds=120)
    (running,) = [run for run in served.flow.ask("flow_runs") if run["state_type"] == "RUNNING"]
    served.prefect("flow-run", "cancel", running["id"])
    wait(lambda: not any("slow.py" in line for line in served.flow.children()), seconds=10)
    wait(lambda: not any("prefect.engine" in line for line in served.flow.children()), seconds=30)


def test_a_killed_worker_takes_its_run_along(served: Served) -> None:
    """No child is left; the next start says that the run crashed (E4)."""
    served.prefect("deployment", "run", "pipeline/pipeline")
    wait(lambda: any("slow.py" in line for line in served.flow.children()), seconds=120)
    crashed = len(served.runs("CRASHED"))
    for process in served.flow.processes():
        if "worker" in process.cmdline():
            process.kill()
    assert served.process.wait(timeout=30) == 1
    wait(lambda: served.flow.children() == [])
    served.start()
    assert len(served.runs("CRASHED")) == crashed + 1
    assert served.runs("RUNNING") == []


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_nothing_is_left_when_it_ends(served: Served, number: signal.Signals) -> None:
    """Server and worker go with it, however it went."""
    if served.process.poll() is not None:
        served.start()
    os.kill(served.process.pid, number)
    served.process.wait(timeout=60)
    wait(lambda: served.flow.children() == [])
