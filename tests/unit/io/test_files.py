"""Files are whole or absent."""

import json
import math
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from sluice.errors import MissingArtifact
from sluice.io import files


def test_a_failed_write_leaves_the_old_file(tmp_path: Path) -> None:
    """An error in the middle keeps what was there and leaves nothing beside it."""
    path = tmp_path / "a.json"
    files.write_json(path, {"old": 1})
    with pytest.raises(RuntimeError, match="boom"), files.atomic_file(path) as temporary:
        temporary.write_text("half")
        raise RuntimeError("boom")
    assert files.read_json(path) == {"old": 1}
    assert os.listdir(tmp_path) == ["a.json"]


def test_a_failed_folder_leaves_the_old_one(tmp_path: Path) -> None:
    """A folder is swapped whole."""
    path = tmp_path / "out"
    with files.atomic_folder(path) as temporary:
        (temporary / "first").write_text("1")
    with pytest.raises(RuntimeError, match="boom"), files.atomic_folder(path) as temporary:
        raise RuntimeError("boom")
    assert [item.name for item in path.iterdir()] == ["first"]
    with files.atomic_folder(path) as temporary:
        (temporary / "second").write_text("2")
    assert [item.name for item in path.iterdir()] == ["second"]
    assert os.listdir(tmp_path) == ["out"]


def test_a_killed_write_leaves_the_old_file(tmp_path: Path) -> None:
    """SIGKILL in the middle of a write cannot make a half file."""
    path = tmp_path / "a.txt"
    files.write_text(path, "old")
    code = (
        "import os, sys, pathlib, signal; from sluice.io import files\n"
        "with files.atomic_file(pathlib.Path(sys.argv[1])) as t:\n"
        "    t.write_text('half'); os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    assert subprocess.run([sys.executable, "-c", code, str(path)], check=False).returncode == -signal.SIGKILL
    assert path.read_text() == "old"


def test_json_has_no_nan(tmp_path: Path) -> None:
    """NaN and infinities become null at any depth."""
    path = tmp_path / "a.json"
    files.write_json(path, {"a": [math.nan, {"b": math.inf}], "c": (1.5,)})
    assert json.loads(path.read_text()) == {"a": [None, {"b": None}], "c": [1.5]}


@pytest.mark.parametrize("content", [None, b"{", b"\xff"])
def test_unreadable_json_names_the_file(tmp_path: Path, content: bytes | None) -> None:
    """Absent, cut short or foreign: the message has the path and the remedy."""
    path = tmp_path / "a.json"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(MissingArtifact, match=r"a\.json.*dvc repro"):
        files.read_json(path)


def test_digests(tmp_path: Path) -> None:
    """A folder's digest sees names and contents, and not what it is told to leave out."""
    (tmp_path / "x").write_text("1")
    first = files.digest_folder(tmp_path)
    (tmp_path / "parity.json").write_text("{}")
    assert files.digest_folder(tmp_path, without=("parity.json",)) == first != files.digest_folder(tmp_path)
    (tmp_path / "x").rename(tmp_path / "y")
    assert files.digest_folder(tmp_path, without=("parity.json",)) != first
    assert files.digest_json({"a": 1, "b": 2.0}) == files.digest_json({"b": 2.0, "a": 1})
    with pytest.raises(MissingArtifact, match="does not exist"):
        files.digest_file(tmp_path / "none")
    with pytest.raises(MissingArtifact, match="not a folder"):
        files.digest_folder(tmp_path / "none")


def test_csv(tmp_path: Path) -> None:
    """Rows end in LF on every system."""
    files.write_csv(tmp_path / "a.csv", ["x", "y"], [[1, "a,b"]])
    assert (tmp_path / "a.csv").read_bytes() == b'x,y\n1,"a,b"\n'
