"""One process per stage, and no orphans."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from sluice.errors import Busy
from sluice.io import process

HOLD = """
import time
from sluice.io import process

with process.only_one('train'):
    print('held', flush=True)
    time.sleep(60)
"""


def test_the_second_is_told_who_is_first(workspace: Path) -> None:
    """A second trainer in one workspace is refused, by the name of the first; a killed first leaves nothing (D1)."""
    with subprocess.Popen([sys.executable, "-c", HOLD], stdout=subprocess.PIPE) as first:
        assert first.stdout is not None
        first.stdout.readline()
        with pytest.raises(Busy, match=f"process {first.pid} on"), process.only_one("train", wait_s=0.1):
            pass
        first.send_signal(signal.SIGKILL)
        first.wait()
    with process.only_one("train", wait_s=0.1), process.only_one("tune", wait_s=0.1):
        pass


@pytest.mark.skipif(sys.platform != "linux", reason="the parent-death signal is Linux's")
def test_a_child_dies_with_its_parent() -> None:
    """kill -9 of the parent ends the child."""
    child = (
        "from sluice.io import process; process.die_with_parent(); import time; print('up', flush=True); time.sleep(60)"
    )
    parent = (
        f"import subprocess, sys; c = subprocess.Popen([sys.executable, '-c', {child!r}], stdout=subprocess.PIPE)\n"
        "c.stdout.readline(); print(c.pid, flush=True); c.wait()"
    )
    with subprocess.Popen([sys.executable, "-c", parent], stdout=subprocess.PIPE, text=True) as running:
        assert running.stdout is not None
        pid = int(running.stdout.readline())
        os.kill(running.pid, signal.SIGKILL)
        running.wait()
    for _ in range(50):
        if not psutil.pid_exists(pid) or psutil.Process(pid).status() == psutil.STATUS_ZOMBIE:
            break
        time.sleep(0.1)
    else:
        pytest.fail("the child outlived its parent by 5 s")
