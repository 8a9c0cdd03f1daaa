"""Which stage may start when: after what it needs, so many at once, and a stage that measures alone."""

from collections.abc import Callable, Collection, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from typing import Any

from sluice.io.dag import Stage

__all__ = ["run_all"]


def run_all(
    stages: Sequence[Stage],
    *,
    max_parallel: int,
    start: Callable[[Stage], "Future[Any]"],
    succeeded: Callable[[Stage, "Future[Any]"], bool],
    skip: Callable[[Stage, Sequence[str]], None],
) -> Mapping[str, bool | None]:
    """Start every stage once all that it waits for has succeeded; True, False, or None for one that was skipped.

    What comes after a stage that failed is skipped; what does not depend on it goes on.
    """
    results: dict[str, bool | None] = {}
    running: dict[Future[Any], Stage] = {}
    waiting = list(stages)
    while waiting or running:
        for stage in list(waiting):
            lost = sorted(name for name in stage.after if name in results and not results[name])
            if lost:
                waiting.remove(stage)
                results[stage.name] = None
                skip(stage, lost)
            elif stage.after <= results.keys() and _fits(stage, running.values(), max_parallel=max_parallel):
                waiting.remove(stage)
                running[start(stage)] = stage
        finished, _ = wait(running, return_when=FIRST_COMPLETED)
        for future in finished:
            stage = running.pop(future)
            results[stage.name] = succeeded(stage, future)
    return results


def _fits(stage: Stage, running: Collection[Stage], *, max_parallel: int) -> bool:
    if stage.exclusive or any(other.exclusive for other in running):
        return not running
    return len(running) < max_parallel
