"""Fashion-MNIST: 70,000 grey images of clothes, as the four idx files of its authors.

From a folder, a base URL, or (by default) the Debian package, then the mirrors: whichever gives the very bytes first.
"""

import hashlib
import http.client
import subprocess
import tempfile
import time
import urllib.error
import urllib.request
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from sluice.errors import DataError

__all__ = ["FILES", "Published", "fill", "holds"]


@dataclass(frozen=True)
class Published:
    size_bytes: int
    md5: str


FILES = {
    "train-images-idx3-ubyte": Published(47_040_016, "f4a8712d7a061bf5bd6d2ca38dc4d50a"),
    "train-labels-idx1-ubyte": Published(60_008, "9018921c3c673c538a1fc5bad174d6f9"),
    "t10k-images-idx3-ubyte": Published(7_840_016, "8181f5470baa50b63fa0f6fddb340f0a"),
    "t10k-labels-idx1-ubyte": Published(10_008, "15d484375f8d13e6eb1aabb0c3f46965"),
}
_DEBIAN_PACKAGE = "dataset-fashion-mnist"
_DEBIAN_FOLDER = "usr/share/datasets/fashion-mnist"
_MIRRORS = (
    "https://raw.githubusercontent.com/zalandoresearch/fashion-mnist/master/data/fashion",
    "https://fashion-mnist.s3.eu-central-1.amazonaws.com",
)
_TIMEOUT_S = 30
_COMMAND_TIMEOUT_S = 600
_TRIES = 3

Read = Callable[[str], bytes]
"""The unpacked content of one file, by its name. Raises _Unavailable."""


class _Unavailable(Exception):
    """One origin does not give one file; the next may."""


def holds(folder: Path) -> bool:
    """Exactly the four files, bit for bit, and nothing else."""
    if {item.name for item in folder.iterdir()} != set(FILES) or not all(item.is_file() for item in folder.iterdir()):
        return False
    return all(not _difference((folder / name).read_bytes(), published) for name, published in FILES.items())


def fill(folder: Path, *, origin: str | None) -> None:
    """`origin` is a folder or a URL below which the files lie. Raises DataError, with all reasons."""
    reasons = []
    with tempfile.TemporaryDirectory() as scratch:
        for described, prepare in _origins(origin, Path(scratch)):
            try:
                read = prepare()
                for name, published in FILES.items():
                    (folder / name).write_bytes(_checked(read, name, published))
            except _Unavailable as problem:
                reasons.append(f"  {described}: {problem}")
            else:
                return
    raise DataError(
        "\n".join(["fashion-mnist could not be fetched:", *reasons])
        + "\nGive the four idx files yourself: sluice fetch fashion-mnist --origin FOLDER"
    )


def _origins(origin: str | None, scratch: Path) -> list[tuple[str, Callable[[], Read]]]:
    if origin is None:
        mirrors: list[tuple[str, Callable[[], Read]]] = [(url, partial(_from_url, url)) for url in _MIRRORS]
        return [(f"Debian package {_DEBIAN_PACKAGE}", partial(_from_debian, scratch)), *mirrors]
    if origin.startswith(("https://", "http://")):
        return [(origin, partial(_from_url, origin))]
    return [(origin, partial(_from_folder, Path(origin)))]


def _from_folder(folder: Path) -> Read:
    def read(name: str) -> bytes:
        for file in (folder / name, folder / f"{name}.gz"):
            if file.is_file():
                content = file.read_bytes()
                return _unpacked(content, name) if file.suffix == ".gz" else content
        raise _Unavailable(f"has neither {name} nor {name}.gz")

    return read


def _from_debian(scratch: Path) -> Read:
    _run(["apt-get", "download", "-q", _DEBIAN_PACKAGE], scratch)
    for package in scratch.glob(f"{_DEBIAN_PACKAGE}_*.deb"):
        _run(["dpkg", "-x", package.name, "unpacked"], scratch)
    return _from_folder(scratch / "unpacked" / _DEBIAN_FOLDER)


def _from_url(base: str) -> Read:
    return lambda name: _unpacked(_download(f"{base.rstrip('/')}/{name}.gz"), name)


def _download(url: str) -> bytes:
    """Try again what may pass by itself; a client error (404, 403) does not."""
    for attempt in range(_TRIES):
        try:
            with urllib.request.urlopen(url, timeout=_TIMEOUT_S) as response:  # noqa: S310  only http(s) gets here
                content: bytes = response.read(max(known.size_bytes for known in FILES.values()))
                return content
        except urllib.error.HTTPError as error:
            if error.code < 500:
                raise _Unavailable(f"{url}: HTTP {error.code}") from None
            reason = f"HTTP {error.code}"
        except (OSError, http.client.HTTPException) as error:
            reason = str(error)
        if attempt + 1 < _TRIES:
            time.sleep(2**attempt / 2)
    raise _Unavailable(f"{url}: {reason} ({_TRIES} tries)")


def _unpacked(content: bytes, name: str) -> bytes:
    """At most one byte more than the file should have, so that no archive can fill the memory."""
    try:
        unpack = zlib.decompressobj(wbits=31)
        return unpack.decompress(content, FILES[name].size_bytes + 1)
    except zlib.error as error:
        raise _Unavailable(f"{name}.gz cannot be unpacked ({error})") from None


def _checked(read: Read, name: str, published: Published) -> bytes:
    content = read(name)
    difference = _difference(content, published)
    if difference:
        raise _Unavailable(f"{name} is not the published file: {difference}")
    return content


def _difference(content: bytes, published: Published) -> str:
    if len(content) != published.size_bytes:
        return f"{len(content)} bytes, expected {published.size_bytes}"
    md5 = hashlib.md5(content, usedforsecurity=False).hexdigest()
    return "" if md5 == published.md5 else f"md5 {md5}, expected {published.md5}"


def _run(command: list[str], folder: Path) -> None:
    try:
        done = subprocess.run(
            command, cwd=folder, capture_output=True, text=True, timeout=_COMMAND_TIMEOUT_S, check=False
        )
    except FileNotFoundError:
        raise _Unavailable(f"this machine has no {command[0]}") from None
    except subprocess.TimeoutExpired:
        raise _Unavailable(f"{command[0]} gave no answer in {_COMMAND_TIMEOUT_S} s") from None
    if done.returncode:
        raise _Unavailable(f"{' '.join(command)}: {' '.join(done.stderr.split())}")
