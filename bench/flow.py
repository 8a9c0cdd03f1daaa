"""The flow against `dvc repro`, with nothing to do: what a step costs, with the server up and one stage at a time."""

import subprocess
import sys
import time
from pathlib import Path

from ratios import Ratio, median_ratio, write

from flows.server import free_port, server
from sluice.io.dag import read_dag

ROUNDS = 5
TARGET_S = 1.5


def main() -> None:
    root = Path.cwd()
    stages = len(read_dag(root))
    program = "from flows.pipeline import pipeline; pipeline(max_parallel=1)"
    commands = {"flow": [sys.executable, "-c", program], "repro": [sys.executable, "-m", "dvc", "repro"]}
    seconds: dict[str, list[float]] = {name: [] for name in commands}
    with server(root, port=free_port()):
        for _ in range(ROUNDS):
            for name, command in commands.items():
                start = time.perf_counter()
                subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
                seconds[name].append(time.perf_counter() - start)
            print({name: round(values[-1], 1) for name, values in seconds.items()}, flush=True)
    overhead = [(flow - repro) / stages for flow, repro in zip(seconds["flow"], seconds["repro"], strict=True)]
    figures: dict[str, Ratio] = {"overhead_per_stage_s": median_ratio(overhead, target=TARGET_S, at="most")}
    write("flow", figures, seconds=seconds, stages=stages)


if __name__ == "__main__":
    main()
