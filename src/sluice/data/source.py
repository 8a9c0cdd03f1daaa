"""What every source of samples gives, and how one is loaded by name."""

import importlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from sluice.config.data import ImageConfig
from sluice.config.plugins import SOURCES
from sluice.data.decode import Quarantined
from sluice.errors import DataError, UnknownPlugin
from sluice.io import paths

__all__ = ["Listing", "Measured", "Source", "open_source"]


@dataclass(frozen=True)
class Listing:
    samples: pd.DataFrame
    """Columns sample, split ("" when the data bring none, else train, val or test), label; in a fixed order."""
    quarantined: tuple[Quarantined, ...] = ()
    ignored: int = 0


@dataclass(frozen=True, slots=True)
class Measured:
    """One decoded sample; `mean` and `std` are of its grey pixels, 0..255."""

    digest: str
    width: int
    height: int
    channels: int
    mean: float
    std: float
    turned: bool = False


class Source(Protocol):
    def listing(self) -> Listing:
        """Raises DataError for what makes the set unreadable as a whole."""

    def measure(self, samples: Sequence[str]) -> list[Measured | Quarantined]:
        """Decode every pixel; one answer a sample, in the order given."""

    def images(self, samples: Sequence[str], *, image: ImageConfig) -> NDArray[np.uint8]:
        """Decode and fit: [N, H, W, C] in the order given. Raises DataError for a sample that cannot be decoded."""


def open_source(name: str, root: Path = paths.RAW, *, max_pixels: int | None = None) -> Source:
    """A module of the table offers `open_source(root, *, max_pixels)`."""
    if name not in SOURCES:
        raise UnknownPlugin(f"data.source: {name!r} is not a source. Expected one of {', '.join(map(repr, SOURCES))}")
    if not root.is_dir():
        raise DataError(f"{root} does not exist. Put your data there, or run: sluice fetch")
    source: Source = importlib.import_module(SOURCES[name]).open_source(root, max_pixels=max_pixels)
    return source
