"""Bring run, reports and version to MLflow, as the verdict says."""

from sluice.config import Params
from sluice.io import files, paths
from sluice.tracking.candidate import read_candidate
from sluice.tracking.register import register
from sluice.tracking.store import open_store

__all__ = ["run"]


def run(params: Params) -> None:
    candidate = read_candidate(
        name=params.registry.name,
        engines=params.export.engines,
        required=params.gate.required,
        images=params.report.images,
    )
    registered = register(open_store(params.tracking), candidate)
    files.write_json(paths.REGISTERED, registered.as_json())
    what = "no version" if registered.version is None else f"version {registered.version}"
    print(f"{registered.name}: {what} ({registered.verdict})")
