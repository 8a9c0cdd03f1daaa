"""The pipeline flow on a small DAG of shell commands, with the real DVC and a real Prefect server."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path

import pytest
from e2e.flow import STAGES, Flow, make_flow
from waiting import wait

from flows import server as prefect_server
from flows.server import free_port
from sluice.commands.services import prefect_version

pytestmark = pytest.mark.e2e


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with prefect_server.server(tmp_path_factory.mktemp("server"), port=free_port()) as url:
        yield url


@pytest.fixture(scope="module")
def flow(tmp_path_factory: pytest.TempPathFactory, repository: Path, url: str) -> Flow:
    return make_flow(tmp_path_factory.mktemp("flow"), repository=repository, url=url)


def test_every_stage_runs_and_a_failure_is_told_with_its_last_lines(flow: Flow) -> None:
    """States that people understand, the stages' own lines, a summary; what depends on a failure is skipped."""
    flow.change(left="echo this is why; exit 3")
    output = flow.run(ok=1)
    assert flow.states() == dict.fromkeys(STAGES, "Ran") | {"left": "Failed", "last": "Skipped"}
    assert "hello" in output
    run = flow.last_run()
    assert run["state_type"] == "FAILED"
    assert "stage 'left' ended with code" in run["state"]["message"]
    assert "this is why" in run["state"]["message"]


def test_the_next_run_goes_on_from_what_is_done(flow: Flow) -> None:
    """Mended, only the failure and what it held up run; then nothing does."""
    flow.change()
    flow.run()
    done = dict.fromkeys(STAGES, "Unchanged")
    assert flow.states() == done | {"left": "Ran", "last": "Ran"}
    assert (flow.root / "last.txt").read_text() == "1\n1\n"
    assert flow.last_run()["state_type"] == "COMPLETED"
    (artifact,) = flow.ask("artifacts", sort="CREATED_DESC", limit=1)
    assert "| alone | Unchanged |" in artifact["data"]
    flow.run()
    assert flow.states() == done


@pytest.mark.long
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_a_stopped_flow_leaves_nothing_and_goes_on(flow: Flow, number: signal.Signals) -> None:
    """No child, no lock; the same command again ends as if nothing had happened (D1, E5)."""
    (flow.root / "input.txt").write_text(f"{number}\n")
    flow.slow_down("right", seconds=600)
    process = flow.start()
    wait(lambda: any("slow.py" in line for line in flow.children()))
    second = flow.run(ok=1)
    assert f"flow is already running in this workspace (process {process.pid}" in second
    process.send_signal(number)
    process.communicate(timeout=30)
    wait(lambda: flow.children() == [])
    flow.change()
    flow.run()
    assert (flow.root / "last.txt").read_text() == f"{number}\n{number}\n"


@pytest.mark.long
def test_it_needs_no_server(flow: Flow) -> None:
    """It starts one for itself, and nothing of it is left (E1, E2, E3)."""
    flow.run(PREFECT_API_URL=None)
    assert flow.children() == []


@pytest.mark.long
@pytest.mark.timeout(900)
def test_a_server_that_dies_in_the_middle_costs_no_work(flow: Flow, tmp_path: Path) -> None:
    """What the stages did is done; the flow says what happened and does not hang; the same command goes on (E4)."""
    (flow.root / "input.txt").write_text("3\n")
    flow.slow_down("right", seconds=10)
    url, environment = f"http://127.0.0.1:{(port := free_port())}/api", {**os.environ, "PREFECT_HOME": str(tmp_path)}
    command = [sys.executable, "-m", "prefect", "server", "start", "--host", "127.0.0.1", "--port", str(port)]
    with (tmp_path / "log").open("wb") as log:
        server = subprocess.Popen(command, env=environment, stdout=log, stderr=log, start_new_session=True)
    wait(lambda: prefect_server.answers(url), seconds=120)
    process = flow.start(PREFECT_API_URL=url)
    wait(lambda: any("slow.py" in line for line in flow.children()))
    os.killpg(server.pid, signal.SIGKILL)
    server.wait()
    output, _ = process.communicate(timeout=600)  # Prefect's client tries each call for a minute
    assert process.returncode == 1
    assert "the Prefect server went away" in output
    flow.run()
    assert (flow.root / "last.txt").read_text() == "3\n3\n"


def test_the_versions_of_both_sides_are_told(url: str) -> None:
    """What `sluice doctor` compares: the server's own word is that of the library."""
    assert prefect_version(url) == metadata.version("prefect")


def test_a_server_that_is_away_is_said_so(flow: Flow) -> None:
    """One sentence that names the address, at once."""
    output = flow.run(ok=2, PREFECT_API_URL=f"http://127.0.0.1:{free_port()}/api")
    assert "no Prefect server answers there" in output
    assert "Traceback" not in output
