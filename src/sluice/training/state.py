"""All that a resumed training needs, in one object."""

import math
from dataclasses import asdict, dataclass, field
from typing import Any, Literal, Self

import torch
from torch import Tensor, nn
from torch.optim import Optimizer

from sluice.config.learning import TrainConfig
from sluice.errors import TrainingError
from sluice.training.determinism import get_rng, set_rng
from sluice.training.optimizer import make_optimizer
from sluice.training.schedule import Schedule

__all__ = ["Best", "Epoch", "TrainState"]


@dataclass(frozen=True, kw_only=True)
class Epoch:
    """One row of the curves. `epoch` counts from 1; `images_per_s` and `seconds` are those of the training pass."""

    epoch: int
    lr: float
    train_loss: float
    val_loss: float
    val_accuracy: float
    grad_norm: float
    images_per_s: float
    seconds: float

    def curves(self) -> dict[str, float]:
        """What is equal from run to run, by the columns' names."""
        return {key: value for key, value in asdict(self).items() if key not in {"epoch", "images_per_s", "seconds"}}

    def line(self, *, epochs: int) -> str:
        return (
            f"epoch {self.epoch}/{epochs}  train loss {self.train_loss:.4f}  val loss {self.val_loss:.4f}  "
            f"val accuracy {self.val_accuracy:.4f}  {self.images_per_s:.0f} images/s"
        )


@dataclass(frozen=True, kw_only=True)
class Best:
    epoch: int
    accuracy: float
    weights: dict[str, Tensor] | None
    """Only where they are to be kept."""


@dataclass(kw_only=True)
class TrainState:
    """Beside these fields, `as_dict` takes the global generators in; `restore` sets them."""

    net: nn.Module
    optimizer: Optimizer
    schedule: Schedule
    threads: int
    channels_last: bool
    epochs: list[Epoch] = field(default_factory=list)
    best: Best | None = None

    @classmethod
    def start(cls, config: TrainConfig, *, net: nn.Module, steps: int, threads: int, channels_last: bool) -> Self:
        """`steps` of the whole training."""
        if channels_last:
            net.to(memory_format=torch.channels_last)
        optimizer = make_optimizer(config.optimizer, net=net)
        schedule = Schedule(config.schedule, optimizer=optimizer, steps=steps)
        return cls(net=net, optimizer=optimizer, schedule=schedule, threads=threads, channels_last=channels_last)

    def finish(self, epoch: Epoch, *, keep: Literal["last", "best"]) -> None:
        """Take an epoch in; of equally accurate epochs the first is the best, and NaN is never better."""
        self.epochs.append(epoch)
        score = epoch.val_accuracy
        if math.isfinite(score) and (self.best is None or score > self.best.accuracy):
            weights = {name: tensor.clone() for name, tensor in self.net.state_dict().items()}
            self.best = Best(epoch=epoch.epoch, accuracy=score, weights=weights if keep == "best" else None)

    def as_dict(self) -> dict[str, Any]:
        """Plain types and tensors only."""
        best = self.best
        return {
            "net": self.net.state_dict(),
            "optimizer": self.optimizer.state_dict(),
            "steps_done": self.schedule.steps_done,
            "threads": self.threads,
            "channels_last": self.channels_last,
            "epochs": [asdict(epoch) for epoch in self.epochs],
            "best": best and {"epoch": best.epoch, "accuracy": best.accuracy, "weights": best.weights},
            "rng": get_rng(),
        }

    def restore(self, saved: dict[str, Any]) -> None:
        try:
            self.net.load_state_dict(saved["net"])
            self.optimizer.load_state_dict(saved["optimizer"])
        except (RuntimeError, ValueError) as error:
            raise TrainingError(
                f"the checkpoint belongs to another model or optimizer ({' '.join(str(error).split())}). "
                "Remove its folder to start afresh."
            ) from error
        self.schedule.move_to(saved["steps_done"])
        self.epochs = [Epoch(**row) for row in saved["epochs"]]
        self.best = Best(**saved["best"]) if saved["best"] else None
        set_rng(saved["rng"])
