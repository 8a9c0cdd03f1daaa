"""The digits of scikit-learn: 1,797 grey images of 8 x 8 pixels, as one folder of PNG files a class."""

import tempfile
from pathlib import Path

import numpy as np
from PIL import Image
from sklearn.datasets import load_digits

from sluice.errors import DataError
from sluice.io import files

__all__ = ["fill", "holds"]

_WHITE = 16


def holds(folder: Path) -> bool:
    """Exactly the files that `fill` makes, and nothing else."""
    with tempfile.TemporaryDirectory() as scratch:
        fill(Path(scratch), origin=None)
        return files.digest_folder(folder) == files.digest_folder(Path(scratch))


def fill(folder: Path, *, origin: str | None) -> None:
    """Raises DataError for an origin: the images come with scikit-learn."""
    if origin is not None:
        raise DataError(f"digits come with scikit-learn and take no origin (got {origin!r}). Leave it out.")
    digits = load_digits()
    for label in np.unique(digits.target):
        (folder / str(label)).mkdir()
    images = np.rint(digits.images * (255 / _WHITE)).astype(np.uint8)
    for row, (pixels, label) in enumerate(zip(images, digits.target, strict=True)):
        Image.fromarray(pixels).save(folder / str(label) / f"{row:04d}.png")
