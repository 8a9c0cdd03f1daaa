"""A training of a second: 36 images of 8x8 in three classes, which the batches bring in lists of their own."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from sluice.config.learning import OptimizerConfig, ScheduleConfig, TrainConfig
from sluice.training.fit import Epoch, Fitted, Learning, fit


@dataclass(frozen=True)
class Batch:
    inputs: Tensor
    targets: Tensor

    @property
    def size(self) -> int:
        return len(self.targets)


def batches(epoch: int = 0, *, images: int = 36, batch_size: int = 8) -> list[Batch]:
    """Another order and other noise for each epoch."""
    generator = torch.Generator().manual_seed(epoch)
    targets = torch.randint(0, 3, (images,), generator=generator)
    noise = torch.randn(images, 1, 8, 8, generator=generator)
    inputs = noise + targets.view(-1, 1, 1, 1)
    return [Batch(*pair) for pair in zip(inputs.split(batch_size), targets.split(batch_size), strict=True)]


def correct(outputs: Tensor, targets: Tensor) -> Tensor:
    return outputs.argmax(dim=1) == targets


def net() -> nn.Module:
    """With all that a resume can get wrong: batch statistics, and dropout that draws from the global generator."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        return nn.Sequential(
            nn.Conv2d(1, 4, 3, padding=1),
            nn.BatchNorm2d(4),
            nn.ReLU(),
            nn.Dropout2d(0.2),
            nn.AdaptiveAvgPool2d(2),
            nn.Flatten(),
            nn.Linear(16, 3),
        )


def config(**changes: Any) -> TrainConfig:
    usual = TrainConfig(
        epochs=4,
        batch_size=8,
        optimizer=OptimizerConfig(name="sgd", lr=0.1, momentum=0.9, nesterov=True, weight_decay=1e-3),
        schedule=ScheduleConfig(name="one_cycle", warmup_share=0.25),
        threads=1,
    )
    return usual.model_copy(update=changes)


def learning(**changes: Any) -> Learning:
    usual: dict[str, Any] = {
        "train_batches": batches,
        "val_batches": lambda: batches(99, images=16),
        "loss": functional.cross_entropy,
        "correct": correct,
    }
    return Learning(**(usual | changes))


def train(
    *,
    checkpoints: Path | None = None,
    on_epoch_end: Callable[[Epoch], None] = lambda _: None,
    of: Learning | None = None,
    module: nn.Module | None = None,
    **changes: Any,
) -> Fitted:
    return fit(
        config(**changes),
        net=module or net(),
        learning=of or learning(),
        seed=3,
        checkpoints=checkpoints,
        on_epoch_end=on_epoch_end,
    )


def curves(fitted: Fitted) -> list[dict[str, float]]:
    return [epoch.curves() for epoch in fitted.epochs]


def same_bits(one: nn.Module, other: nn.Module) -> bool:
    first, second = one.state_dict(), other.state_dict()
    return first.keys() == second.keys() and all(torch.equal(first[name], second[name]) for name in first)
