"""The learning rate of each step."""

import pytest
import torch
from torch.optim.lr_scheduler import OneCycleLR

from sluice.config.learning import OptimizerConfig, ScheduleConfig
from sluice.training.optimizer import make_optimizer
from sluice.training.schedule import Schedule, factor


@pytest.mark.parametrize(
    ("config", "expected"),
    [
        (ScheduleConfig(name="constant"), [1, 1, 1, 1]),
        (ScheduleConfig(name="constant", warmup_share=0.5), [0.5, 1, 1, 1]),
        (ScheduleConfig(name="cosine"), [1, 0.8535534, 0.5, 0.1464466]),
        (ScheduleConfig(name="cosine", warmup_share=0.5), [0.5, 1, 1, 0.5]),
        (ScheduleConfig(name="one_cycle", warmup_share=0.5), [0.04, 1, 0.500002, 4e-6]),
    ],
    ids=lambda value: f"{value.name}-{value.warmup_share}" if isinstance(value, ScheduleConfig) else "",
)
def test_values(config: ScheduleConfig, expected: list[float]) -> None:
    """Four steps of each schedule, as shares of the peak."""
    assert [factor(config, step=step, steps=4) for step in range(4)] == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("share", [0.1, 0.3, 0.55])
def test_one_cycle_is_that_of_torch(share: float) -> None:
    """The name means what people know by it, but for the momentum, which stays."""
    net, steps = torch.nn.Linear(1, 1), 40
    theirs = torch.optim.SGD(net.parameters(), lr=0.4)
    known = OneCycleLR(theirs, max_lr=0.4, total_steps=steps, pct_start=share, cycle_momentum=False)
    ours = make_optimizer(OptimizerConfig(name="sgd", lr=0.4), net=net)
    schedule = Schedule(ScheduleConfig(name="one_cycle", warmup_share=share), optimizer=ours, steps=steps)
    for _ in range(steps - 1):
        assert schedule.lr == pytest.approx(known.get_last_lr()[0], rel=1e-9)
        theirs.step()
        known.step()
        schedule.step()


@pytest.mark.parametrize("name", ["constant", "cosine", "one_cycle"])
@pytest.mark.parametrize("share", [0.0, 0.1, 0.5, 0.99])
@pytest.mark.parametrize("steps", [1, 2, 3, 10])
def test_every_step_has_a_rate(name: str, share: float, steps: int) -> None:
    """However short the training, each rate is above 0 and at most the peak."""
    config = ScheduleConfig(name=name, warmup_share=share)
    assert all(0 < factor(config, step=step, steps=steps) <= 1 for step in range(steps))


def test_a_step_after_the_last_keeps_the_last_rate() -> None:
    """The step that follows the last optimizer step is harmless."""
    optimizer = make_optimizer(OptimizerConfig(name="adamw", lr=0.01), net=torch.nn.Linear(1, 1))
    schedule = Schedule(ScheduleConfig(name="cosine"), optimizer=optimizer, steps=2)
    rates = []
    for _ in range(3):
        rates.append(schedule.lr)
        schedule.step()
    assert rates == pytest.approx([0.01, 0.005, 0.005])
