"""What `doctor` asks of DVC, MLflow and Prefect."""

import json
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

import httpx
import psutil

from sluice.config import Params

__all__ = ["DvcLock", "MlflowState", "dvc_locks", "open_mlflow", "prefect_version"]

_TIMEOUT_S = 5.0
_RWLOCK = Path(".dvc/tmp/rwlock")


@dataclass(frozen=True)
class DvcLock:
    what: str
    pid: int
    alive: bool


@dataclass(frozen=True)
class MlflowState:
    shown: str
    """The URI without its password."""
    stale: int
    version_skew: str


def dvc_locks() -> list[DvcLock]:
    """Files that DVC's own record says are in use."""
    try:
        record = json.loads(_RWLOCK.read_text(encoding="utf-8"))
    except (FileNotFoundError, ValueError):
        return []
    holders = {entry.get("write", {}).get("pid"): path for path, entry in record.items() if entry.get("write")}
    return [DvcLock(what=path, pid=pid, alive=psutil.pid_exists(pid)) for pid, path in holders.items()]


def open_mlflow(params: Params) -> MlflowState | None:
    """None where the embedded store was not made yet; raises TrackingError for one that does not answer."""
    from sluice.tracking.live import stale_runs
    from sluice.tracking.store import exists, open_store, without_password

    if not exists(params.tracking):
        return None
    store = open_store(params.tracking, make=False)
    skew = ""
    if store.uri.startswith(("http://", "https://")):
        server, mine = _get(f"{store.uri.rstrip('/')}/version"), metadata.version("mlflow")
        skew = f"MLflow is {mine} here and {server} on the server." if server and server != mine else ""
    stale = len(stale_runs(store, experiment=params.registry.name))
    return MlflowState(shown=without_password(store.uri, uri=store.uri), stale=stale, version_skew=skew)


def prefect_version(url: str) -> str | None:
    """None when no server answers."""
    answer = _get(f"{url.rstrip('/')}/admin/version")
    return None if answer is None else str(json.loads(answer))


def _get(url: str) -> str | None:
    try:
        return httpx.get(url, timeout=_TIMEOUT_S).raise_for_status().text
    except httpx.HTTPError:
        return None
