"""A tiny thing to train, with a loader that can be made slow."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional

from sluice.profiling.parts import Workload


@dataclass(frozen=True)
class Pair:
    inputs: Tensor
    targets: Tensor


def workload(*, load: Callable[[], None] = lambda: None, batches: int = 4, clip_norm: float | None = None) -> Workload:
    def of_epoch(epoch: int) -> Iterator[Pair]:
        for _ in range(batches):
            load()
            yield Pair(torch.zeros(2, 8), torch.zeros(2, dtype=torch.int64))

    net = nn.Sequential(nn.Linear(8, 4), nn.ReLU(), nn.Linear(4, 3))
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    return Workload(net=net, optimizer=optimizer, loss=functional.cross_entropy, batches=of_epoch, clip_norm=clip_norm)
