"""Prefect's server, its UI and a worker on 127.0.0.1, with the deployments of prefect.yaml; all end together.

python -m flows.serve [PORT]
"""

import asyncio
import signal
import subprocess
import sys
import time
from types import FrameType
from typing import NoReturn

from prefect.client.orchestration import get_client
from prefect.client.schemas.filters import (
    FlowRunFilter,
    FlowRunFilterState,
    FlowRunFilterStateType,
    WorkPoolFilter,
    WorkPoolFilterName,
)
from prefect.client.schemas.objects import StateType
from prefect.states import Crashed

from flows.child import started
from flows.server import server
from flows.workspace import ROOT, enter
from sluice.errors import SluiceError
from sluice.io import process

__all__ = ["main", "serve"]

_POOL = "sluice"
_PORT = 4200
_ALIVE = [StateType.RUNNING, StateType.PENDING, StateType.CANCELLING]


def serve(port: int) -> NoReturn:
    """Until SIGINT or SIGTERM; raises Busy when this workspace is served already."""
    enter()
    with process.only_one("serve"), server(ROOT, port=port) as url:
        _prefect("work-pool", "create", _POOL, "--type", "process", "--overwrite")
        asyncio.run(_crash_left_overs())
        _prefect("--no-prompt", "deploy", "--all")
        worker = [sys.executable, "-m", "prefect", "worker", "start", "--pool", _POOL, "--type", "process"]
        with started(worker, cwd=ROOT, extra={"PYTHONPATH": str(ROOT)}) as running:
            print(f"Prefect: {url.removesuffix('/api')}  (Ctrl-C ends it)", flush=True)
            while running.poll() is None:
                time.sleep(0.5)
        raise SystemExit("the worker ended by itself: see above")


async def _crash_left_overs() -> None:
    """Runs of an earlier worker died with it, and nobody was left to say so."""
    alive = FlowRunFilter(state=FlowRunFilterState(type=FlowRunFilterStateType(any_=_ALIVE)))
    async with get_client() as client:
        pool = WorkPoolFilter(name=WorkPoolFilterName(any_=[_POOL]))
        for run in await client.read_flow_runs(flow_run_filter=alive, work_pool_filter=pool):
            await client.set_flow_run_state(run.id, Crashed(message="its worker ended"), force=True)


def _prefect(*arguments: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "prefect", *arguments], cwd=ROOT, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise SystemExit(f"prefect {' '.join(arguments)} failed:\n{done.stdout}{done.stderr}")


def _end(_number: int, _frame: FrameType | None) -> None:
    raise KeyboardInterrupt


def main() -> int:
    signal.signal(signal.SIGTERM, _end)
    try:
        serve(int(sys.argv[1]) if len(sys.argv) > 1 else _PORT)
    except KeyboardInterrupt:
        return 0
    except SluiceError as error:
        print(f"error: {error}", file=sys.stderr)
        return error.exit_code


if __name__ == "__main__":
    sys.exit(main())
