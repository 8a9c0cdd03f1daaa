"""What may and may not lie in the repository."""

import re
import subprocess
from pathlib import Path

import pytest


@pytest.fixture(scope="module")
def tracked(repository: Path) -> list[Path]:
    listed = subprocess.run(
        ["git", "ls-files", "-z"], cwd=repository, capture_output=True, text=True, check=True
    ).stdout
    return [repository / name for name in listed.split("\0") if name]


def test_locks_are_exact_and_hashed(repository: Path) -> None:
    """Every line of a lock pins one version with hashes and names no place to fetch from."""
    for path in repository.glob("requirements*.lock"):
        text = path.read_text(encoding="utf-8")
        assert not re.search(r"index|find-links|://", text)
        entries = re.split(r"\n(?=\S)", text.strip())
        assert all("==" in entry.split("\n")[0] and "--hash=sha256:" in entry for entry in entries)


def test_no_data_model_or_database_is_tracked(tracked: list[Path]) -> None:
    """Data, models and databases belong to DVC and MLflow; dvc.lock and data/raw.dvc to the user."""
    suffixes = {".db", ".npy", ".npz", ".onnx", ".pt", ".pt2", ".parquet", ".safetensors", ".gz"}
    assert not [path for path in tracked if path.suffix in suffixes or path.name in {"dvc.lock", "raw.dvc"}]
    assert not [path for path in tracked if path.stat().st_size > 600_000]


def test_lock_and_raw_are_not_ignored(repository: Path) -> None:
    """Users commit their dvc.lock and data/raw.dvc."""
    ignored = subprocess.run(
        ["git", "check-ignore", "dvc.lock", "data/raw.dvc"], cwd=repository, capture_output=True, check=False
    )
    assert ignored.stdout == b""


def test_line_ends_are_lf(repository: Path, tracked: list[Path]) -> None:
    """A checkout on any system has the same bytes (D7)."""
    assert "eol=lf" in (repository / ".gitattributes").read_text(encoding="utf-8")
    assert not [
        path for path in tracked if path.suffix in {".py", ".yaml", ".md", ".toml"} and b"\r\n" in path.read_bytes()
    ]


def test_no_private_key_is_tracked(tracked: list[Path]) -> None:
    """Secrets come from the environment."""
    mark = b"PRIVATE" + b" KEY-----"
    assert not [path for path in tracked if mark in path.read_bytes()]


def test_links_lead_somewhere(repository: Path) -> None:
    """A relative link in a page names a file that is there."""
    for page in (*repository.glob("*.md"), *(repository / "docs").rglob("*.md")):
        links = re.findall(r"\]\((?!https?:|#)([^)#]+)", page.read_text(encoding="utf-8"))
        assert not [link for link in links if not (page.parent / link).exists()], page
