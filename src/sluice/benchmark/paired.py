"""Whether a candidate is slower than a champion by more than a margin, or whether this machine cannot tell."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from statistics import median
from typing import Literal

import numpy as np

from sluice.benchmark.clock import Clock, Run, time_ns, warm_up
from sluice.stats.intervals import Interval, bootstrap

__all__ = ["PairedRatio", "paired_ratio"]

_LOOKS = 3
_ALPHA = 0.05 / _LOOKS
"""Two-sided, shared between the looks (Bonferroni)."""
_LEAST_RUNS, _MOST_RUNS = 5, 100
_VISIT_NS = 2_000_000
_DRAWS = 4000


@dataclass(frozen=True, kw_only=True)
class PairedRatio:
    """Candidate's latency to champion's: above 1 is slower. `aa` is the champion's to itself, which should be 1."""

    value: float
    low: float
    high: float
    pairs: int
    status: Literal["pass", "fail", "inconclusive"]
    aa: Interval
    reason: str


@dataclass(frozen=True)
class _Logs:
    """Of the ratios, pair by pair."""

    ratio: list[float] = field(default_factory=list)
    aa: list[float] = field(default_factory=list)


def paired_ratio(
    candidate: Run, champion: Run, *, pairs: int, margin: float, seed: int, clock: Clock = time_ns
) -> PairedRatio:
    """Measure in interleaved pairs, and judge by the interval: pass below 1 + margin, fail above it.

    Each side of a pair is the median of at least 5 runs, more where they are shorter than 0.4 ms, in random order.
    The champion stands in each pair twice, and where its ratio to itself is not within half the margin of 1, nothing
    is concluded. Undecided, the number of pairs is doubled, at most twice.
    """
    arms = {"candidate": candidate, "champion": champion, "again": champion}
    longest_ns = max(warm_up(run, clock=clock) for run in (candidate, champion))
    runs = max(_LEAST_RUNS, min(_MOST_RUNS, _VISIT_NS // longest_ns))
    logs, generator = _Logs(), np.random.default_rng(seed)
    for look in range(_LOOKS):
        while len(logs.ratio) < pairs * 2**look:
            taken = {
                name: _median_ns(arms[name], runs=runs, clock=clock)
                for name in generator.permutation(list(arms)).tolist()
            }
            logs.ratio.append(float(np.log(taken["candidate"] / taken["champion"])))
            logs.aa.append(float(np.log(taken["again"] / taken["champion"])))
        found = _judge(logs, margin=margin, seed=seed)
        if found.status != "inconclusive":
            break
    return found


def _median_ns(run: Run, *, runs: int, clock: Clock) -> float:
    taken = []
    for _ in range(runs):
        start = clock()
        run()
        taken.append(clock() - start)
    return max(1.0, median(taken))


def _judge(logs: _Logs, *, margin: float, seed: int) -> PairedRatio:
    ratio, aa = (_interval(values, seed=seed) for values in (logs.ratio, logs.aa))
    limit = 1 + margin
    status: Literal["pass", "fail", "inconclusive"] = "inconclusive"
    if not (1 - margin / 2 < aa.low and aa.high < 1 + margin / 2):
        reason = (
            f"the champion's ratio to itself is {aa.low:.3f} to {aa.high:.3f}, not within {margin / 2:.1%} of 1: "
            "this machine is too disturbed to tell. Try again when it is idle."
        )
    elif ratio.high < limit:
        status, reason = "pass", f"the interval ends at {ratio.high:.3f}, below {limit:.3f}"
    elif ratio.low > limit:
        status, reason = "fail", f"slower: the interval starts at {ratio.low:.3f}, above {limit:.3f}"
    else:
        reason = f"the interval {ratio.low:.3f} to {ratio.high:.3f} holds {limit:.3f}, after {len(logs.ratio)} pairs"
    return PairedRatio(
        value=ratio.value, low=ratio.low, high=ratio.high, pairs=len(logs.ratio), status=status, aa=aa, reason=reason
    )


def _interval(logs: Sequence[float], *, seed: int) -> Interval:
    found = bootstrap(logs, np.median, confidence=1 - _ALPHA, draws=_DRAWS, seed=seed)
    return Interval(*(float(np.exp(value)) for value in (found.value, found.low, found.high)))
