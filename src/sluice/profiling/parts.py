"""A training step cut into its parts, and how long each takes without a profiler in the way."""

import statistics
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from time import perf_counter
from typing import Protocol

import torch
from torch import Tensor, nn
from torch.optim import Optimizer

__all__ = ["PARTS", "Batch", "Timing", "Workload", "endless", "step", "time_parts"]

PARTS = ("data", "forward", "backward", "optimizer")

Around = Callable[[str], AbstractContextManager[object]]


class Batch(Protocol):
    @property
    def inputs(self) -> Tensor: ...
    @property
    def targets(self) -> Tensor: ...


@dataclass(frozen=True, kw_only=True)
class Workload:
    """What is trained; `batches` gives those of an epoch, counted from 0. Steps change `net` and `optimizer`."""

    net: nn.Module
    optimizer: Optimizer
    loss: Callable[[Tensor, Tensor], Tensor]
    batches: Callable[[int], Iterable[Batch]]
    clip_norm: float | None


@dataclass(frozen=True, kw_only=True)
class Timing:
    """`step_ms` is the median; the shares are those of the whole time and add up to 1."""

    steps: int
    step_ms: float
    shares: dict[str, float]
    bottleneck: str


def endless(workload: Workload) -> Iterator[Batch]:
    epoch = 0
    while True:
        yield from workload.batches(epoch)
        epoch += 1


def step(workload: Workload, *, batches: Iterator[Batch], around: Around) -> None:
    """One training step, each part inside `around(its name)`."""
    with around("data"):
        batch = next(batches)
    with around("forward"):
        loss = workload.loss(workload.net(batch.inputs), batch.targets)
    with around("backward"):
        workload.optimizer.zero_grad(set_to_none=True)
        torch.autograd.backward(loss)
    with around("optimizer"):
        if workload.clip_norm is not None:
            nn.utils.clip_grad_norm_(workload.net.parameters(), workload.clip_norm)
        workload.optimizer.step()


def time_parts(workload: Workload, *, warmup: int, steps: int) -> Timing:
    batches = endless(workload)
    for _ in range(warmup):
        step(workload, batches=batches, around=_Stopwatch().around)
    watch = _Stopwatch()
    steps_s = []
    for _ in range(steps):
        start = perf_counter()
        step(workload, batches=batches, around=watch.around)
        steps_s.append(perf_counter() - start)
    shares = {part: watch.seconds[part] / sum(steps_s) for part in PARTS}
    shares["other"] = 1 - sum(shares.values())
    bottleneck = max(shares, key=lambda part: shares[part])
    return Timing(steps=steps, step_ms=statistics.median(steps_s) * 1000, shares=shares, bottleneck=bottleneck)


class _Stopwatch:
    def __init__(self) -> None:
        self.seconds = dict.fromkeys(PARTS, 0.0)

    @contextmanager
    def around(self, part: str) -> Iterator[None]:
        start = perf_counter()
        yield
        self.seconds[part] += perf_counter() - start
