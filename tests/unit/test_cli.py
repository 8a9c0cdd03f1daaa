"""The command line: quick, and plain about what is wrong."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

SLUICE = [str(Path(sys.executable).parent / "sluice")]


def sluice(*arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*SLUICE, *arguments], cwd=cwd, capture_output=True, text=True, check=False)


def test_outside_a_workspace(tmp_path: Path) -> None:
    """A command in the wrong folder says so and exits 2."""
    done = sluice("train", cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr.startswith("error: ")
    assert "is not inside a Sluice workspace" in done.stderr


def test_bad_params_exit_2(tmp_path: Path) -> None:
    """A wrong params.yaml is one error without a traceback."""
    (tmp_path / "dvc.yaml").touch()
    (tmp_path / "params.yaml").write_text("seed: x\n")
    done = sluice("train", cwd=tmp_path)
    assert done.returncode == 2
    assert "params.yaml has" in done.stderr
    assert "Traceback" not in done.stderr


def test_unknown_command(tmp_path: Path) -> None:
    """Usage errors exit 2."""
    assert sluice("trian", cwd=tmp_path).returncode == 2


def test_schema_is_json(tmp_path: Path) -> None:
    """`sluice schema` prints what editors read, in any folder."""
    assert json.loads(sluice("schema", cwd=tmp_path).stdout)["title"] == "Sluice params.yaml"


@pytest.mark.parametrize("library", ["torch", "mlflow", "numpy", "pandas", "dvc", "rich.table"])
def test_help_imports_nothing_heavy(library: str) -> None:
    """--help costs what typer costs."""
    code = f"import sys, sluice.cli; sys.exit({library!r} in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False, env=dict(os.environ)).returncode == 0


def test_works_from_a_folder_below(tmp_path: Path, repository: Path) -> None:
    """A command finds its workspace upwards."""
    (tmp_path / "dvc.yaml").touch()
    (tmp_path / "params.yaml").write_bytes((repository / "params/demo.yaml").read_bytes())
    (tmp_path / "deep/er").mkdir(parents=True)
    done = sluice("environment", cwd=tmp_path / "deep/er")
    assert done.returncode == 0, done.stderr
    assert json.loads((tmp_path / "reports/environment.json").read_text())["cores"] == os.cpu_count()
