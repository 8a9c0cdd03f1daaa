"""Bring a judged candidate to MLflow: its run with every report, and a version when the verdict allows one."""

import json
import shutil
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import asdict, dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from mlflow.entities import Run, RunTag
from mlflow.exceptions import MlflowException

from sluice.io import files, paths
from sluice.tracking import registry
from sluice.tracking.candidate import Candidate
from sluice.tracking.live import LiveRun, close_stale_runs
from sluice.tracking.onnx_model import is_whole, log_onnx
from sluice.tracking.registry import CANDIDATE, CHAMPION, TAGS, Version
from sluice.tracking.runs import RESTORED, describe, find_or_restore
from sluice.tracking.store import Store, refusals

__all__ = ["Registered", "register"]

_PICTURES = {".bmp", ".gif", ".jpeg", ".jpg", ".png", ".tif", ".tiff", ".webp"}
_REPORTS = (
    paths.ENVIRONMENT,
    paths.VALIDATION,
    paths.DRIFT,
    paths.TUNING,
    paths.TRAINING,
    paths.PROFILE,
    paths.EVALUATION,
    paths.BENCHMARK,
    paths.COMPARISON,
    paths.VERDICT,
)


@dataclass(frozen=True, kw_only=True)
class Registered:
    """`version` is None for a REJECT; `digest` is that of the weights."""

    name: str
    version: int | None
    digest: str
    verdict: str
    run_id: str
    store: str

    def as_json(self) -> dict[str, Any]:
        return asdict(self)


def register(store: Store, candidate: Candidate) -> Registered:
    """Do what the verdict says; the same candidate again changes only what changed, and the champion never.

    Killed at any point, the next call completes what is there.
    """
    close_stale_runs(store, experiment=candidate.name)
    known = registry.find(store, name=candidate.name, weights=candidate.weights, exported=candidate.exported)
    ruling = registry.at_alias(store, name=candidate.name, alias=CHAMPION)
    if ruling is not None and _is_champion(candidate, known, ruling):
        return _registered(store, candidate, run_id=ruling.run_id, version=ruling.number, verdict=ruling.verdict)
    with refusals(store.uri):
        run = store.client.get_run(known.run_id) if known else find_or_restore(store, candidate)
        with _ending(store, run):
            slugs = describe(store, run, candidate)
            _attach(store, run, candidate, slugs)
            _tag_run(store, run, candidate.evidence_tags())
            number = _bring_version(store, run, candidate, known)
    return _registered(store, candidate, run_id=run.info.run_id, version=number, verdict=candidate.judged)


def _is_champion(candidate: Candidate, known: Version | None, ruling: Version) -> bool:
    if known is not None and known.number == ruling.number:
        return True
    return candidate.weights == ruling.weights and bool(candidate.verdict.get("repeated"))


def _registered(store: Store, candidate: Candidate, *, run_id: str, version: int | None, verdict: str) -> Registered:
    return Registered(
        name=candidate.name,
        version=version,
        digest=candidate.weights,
        verdict=verdict,
        run_id=run_id,
        store=store.identity,
    )


def _ending(store: Store, run: Run) -> AbstractContextManager[object]:
    """A run that was made here is ended here; that of a training has its own end and its own times."""
    return LiveRun(store, run) if RESTORED in run.data.tags else nullcontext()


def _bring_version(store: Store, run: Run, candidate: Candidate, known: Version | None) -> int | None:
    number = None
    if known is not None and is_whole(store, known.model_id, onnx=known.onnx, golden=known.golden):
        number = known.number
        _update_tags(store, candidate, known)
    elif candidate.judged != "REJECT":
        number = _create_version(store, run, candidate)
    if number is not None:
        _move_alias(store, candidate, number)
    return number


def _create_version(store: Store, run: Run, candidate: Candidate) -> int:
    logged = log_onnx(store, run, candidate)
    try:
        store.client.create_registered_model(candidate.name)
    except MlflowException as error:
        if error.error_code != "RESOURCE_ALREADY_EXISTS":
            raise
    model_tags = {TAGS[key]: logged.tags[TAGS[key]] for key in ("onnx", "golden")}
    with store.as_default():
        made = store.client.create_model_version(
            candidate.name,
            f"models:/{logged.model_id}",
            run.info.run_id,
            tags=candidate.identity_tags() | candidate.evidence_tags() | model_tags,
            model_id=logged.model_id,
        )
    return int(made.version)


def _update_tags(store: Store, candidate: Candidate, known: Version) -> None:
    for key, value in candidate.evidence_tags().items():
        if value not in {known.verdict, known.verdict_digest, known.profile}:
            store.client.set_model_version_tag(candidate.name, str(known.number), key, value)


def _move_alias(store: Store, candidate: Candidate, number: int) -> None:
    """`candidate` is what was judged PROMOTE last, though it may be an older version that was judged anew."""
    if candidate.judged == "PROMOTE":
        store.client.set_registered_model_alias(candidate.name, CANDIDATE, str(number))
        return
    holder = registry.at_alias(store, name=candidate.name, alias=CANDIDATE)
    if holder is not None and holder.number == number:
        store.client.delete_registered_model_alias(candidate.name, CANDIDATE)


def _tag_run(store: Store, run: Run, tags: Mapping[str, str]) -> None:
    store.client.log_batch(run.info.run_id, tags=[RunTag(key, value) for key, value in tags.items()])


def _attach(store: Store, run: Run, candidate: Candidate, slugs: Mapping[str, str]) -> None:
    """Copies first: DVC may have made the files read-only links, which the store could not write twice."""
    with TemporaryDirectory() as temporary:
        folder = Path(temporary)
        for source, target in _sources(candidate):
            if candidate.images or source.suffix.lower() not in _PICTURES:
                (folder / target).parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(source, folder / target)
        if slugs:
            files.write_text(folder / paths.EVALUATION / "metric_names.json", json.dumps(slugs, ensure_ascii=False))
        store.client.log_artifacts(run.info.run_id, str(folder))


def _sources(candidate: Candidate) -> Iterator[tuple[Path, Path]]:
    """(file in the workspace, its name among the run's artifacts)"""
    for report in _REPORTS:
        yield from ((file, file) for file in _files(report))
    yield from ((file, file) for file in _files(paths.TRAINED))
    yield from ((file, Path("data/profile.json")) for file in _files(paths.PROFILE_OF_DATA))
    for engine in candidate.engines:
        folder = paths.exported(engine)
        yield from ((file, Path("exported", engine, file.relative_to(folder))) for file in _files(folder))


def _files(path: Path) -> list[Path]:
    return [path] if path.is_file() else sorted(file for file in path.rglob("*") if file.is_file())
