"""Files that are whole or absent, and the digests that identify them."""

import csv
import hashlib
import json
import math
import os
import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from uuid import uuid4

from sluice.errors import MissingArtifact

__all__ = [
    "atomic_file",
    "atomic_folder",
    "digest_file",
    "digest_folder",
    "digest_json",
    "read_json",
    "write_csv",
    "write_json",
    "write_text",
]


@contextmanager
def atomic_file(path: Path) -> Iterator[Path]:
    """Yield a temporary name beside `path`; on success it is fsynced and renamed, on failure removed."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.parent / f".{path.name}.{uuid4().hex}"
    try:
        yield temporary
        _fsync(temporary)
        temporary.replace(path)
        _fsync(path.parent)
    finally:
        temporary.unlink(missing_ok=True)


@contextmanager
def atomic_folder(path: Path) -> Iterator[Path]:
    """Yield a temporary folder that replaces `path` on success and is removed on failure."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.parent / f".{path.name}.{uuid4().hex}"
    temporary.mkdir()
    try:
        yield temporary
        for file in temporary.rglob("*"):
            _fsync(file)
        if path.exists():
            shutil.rmtree(path)
        temporary.replace(path)
        _fsync(path.parent)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def write_text(path: Path, text: str) -> None:
    with atomic_file(path) as temporary:
        temporary.write_text(text, encoding="utf-8", newline="\n")


def write_json(path: Path, value: Any) -> None:
    """Write JSON in the order given; NaN and infinities, which JSON lacks, become null."""
    write_text(path, json.dumps(_finite(value), indent=2, allow_nan=False, ensure_ascii=False) + "\n")


def read_json(path: Path) -> Any:
    """Raises MissingArtifact when the file is absent or is no JSON."""
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise MissingArtifact(f"{path} does not exist. Make it with: dvc repro") from None
    except (UnicodeDecodeError, json.JSONDecodeError) as error:
        raise MissingArtifact(f"{path} is not valid JSON ({error}). Delete it and run: dvc repro") from None


def write_csv(path: Path, header: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    with atomic_file(path) as temporary, temporary.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(header)
        writer.writerows(rows)


def digest_file(path: Path) -> str:
    """SHA-256 of the content, in hex."""
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except FileNotFoundError:
        raise MissingArtifact(f"{path} does not exist. Make it with: dvc repro") from None


def digest_folder(path: Path, *, without: Sequence[str] = ()) -> str:
    """SHA-256 over the names and contents of all files below `path`, but for the names in `without`."""
    if not path.is_dir():
        raise MissingArtifact(f"{path} is not a folder. Make it with: dvc repro")
    total = hashlib.sha256()
    for file in sorted(item for item in path.rglob("*") if item.is_file() and item.name not in without):
        total.update(f"{file.relative_to(path).as_posix()}\0{digest_file(file)}\n".encode())
    return total.hexdigest()


def digest_json(value: Any) -> str:
    """SHA-256 of the canonical JSON form: equal values, equal digests, whatever the order of keys."""
    text = json.dumps(_finite(value), sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()


def _finite(value: Any) -> Any:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {key: _finite(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(item) for item in value]
    return value


def _fsync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
