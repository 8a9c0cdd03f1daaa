"""A machine whose time passes only when something runs on it."""

from collections.abc import Callable

import numpy as np


class Machine:
    """Its clock reads nanoseconds; noise is the standard deviation of a run, relative to its length."""

    def __init__(self, *, seed: int = 0, noise: float = 0.02) -> None:
        self.now_ns = 0
        self.runs = 0
        self._noise = noise
        self._random = np.random.default_rng(seed)

    def clock(self) -> int:
        return self.now_ns

    def work(self, ms: float, *, noise: float | None = None) -> Callable[[], None]:
        def run() -> None:
            self.runs += 1
            factor = np.exp(self._random.normal(0, self._noise if noise is None else noise))
            self.now_ns += round(ms * 1e6 * factor * self.load)

        return run

    @property
    def load(self) -> float:
        """How many times slower everything runs at this moment."""
        return 1.0


class BusyMachine(Machine):
    """Turns three times slower for half of every 100 ms, as where neighbours come and go."""

    @property
    def load(self) -> float:
        return 3.0 if self.now_ns // 50_000_000 % 2 else 1.0
