"""Images and labels in the two-file idx format of MNIST and its kin, plain or gzipped."""

import gzip
import hashlib
import struct
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from sluice.config.data import ImageConfig
from sluice.data.decode import Quarantined, fit
from sluice.data.source import Listing, Measured
from sluice.errors import DataError

__all__ = ["IdxSource", "open_source"]

_PAIRS = (  # prefix of both names, split
    ("train-", "train"),
    ("t10k-", "test"),
    ("", ""),
)
_IMAGES = "images-idx3-ubyte"
_LABELS = "labels-idx1-ubyte"
_CHUNK = 4096


@dataclass(frozen=True)
class _Pair:
    split: str
    name: str
    images_NHW: NDArray[np.uint8]
    labels_N: NDArray[np.uint8]


@dataclass(frozen=True)
class IdxSource:
    pairs: tuple[_Pair, ...]
    max_pixels: int | None = None

    def listing(self) -> Listing:
        frames = [
            pd.DataFrame(
                {
                    "sample": [f"{pair.name}#{row}" for row in range(len(pair.labels_N))],
                    "split": pair.split,
                    "label": pair.labels_N.astype(str),
                }
            )
            for pair in self.pairs
        ]
        return Listing(pd.concat(frames, ignore_index=True).astype(str))

    def measure(self, samples: Sequence[str]) -> list[Measured | Quarantined]:
        measured: list[Measured | Quarantined] = []
        for start in range(0, len(samples), _CHUNK):
            measured += self._measure_chunk(samples[start : start + _CHUNK])
        return measured

    def images(self, samples: Sequence[str], *, image: ImageConfig) -> NDArray[np.uint8]:
        images_NHWC = self._rows(samples)[..., None]
        if images_NHWC.shape[1:] == (image.height, image.width, image.channels):
            return images_NHWC
        fitted = [
            fit(pixels, height=image.height, width=image.width, channels=image.channels) for pixels in images_NHWC
        ]
        return np.stack(fitted)

    def _measure_chunk(self, samples: Sequence[str]) -> list[Measured | Quarantined]:
        images_NHW = self._rows(samples)
        count, height, width = images_NHW.shape
        if self.max_pixels is not None and height * width > self.max_pixels:
            reason = f"{width} x {height} pixels, more than max_pixels {self.max_pixels}"
            return [Quarantined(sample, reason) for sample in samples]
        flat = np.ascontiguousarray(images_NHW).reshape(count, height * width)
        means = flat.mean(axis=1, dtype=np.float64)
        stds = np.sqrt(np.maximum(np.einsum("np,np->n", flat, flat, dtype=np.float64) / (height * width) - means**2, 0))
        prefix = hashlib.sha256(f"{height}x{width}x1:".encode())
        return [
            Measured(_continued(prefix, row), width, height, 1, mean, std)
            for row, mean, std in zip(flat, means.tolist(), stds.tolist(), strict=True)
        ]

    def _rows(self, samples: Sequence[str]) -> NDArray[np.uint8]:
        by_name = {pair.name: pair.images_NHW for pair in self.pairs}
        names, rows = zip(*(sample.rsplit("#", 1) for sample in samples), strict=True)
        wanted = np.array(rows, dtype=np.int64)
        if len(set(names)) == 1:
            return by_name[names[0]][wanted]
        return np.stack([by_name[name][row] for name, row in zip(names, wanted, strict=True)])


def open_source(root: Path, *, max_pixels: int | None) -> IdxSource:
    """Raises DataError: no pair of files, a wrong magic number, a wrong length, counts or sizes that differ."""
    pairs = tuple(pair for prefix, split in _PAIRS if (pair := _open_pair(root, prefix, split)) is not None)
    if not pairs:
        raise DataError(f"{root} holds no idx files. Expected train-{_IMAGES} and train-{_LABELS}, plain or with .gz.")
    splits = {pair.split for pair in pairs}
    if len(pairs) > 1 and "" in splits:
        raise DataError(f"{root} holds {_IMAGES} beside files with a prefix. Remove one of the two sets.")
    if splits == {"test"}:
        raise DataError(f"{root} holds t10k-{_IMAGES}, but no train-{_IMAGES}.")
    shapes = {pair.images_NHW.shape[1:] for pair in pairs}
    if len(shapes) > 1:
        raise DataError(
            f"{root}: the images of train and t10k differ in size ({' and '.join(map(str, sorted(shapes)))})."
        )
    return IdxSource(pairs, max_pixels)


def _open_pair(root: Path, prefix: str, split: str) -> _Pair | None:
    images, labels = _find(root, prefix + _IMAGES), _find(root, prefix + _LABELS)
    if images is None and labels is None:
        return None
    if images is None or labels is None:
        missing = prefix + (_IMAGES if images is None else _LABELS)
        raise DataError(f"{root / missing} is missing, its other half is there. Images and labels come in pairs.")
    pixels, classes = _read(images, dimensions=3), _read(labels, dimensions=1)
    if len(pixels) != len(classes):
        raise DataError(f"{images} has {len(pixels)} images, {labels} has {len(classes)} labels. They must agree.")
    if pixels.size == 0:
        raise DataError(f"{images} holds no pixels (shape {pixels.shape}).")
    return _Pair(split, prefix + _IMAGES, pixels, classes)


def _find(root: Path, name: str) -> Path | None:
    dotted = name.replace("-idx", ".idx")
    candidates = (root / form for form in (name, f"{name}.gz", dotted, f"{dotted}.gz"))
    return next((file for file in candidates if file.is_file()), None)


def _read(file: Path, *, dimensions: int) -> NDArray[np.uint8]:
    content = _content(file)
    header_bytes = 4 + 4 * dimensions
    if len(content) < header_bytes:
        raise DataError(
            f"{file} is cut short: {len(content)} bytes, less than its header of {header_bytes}. Fetch it again."
        )
    magic, *shape = struct.unpack(f">{1 + dimensions}I", content[:header_bytes].tobytes())
    expected_magic = 0x0800 + dimensions
    if magic != expected_magic:
        raise DataError(
            f"{file} is no idx file of {dimensions} dimension{'s' if dimensions > 1 else ''} of bytes: "
            f"magic number {magic:#010x}, expected {expected_magic:#010x}."
        )
    expected = header_bytes + int(np.prod(shape, dtype=object))
    if len(content) != expected:
        what = "is cut short" if len(content) < expected else "has bytes after its end"
        raise DataError(f"{file} {what}: {len(content)} bytes, its header says {expected}. Fetch it again.")
    return content[header_bytes:].reshape(shape)


def _content(file: Path) -> NDArray[np.uint8]:
    if file.suffix != ".gz":
        return np.memmap(file, dtype=np.uint8, mode="r") if file.stat().st_size else np.empty(0, np.uint8)
    try:
        with gzip.open(file) as unpacked:
            return np.frombuffer(unpacked.read(), dtype=np.uint8)
    except (OSError, EOFError, zlib.error) as error:
        raise DataError(f"{file} cannot be unpacked: {error}. Fetch it again.") from None


def _continued(prefix: "hashlib._Hash", row: NDArray[np.uint8]) -> str:
    digest = prefix.copy()
    digest.update(row.data)
    return digest.hexdigest()
