"""Where samples come from, when they are fit, and how they are split."""

from typing import Literal, Self

from pydantic import Field, field_validator, model_validator

from sluice.config.plugins import SOURCES
from sluice.config.section import Section

__all__ = ["DataConfig", "DriftConfig", "ImageConfig", "Normalization", "PrepareConfig", "ValidateConfig"]


class DataConfig(Section):
    source: str
    """How data/raw is read: 'folder' (one folder a class, with or without split folders) or 'idx'."""
    fetch: Literal["fashion-mnist", "mnist", "digits"] | None = None
    """A data set that `sluice fetch` (and so `make run`) brings to data/raw; null for your own data."""
    limit: float = Field(default=1.0, gt=0, le=1)
    """The share of each class of each split to use: 0.01 for a quick try."""

    @field_validator("source")
    @classmethod
    def _known(cls, value: str) -> str:
        if value not in SOURCES:
            raise ValueError(f"expected one of {', '.join(map(repr, SOURCES))}")
        return value


class ValidateConfig(Section):
    quarantine: Literal["skip", "refuse"] = "skip"
    """Samples that cannot be decoded: leave them out, or refuse the whole data set."""
    max_quarantined_share: float = Field(default=0.01, ge=0, le=1)
    """With 'skip', more than this share of unreadable samples blocks."""
    min_samples_per_class: int = Field(default=2, ge=1)
    """A class with fewer accepted samples than this blocks."""
    max_pixels: int = Field(default=50_000_000, gt=0)
    """An image with more pixels than this is quarantined before it is decoded."""
    cross_split_duplicates: Literal["block", "warn"] = "block"
    """What equal samples on both sides of a split do."""
    imbalance_warning: float = Field(default=10.0, gt=1)
    """Warn when the largest class has this many times the samples of the smallest."""


class DriftConfig(Section):
    psi_warning: float = Field(default=0.2, gt=0)
    """Population stability index of a feature above which drift is reported (0.1 slight, 0.25 large)."""
    p_value: float = Field(default=0.01, gt=0, lt=1)
    """Level of the two-sample test, after Holm's correction over all features."""


class ImageConfig(Section):
    height: int = Field(ge=1, le=4096)
    width: int = Field(ge=1, le=4096)
    channels: Literal[1, 3]


class Normalization(Section):
    mean: tuple[float, ...]
    std: tuple[float, ...]

    @model_validator(mode="after")
    def _fit(self) -> Self:
        if len(self.mean) != len(self.std):
            raise ValueError("mean and std must have one value per channel each")
        if any(value <= 0 for value in self.std):
            raise ValueError("std must be greater than 0")
        return self


class PrepareConfig(Section):
    image: ImageConfig
    """Every image is resized to this and converted to grey or RGB."""
    val_share: float = Field(gt=0, lt=1)
    """Share of the training data held back for choosing; 0.1 is usual. Ignored when the data bring a val split."""
    gate_share: float = Field(gt=0, lt=1)
    """Share of all data that only the gate reads. A test split that the data bring is the gate's, whole."""
    normalization: Normalization | None = None
    """Mean and standard deviation per channel on the scale 0..1; null takes them from the train split."""

    @model_validator(mode="after")
    def _channels(self) -> Self:
        given = self.normalization
        if given is not None and len(given.mean) != self.image.channels:
            raise ValueError(f"normalization has {len(given.mean)} channels, image.channels is {self.image.channels}")
        if self.val_share + self.gate_share >= 1:
            raise ValueError("val_share + gate_share must be less than 1")
        return self
