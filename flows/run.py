"""The stages as steps of a Prefect flow, for the flows that run them."""

from collections import Counter
from collections.abc import Iterable, Sequence
from concurrent.futures import Future
from pathlib import Path
from typing import Any

from prefect import get_run_logger, task
from prefect.artifacts import create_markdown_artifact
from prefect.cache_policies import NO_CACHE
from prefect.client.schemas.objects import State
from prefect.futures import PrefectConcurrentFuture
from prefect.states import Cancelled, Completed, Failed

from flows.schedule import run_all
from flows.step import StageFailed, run_stage, stop_all
from flows.summary import markdown
from sluice.io.dag import Stage, read_dag

__all__ = ["run_stages"]


def run_stages(root: Path, *, max_parallel: int) -> State[Any]:
    """Bring every stage up to date; call it inside a flow. The state says how many ran, or what failed."""
    stages, states = read_dag(root), {}

    def start(stage: Stage) -> "Future[Any]":
        future = step.with_options(name=stage.name, task_run_name=stage.name).submit(stage.name, root)
        assert isinstance(future, PrefectConcurrentFuture)
        return future.wrapped_future

    def succeeded(stage: Stage, future: "Future[Any]") -> bool:
        states[stage.name] = state = future.result()
        return bool(state.is_completed())

    def skip(stage: Stage, because: Sequence[str]) -> None:
        states[stage.name] = skipped.with_options(name=stage.name, task_run_name=stage.name)(
            list(because), return_state=True
        )

    try:
        run_all(stages, max_parallel=max_parallel, start=start, succeeded=succeeded, skip=skip)
    finally:
        stop_all()  # after a signal, or when the server is gone: no stage outlives its flow
    create_markdown_artifact(key="summary", markdown=markdown(stages, states), description="Stages and verdict")
    failed = [state.message for state in states.values() if state.is_failed() or state.is_crashed()]
    if failed:
        return Failed(message="\n\n".join(map(str, failed)))
    return Completed(message=", ".join(_counts(states.values())))


@task(cache_policy=NO_CACHE, persist_result=False)
def step(name: str, root: Path) -> State[Any]:
    try:
        result = run_stage(name, root=root, log=get_run_logger().info)
    except StageFailed as error:
        return Failed(message=str(error))
    return Completed(name=result.outcome, message=f"{result.seconds:.1f} s")


@task(cache_policy=NO_CACHE, persist_result=False)
def skipped(because: list[str]) -> State[Any]:
    return Cancelled(name="Skipped", message=f"because of {', '.join(because)}")


def _counts(states: Iterable[State[Any]]) -> list[str]:
    """`3 ran`, `14 unchanged`"""
    return [f"{count} {str(name).lower()}" for name, count in Counter(state.name for state in states).items()]
