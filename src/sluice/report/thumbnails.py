"""Small pictures that stand inside the page."""

import base64
from io import BytesIO

import numpy as np
from numpy.typing import NDArray
from PIL import Image

__all__ = ["data_uri"]

_LARGEST = 96


def data_uri(image_HWC: NDArray[np.uint8]) -> str:
    """A PNG of at most 96 pixels a side; grey has one channel, RGB three."""
    pixels = image_HWC[:, :, 0] if image_HWC.shape[2] == 1 else image_HWC
    picture = Image.fromarray(np.ascontiguousarray(pixels))
    picture.thumbnail((_LARGEST, _LARGEST))
    out = BytesIO()
    picture.save(out, format="PNG", optimize=True)
    return f"data:image/png;base64,{base64.b64encode(out.getvalue()).decode()}"
