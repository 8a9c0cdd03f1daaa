"""What the accepted samples look like in numbers: small, deterministic, and kept with every registered model."""

from itertools import pairwise
from pathlib import Path
from typing import Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pydantic import Field, FiniteFloat, NonNegativeInt, PositiveInt, ValidationError, model_validator

from sluice.config.section import Section
from sluice.errors import DataError, MissingArtifact

__all__ = ["FeatureProfile", "Profile", "profile_of", "read_profile"]

_FEATURES = ("mean", "std", "width", "height")
_BINS = 10
_MAX_SAMPLE = 1000
_DECIMALS = 6


class FeatureProfile(Section):
    edges: tuple[FiniteFloat, ...] = Field(min_length=2)
    """Of the bins, increasing; the last bin holds its right edge too."""
    counts: tuple[NonNegativeInt, ...] = Field(min_length=1)
    sample: tuple[FiniteFloat, ...] = Field(min_length=1, max_length=_MAX_SAMPLE)
    """All values in order, or as many quantiles at equal distances."""

    @model_validator(mode="after")
    def _fit(self) -> Self:
        if len(self.edges) != len(self.counts) + 1 or any(a >= b for a, b in pairwise(self.edges)):
            raise ValueError("edges must increase and be one more than counts")
        if not any(self.counts):
            raise ValueError("counts must not all be 0")
        return self


class Profile(Section):
    n: int = Field(gt=0)
    features: dict[str, FeatureProfile]
    labels: dict[str, PositiveInt] = Field(min_length=1)


def profile_of(index: pd.DataFrame) -> Profile:
    """Depends on the set of rows alone, not on their order. Raises DataError when there is no row."""
    if index.empty:
        raise DataError("data/raw has no accepted sample, so there is nothing to profile")
    labels = index["label"].value_counts().sort_index()
    return Profile(
        n=len(index),
        features={name: _feature(index[name].to_numpy(dtype=np.float64)) for name in _FEATURES},
        labels={str(label): int(count) for label, count in labels.items()},
    )


def read_profile(path: Path) -> Profile:
    """Raises MissingArtifact when the file is absent or is no profile."""
    try:
        return Profile.model_validate_json(path.read_bytes())
    except FileNotFoundError:
        raise MissingArtifact(f"{path} does not exist. Make it with: dvc repro validate") from None
    except ValidationError as error:
        raise MissingArtifact(
            f"{path} is not a data profile ({error.error_count()} problems). Make it anew with: dvc repro validate"
        ) from None


def _feature(values: NDArray[np.float64]) -> FeatureProfile:
    ordered = np.sort(np.round(values, _DECIMALS))
    edges = _edges(ordered)
    positions = np.linspace(0, len(ordered) - 1, min(len(ordered), _MAX_SAMPLE)).round().astype(int)
    return FeatureProfile(
        edges=tuple(edges.tolist()),
        counts=tuple(np.histogram(ordered, edges)[0].tolist()),
        sample=tuple(ordered[positions].tolist()),
    )


def _edges(ordered: NDArray[np.float64]) -> NDArray[np.float64]:
    """A bin for each value where there are few, else bins of about equal counts."""
    distinct = np.unique(ordered)
    if len(distinct) <= _BINS:
        return np.concatenate([[distinct[0] - 0.5], (distinct[1:] + distinct[:-1]) / 2, [distinct[-1] + 0.5]])
    return np.unique(np.quantile(ordered, np.linspace(0, 1, _BINS + 1)))
