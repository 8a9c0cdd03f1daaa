"""Fetch new data, and run what they change: the flow for a schedule."""

import sys
from pathlib import Path
from typing import Any

from prefect import flow, get_run_logger, task
from prefect.cache_policies import NO_CACHE
from prefect.client.schemas.objects import State
from prefect.states import Completed

from flows.run import run_stages
from flows.step import run_command, run_stage
from flows.workspace import ROOT, enter
from sluice import config
from sluice.io import dvc_tool, paths, process

__all__ = ["retrain"]

_LOOKING = ("environment", "registry")
"""Stages that always run, since they see what no file shows."""


@flow(name="retrain", persist_result=False)
def retrain() -> State[Any]:
    """Refresh data/raw, then run the pipeline, unless nothing changed: then the state is `Skip`."""
    enter()
    params = config.load()
    with process.only_one("flow"):
        refresh(ROOT, params.data.fetch is not None)
        if not changed(ROOT):
            return Completed(name="Skip", message="nothing changed since the last run")
        return run_stages(ROOT, max_parallel=params.flow.max_parallel)


@task(cache_policy=NO_CACHE, persist_result=False, retries=2, retry_delay_seconds=60)
def refresh(root: Path, fetches: bool) -> None:
    """The one step that is tried again: it may go over a network."""
    fetch = [sys.executable, "-c", "from sluice.cli import main; main()", "fetch"]
    add = [sys.executable, "-m", "dvc", "--wait-for-lock", "add", str(paths.RAW)]
    run_command(fetch if fetches else add, what="refreshing data/raw", root=root, log=get_run_logger().info)


@task(cache_policy=NO_CACHE, persist_result=False)
def changed(root: Path) -> list[str]:
    """The stages that DVC would run, but for those that always do."""
    for stage in _LOOKING:
        run_stage(stage, root=root, log=get_run_logger().info)
    return sorted(dvc_tool.changes().keys() - set(_LOOKING))
