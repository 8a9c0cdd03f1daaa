"""Small images and idx files."""

import struct
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image

SaveImage = Callable[..., Path]


@pytest.fixture
def save_image() -> SaveImage:
    """Write an image of noise, different for each seed, in the format of the file's suffix."""

    def save(file: Path, *, seed: int = 0, height: int = 12, width: int = 10, grey: bool = False) -> Path:
        file.parent.mkdir(parents=True, exist_ok=True)
        shape = (height, width) if grey else (height, width, 3)
        Image.fromarray(np.random.default_rng(seed).integers(0, 256, shape, dtype=np.uint8)).save(file)
        return file

    return save


@pytest.fixture
def write_idx() -> Callable[[Path, NDArray[np.uint8]], Path]:
    def write(file: Path, values: NDArray[np.uint8]) -> Path:
        file.parent.mkdir(parents=True, exist_ok=True)
        header = struct.pack(f">{1 + values.ndim}I", 0x0800 + values.ndim, *values.shape)
        file.write_bytes(header + values.tobytes())
        return file

    return write
