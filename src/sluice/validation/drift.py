"""Have the data moved away from those that the champion was trained on?"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.stats import chi2

from sluice.stats.drift import chi_square, holm, psi, two_sample
from sluice.validation.profile import FeatureProfile, Profile

__all__ = ["Drift", "FeatureDrift", "LabelDrift", "drift"]


@dataclass(frozen=True, kw_only=True)
class FeatureDrift:
    name: str
    psi: float
    p_value: float
    """Of the two-sample Kolmogorov-Smirnov test."""
    p_adjusted: float
    """After Holm's correction over all features."""
    drifted: bool


@dataclass(frozen=True, kw_only=True)
class LabelDrift:
    psi: float
    p_value: float
    """Of the chi-square test. Large sets make it small for shifts that matter to nobody, so `psi` decides."""
    new: tuple[str, ...]
    gone: tuple[str, ...]
    drifted: bool


@dataclass(frozen=True, kw_only=True)
class Drift:
    features: tuple[FeatureDrift, ...]
    labels: LabelDrift

    @property
    def drifted(self) -> tuple[str, ...]:
        """Names of what has moved."""
        moved = tuple(feature.name for feature in self.features if feature.drifted)
        return (*moved, "labels") if self.labels.drifted else moved


def drift(profile: Profile, champion: Profile, *, psi_warning: float, p_value: float) -> Drift:
    """Compare the features that both profiles hold, and the labels.

    A feature has drifted when its PSI over the champion's bins, or its adjusted p value, is beyond the limit.
    """
    names = [name for name in champion.features if name in profile.features]
    pairs = [(profile.features[name], champion.features[name]) for name in names]
    p_values = [two_sample(now.sample, then.sample) for now, then in pairs]
    features = [
        _feature(name, now, then, p=p, adjusted=adjusted, psi_warning=psi_warning, p_value=p_value)
        for name, (now, then), p, adjusted in zip(names, pairs, p_values, holm(p_values), strict=True)
    ]
    return Drift(features=tuple(features), labels=_labels(profile, champion, psi_warning=psi_warning, p_value=p_value))


def _feature(
    name: str,
    now: FeatureProfile,
    then: FeatureProfile,
    *,
    p: float,
    adjusted: float,
    psi_warning: float,
    p_value: float,
) -> FeatureDrift:
    counts_then = [0, *then.counts, 0]
    counts_now = _counts(now.sample, edges=then.edges)
    value = psi(counts_then, counts_now)
    limit = max(psi_warning, _psi_by_chance(counts_then, counts_now, p_value=p_value))
    return FeatureDrift(
        name=name, psi=value, p_value=p, p_adjusted=adjusted, drifted=value > limit or adjusted < p_value
    )


def _labels(profile: Profile, champion: Profile, *, psi_warning: float, p_value: float) -> LabelDrift:
    classes = sorted(profile.labels.keys() | champion.labels.keys())
    then = [champion.labels.get(name, 0) for name in classes]
    now = [profile.labels.get(name, 0) for name in classes]
    new = tuple(name for name in classes if name not in champion.labels)
    gone = tuple(name for name in classes if name not in profile.labels)
    value = psi(then, now)
    moved = value > max(psi_warning, _psi_by_chance(then, now, p_value=p_value))
    return LabelDrift(psi=value, p_value=chi_square(then, now), new=new, gone=gone, drifted=moved or bool(new or gone))


def _counts(values: Sequence[float], *, edges: Sequence[float]) -> list[int]:
    """Below the first edge, in each bin, above the last edge."""
    array: NDArray[np.float64] = np.asarray(values)
    inside = np.histogram(array, edges)[0]
    return [int((array < edges[0]).sum()), *inside.tolist(), int((array > edges[-1]).sum())]


def _psi_by_chance(expected: Sequence[int], actual: Sequence[int], *, p_value: float) -> float:
    """What the PSI of two samples of these sizes from one distribution exceeds with probability `p_value`.

    Yurdakul and Naranjo, "Statistical properties of the population stability index", 2020: without it
    the usual limit of 0.2 gives false alarms for sets of some hundred samples.
    """
    filled = sum(1 for a, b in zip(expected, actual, strict=True) if a or b)
    scale = 1 / sum(expected) + 1 / sum(actual)
    return float(scale * chi2.ppf(1 - p_value, filled - 1)) if filled > 1 else 0.0
