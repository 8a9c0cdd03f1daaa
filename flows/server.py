"""A Prefect API to talk to: the one that PREFECT_API_URL names, or one of our own for as long as it is needed."""

import os
import socket
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
from prefect.events.worker import EventsWorker
from prefect.logging.handlers import APILogWorker
from prefect.settings import PREFECT_API_URL, temporary_settings

from flows.child import started
from sluice.errors import WorkspaceError
from sluice.io import paths, telemetry

__all__ = ["answers", "api", "free_port", "home", "server"]

_START_TIMEOUT_S = 180.0
_ANSWER_TIMEOUT_S = 5.0
_DRAIN_TIMEOUT_S = 20.0


@contextmanager
def api(root: Path) -> Iterator[None]:
    """Have PREFECT_API_URL name a server that answers. Raises WorkspaceError when the one that is named does not."""
    named = os.environ.get("PREFECT_API_URL")
    if named:
        if not answers(named):
            raise WorkspaceError(
                f"PREFECT_API_URL is {named!r}, and no Prefect server answers there. Start it, for example with: "
                "make serve, or unset PREFECT_API_URL to run without one."
            )
        yield
        return
    with server(root, port=free_port()):
        try:
            yield
        finally:
            for worker in (APILogWorker, EventsWorker):  # at exit they would try a server that is gone, for minutes
                worker.drain_all(timeout=_DRAIN_TIMEOUT_S)


@contextmanager
def server(root: Path, *, port: int) -> Iterator[str]:
    """A Prefect server on 127.0.0.1 that answers, with its database below .sluice/; yields the URL of its API.

    Within, it is the one that this process and its children talk to.
    """
    telemetry.off()
    log = home(root) / "server.log"
    log.parent.mkdir(parents=True, exist_ok=True)
    url = f"http://127.0.0.1:{port}/api"
    extra = {"PREFECT_API_URL": url, "PREFECT_HOME": os.environ.get("PREFECT_HOME") or str(home(root))}
    command = [sys.executable, "-m", "prefect", "server", "start", "--host", "127.0.0.1", "--port", str(port)]
    with log.open("wb") as output, started(command, cwd=root, output=output, extra=extra) as process:
        deadline = time.monotonic() + _START_TIMEOUT_S
        while not answers(url):
            if process.poll() is not None or time.monotonic() > deadline:
                raise WorkspaceError(f"the Prefect server did not start. It said last:\n{_last_lines(log)}")
            time.sleep(0.2)
        # Prefect reads the environment once, when it is imported; children read it when they start.
        os.environ["PREFECT_API_URL"] = url
        try:
            with temporary_settings({PREFECT_API_URL: url}):
                yield url
        finally:
            del os.environ["PREFECT_API_URL"]


def answers(url: str) -> bool:
    try:
        return httpx.get(f"{url.rstrip('/')}/health", timeout=_ANSWER_TIMEOUT_S).is_success
    except (httpx.HTTPError, httpx.InvalidURL):
        return False


def home(root: Path) -> Path:
    return root / paths.STATE / "prefect"


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _last_lines(log: Path) -> str:
    return "\n".join(log.read_text(encoding="utf-8", errors="replace").splitlines()[-20:])
