"""Figures of a bench: rounds in, medians with intervals out, one JSON file per bench."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal

import numpy as np

from sluice.io import files

__all__ = ["Ratio", "mean_of", "median_ratio", "write"]


@dataclass(frozen=True)
class Ratio:
    value: float
    low: float
    high: float
    target: float | None
    holds: bool | None


def median_ratio(values: Sequence[float], *, target: float | None, at: Literal["least", "most"] = "least") -> Ratio:
    """The median over rounds with its 95 % percentile-bootstrap interval; `holds` judges the median."""
    rounds = np.asarray(values, dtype=np.float64)
    draws = np.random.default_rng(0).choice(rounds, size=(10_000, len(rounds)))
    low, high = np.quantile(np.median(draws, axis=1), [0.025, 0.975])
    value = float(np.median(rounds))
    holds = None if target is None else (value >= target if at == "least" else value <= target)
    return Ratio(value, float(low), float(high), target, holds)


def mean_of(values: Sequence[float], *, target: float) -> Ratio:
    """The mean over seeds with its 95 % percentile-bootstrap interval."""
    draws = np.random.default_rng(0).choice(np.asarray(values), size=(10_000, len(values)))
    low, high = np.quantile(draws.mean(axis=1), [0.025, 0.975])
    value = float(np.mean(values))
    return Ratio(value, float(low), float(high), target, value >= target)


def write(name: str, ratios: Mapping[str, Ratio], **more: object) -> None:
    path = Path("reports/bench") / f"{name}.json"
    files.write_json(path, {"ratios": {key: asdict(ratio) for key, ratio in ratios.items()}, **more})
    for key, ratio in ratios.items():
        judged = (
            "" if ratio.holds is None else f"  target {ratio.target}: {'holds' if ratio.holds else 'does not hold'}"
        )
        print(f"{key:24} {ratio.value:.4f}  [{ratio.low:.4f}, {ratio.high:.4f}]{judged}")
    print(f"written: {path}")
