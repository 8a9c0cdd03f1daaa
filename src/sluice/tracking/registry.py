"""Registered versions: what is recorded with them, which is champion, and how to get at their files."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from mlflow.artifacts import download_artifacts
from mlflow.entities.model_registry import ModelVersion
from mlflow.exceptions import MlflowException

from sluice.errors import TrackingError
from sluice.io import files
from sluice.tracking.store import Store, refusals, without_password

__all__ = [
    "CANDIDATE",
    "CHAMPION",
    "TAGS",
    "VERDICT_ARTIFACT",
    "Champion",
    "Version",
    "at_alias",
    "champion",
    "download",
    "download_model",
    "find",
    "recorded_verdict",
    "version",
    "versions",
]

CHAMPION = "champion"
CANDIDATE = "candidate"
VERDICT_ARTIFACT = "reports/gate/verdict.json"

TAGS = {  # field of Version: tag of the registered version, and of its run
    "weights": "sluice.weights",
    "verdict": "sluice.verdict",
    "verdict_digest": "sluice.verdict_json",
    "exported": "sluice.exported",
    "onnx": "sluice.onnx",
    "golden": "sluice.golden",
    "profile": "sluice.profile",
}
_MODEL_SOURCE = re.compile(r"models:/(?P<id>m-[0-9a-f]+)")
_ABSENT = {"RESOURCE_DOES_NOT_EXIST", "INVALID_PARAMETER_VALUE"}


@dataclass(frozen=True, kw_only=True)
class Version:
    """One registered version with what `register` recorded; all digests are SHA-256 in hex.

    `onnx` and `golden` are those of the logged model `model_id`; `verdict_digest` is that of the verdict's own file.
    """

    number: int
    run_id: str
    model_id: str
    weights: str
    verdict: str
    verdict_digest: str
    exported: Mapping[str, str]
    onnx: str
    golden: str
    profile: str | None


@dataclass(frozen=True, kw_only=True)
class Champion:
    """`verdict` is the whole verdict.json on record; `exported` has a digest per engine."""

    version: int
    run_id: str
    weights: str
    verdict: dict[str, Any]
    exported: dict[str, str]
    profile: str | None


def champion(store: Store, *, name: str) -> Champion | None:
    """The version with alias `champion`; TrackingError when its verdict is not the one that was recorded."""
    found = at_alias(store, name=name, alias=CHAMPION)
    if found is None:
        return None
    return Champion(
        version=found.number,
        run_id=found.run_id,
        weights=found.weights,
        verdict=recorded_verdict(store, found),
        exported=dict(found.exported),
        profile=found.profile,
    )


def at_alias(store: Store, *, name: str, alias: str) -> Version | None:
    with refusals(store.uri):
        try:
            found = store.client.get_model_version_by_alias(name, alias)
        except MlflowException as error:
            if error.error_code in _ABSENT:
                return None
            raise
    return _read(found)


def version(store: Store, *, name: str, number: int) -> Version | None:
    """None when there never was such a version, or it was deleted."""
    with refusals(store.uri):
        try:
            found = store.client.get_model_version(name, str(number))
        except MlflowException as error:
            if error.error_code in _ABSENT:
                return None
            raise
    return _read(found)


def versions(store: Store, *, name: str) -> list[int]:
    """Numbers of the versions that exist, oldest first."""
    with refusals(store.uri):
        return sorted(int(found.version) for found in store.client.search_model_versions(f"name = '{name}'"))


def find(store: Store, *, name: str, weights: str, exported: Mapping[str, str]) -> Version | None:
    """The newest version made of these very files whose run still exists."""
    wanted = f"name = '{name}' and tag.`{TAGS['weights']}` = '{weights}'"
    with refusals(store.uri):
        found = [_read(each) for each in store.client.search_model_versions(wanted)]
        same = [each for each in found if each.exported == exported and _has_run(store, each.run_id)]
    return max(same, key=lambda each: each.number, default=None)


def recorded_verdict(store: Store, of: Version) -> dict[str, Any]:
    """The verdict.json of a version; TrackingError when it is not the file whose digest was recorded."""
    with TemporaryDirectory() as folder:
        file = download(store, run_id=of.run_id, artifact=VERDICT_ARTIFACT, to=Path(folder))
        if files.digest_file(file) != of.verdict_digest:
            raise TrackingError(
                f"{VERDICT_ARTIFACT} of version {of.number} (run {of.run_id}) is not the file that was recorded: "
                f"SHA-256 {files.digest_file(file)}, recorded {of.verdict_digest}. Register it anew with: "
                "dvc repro -f -s register, or go back with: sluice rollback"
            )
        verdict: dict[str, Any] = files.read_json(file)
        return verdict


def download(store: Store, *, run_id: str, artifact: str, to: Path) -> Path:
    """Copy one file or folder of a run below `to`; TrackingError when the store does not have it."""
    if Path(artifact).is_absolute() or ".." in Path(artifact).parts:
        raise TrackingError(f"artifact {artifact!r} of run {run_id} lies outside it: its record was tampered with.")
    to.mkdir(parents=True, exist_ok=True)
    parent = Path(artifact).parent.as_posix()
    with refusals(store.uri):
        siblings = store.client.list_artifacts(run_id, None if parent == "." else parent)
        if artifact in {item.path for item in siblings}:
            return Path(store.client.download_artifacts(run_id, artifact, str(to)))
    raise TrackingError(
        f"run {run_id} in the MLflow store {without_password(store.uri, uri=store.uri)} has no {artifact} (any more). "
        "Put it back, in the workspace that made it, with: dvc repro -f -s register; or choose another version."
    )


def download_model(store: Store, model_id: str, *, to: Path) -> Path:
    """Copy the files of a logged model below `to`."""
    with refusals(store.uri), store.as_default():
        uri = f"models:/{model_id}"
        return Path(
            download_artifacts(artifact_uri=uri, dst_path=str(to), tracking_uri=store.uri, registry_uri=store.uri)
        )


def _has_run(store: Store, run_id: str) -> bool:
    try:
        return bool(store.client.get_run(run_id).info.lifecycle_stage == "active")
    except MlflowException as error:
        if error.error_code in _ABSENT:
            return False
        raise


def _read(found: ModelVersion) -> Version:
    tags = found.tags
    missing = [tag for field, tag in TAGS.items() if field != "profile" and tag not in tags]
    source = _MODEL_SOURCE.fullmatch(found.source or "")  # MLflow would follow any other to any path of this machine
    if missing or not found.run_id or source is None:
        raise TrackingError(
            f"version {found.version} of {found.name!r} was not registered by Sluice: it lacks "
            f"{', '.join(missing) or 'a run with a logged model'}. "
            "Take its aliases away in MLflow, or choose another registry.name."
        )
    values = {field: tags.get(tag) for field, tag in TAGS.items()}
    return Version(
        number=int(found.version),
        run_id=found.run_id,
        model_id=source["id"],
        **values | {"exported": json.loads(tags[TAGS["exported"]])},
    )
