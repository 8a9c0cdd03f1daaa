from io import BytesIO
from pathlib import Path

import numpy as np
import pytest
from PIL import Image, ImageFile

from sluice.data.decode import Decoded, Quarantined, decode, decode_file, fit, pixel_digest, preprocessing


def _encoded(image: Image.Image, form: str, **options: object) -> bytes:
    file = BytesIO()
    image.save(file, form, **options)
    return file.getvalue()


def _noise(height: int = 48, width: int = 64) -> Image.Image:
    return Image.fromarray(np.random.default_rng(0).integers(0, 256, (height, width, 3), dtype=np.uint8))


def _pixels(content: bytes) -> np.ndarray:
    decoded = decode(content, name="x")
    assert isinstance(decoded, Decoded)
    return decoded.pixels_HWC


@pytest.mark.parametrize("form", ["JPEG", "PNG", "GIF", "BMP", "TIFF", "WEBP"])
@pytest.mark.parametrize("kept", [0.5, 0.9])
def test_a_file_cut_short_is_not_decoded(form: str, kept: float) -> None:
    """Every pixel is decoded, so what is missing is noticed, in each format (A1)."""
    content = _encoded(_noise(), form)
    found = decode(content[: int(len(content) * kept)], name="cut")
    assert isinstance(found, Quarantined)
    assert found.reason.startswith("damaged or cut short")


def test_a_jpeg_without_its_last_bytes_is_not_decoded() -> None:
    """Two missing bytes are enough (A1)."""
    assert isinstance(decode(_encoded(_noise(), "JPEG")[:-2], name="cut"), Quarantined)
    assert not ImageFile.LOAD_TRUNCATED_IMAGES


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "empty file"),
        (b"\n<!DOCTYPE html><html>404</html>", "looks like HTML"),
        (b"\0\0\0\x18ftypheic\0\0\0\0mif1heic", "looks like HEIC"),
        (b"\0\0\0\x18ftypisom\0\0\0\0", "looks like a video"),
        (b"%PDF-1.7", "looks like a PDF"),
        (b"PK\x03\x04...", "looks like a ZIP archive"),
        (b"version https://git-lfs.github.com/spec/v1", "looks like a Git LFS pointer"),
        (b'{"error": 1}', "looks like JSON"),
        (b"hello", "looks like plain text"),
        (bytes(range(200)), "format unknown"),
    ],
)
def test_what_is_no_image_is_named(content: bytes, reason: str) -> None:
    """The report guesses what the file is instead (A2)."""
    found = decode(content, name="x.jpg")
    assert isinstance(found, Quarantined)
    assert found.path == "x.jpg"
    assert reason in found.reason


def test_a_png_with_a_wrong_checksum_is_quarantined() -> None:
    """Pillow raises more than OSError (A2)."""
    content = bytearray(_encoded(_noise(), "PNG"))
    content[content.index(b"IDAT") + 10] ^= 0xFF
    assert isinstance(decode(bytes(content), name="x"), Quarantined)
    header = bytearray(_encoded(_noise(), "PNG"))
    header[30] ^= 0xFF
    assert isinstance(decode(bytes(header), name="x"), Quarantined)


def test_orientation_is_applied() -> None:
    """A photo that lies on its side stands upright, and is counted (A11)."""
    exif = Image.Exif()
    exif[0x0112] = 6
    image = Image.new("RGB", (64, 48), "black")
    image.paste((255, 255, 255), (0, 0, 64, 10))
    decoded = decode(_encoded(image, "JPEG", exif=exif), name="x")
    assert isinstance(decoded, Decoded)
    assert decoded.turned
    assert decoded.pixels_HWC.shape == (64, 48, 3)
    assert decoded.pixels_HWC[:, -5:].min() > 200
    assert decoded.pixels_HWC[:, :20].max() < 50


def test_too_many_pixels_are_refused_before_decoding() -> None:
    """The limit acts on the size that the header tells."""
    found = decode(_encoded(_noise(48, 64), "PNG"), name="x", max_pixels=3000)
    assert found == Quarantined("x", "64 x 48 pixels, more than max_pixels 3000")


def test_transparency_lies_on_white() -> None:
    """Alpha is composited, in colour, grey and palette alike."""
    clear = Image.new("RGBA", (4, 4), (200, 0, 0, 0))
    assert (_pixels(_encoded(clear, "PNG")) == 255).all()
    grey = _pixels(_encoded(Image.new("LA", (4, 4), (10, 0)), "PNG"))
    assert grey.shape == (4, 4, 1)
    assert (grey == 255).all()
    palette = _pixels(_encoded(clear.quantize(), "PNG"))
    assert palette.shape == (4, 4, 3)
    assert (palette == 255).all()


def test_modes_become_grey_or_rgb() -> None:
    """16 bits are scaled, one bit is spread, CMYK becomes RGB; floats have no range and are refused."""
    wide = Image.fromarray(np.array([[0, 257, 65535]], dtype=np.uint16))
    assert _pixels(_encoded(wide, "PNG"))[..., 0].tolist() == [[0, 1, 255]]
    assert _pixels(_encoded(Image.new("1", (2, 2), 1), "PNG")).max() == 255
    assert _pixels(_encoded(Image.new("CMYK", (8, 8)), "JPEG")).shape == (8, 8, 3)
    refused = decode(_encoded(Image.new("F", (2, 2), 0.5), "TIFF"), name="x")
    assert isinstance(refused, Quarantined)
    assert "save them with 8 or 16 bits" in refused.reason


def test_fit_resizes_with_antialiasing() -> None:
    """A fine pattern becomes grey when it is made smaller, and a fitting image stays as it is."""
    stripes = np.zeros((64, 64, 1), dtype=np.uint8)
    stripes[:, ::2] = 255
    small = fit(stripes, height=16, width=16, channels=1)
    assert small.shape == (16, 16, 1)
    assert np.abs(small.astype(int) - 127).max() < 32
    assert fit(stripes, height=64, width=64, channels=1).tolist() == stripes.tolist()
    assert fit(stripes, height=64, width=64, channels=3).shape == (64, 64, 3)
    assert fit(np.full((2, 2, 3), 9, np.uint8), height=2, width=2, channels=1).tolist() == [[[9], [9]], [[9], [9]]]


def test_digest_is_of_pixels_and_shape() -> None:
    """Two files of the same picture are equal, two shapes of the same bytes are not (A13)."""
    image = _noise()
    assert pixel_digest(_pixels(_encoded(image, "PNG"))) == pixel_digest(_pixels(_encoded(image, "BMP")))
    flat = np.zeros((2, 6, 1), np.uint8)
    assert pixel_digest(flat) != pixel_digest(flat.reshape(6, 2, 1))
    assert pixel_digest(flat) != pixel_digest(flat.reshape(2, 2, 3))


def test_unreadable_file_is_quarantined(tmp_path: Path) -> None:
    """A file that is gone does not stop the others."""
    found = decode_file(tmp_path / "gone.png", name="gone.png")
    assert found == Quarantined("gone.png", "cannot be read: No such file or directory")


def test_preprocessing_is_told_in_order() -> None:
    """A consumer without this code can repeat it (G10)."""
    steps = preprocessing(height=28, width=20, channels=1)
    assert [step["op"] for step in steps] == [
        "decode",
        "exif_transpose",
        "composite_alpha",
        "convert",
        "resize",
        "layout",
    ]
    assert steps[4] == {"op": "resize", "height": 28, "width": 20, "interpolation": "bilinear", "antialias": True}


@pytest.mark.parametrize("mode", ["I", "F"])
def test_pixels_without_a_range_are_told_from_damage(mode: str) -> None:
    """A whole TIFF of 32 bits is not called cut short: the reason says what to save instead."""
    file = BytesIO()
    Image.new(mode, (4, 4)).save(file, "TIFF")
    found = decode(file.getvalue(), name="a.tif")
    assert isinstance(found, Quarantined)
    assert found.reason == f"pixels of mode '{mode}' have no fixed range; save them with 8 or 16 bits"
