from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from sklearn.datasets import load_digits

from sluice.data import fetch_digits
from sluice.errors import DataError


def test_digits_are_images_by_class(tmp_path: Path) -> None:
    """All 1,797, at 8 x 8, white at 255; and they are known again."""
    fetch_digits.fill(tmp_path, origin=None)
    assert sorted(folder.name for folder in tmp_path.iterdir()) == [str(digit) for digit in range(10)]
    files = sorted(tmp_path.rglob("*.png"), key=lambda file: file.name)
    digits = load_digits()
    assert [int(file.parent.name) for file in files] == digits.target.tolist()
    pixels = np.asarray(Image.open(files[5]))
    assert (pixels.shape, pixels.dtype) == ((8, 8), np.uint8)
    np.testing.assert_allclose(pixels, digits.images[5] * 255 / 16, atol=0.51)
    assert fetch_digits.holds(tmp_path)
    files[0].unlink()
    assert not fetch_digits.holds(tmp_path)


def test_digits_take_no_origin(tmp_path: Path) -> None:
    """They come with a library."""
    with pytest.raises(DataError, match="take no origin"):
        fetch_digits.fill(tmp_path, origin="somewhere")
