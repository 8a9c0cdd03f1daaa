"""The DAG of dvc.yaml as one Prefect flow: a step per stage, independent stages at once, exclusive ones alone.

    python -m flows.pipeline

runs it from the workspace, with the server that PREFECT_API_URL names or, without one, a temporary one.
"""

import os
import sys
from typing import Any

import httpx
from prefect import flow
from prefect.client.schemas.objects import State
from pydantic import PositiveInt

from flows.run import run_stages
from flows.server import api
from flows.workspace import ROOT, enter
from sluice import config
from sluice.errors import SluiceError
from sluice.io import process

__all__ = ["main", "pipeline"]


@flow(name="pipeline", persist_result=False)
def pipeline(max_parallel: PositiveInt | None = None) -> State[Any]:
    """Bring every stage up to date, as `dvc repro` does; `max_parallel` goes before `flow.max_parallel`."""
    enter()
    with process.only_one("flow"):
        return run_stages(ROOT, max_parallel=max_parallel or config.load().flow.max_parallel)


def main() -> int:
    """0 when every stage is up to date, 1 when one failed."""
    try:
        with api(ROOT):
            state = pipeline(return_state=True)
    except SluiceError as error:
        print(f"error: {error}", file=sys.stderr)
        return error.exit_code
    except httpx.HTTPError as error:
        print(
            f"error: the Prefect server went away ({error}). What stages had done by then is done: when it is back, "
            "the same command goes on from there.",
            file=sys.stderr,
            flush=True,
        )
        os._exit(1)  # Prefect would go on trying for minutes to tell it the rest
    return 0 if state.is_completed() else 1


if __name__ == "__main__":
    sys.exit(main())
