"""The learning rate of each optimizer step, as a share of `train.optimizer.lr`."""

import math

from torch.optim import Optimizer

from sluice.config.learning import ScheduleConfig

__all__ = ["Schedule", "factor"]

_ONE_CYCLE_START = 1 / 25
_ONE_CYCLE_END = _ONE_CYCLE_START / 1e4


def factor(config: ScheduleConfig, *, step: int, steps: int) -> float:
    """Share of the peak rate at `step`, counted from 0, of `steps`.

    constant: linear warm-up, then 1. cosine: linear warm-up, then half a cosine down to 0 (Loshchilov and Hutter 2017).
    one_cycle: half a cosine up from 1/25, another down to 1/250000 (Smith and Topin 2018), as torch's OneCycleLR.
    """
    if config.name == "one_cycle":
        return _one_cycle(step, peak=config.warmup_share * steps - 1, last=steps - 1)
    warmup = config.warmup_share * steps
    if step + 1 < warmup:
        return (step + 1) / warmup
    if config.name == "constant":
        return 1.0
    return _between(1.0, 0.0, share=(step - warmup) / (steps - warmup) if step > warmup else 0.0)


class Schedule:
    """Sets the rate of `optimizer` at once, and again at each `step()`, which follows each optimizer step."""

    def __init__(self, config: ScheduleConfig, *, optimizer: Optimizer, steps: int) -> None:
        self._config = config
        self._optimizer = optimizer
        self._peaks = [float(group["lr"]) for group in optimizer.param_groups]
        self._steps = steps
        self.move_to(0)

    @property
    def lr(self) -> float:
        return float(self._optimizer.param_groups[0]["lr"])

    def step(self) -> None:
        self.move_to(self.steps_done + 1)

    def move_to(self, step: int) -> None:
        self.steps_done = step
        share = factor(self._config, step=min(step, self._steps - 1), steps=self._steps)
        for group, peak in zip(self._optimizer.param_groups, self._peaks, strict=True):
            group["lr"] = peak * share


def _one_cycle(step: int, *, peak: float, last: int) -> float:
    if step <= peak:
        return _between(_ONE_CYCLE_START, 1.0, share=step / peak if peak else 1.0)
    return _between(1.0, _ONE_CYCLE_END, share=(step - peak) / (last - peak))


def _between(start: float, end: float, *, share: float) -> float:
    """Half a cosine from start to end."""
    return end + (start - end) / 2 * (1 + math.cos(math.pi * share))
