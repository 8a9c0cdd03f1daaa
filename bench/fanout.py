"""A hundred runs of eight independent stages started together: no lock may fail, no entry of dvc.lock may be lost."""

import subprocess
import sys
import tempfile
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

from ratios import median_ratio, write

from flows.schedule import run_all
from flows.step import StageFailed, run_stage
from sluice.io.dag import Stage, read_dag
from sluice.io.dvc_tool import read_stages

RUNS = 100
ARMS = 8


def main() -> None:
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else RUNS
    failures, lost = [], 0
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(ARMS) as pool:
        root = Path(folder)
        arms = [f"arm{number}" for number in range(ARMS)]
        lines = [f'  {arm}: {{cmd: "cp in.txt {arm}.txt", deps: [in.txt], outs: [{arm}.txt]}}' for arm in arms]
        (root / "dvc.yaml").write_text("\n".join(["stages:", *lines, ""]))
        (root / "in.txt").write_text("")
        subprocess.run([sys.executable, "-m", "dvc", "init", "--no-scm", "-q"], cwd=root, check=True)
        stages = read_dag(root)
        for run in range(runs):
            (root / "in.txt").write_text(f"{run}\n")
            failures += _run(stages, root=root, pool=pool)
            lock = read_stages(root / "dvc.lock")
            lost += ARMS - len(lock)
            lost += sum((root / f"{arm}.txt").read_text() != f"{run}\n" for arm in arms)
            print(f"run {run + 1} of {runs}: {len(failures)} failed, {lost} lost", flush=True)
    figures = {
        "failed_stages": median_ratio([float(len(failures))], target=0.0, at="most"),
        "lost_entries": median_ratio([float(lost)], target=0.0, at="most"),
    }
    write("fanout", figures, runs=runs, arms=ARMS, failures=failures)


def _run(stages: tuple[Stage, ...], *, root: Path, pool: ThreadPoolExecutor) -> list[str]:
    failed = []

    def succeeded(stage: Stage, future: "Future[object]") -> bool:
        try:
            future.result()
        except StageFailed as error:
            failed.append(f"{stage.name}: {error}")
            return False
        return True

    run_all(
        stages,
        max_parallel=ARMS,
        start=lambda stage: pool.submit(run_stage, stage.name, root=root, log=lambda _line: None),
        succeeded=succeeded,
        skip=lambda _stage, _because: None,
    )
    return failed


if __name__ == "__main__":
    main()
