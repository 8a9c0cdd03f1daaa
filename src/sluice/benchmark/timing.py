"""Time several functions against each other in interleaved rounds, so that a slow moment of the machine hits all."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median

import numpy as np

from sluice.benchmark.clock import Clock, Run, time_ns, warm_up
from sluice.stats.intervals import Interval, bootstrap

__all__ = ["Timing", "measure"]

_VISIT_NS = 20_000_000
_MOST_RUNS = 100
_SAMPLES_FOR_P90 = 64
"""With 64 samples the 90th percentile is bounded at 99 % confidence (MLPerf Inference's rule)."""
_DRAWS = 2000
_CONFIDENCE = 0.95


@dataclass(frozen=True, kw_only=True)
class Timing:
    latency_ms: Interval
    """Median over the rounds."""
    p90_ms: float | None
    """None with fewer than 64 runs."""
    samples_per_s: float
    ratio: Interval
    """Of this latency to the reference's, from pairs of the same round; below 1 is faster."""
    runs: int


def measure(
    arms: Mapping[str, Run], *, reference: str, batch: int, rounds: int, seed: int, clock: Clock = time_ns
) -> dict[str, Timing]:
    """Each round visits every arm once, in random order; a visit's latency is the median of a few runs in a row.

    All arms run `batch` samples. The runs of a visit are as many as fit in 20 ms, at most 100.
    """
    runs = {name: max(1, min(_MOST_RUNS, _VISIT_NS // warm_up(run, clock=clock))) for name, run in arms.items()}
    generator = np.random.default_rng(seed)
    visits: dict[str, list[list[float]]] = {name: [] for name in arms}
    for _ in range(rounds):
        for name in generator.permutation(list(arms)).tolist():
            visits[name].append(_visit(arms[name], runs=runs[name], clock=clock))
    medians = {name: [median(visit) for visit in of_arm] for name, of_arm in visits.items()}
    return {name: _timing(visits[name], medians[name], medians[reference], batch=batch, seed=seed) for name in arms}


def _visit(run: Run, *, runs: int, clock: Clock) -> list[float]:
    """Milliseconds of each run."""
    taken = []
    for _ in range(runs):
        start = clock()
        run()
        taken.append((clock() - start) / 1e6)
    return taken


def _timing(
    visits: Sequence[Sequence[float]], medians: Sequence[float], reference: Sequence[float], *, batch: int, seed: int
) -> Timing:
    every = [taken for visit in visits for taken in visit]
    logs = np.log(np.asarray(medians) / np.asarray(reference))
    ratio = bootstrap(logs, np.median, confidence=_CONFIDENCE, draws=_DRAWS, seed=seed)
    latency = bootstrap(medians, np.median, confidence=_CONFIDENCE, draws=_DRAWS, seed=seed)
    return Timing(
        latency_ms=latency,
        p90_ms=float(np.percentile(every, 90)) if len(every) >= _SAMPLES_FOR_P90 else None,
        samples_per_s=batch / latency.value * 1000,
        ratio=Interval(*(float(np.exp(value)) for value in (ratio.value, ratio.low, ratio.high))),
        runs=len(every),
    )
