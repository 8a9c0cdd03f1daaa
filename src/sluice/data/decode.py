"""From the bytes of an image file to uint8 pixels: the one set of rules for scanning, preparing and predicting.

Shapes: H height, W width, C channels (1 grey, 3 RGB).
"""

import hashlib
import struct
import zlib
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageOps

__all__ = ["Decoded", "Quarantined", "decode", "decode_file", "fit", "pixel_digest", "preprocessing"]

Pixels = NDArray[np.uint8]

_UNREADABLE = (  # what Pillow raises for a damaged file, by its decoder
    OSError,
    SyntaxError,
    ValueError,
    TypeError,
    LookupError,
    AttributeError,
    EOFError,
    ArithmeticError,
    RuntimeError,
    MemoryError,
    struct.error,
    zlib.error,
    Image.DecompressionBombError,
    Image.DecompressionBombWarning,
)
_ORIENTATION = 0x0112
_HEIC_BRANDS = (b"heic", b"heix", b"hevc", b"heim", b"heis", b"mif1", b"msf1")
_SIGNATURES = (
    (b"%PDF", "a PDF"),
    (b"PK\x03\x04", "a ZIP archive"),
    (b"\x1f\x8b", "a gzip file"),
    (b"version https://git-lfs", "a Git LFS pointer: run git lfs pull"),
    (b"<?xml", "XML or SVG"),
    (b"<svg", "SVG"),
    (b"{", "JSON"),
)


@dataclass(frozen=True)
class Quarantined:
    """A sample that cannot be used; `path` is always valid UTF-8."""

    path: str
    reason: str


@dataclass(frozen=True)
class Decoded:
    pixels_HWC: Pixels
    turned: bool
    """The file said that it lies on its side, and was set upright."""


def decode_file(file: Path, *, name: str, max_pixels: int | None = None) -> Decoded | Quarantined:
    try:
        content = file.read_bytes()
    except OSError as error:
        return Quarantined(name, f"cannot be read: {error.strerror or error}")
    return decode(content, name=name, max_pixels=max_pixels)


def decode(content: bytes, *, name: str, max_pixels: int | None = None) -> Decoded | Quarantined:
    """Decode every pixel of the first frame; a file that is cut short is never taken for a whole one."""
    if not content:
        return Quarantined(name, "empty file")
    try:
        with Image.open(BytesIO(content)) as image:
            if max_pixels is not None and image.width * image.height > max_pixels:
                return Quarantined(name, f"{image.width} x {image.height} pixels, more than max_pixels {max_pixels}")
            image.load()
            turned = image.getexif().get(_ORIENTATION, 1) in range(2, 9)
            if image.mode in ("I", "F"):
                return Quarantined(
                    name, f"pixels of mode {image.mode!r} have no fixed range; save them with 8 or 16 bits"
                )
            return Decoded(_eight_bit(ImageOps.exif_transpose(image)), turned)
    except _UNREADABLE as error:
        return Quarantined(name, _reason(content, error))


def fit(pixels_HWC: Pixels, *, height: int, width: int, channels: int) -> Pixels:
    """Convert to grey or RGB, then resize: bilinear with antialiasing, aspect ratio not kept."""
    image = Image.fromarray(pixels_HWC[:, :, 0] if pixels_HWC.shape[2] == 1 else pixels_HWC)
    mode = "L" if channels == 1 else "RGB"
    if image.mode != mode:
        image = image.convert(mode)
    if image.size != (width, height):
        image = image.resize((width, height), Image.Resampling.BILINEAR)
    return _as_HWC(image)


def preprocessing(*, height: int, width: int, channels: int) -> list[dict[str, Any]]:
    """What `decode` and `fit` do, in order and in words, for whoever serves the model elsewhere."""
    return [
        {"op": "decode", "frame": "first", "sixteen_bit": "scaled to 8 bit", "colour_profile": "ignored"},
        {"op": "exif_transpose"},
        {"op": "composite_alpha", "background": "white"},
        {"op": "convert", "colours": "grey (ITU-R 601-2 luma)" if channels == 1 else "RGB", "channels": channels},
        {"op": "resize", "height": height, "width": width, "interpolation": "bilinear", "antialias": True},
        {"op": "layout", "order": "HWC", "dtype": "uint8"},
    ]


def pixel_digest(pixels_HWC: Pixels) -> str:
    """SHA-256 of shape and pixels: equal images have equal digests, whatever file they came from."""
    height, width, channels = pixels_HWC.shape
    content = hashlib.sha256(f"{height}x{width}x{channels}:".encode())
    content.update(np.ascontiguousarray(pixels_HWC).data)
    return content.hexdigest()


def _eight_bit(image: Image.Image) -> Pixels:
    if image.mode.startswith("I;16"):
        wide = np.asarray(image).astype(np.uint32)
        return ((wide * 255 + 32767) // 65535).astype(np.uint8)[:, :, None]
    mode = "L" if image.mode in ("1", "L", "LA", "La") else "RGB"
    if image.has_transparency_data:
        coloured = image.convert("RGBA")
        white = Image.new("RGBA", coloured.size, "white")
        image = Image.alpha_composite(white, coloured)
    return _as_HWC(image if image.mode == mode else image.convert(mode))


def _as_HWC(image: Image.Image) -> Pixels:
    pixels = np.asarray(image)
    return pixels[:, :, None] if pixels.ndim == 2 else pixels


def _reason(content: bytes, error: BaseException) -> str:
    guess = _guess(content)
    if guess:
        return f"not an image that can be decoded: looks like {guess}"
    if "cannot identify image file" in str(error):
        return "not an image that can be decoded: format unknown"
    text = " ".join(str(error).split()) or type(error).__name__
    return f"damaged or cut short: {text}"


def _guess(content: bytes) -> str:
    if content[4:8] == b"ftyp":
        brand = content[8:12]
        if brand in _HEIC_BRANDS:
            return "HEIC: convert it to JPEG or PNG"
        return "" if brand in (b"avif", b"avis") else "a video"
    head = content[:512].removeprefix(b"\xef\xbb\xbf").lstrip().lower()
    if head.startswith((b"<!doctype html", b"<html", b"<head", b"<body")) or b"<html" in head:
        return "HTML (an error page, saved as an image?)"
    for signature, kind in _SIGNATURES:
        if head.startswith(signature.lower()):
            return kind
    return "" if any(byte < 9 or byte > 126 for byte in head) else "plain text"
