"""Waiting for what another process does."""

import time
from collections.abc import Callable

__all__ = ["wait"]


def wait(true: Callable[[], bool], *, seconds: float = 60) -> None:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if true():
            return
        time.sleep(0.1)
    raise AssertionError("it did not come to pass")
