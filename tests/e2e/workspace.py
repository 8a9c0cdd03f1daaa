"""A small workspace of its own, run by the real tools."""

import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML

from sluice.io import files

BIN = Path(sys.executable).parent


@dataclass
class Workspace:
    """A clone of the repository in a folder of its own."""

    root: Path
    environment: dict[str, str] = field(default_factory=dict)

    def run(self, *command: str, ok: int | None = 0) -> str:
        environment = {**os.environ, "PATH": f"{BIN}:{os.environ['PATH']}", "OMP_NUM_THREADS": "1", **self.environment}
        done = subprocess.run(
            command,
            cwd=self.root,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        assert ok is None or done.returncode == ok, (
            f"{' '.join(command)} ended with {done.returncode}:\n{done.stdout[-5000:]}"
        )
        return done.stdout

    def repro(self, *arguments: str) -> list[str]:
        """Names of the stages that really ran."""
        return re.findall(r"Running stage '([^']+)'", self.run("dvc", "repro", *arguments))

    def json(self, path: str) -> Any:
        return files.read_json(self.root / path)

    def edit(self, **values: Any) -> None:
        """Set keys of params.yaml; `train__epochs=1` is train.epochs."""
        yaml = YAML()
        path = self.root / "params.yaml"
        content = yaml.load(path.read_text(encoding="utf-8"))
        for key, value in values.items():
            *sections, last = key.split("__")
            at = content
            for section in sections:
                at = at.setdefault(section, {})
            at[last] = value
        with path.open("w", encoding="utf-8") as file:
            yaml.dump(content, file)

    def commit(self, message: str) -> None:
        self.run("git", "add", "--all")
        self.run(
            "git", "-c", "user.name=T", "-c", "user.email=t@example.org", "commit", "--quiet", "--message", message
        )


def make_workspace(root: Path, *, repository: Path) -> Workspace:
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=repository, capture_output=True, text=True, check=True,
    ).stdout  # fmt: skip
    for name in filter(None, listed.split("\0")):
        if (repository / name).is_file() and not name.startswith(("tests/", "docs/")):
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(repository / name, root / name)
    workspace = Workspace(root)
    workspace.run("git", "init", "--quiet")
    shutil.copy(root / "params/digits.yaml", root / "params.yaml")
    workspace.edit(
        tune__trials=1, tune__epochs=1, train__epochs=6, train__threads=1, benchmark__rounds=5, compare__pairs=10,
        gate__floors={"accuracy": 0.9, "balanced_accuracy": 0.9, "worst_class_recall": 0.5},
    )  # fmt: skip
    return workspace
