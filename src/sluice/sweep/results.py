"""What a search hands on: values for training, and a row for each trial. Equal searches give equal bytes."""

from collections.abc import Collection
from pathlib import Path

from ruamel.yaml import YAML

from sluice.io import files
from sluice.sweep.search import Best

__all__ = ["write_best", "write_trials"]


def write_best(path: Path, best: Best | None) -> None:
    """YAML with `values` (none without a search), the `score` they reached, and how many `trials` were finished."""
    finished = [trial for trial in best.trials if trial.state != "failed"] if best else []
    report = {
        "values": dict(best.values) if best else {},
        "score": best.score if best else None,
        "trials": len(finished),
    }
    yaml = YAML()
    yaml.default_flow_style = False
    with files.atomic_file(path) as temporary, temporary.open("w", encoding="utf-8", newline="\n") as file:
        yaml.dump(report, file)


def write_trials(path: Path, best: Best | None, *, keys: Collection[str]) -> None:
    trials = best.trials if best else ()
    rows = [[trial.number, trial.state, trial.score, *(trial.values[key] for key in keys)] for trial in trials]
    files.write_csv(path, ["number", "state", "score", *keys], rows)
