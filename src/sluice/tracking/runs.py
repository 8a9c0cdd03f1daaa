"""The run of a candidate: found by the digest of its weights, or made anew from the files that training left."""

import csv
import json
import math
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from mlflow.entities import Dataset, DatasetInput, InputTag, Metric, Param, Run, RunTag
from mlflow.tracking import MlflowClient
from ruamel.yaml import YAML

from sluice.errors import MissingArtifact
from sluice.io import files, paths
from sluice.tracking import lineage
from sluice.tracking.candidate import Candidate
from sluice.tracking.names import finite, flatten, slug
from sluice.tracking.registry import TAGS
from sluice.tracking.store import Store

__all__ = ["RESTORED", "describe", "find_or_restore"]

RESTORED = "sluice.restored"
"""Tag of a run that was made from files, because this store lacked the one of the training."""

_SPLITS = ("train", "val", "gate")
_DIGEST_LENGTH = 36  # of a dataset, the longest that MLflow takes
_METRICS_PER_CALL = 1000
_PARAMS_PER_CALL = 100


def find_or_restore(store: Store, candidate: Candidate) -> Run:
    """The newest run that is not deleted and has these weights; one that went with other exports stays as it is."""
    experiment = store.experiment(candidate.name)
    identity = candidate.identity_tags()
    wanted = f"tags.`{TAGS['weights']}` = '{candidate.weights}'"
    for run in store.client.search_runs([experiment], wanted, order_by=["attributes.start_time DESC"]):
        if run.data.tags.get(TAGS["exported"], identity[TAGS["exported"]]) == identity[TAGS["exported"]]:
            return run
    tags = identity | {RESTORED: "true"} | lineage.process_tags()
    return store.client.create_run(experiment, tags=tags, run_name=f"restored {candidate.weights[:8]}")


def describe(store: Store, run: Run, candidate: Candidate) -> dict[str, str]:
    """Bring what the run lacks of tags, parameters, curves, metrics and data sets; a second time brings nothing.

    Returns class name -> slug, as used in the names of the metrics per class.
    """
    client, run_id, has = store.client, run.info.run_id, run.data
    splits = {name: files.read_json(paths.split_folder(name) / "split.json")["digest"] for name in _present_splits()}
    tags = candidate.identity_tags() | {f"sluice.split.{name}": digest for name, digest in splits.items()}
    tags |= {key: value for key, value in lineage.code_tags().items() if key not in has.tags}
    client.log_batch(run_id, tags=[RunTag(key, value) for key, value in tags.items()])
    params = [Param(key, value) for key, value in flatten(_resolved()).items() if key not in has.params]
    for first in range(0, len(params), _PARAMS_PER_CALL):
        client.log_batch(run_id, params=params[first : first + _PARAMS_PER_CALL])
    report = files.read_json(paths.METRICS) if paths.METRICS.exists() else {}
    slugs = {name: slug(name) for name in report.get("per_class", {})}
    points = _changed(run, _scores(report, slugs))
    if RESTORED in has.tags:
        points += _missing_points(client, run)
    for first in range(0, len(points), _METRICS_PER_CALL):
        client.log_batch(run_id, metrics=points[first : first + _METRICS_PER_CALL])
    client.log_inputs(run_id, [_data_set(candidate.name, name, digest) for name, digest in splits.items()])
    return slugs


def _present_splits() -> list[str]:
    return [name for name in _SPLITS if (paths.split_folder(name) / "split.json").exists()]


def _resolved() -> dict[str, Any]:
    if not paths.RESOLVED.exists():
        raise MissingArtifact(f"{paths.RESOLVED} does not exist. Make it with: dvc repro train")
    values: dict[str, Any] = YAML(typ="safe", pure=True).load(paths.RESOLVED.read_text(encoding="utf-8"))
    return {key: value for key, value in values.items() if key != "sources"}  # where a value came from is no parameter


def _scores(report: dict[str, Any], slugs: dict[str, str]) -> dict[str, float]:
    """The numbers of metrics.json, as `gate.accuracy` and `gate.class.<slug>.recall`."""
    scores = dict(_numbers(report, "gate"))
    for name, row in report.get("per_class", {}).items():
        scores |= {f"gate.class.{slugs[name]}.{key}": value for key, value in row.items()}
    return finite({key: value for key, value in scores.items() if value is not None})


def _numbers(report: dict[str, Any], prefix: str) -> Iterator[tuple[str, float]]:
    """`{accuracy: {value: 0.9}}` and `{nll: 0.3}` alike; parts that are no single score are left to the report."""
    for key, value in report.items():
        number = value.get("value") if isinstance(value, dict) else value
        if isinstance(number, int | float) and not isinstance(number, bool):
            yield f"{prefix}.{slug(key)}", number
    for engine, result in report.get("engines", {}).items():
        accuracy = (result.get("accuracy") or {}).get("value")
        if accuracy is not None:
            yield f"{prefix}.{slug(engine)}.accuracy", accuracy


def _changed(run: Run, scores: dict[str, float]) -> list[Metric]:
    now = int(time.time() * 1000)
    return [Metric(key, value, now, 0) for key, value in scores.items() if run.data.metrics.get(key) != value]


def _missing_points(client: MlflowClient, run: Run) -> list[Metric]:
    """The rows of curves.csv that the run lacks, in the columns' names."""
    run_id = run.info.run_id
    has = {(key, point.step) for key in run.data.metrics for point in client.get_metric_history(run_id, key)}
    points = [point for point in _curves(paths.CURVES, run.info.start_time) if math.isfinite(point.value)]
    return [point for point in points if (point.key, point.step) not in has]


def _curves(file: Path, time_ms: int) -> Iterator[Metric]:
    if not file.exists():
        raise MissingArtifact(f"{file} does not exist. Make it with: dvc repro train")
    with file.open(encoding="utf-8", newline="") as lines:
        for row in csv.DictReader(lines):
            step = int(row.pop("epoch"))
            yield from (Metric(slug(key), float(value), time_ms, step) for key, value in row.items() if value)


def _data_set(model: str, split: str, digest: str) -> DatasetInput:
    source = json.dumps({"uri": paths.split_folder(split).as_posix(), "sha256": digest})
    data = Dataset(name=f"{model}/{split}", digest=digest[:_DIGEST_LENGTH], source_type="local", source=source)
    return DatasetInput(data, tags=[InputTag("mlflow.data.context", split)])
