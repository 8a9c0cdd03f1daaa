"""Which store this is, and which champion it holds: only what stays the same until someone promotes."""

from dataclasses import asdict

from sluice.config import Params
from sluice.io import files, paths
from sluice.tracking.registry import champion
from sluice.tracking.store import open_store

__all__ = ["run"]


def run(params: Params) -> None:
    store = open_store(params.tracking)
    found = champion(store, name=params.registry.name)
    files.write_json(paths.REGISTRY, {"store": store.identity, "champion": asdict(found) if found else None})
