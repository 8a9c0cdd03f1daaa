"""Images in one folder a class, with or without split folders around them."""

import os
import unicodedata
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from sluice.config.data import ImageConfig
from sluice.data.decode import Quarantined, decode_file, fit, pixel_digest
from sluice.data.source import Listing, Measured
from sluice.errors import DataError

__all__ = ["FolderSource", "open_source"]

_SPLITS = {"train": "train", "val": "val", "validation": "val", "valid": "val", "test": "test"}
_LITTER = ("__MACOSX", "Thumbs.db", "ehthumbs.db", "desktop.ini")
_IMAGE_SUFFIXES = (".jpg", ".jpeg", ".png", ".bmp", ".gif", ".tif", ".tiff", ".webp", ".avif", ".heic", ".ppm", ".pgm")


@dataclass(frozen=True)
class FolderSource:
    root: Path
    max_pixels: int | None = None

    def listing(self) -> Listing:
        class_folders, strays = self._class_folders()
        rows: list[tuple[str, str, str]] = []
        quarantined = list(strays)
        ignored = self._count_litter()
        for split, label, folder in class_folders:
            found = 0
            for file in _files(folder):
                found += 1
                sample = file.relative_to(self.root).as_posix()
                problem = _name_problem(sample) or (None if file.is_file() else "not a regular file")
                if problem:
                    quarantined.append(Quarantined(_escaped(sample), problem))
                else:
                    rows.append((sample, split, label))
            if not found and split in ("", "train"):
                raise DataError(
                    f"class {_escaped(label)!r} has no samples: {_escaped(str(folder))} is empty. Fill it or remove it."
                )
        frame = pd.DataFrame(sorted(rows), columns=["sample", "split", "label"], dtype=str)
        return Listing(frame, tuple(quarantined), ignored)

    def measure(self, samples: Sequence[str]) -> list[Measured | Quarantined]:
        with ThreadPoolExecutor(_cores()) as pool:
            return list(pool.map(self._measure_one, samples))

    def images(self, samples: Sequence[str], *, image: ImageConfig) -> NDArray[np.uint8]:
        out = np.empty((len(samples), image.height, image.width, image.channels), dtype=np.uint8)
        with ThreadPoolExecutor(_cores()) as pool:
            for row, pixels in enumerate(pool.map(partial(self._fit_one, image=image), samples)):
                out[row] = pixels
        return out

    def _measure_one(self, sample: str) -> Measured | Quarantined:
        decoded = decode_file(self.root / sample, name=sample, max_pixels=self.max_pixels)
        if isinstance(decoded, Quarantined):
            return decoded
        pixels = decoded.pixels_HWC
        height, width, channels = pixels.shape
        grey = pixels if channels == 1 else fit(pixels, height=height, width=width, channels=1)
        return Measured(
            digest=pixel_digest(pixels),
            width=width,
            height=height,
            channels=channels,
            mean=float(grey.mean(dtype=np.float64)),
            std=float(grey.std(dtype=np.float64)),
            turned=decoded.turned,
        )

    def _fit_one(self, sample: str, *, image: ImageConfig) -> NDArray[np.uint8]:
        decoded = decode_file(self.root / sample, name=sample, max_pixels=self.max_pixels)
        if isinstance(decoded, Quarantined):
            raise DataError(
                f"{self.root / sample}: {decoded.reason}. It changed since it was validated: run dvc repro again."
            )
        return fit(decoded.pixels_HWC, height=image.height, width=image.width, channels=image.channels)

    def _class_folders(self) -> tuple[list[tuple[str, str, Path]], list[Quarantined]]:
        """(split, label, folder) of each class, and images that lie outside all of them."""
        top = _folders(self.root)
        if not top:
            raise DataError(
                f"{self.root} holds no folders. Put the images of each class in a folder named after the class."
            )
        split_of = {folder: _SPLITS.get(folder.name.lower()) for folder in top}
        named = set(split_of.values()) - {None}
        strays = _strays(self.root, self.root)
        if None in split_of.values():
            if "train" in named and len(named) > 1:
                other = ", ".join(repr(_escaped(folder.name)) for folder, split in split_of.items() if split is None)
                raise DataError(
                    f"{self.root} holds split folders and {other} beside them. Move what is no split elsewhere."
                )
            return [("", _label(folder), folder) for folder in top], strays
        if "train" not in named:
            raise DataError(
                f"{self.root} holds split folders ({', '.join(folder.name for folder in top)}), but no 'train'."
            )
        classes = []
        for folder, split in split_of.items():
            strays += _strays(self.root, folder)
            classes += [(str(split), _label(inner), inner) for inner in _folders(folder)]
        return classes, strays

    def _count_litter(self) -> int:
        """Files that are no samples by their own name or by that of a folder above them."""
        total = 0
        for folder, _, names in os.walk(self.root):
            above = Path(folder).relative_to(self.root).parts
            hidden = any(_is_litter(part) for part in above)
            total += len(names) if hidden else sum(map(_is_litter, names))
        return total


def open_source(root: Path, *, max_pixels: int | None) -> FolderSource:
    return FolderSource(root, max_pixels)


def _escaped(name: str) -> str:
    """The name with bytes that are not UTF-8 written as backslash escapes, so that every file and database takes it."""
    return os.fsencode(name).decode("utf-8", errors="backslashreplace")


def _name_problem(sample: str) -> str | None:
    try:
        sample.encode("utf-8")
    except UnicodeEncodeError:
        return "the name is not valid UTF-8: rename the file or its folder"
    return None


def _label(folder: Path) -> str:
    return unicodedata.normalize("NFC", folder.name)


def _is_litter(name: str) -> bool:
    return name.startswith(".") or name in _LITTER


def _folders(parent: Path) -> list[Path]:
    return sorted(item for item in parent.iterdir() if item.is_dir() and not _is_litter(item.name))


def _files(folder: Path) -> Iterator[Path]:
    for parent, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if not _is_litter(name))
        yield from (Path(parent, name) for name in sorted(names) if not _is_litter(name))


def _strays(root: Path, parent: Path) -> list[Quarantined]:
    """Images directly in `parent`, which say no class; other files there (a README, a licence) are nobody's sample."""
    files = sorted(item for item in parent.iterdir() if not item.is_dir() and not _is_litter(item.name))
    return [
        Quarantined(_escaped(file.relative_to(root).as_posix()), "lies in no class folder")
        for file in files
        if file.suffix.lower() in _IMAGE_SUFFIXES
    ]


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
