"""What the rules look at: the samples, their classes, and the data set as a whole."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import pandas as pd

__all__ = ["BROUGHT", "NUMBERS", "TEXT", "DataSet", "Tables", "build_tables"]

BROUGHT: Final = ("train", "val", "test")
TEXT: Final = ("sample", "split", "label", "digest")
NUMBERS: Final = ("width", "height", "channels", "mean", "std")


@dataclass(frozen=True, kw_only=True)
class DataSet:
    """Facts about the whole; the fields are the columns of the table that the rules judge."""

    samples: int
    classes: int
    learnable: int
    """Samples that training may read: those of a brought train split, or of no split."""
    quarantined: int
    quarantined_share: float
    emptied_folders: tuple[str, ...]
    """Folders beside those of the accepted samples in which every sample is quarantined."""
    imbalance: float
    """Samples of the largest class for each of the smallest."""
    cross_split_duplicates: tuple[str, ...]
    """`a = b` for each content that stands in two brought splits."""
    conflicting_labels: tuple[str, ...]
    """`a (x) = b (y)` for each content that has two labels."""


@dataclass(frozen=True, kw_only=True)
class Tables:
    samples: pd.DataFrame
    """The index in plain types: text, and float64 for every number."""
    classes: pd.DataFrame
    """One row per class: label, samples, learnable, and one column for each brought split."""
    data_set: DataSet


def build_tables(index: pd.DataFrame, *, quarantined: Mapping[str, str]) -> Tables:
    """`index` has the columns of data/index.parquet; `quarantined` maps paths to reasons."""
    samples = _plain(index)
    classes = _classes(samples)
    total = len(samples) + len(quarantined)
    data_set = DataSet(
        samples=len(samples),
        classes=len(classes),
        learnable=int(classes["learnable"].sum()),
        quarantined=len(quarantined),
        quarantined_share=len(quarantined) / total if total else 0.0,
        emptied_folders=_emptied_folders(samples["sample"], quarantined),
        imbalance=float(classes["samples"].max() / classes["samples"].min()) if len(classes) else 1.0,
        cross_split_duplicates=_cross_split_duplicates(samples),
        conflicting_labels=_conflicting_labels(samples),
    )
    return Tables(samples=samples, classes=classes, data_set=data_set)


def _plain(index: pd.DataFrame) -> pd.DataFrame:
    """Text and float64 only: rules about values must not depend on the name of a dtype."""
    frame = index.reindex(columns=[*TEXT, *NUMBERS])
    return frame.astype(dict.fromkeys(TEXT, "str") | dict.fromkeys(NUMBERS, "float64"))


def _classes(samples: pd.DataFrame) -> pd.DataFrame:
    grouped = samples.assign(
        samples=1,
        learnable=samples["split"].isin(["", "train"]).astype(int),
        **{split: (samples["split"] == split).astype(int) for split in BROUGHT},
    ).groupby("label", sort=True)
    counts = grouped[["samples", "learnable", *BROUGHT]].sum()
    absent = [split for split in BROUGHT if not counts[split].any()]
    return counts.drop(columns=absent).reset_index()


def _emptied_folders(samples: pd.Series, quarantined: Mapping[str, str]) -> tuple[str, ...]:
    if not quarantined:
        return ()
    accepted = {_folder(sample) for sample in samples.dropna()}
    depths = {folder.count("/") for folder in accepted if folder}
    emptied = {_folder(path) for path in quarantined} - accepted - {""}
    return tuple(sorted(folder for folder in emptied if folder.count("/") in depths))


def _folder(sample: str) -> str:
    return sample.rpartition("/")[0]


def _cross_split_duplicates(samples: pd.DataFrame) -> tuple[str, ...]:
    """Splits that were not brought are made later, with equal samples kept together."""
    equal = _equal(samples[samples["split"].isin(BROUGHT)], differ_in="split")
    return tuple(" = ".join(group["sample"]) for _, group in equal.groupby("digest", sort=False))


def _conflicting_labels(samples: pd.DataFrame) -> tuple[str, ...]:
    equal = _equal(samples, differ_in="label")
    named = equal["sample"] + " (" + equal["label"] + ")"
    return tuple(" = ".join(group) for _, group in named.groupby(equal["digest"], sort=False))


def _equal(samples: pd.DataFrame, *, differ_in: str) -> pd.DataFrame:
    """One sample per content and value of `differ_in`, for the contents with at least two such values."""
    first = samples.dropna(subset=["digest", differ_in]).drop_duplicates(["digest", differ_in])
    return first[first.duplicated("digest", keep=False)]
