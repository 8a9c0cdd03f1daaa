"""Decode every sample once: what is sound goes into the index, what is not is named with the reason."""

import hashlib
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from sluice.config.data import DataConfig
from sluice.data.decode import Quarantined
from sluice.data.index import COLUMNS
from sluice.data.source import Measured, open_source
from sluice.errors import DataError

__all__ = ["Quarantined", "Scanned", "scan"]


@dataclass(frozen=True)
class Scanned:
    index: pd.DataFrame
    """The columns of `sluice.data.index.COLUMNS`, a row per accepted sample, in the source's order."""
    quarantined: tuple[Quarantined, ...]
    ignored: int
    """Files that are nobody's sample: dot files, what macOS and Windows leave behind."""
    turned: int
    """Samples that were set upright by what their file says of its orientation."""


def scan(root: Path, *, config: DataConfig, max_pixels: int) -> Scanned:
    """Raises DataError for what makes the set unreadable as a whole, and never for a single bad sample."""
    source = open_source(config.source, root, max_pixels=max_pixels)
    listing = source.listing()
    if listing.samples.empty:
        reasons = "".join(f"\n  {item.path}: {item.reason}" for item in listing.quarantined[:10])
        raise DataError(f"{root} holds no samples.{reasons}")
    listed = _limited(listing.samples, share=config.limit)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # Pillow's, on harmless damage in metadata
        measured = source.measure(listed["sample"].tolist())
    sound = [isinstance(found, Measured) for found in measured]
    accepted = [found for found in measured if isinstance(found, Measured)]
    quarantined = [found for found in measured if isinstance(found, Quarantined)]
    index = _indexed(listed[sound], accepted)
    return Scanned(
        index, (*listing.quarantined, *quarantined), listing.ignored, sum(found.turned for found in accepted)
    )


def _indexed(listed: pd.DataFrame, accepted: Sequence[Measured]) -> pd.DataFrame:
    index = listed.reset_index(drop=True)
    for name in COLUMNS.keys() - set(index):
        index[name] = [getattr(found, name) for found in accepted]
    return index[list(COLUMNS)].astype(COLUMNS)


def _limited(samples: pd.DataFrame, *, share: float) -> pd.DataFrame:
    """The same share of each class of each split, at least one sample each, chosen by the hash of the name."""
    if share == 1:
        return samples
    position = samples["sample"].map(lambda sample: int.from_bytes(hashlib.sha256(sample.encode()).digest()[:6]))
    groups = position.groupby([samples["split"], samples["label"]])
    rank, size = groups.rank(method="first"), groups.transform("size")
    wanted = (size * share).round().clip(lower=1)
    return samples[rank <= wanted].reset_index(drop=True)
