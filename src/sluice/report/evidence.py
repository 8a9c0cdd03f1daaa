"""All reports of the workspace, read once for the page and the summary. What is absent is said, never an error."""

import csv
import zipfile
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError

from sluice.errors import MissingArtifact
from sluice.io import files, paths

__all__ = ["PROFILE_REPORT", "Confusion", "Found", "collect", "entries", "section"]

Json = dict[str, Any]

PROFILE_REPORT = paths.PROFILE / "profile.json"

_JSON = {
    "verdict": paths.VERDICT,
    "metrics": paths.METRICS,
    "comparison": paths.COMPARISON,
    "benchmark": paths.BENCHMARK,
    "training": paths.TRAINING_SUMMARY,
    "speed": paths.TRAINING_SPEED,
    "validation": paths.VALIDATION_SUMMARY,
    "drift": paths.DRIFT,
    "profile": PROFILE_REPORT,
    "environment": paths.ENVIRONMENT,
    "registered": paths.REGISTERED,
    "registry": paths.REGISTRY,
}


@dataclass(frozen=True, kw_only=True)
class Confusion:
    """Counts of gate samples by (actual, predicted); `actual` and `predicted` are the names in order."""

    actual: tuple[str, ...]
    predicted: tuple[str, ...]
    counts: Mapping[tuple[str, str], int]


@dataclass(frozen=True, kw_only=True)
class Found:
    """A report is None when `absent` says, by the same name, why. `stale` names reports made from other weights."""

    verdict: Json | None
    metrics: Json | None
    comparison: Json | None
    benchmark: Json | None
    training: Json | None
    speed: Json | None
    validation: Json | None
    drift: Json | None
    profile: Json | None
    environment: Json | None
    registered: Json | None
    registry: Json | None
    resolved: Json | None
    tuning: Json | None
    parity: Mapping[str, Json]
    curves: tuple[Mapping[str, float], ...]
    confusion: Confusion | None
    logits_NK: NDArray[np.float32] | None
    labels_N: NDArray[np.int64] | None
    absent: Mapping[str, str]
    stale: tuple[str, ...]

    @property
    def engines(self) -> tuple[str, ...]:
        """As evaluate took them from params.yaml, not as folders happen to lie there."""
        return tuple(section(self.metrics, "engines"))


def collect() -> Found:
    """Read the workspace that is the current folder."""
    absent: dict[str, str] = {}
    json = {name: _object(path, name=name, absent=absent) for name, path in _JSON.items()}
    yaml = {
        name: _yaml(path, name=name, absent=absent)
        for name, path in {"resolved": paths.RESOLVED, "tuning": paths.BEST_PARAMS}.items()
    }
    engines = section(json["metrics"], "engines")
    parity = {name: _object(paths.exported(name) / paths.PARITY_NAME, name=name, absent={}) for name in engines}
    arrays = _outputs()
    return Found(
        **json,
        **yaml,
        parity={name: report for name, report in parity.items() if report is not None},
        curves=_curves(),
        confusion=_confusion(classes=list(section(json["metrics"], "per_class"))),
        logits_NK=arrays.get("eager.logits"),
        labels_N=arrays.get("labels"),
        absent=absent,
        stale=_stale(json),
    )


def section(report: Any, *keys: str) -> Json:
    """The object at `keys` of a report; empty where the report is absent or of another form."""
    for key in keys:
        report = report.get(key) if isinstance(report, dict) else None
    return report if isinstance(report, dict) else {}


def entries(report: Any, key: str) -> list[Json]:
    """The objects in the list at `key`; none where the report is absent or of another form."""
    value = section(report).get(key)
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def _object(path: Path, *, name: str, absent: dict[str, str]) -> Json | None:
    try:
        value = files.read_json(path)
    except MissingArtifact as error:
        absent[name] = str(error)
        return None
    if isinstance(value, dict):
        return value
    absent[name] = f"{path} holds no JSON object. Delete it and run: dvc repro"
    return None


def _yaml(path: Path, *, name: str, absent: dict[str, str]) -> Json | None:
    try:
        value = YAML(typ="safe", pure=True).load(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        absent[name] = f"{path} does not exist. Make it with: dvc repro"
        return None
    except (UnicodeDecodeError, YAMLError) as error:
        absent[name] = f"{path} is not valid YAML ({' '.join(str(error).split())}). Delete it and run: dvc repro"
        return None
    return value if isinstance(value, dict) else {}


def _rows(path: Path) -> list[dict[str, str]]:
    if not path.exists():
        return []
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def _curves() -> tuple[Mapping[str, float], ...]:
    return tuple({name: _number(value) for name, value in row.items()} for row in _rows(paths.CURVES))


def _confusion(*, classes: list[str]) -> Confusion | None:
    counts = Counter((row.get("actual", ""), row.get("predicted", "")) for row in _rows(paths.CONFUSION))
    if not counts:
        return None
    extra = sorted({predicted for _, predicted in counts} - set(classes))
    return Confusion(actual=tuple(classes), predicted=(*classes, *extra), counts=counts)


def _outputs() -> dict[str, NDArray[Any]]:
    try:
        with np.load(paths.OUTPUTS, allow_pickle=False) as stored:
            return {name: stored[name] for name in ("eager.logits", "labels") if name in stored}
    except (FileNotFoundError, ValueError, zipfile.BadZipFile, EOFError):
        return {}


def _stale(reports: Mapping[str, Json | None]) -> tuple[str, ...]:
    if not paths.WEIGHTS.exists():
        return ()
    weights = files.digest_file(paths.WEIGHTS)
    made_from = {name: section(report, "evidence").get("weights", weights) for name, report in reports.items()}
    return tuple(name for name, digest in made_from.items() if digest not in (None, weights))  # None: older than any


def _number(text: str | None) -> float:
    try:
        return float(text or "nan")
    except ValueError:
        return float("nan")
