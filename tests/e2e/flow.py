"""A small DAG of shell commands in a workspace of its own, and the Prefect API that its flows report to."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import httpx
import psutil

DAG = """
stages:
  first: {cmd: "echo hello; cp input.txt first.txt", deps: [input.txt], outs: [first.txt]}
  left: {cmd: "cp first.txt left.txt", deps: [first.txt], outs: [left.txt]}
  right: {cmd: "cp first.txt right.txt", deps: [first.txt], outs: [right.txt]}
  alone: {cmd: "cp right.txt alone.txt", deps: [right.txt], outs: [alone.txt], meta: {exclusive: true}}
  last: {cmd: "cat left.txt alone.txt > last.txt", deps: [left.txt, alone.txt], outs: [last.txt]}
"""
STAGES = {"first", "left", "right", "alone", "last"}


class Flow:
    """A workspace with flows of its own, and the API that they report to."""

    def __init__(self, root: Path, url: str) -> None:
        self.root, self.url = root, url
        self.environment = {**os.environ, "PREFECT_API_URL": url, "PREFECT_HOME": str(root / ".sluice/prefect")}

    def start(self, **extra: str | None) -> "subprocess.Popen[str]":
        environment = {key: value for key, value in {**self.environment, **extra}.items() if value is not None}
        command = [sys.executable, "-m", "flows.pipeline"]
        return subprocess.Popen(
            command, cwd=self.root, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )

    def run(self, *, ok: int = 0, **extra: str | None) -> str:
        process = self.start(**extra)
        output, _ = process.communicate(timeout=240)
        assert process.returncode == ok, output[-5000:]
        return output

    def dvc(self, *arguments: str) -> None:
        subprocess.run([sys.executable, "-m", "dvc", *arguments], cwd=self.root, check=True, capture_output=True)

    def ask(self, what: str, **body: Any) -> Any:
        return httpx.post(f"{self.url}/{what}/filter", json=body, timeout=30).raise_for_status().json()

    def last_run(self) -> Any:
        return self.ask("flow_runs", sort="START_TIME_DESC", limit=1)[0]

    def states(self) -> dict[str, str]:
        """Stage -> name of its state, in the last run."""
        only = {"flow_runs": {"id": {"any_": [self.last_run()["id"]]}}}
        return {each["name"]: each["state_name"] for each in self.ask("task_runs", **only)}

    def slow_down(self, stage: str, *, seconds: int) -> None:
        """Let a stage sleep, as a process that minds its parent."""
        script = f"from sluice.io.process import die_with_parent as d; d(); import time; time.sleep({seconds})"
        (self.root / "slow.py").write_text(f"{script}; import shutil; shutil.copy('first.txt', '{stage}.txt')")
        self.change(**{stage: f"exec {sys.executable} slow.py"})

    def change(self, **commands: str) -> None:
        """Give stages other commands."""
        text = DAG
        for name, command in commands.items():
            (line,) = (line for line in DAG.splitlines() if line.startswith(f"  {name}:"))
            text = text.replace(line, f'  {name}: {{cmd: "{command}"' + line[line.index('", ') + 1 :])
        (self.root / "dvc.yaml").write_text(text)

    def children(self) -> list[str]:
        """What runs in the workspace or on its behalf."""
        return [" ".join(process.info["cmdline"] or []) for process in self.processes()]

    def processes(self) -> list[psutil.Process]:
        found = []
        for process in psutil.process_iter(["cmdline"]):
            try:
                inside = Path(process.cwd()).is_relative_to(self.root)
            except (psutil.Error, OSError):
                continue
            if inside and process.status() != psutil.STATUS_ZOMBIE:
                found.append(process)
        return found


def make_flow(root: Path, *, repository: Path, url: str) -> Flow:
    (root / "flows").mkdir()
    for file in (repository / "flows").glob("*.py"):
        (root / "flows" / file.name).write_text(file.read_text(encoding="utf-8"))
    for name in ("params.yaml", "prefect.yaml"):
        (root / name).write_text((repository / name).read_text(encoding="utf-8"))
    (root / "input.txt").write_text("1\n")
    found = Flow(root, url)
    found.dvc("init", "--no-scm", "-q")
    found.change()
    return found
