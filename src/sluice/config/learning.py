"""What is searched, what is trained, and how a training step is looked into."""

import re
from typing import Annotated, Any, Literal, Self

from pydantic import Field, field_validator, model_validator

from sluice.config.plugins import MODELS
from sluice.config.section import Section

__all__ = [
    "AugmentConfig",
    "Choice",
    "ModelConfig",
    "OptimizerConfig",
    "ProfileConfig",
    "Range",
    "ScheduleConfig",
    "TrainConfig",
    "TuneConfig",
]


_OWN_MODEL = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)*:[^\W\d]\w*")


class ModelConfig(Section):
    name: str
    """A model of this repository, or your own as `module:factory` in plugins/."""
    options: dict[str, Any] = Field(default_factory=dict)
    """Keyword arguments of the model's factory."""

    @field_validator("name")
    @classmethod
    def _known(cls, value: str) -> str:
        if value not in MODELS and not _OWN_MODEL.fullmatch(value):
            raise ValueError(
                f"expected one of {', '.join(map(repr, MODELS))}, or your own as 'module:factory' in plugins/"
            )
        return value


class OptimizerConfig(Section):
    name: Literal["sgd", "adamw"]
    lr: float = Field(gt=0)
    momentum: float = Field(default=0.0, ge=0, lt=1)
    """SGD only."""
    nesterov: bool = False
    """SGD only."""
    weight_decay: float = Field(default=0.0, ge=0)

    @model_validator(mode="after")
    def _fits(self) -> Self:
        if self.name == "adamw" and (self.momentum or self.nesterov):
            raise ValueError("momentum and nesterov belong to sgd, not to adamw")
        if self.nesterov and not self.momentum:
            raise ValueError("nesterov needs a momentum greater than 0")
        return self


class ScheduleConfig(Section):
    """Stepped once per optimizer step."""

    name: Literal["constant", "cosine", "one_cycle"]
    warmup_share: float = Field(default=0.0, ge=0, lt=1)
    """Share of all steps in which the rate rises to its peak."""


class AugmentConfig(Section):
    """Applied to training batches only, drawn anew for every sample."""

    horizontal_flip: bool = False
    shift_pixels: int = Field(default=0, ge=0, le=64)
    """Largest shift in each direction; the border is filled with the edge's zeros."""


class TrainConfig(Section):
    epochs: int = Field(gt=0)
    batch_size: int = Field(gt=0)
    optimizer: OptimizerConfig
    schedule: ScheduleConfig
    label_smoothing: float = Field(default=0.0, ge=0, lt=1)
    clip_norm: float | None = Field(default=None, gt=0)
    """Gradients are scaled down to this total norm; null leaves them."""
    augment: AugmentConfig = AugmentConfig()
    channels_last: bool = False
    threads: int = Field(default=0, ge=0)
    """CPU threads of a training step; 0 takes all cores. Equal threads, equal bits."""
    keep: Literal["last", "best"] = "last"
    """The weights of the last epoch, or of the epoch with the best validation accuracy."""
    use_tuned: bool = False
    """Overlay the values that tune found, for exactly the keys of tune.space."""


class Range(Section):
    kind: Literal["float", "int"]
    low: float
    high: float
    log: bool = False

    @model_validator(mode="after")
    def _ordered(self) -> Self:
        if not self.low < self.high:
            raise ValueError("low must be less than high")
        if self.log and self.low <= 0:
            raise ValueError("a logarithmic range needs low greater than 0")
        return self


class Choice(Section):
    kind: Literal["choice"]
    values: tuple[int | float | str | bool, ...] = Field(min_length=1)


class TuneConfig(Section):
    trials: int = Field(ge=0)
    """Trials that finish, failed ones not counted, over all restarts; 0 searches nothing."""
    epochs: int = Field(default=1, gt=0)
    subset: float = Field(default=1.0, gt=0, le=1)
    """Share of the train split that a trial learns from."""
    space: dict[str, Annotated[Range | Choice, Field(discriminator="kind")]] = Field(default_factory=dict)
    """Keys such as `train.optimizer.lr` or `model.options.width`."""

    @model_validator(mode="after")
    def _has_space(self) -> Self:
        wrong = [key for key in self.space if not key.startswith(("train.", "model.options."))]
        if wrong:
            raise ValueError(f"keys must start with 'train.' or 'model.options.', not {', '.join(map(repr, wrong))}")
        if self.trials and not self.space:
            raise ValueError("tune.space is empty: name what to search, or set tune.trials to 0")
        return self


class ProfileConfig(Section):
    wait: int = Field(default=1, ge=0)
    warmup: int = Field(default=3, ge=1)
    active: int = Field(default=10, ge=1, le=100)
    """Steps that are recorded; the trace grows with them."""
