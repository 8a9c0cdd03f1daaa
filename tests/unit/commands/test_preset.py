"""A preset never costs a user's changes."""

import subprocess
from pathlib import Path

import pytest

from sluice.commands import preset
from sluice.errors import ConfigError


@pytest.fixture
def presets(workspace: Path) -> Path:
    (workspace / "params").mkdir()
    for name in ("demo", "digits"):
        (workspace / f"params/{name}.yaml").write_text(f"seed: 0 # {name}\n")
    return workspace


def test_copies_over_nothing_and_over_another_preset(presets: Path) -> None:
    """Presets can be exchanged for each other."""
    for name in ("demo", "digits", "digits"):
        preset.use(name)
        assert name in (presets / "params.yaml").read_text()


def test_refuses_to_lose_changes(presets: Path) -> None:
    """What stands in no commit and no preset is kept, with and without git (D8)."""
    (presets / "params.yaml").write_text("seed: 5\n")
    with pytest.raises(ConfigError, match="git commit params.yaml"):
        preset.use("demo")
    assert (presets / "params.yaml").read_text() == "seed: 5\n"


def test_committed_changes_may_go(presets: Path) -> None:
    """What HEAD has is safe."""
    (presets / "params.yaml").write_text("seed: 5\n")
    identity = ("-c", "user.name=T", "-c", "user.email=t@example.org")
    for command in (["init", "-q"], ["add", "."], [*identity, "commit", "-qm", "Start"]):
        subprocess.run(["git", *command], check=True)
    preset.use("demo")
    assert "demo" in (presets / "params.yaml").read_text()


def test_unknown_preset(presets: Path) -> None:
    """The presets that exist are listed, the nearest one is proposed."""
    with pytest.raises(ConfigError, match="there are demo, digits. Did you mean 'digits'"):
        preset.use("digit")
