"""Fitted samples of one split as a memory-mapped array, with their labels and names."""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.lib import format as npy
from numpy.typing import NDArray

from sluice.config.data import ImageConfig, Normalization
from sluice.data.class_map import ClassMap
from sluice.data.source import Source
from sluice.errors import MissingArtifact
from sluice.io import files

__all__ = ["Split", "open_split", "statistics", "subset", "write_split"]

_CHUNK_BYTES = 2**20


@dataclass(frozen=True)
class Split:
    name: str
    images: NDArray[np.uint8]
    """[N, H, W, C]; mapped from disk, so only what is read takes memory."""
    labels: NDArray[np.int64]
    samples: list[str]
    digest: str

    def __len__(self) -> int:
        return len(self.labels)


def write_split(folder: Path, rows: pd.DataFrame, *, source: Source, image: ImageConfig, classes: ClassMap) -> None:
    """Write the rows (columns sample, digest, label) whole or not at all; `folder.name` is the split's name."""
    labels = rows["label"].tolist()
    with files.atomic_folder(folder) as temporary:
        _write_images(temporary / "images.npy", rows["sample"].tolist(), source=source, image=image)
        np.save(temporary / "labels.npy", classes.indices(labels))
        rows[["sample", "digest", "label"]].to_parquet(temporary / "samples.parquet", index=False)
        counts = rows["label"].value_counts()
        about = {
            "split": folder.name,
            "n": len(rows),
            "digest": _digest(rows),
            "counts": {name: int(counts.get(name, 0)) for name in classes.classes},
        }
        files.write_json(temporary / "split.json", about)


def open_split(folder: Path) -> Split:
    """Raises MissingArtifact when the store is absent, damaged, or its parts do not belong together."""
    about = files.read_json(folder / "split.json")
    try:
        # copy on write: torch wants a writable array, the file stays as it is
        images = np.load(folder / "images.npy", mmap_mode="c")
        labels = np.load(folder / "labels.npy")
        samples = pd.read_parquet(folder / "samples.parquet", columns=["sample"])["sample"].tolist()
    except (OSError, ValueError, EOFError) as error:
        raise MissingArtifact(f"{folder} cannot be read ({error}). Delete it and run: dvc repro prepare") from None
    if not len(images) == len(labels) == len(samples) == about["n"]:
        raise MissingArtifact(f"{folder} holds files that do not belong together. Delete it and run: dvc repro prepare")
    return Split(about["split"], images, labels, samples, about["digest"])


def subset(split: Split, *, share: float, seed: int) -> Split:
    """The same share of each class, at least one sample each, drawn by the seed; the images are copied into memory."""
    if share == 1:
        return split
    draw = np.random.default_rng(seed)
    of_class = [np.flatnonzero(split.labels == label) for label in np.unique(split.labels)]
    drawn = [draw.permutation(rows)[: max(1, round(share * len(rows)))] for rows in of_class]
    rows = np.sort(np.concatenate(drawn))
    return replace(
        split, images=split.images[rows], labels=split.labels[rows], samples=[split.samples[row] for row in rows]
    )


def statistics(images_NHWC: NDArray[np.uint8]) -> Normalization:
    """Mean and standard deviation per channel on the scale 0..1; a constant channel has one grey step."""
    channels = images_NHWC.shape[3]
    total, squares = np.zeros(channels), np.zeros(channels)
    for chunk in _chunks(images_NHWC):
        pixels = chunk.reshape(-1, channels).astype(np.float64)
        total += pixels.sum(axis=0)
        squares += np.square(pixels).sum(axis=0)
    count = images_NHWC.size / channels
    mean = total / count
    std = np.sqrt(np.maximum(squares / count - mean**2, 1.0))
    return Normalization(mean=tuple((mean / 255).tolist()), std=tuple((std / 255).tolist()))


def _write_images(file: Path, samples: list[str], *, source: Source, image: ImageConfig) -> None:
    size = image.height * image.width * image.channels
    step = max(1, _CHUNK_BYTES // size)
    shape = (len(samples), image.height, image.width, image.channels)
    with file.open("wb") as out:
        npy.write_array_header_1_0(out, {"descr": "|u1", "fortran_order": False, "shape": shape})
        for start in range(0, len(samples), step):
            chunk = source.images(samples[start : start + step], image=image)
            out.write(np.ascontiguousarray(chunk).data)


def _chunks(images: NDArray[np.uint8]) -> Iterator[NDArray[np.uint8]]:
    step = max(1, _CHUNK_BYTES // max(1, images[0].nbytes))
    yield from (images[start : start + step] for start in range(0, len(images), step))


def _digest(rows: pd.DataFrame) -> str:
    total = hashlib.sha256()
    for digest, label in zip(rows["digest"], rows["label"], strict=True):
        total.update(f"{digest} {label}\n".encode())
    return total.hexdigest()
