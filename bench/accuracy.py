"""Accuracy of five seeds on the gate split, each trained as `dvc repro` trains it, in a workspace of its own."""

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from ratios import mean_of, median_ratio, write

from sluice import config

SEEDS = (0, 1, 2, 3, 4)
SHARED = ("data/raw", "data/index.parquet", "plugins", "dvc.yaml", "requirements.lock")


def main() -> None:
    os.environ.pop("MLFLOW_TRACKING_URI", None)  # these runs are nobody's history
    here = Path.cwd()
    if not (here / "data/index.parquet").exists():
        _sluice("validate", cwd=here)
    accuracies, cpu_seconds = [], []
    for seed in SEEDS:
        with tempfile.TemporaryDirectory(dir=here / ".sluice") as folder:
            accuracy, seconds = _one(Path(folder), here=here, seed=seed)
        print(
            f"seed {seed}: accuracy {accuracy:.4f}, {seconds:.0f} CPU seconds to prepare, train and score",
            flush=True,
        )
        accuracies.append(accuracy)
        cpu_seconds.append(seconds)
    figures = {
        "mean": mean_of(accuracies, target=0.915),
        "lowest": median_ratio([min(accuracies)], target=0.91),
        "median": median_ratio(accuracies, target=None),
    }
    write("accuracy", figures, accuracies=dict(zip(map(str, SEEDS), accuracies, strict=True)), cpu_seconds=cpu_seconds)


def _one(workspace: Path, *, here: Path, seed: int) -> tuple[float, float]:
    for name in SHARED:
        (workspace / name).parent.mkdir(parents=True, exist_ok=True)
        (workspace / name).symlink_to(here / name)
    text = (here / "params.yaml").read_text(encoding="utf-8")
    (workspace / "params.yaml").write_text(re.sub(r"(?m)^seed: .*$", f"seed: {seed}", text), encoding="utf-8")
    before = os.times()
    for stage in ("prepare", "tune", "train") if config.load().train.use_tuned else ("prepare", "train"):
        _sluice(stage, cwd=workspace)
    scored = subprocess.run(
        [sys.executable, str(here / "bench/score.py")], cwd=workspace, check=True, capture_output=True, text=True
    )
    after = os.times()
    seconds = after.children_user + after.children_system - before.children_user - before.children_system
    return float(scored.stdout), seconds


def _sluice(stage: str, *, cwd: Path) -> None:
    subprocess.run(["sluice", stage], cwd=cwd, check=True, stdout=subprocess.DEVNULL)


if __name__ == "__main__":
    main()
