"""The clock, the wait until a function runs steadily, and how disturbed the machine was."""

import time
from collections.abc import Callable
from pathlib import Path
from statistics import median

__all__ = ["Clock", "Run", "StealMeter", "time_ns", "warm_up"]

Clock = Callable[[], int]
"""Nanoseconds from any fixed moment."""
Run = Callable[[], object]

time_ns: Clock = time.perf_counter_ns

_WINDOW = 5
_FLAT = 0.05
_LEAST_RUNS = 2 * _WINDOW
_LEAST_NS = 50_000_000
_MOST_NS = 3_000_000_000
_STEAL_COLUMN = 8


def warm_up(run: Run, *, clock: Clock = time_ns) -> int:
    """Run until the median of the last runs is within 5 % of that of the runs before them. Returns it, in ns.

    At least 10 runs and 50 ms, and no further run once 3 s have passed.
    """
    taken: list[int] = []
    while True:
        start = clock()
        run()
        taken.append(clock() - start)
        spent = sum(taken)
        latest, before = taken[-_WINDOW:], taken[-2 * _WINDOW : -_WINDOW]
        if (
            len(taken) >= _LEAST_RUNS
            and spent >= _LEAST_NS
            and abs(median(latest) - median(before)) <= _FLAT * median(before)
        ):
            break
        if spent >= _MOST_NS:
            break
    return max(1, round(median(latest)))


class StealMeter:
    """Share of the processors' time that the host gave to other guests since this was made; None where none is told."""

    def __init__(self, source: Path = Path("/proc/stat")) -> None:
        self._source = source
        self._start = self._read()

    def share(self) -> float | None:
        now = self._read()
        if self._start is None or now is None:
            return None
        total = now[1] - self._start[1]
        return (now[0] - self._start[0]) / total if total > 0 else 0.0

    def _read(self) -> tuple[int, int] | None:
        """Ticks stolen, and ticks in all (proc(5))."""
        try:
            first = self._source.read_text(encoding="ascii").splitlines()[0].split()
        except (OSError, IndexError):
            return None
        if len(first) <= _STEAL_COLUMN or first[0] != "cpu":
            return None
        ticks = [int(value) for value in first[1 : _STEAL_COLUMN + 1]]
        return ticks[-1], sum(ticks)
