import hashlib
import json
import subprocess
import sys
from pathlib import Path

import pytest

from sluice.commands.fetch import fetch
from sluice.data import fetch_fashion_mnist
from sluice.errors import ConfigError, DataError, WorkspaceError
from sluice.io import paths


def _dvc(*arguments: str) -> None:
    subprocess.run([sys.executable, "-m", "dvc", *arguments], check=True, capture_output=True)


def _write_package(folder: Path, *, value: float = 0.5) -> str:
    """MNIST's package with one image a digit, as an origin that needs no network."""
    folder.mkdir(exist_ok=True)
    for digit in range(10):
        (folder / f"{digit}.json").write_text(json.dumps({"data": [value] * 784}))
    return str(folder)


@pytest.fixture
def dvc_workspace(workspace: Path) -> Path:
    """With DVC and without git."""
    (workspace / ".dvc").mkdir()
    (workspace / ".dvc/config").write_text("[core]\n    no_scm = true\n    analytics = false\n")
    return workspace


def test_places_the_data_and_hands_them_to_dvc(dvc_workspace: Path) -> None:
    """data/raw.dvc is written; data that DVC has are replaced, and nothing is left beside them."""
    fetch("mnist", origin=_write_package(dvc_workspace / "one"))
    assert {file.name for file in paths.RAW.iterdir()} == {"images-idx3-ubyte", "labels-idx1-ubyte"}
    first = Path("data/raw.dvc").read_text()
    (paths.RAW.parent / ".raw.left-over").mkdir()
    fetch("mnist", origin=_write_package(dvc_workspace / "two", value=1.0))
    assert Path("data/raw.dvc").read_text() != first
    assert sorted(item.name for item in paths.RAW.parent.iterdir() if item.name != ".gitignore") == ["raw", "raw.dvc"]


def test_what_dvc_lacks_is_not_replaced(dvc_workspace: Path) -> None:
    """Neither data that were never added nor those changed since (D3)."""
    origin = _write_package(dvc_workspace / "one")
    paths.RAW.mkdir(parents=True)
    (paths.RAW / "mine").write_text("precious")
    with pytest.raises(
        DataError, match=r"data/raw holds other files, which DVC does not have. Keep them with: dvc add"
    ):
        fetch("mnist", origin=origin)
    _dvc("add", str(paths.RAW))
    (paths.RAW / "mine").write_text("more precious")
    with pytest.raises(DataError, match="which DVC does not have"):
        fetch("mnist", origin=origin)
    assert (paths.RAW / "mine").read_text() == "more precious"


def test_data_that_are_there_are_not_fetched(
    dvc_workspace: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The second time nothing is written, and DVC gets what it may lack."""
    known = {
        name: fetch_fashion_mnist.Published(1, hashlib.md5(b"x").hexdigest()) for name in fetch_fashion_mnist.FILES
    }
    monkeypatch.setattr(fetch_fashion_mnist, "FILES", known)
    (dvc_workspace / "origin").mkdir()
    for name in known:
        (dvc_workspace / "origin" / name).write_bytes(b"x")
    fetch("fashion-mnist", origin="origin")
    inode = paths.RAW.stat().st_ino
    Path("data/raw.dvc").unlink()
    fetch("fashion-mnist", origin="elsewhere")
    assert paths.RAW.stat().st_ino == inode
    assert Path("data/raw.dvc").exists()
    assert "data/raw holds fashion-mnist already" in capsys.readouterr().out


def test_a_failed_fetch_leaves_what_was_there(dvc_workspace: Path) -> None:
    """Files that are not the published ones never reach data/raw, half or whole."""
    (dvc_workspace / "wrong").mkdir()
    for name in ("train-images-idx3-ubyte", "train-labels-idx1-ubyte"):
        (dvc_workspace / "wrong" / name).write_bytes(b"other")
    with pytest.raises(DataError, match="not the published file: 5 bytes, expected 47040016"):
        fetch("fashion-mnist", origin=str(dvc_workspace / "wrong"))
    assert not list(paths.RAW.parent.iterdir())


def test_needs_dvc(workspace: Path) -> None:
    """One sentence with the remedy (D8)."""
    with pytest.raises(WorkspaceError, match=r"is no DVC workspace. Run: git init && dvc init"):
        fetch("digits")


def test_needs_git_or_its_absence_by_choice(workspace: Path) -> None:
    """One sentence with the remedy (D8)."""
    (workspace / ".dvc").mkdir()
    (workspace / ".dvc/config").touch()
    with pytest.raises(WorkspaceError, match=r"git init, or without git: dvc config core.no_scm true"):
        fetch("digits")


def test_unknown_data_set_is_named(workspace: Path) -> None:
    """With those that exist."""
    (workspace / ".dvc").mkdir()
    (workspace / ".git").mkdir()
    with pytest.raises(ConfigError, match="'cifar' is unknown: expected one of 'digits', 'fashion-mnist', 'mnist'"):
        fetch("cifar")


def test_own_data_without_a_workspace_are_refused_too(workspace: Path) -> None:
    """data.fetch: null fetches nothing, but says first that DVC or git is missing (D8)."""
    with pytest.raises(WorkspaceError, match="no DVC workspace"):
        fetch(None)
