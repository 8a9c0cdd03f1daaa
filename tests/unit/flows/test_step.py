import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import psutil
import pytest
from waiting import wait

from flows import step
from flows.child import started
from flows.step import StageFailed, run_stage, stop_all

ROOT = Path(__file__).parents[2]


@pytest.fixture
def tiny(tmp_path: Path) -> Path:
    """A DVC workspace without git, with three short stages."""
    (tmp_path / "dvc.yaml").write_text(
        """
stages:
  good: {cmd: "echo one; cp in.txt good.txt", deps: [in.txt], outs: [good.txt]}
  bad: {cmd: "seq 1 200; exit 3"}
  loud: {cmd: "seq 1 100000"}
"""
    )
    (tmp_path / "in.txt").write_text("two\n")
    subprocess.run([sys.executable, "-m", "dvc", "init", "--no-scm", "-q"], cwd=tmp_path, check=True)
    return tmp_path


def test_a_stage_ran_then_is_unchanged_then_restored(tiny: Path) -> None:
    """The three ways in which a stage comes to be up to date, and its lines as they come."""
    lines: list[str] = []
    assert run_stage("good", root=tiny, log=lines.append).outcome == "Ran"
    assert "one" in lines
    assert run_stage("good", root=tiny, log=lines.append).outcome == "Unchanged"
    (tiny / "dvc.lock").unlink()
    (tiny / "good.txt").unlink()
    assert run_stage("good", root=tiny, log=lines.append).outcome == "Restored"
    assert (tiny / "good.txt").read_text() == "two\n"


def test_a_failure_ends_with_the_last_lines(tiny: Path) -> None:
    """The name, the code, and the last fifty lines (E11)."""
    with pytest.raises(StageFailed, match="stage 'bad' ended with code") as raised:
        run_stage("bad", root=tiny, log=lambda _line: None)
    message = str(raised.value).splitlines()
    assert "200" in message
    assert "100" not in message
    assert len(message) <= 51


def test_a_stage_that_prints_too_much_does_not_drown_the_log(tiny: Path) -> None:
    """The first lines live, the last ones at the end, and how many are left out."""
    lines: list[str] = []
    run_stage("loud", root=tiny, log=lines.append)
    assert len(lines) <= 2001
    assert "lines more, of which the last are" in lines[-1]
    assert "100000" in lines[-1]


def test_a_line_without_end_comes_in_parts(tmp_path: Path) -> None:
    """100 MB without a newline are not held in memory as one line."""
    lines: list[int] = []
    program = "import sys\nfor _ in range(100): sys.stdout.write('x' * 1_000_000)"
    step.run_command(
        [sys.executable, "-c", program], what="it", root=tmp_path, log=lambda _line: None,
        look=lambda line: lines.append(len(line)),
    )  # fmt: skip
    assert max(lines) <= 2000
    assert sum(lines) == 100_000_000


def test_what_ignores_sigterm_is_killed_with_its_children(tmp_path: Path) -> None:
    """stop_all ends the whole group and lets the waiting thread go (E5)."""
    inner = f"import time; print('up', flush=True); time.sleep({600 + os.getpid() / 1e6})"
    outer = (
        "import signal, subprocess, sys; signal.signal(signal.SIGTERM, signal.SIG_IGN); "
        f"subprocess.run([sys.executable, '-c', {inner!r}])"
    )
    up, ended = threading.Event(), []

    def run() -> None:
        try:
            step.run_command(
                [sys.executable, "-c", outer], what="it", root=tmp_path, log=lambda _line: None, look=lambda _: up.set()
            )
        except StageFailed as error:
            ended.append(str(error))

    thread = threading.Thread(target=run)
    thread.start()
    assert up.wait(30)
    stop_all()
    thread.join(20)
    assert ended
    assert not thread.is_alive()
    assert not [process for process in psutil.process_iter(["cmdline"]) if inner in (process.info["cmdline"] or [])]


def test_a_killed_parent_takes_its_child_along(tmp_path: Path) -> None:
    """kill -9 of a flow: the kernel ends the child at once (D1)."""
    child = f"import time; time.sleep({700 + os.getpid() / 1e6})"
    program = (
        "import sys, time\nfrom pathlib import Path\nfrom flows.child import started\n"
        f"with started([sys.executable, '-c', {child!r}], cwd=Path.cwd()) as process:\n"
        "    print(process.pid, flush=True)\n    time.sleep(600)\n"
    )
    parent = subprocess.Popen([sys.executable, "-c", program], cwd=ROOT, stdout=subprocess.PIPE, text=True)
    assert parent.stdout is not None
    pid = int(parent.stdout.readline())
    wait(lambda: child in psutil.Process(pid).cmdline())
    parent.send_signal(signal.SIGKILL)
    parent.wait()
    parent.stdout.close()
    wait(lambda: not psutil.pid_exists(pid) or psutil.Process(pid).status() == psutil.STATUS_ZOMBIE)


def test_leaving_ends_what_was_started(tmp_path: Path) -> None:
    """Also by an exception."""
    with pytest.raises(KeyboardInterrupt), started(["sleep", "600"], cwd=tmp_path) as process:
        raise KeyboardInterrupt
    assert process.returncode == -signal.SIGTERM
