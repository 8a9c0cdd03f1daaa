"""The MLflow store of this workspace: found by URI, made once, and told apart from every other by an identity."""

import os
import socket
import sqlite3
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit
from uuid import uuid4

from filelock import FileLock
from mlflow.exceptions import MlflowException
from mlflow.tracking import MlflowClient

from sluice.config.release import TrackingConfig
from sluice.errors import ConfigError, TrackingError

__all__ = ["Store", "exists", "open_store", "quiet", "refusals", "without_password"]

_HOME = "sluice"
"""The experiment that carries the identity."""
_IDENTITY = "sluice.store_id"
_INIT_TIMEOUT_S = 120.0
_CONNECT_TIMEOUT_S = 5.0

_PATIENCE = {
    # MLflow's own limits let a training run wait for minutes on a server that is gone.
    "MLFLOW_HTTP_REQUEST_TIMEOUT": "15",
    "MLFLOW_HTTP_REQUEST_MAX_RETRIES": "1",
    "MLFLOW_HTTP_REQUEST_BACKOFF_FACTOR": "1",
    "MLFLOW_ENABLE_ARTIFACTS_PROGRESS_BAR": "false",
}


@dataclass(frozen=True, kw_only=True)
class Store:
    """`artifact_root` is None where a server decides where artifacts lie."""

    uri: str
    client: MlflowClient
    identity: str
    artifact_root: Path | None

    def experiment(self, name: str) -> str:
        """Id of the experiment, made or restored when it is not there."""
        with refusals(self.uri):
            return _experiment(self.client, name, self.artifact_root)

    @contextmanager
    def as_default(self) -> Iterator[None]:
        """For what MLflow looks up in its default store, whatever client it was called through."""
        before = os.environ.get("MLFLOW_TRACKING_URI")
        os.environ["MLFLOW_TRACKING_URI"] = self.uri
        try:
            yield
        finally:
            if before is None:
                del os.environ["MLFLOW_TRACKING_URI"]
            else:
                os.environ["MLFLOW_TRACKING_URI"] = before


def open_store(config: TrackingConfig, *, make: bool = True) -> Store:
    """Open MLFLOW_TRACKING_URI, else `tracking.uri`, else mlflow.db in the current folder, which is made once.

    Raises ConfigError for a URI that cannot hold models, TrackingError for a store that cannot be reached or read,
    or that would have to be made although `make` is False.
    """
    for name, value in _PATIENCE.items():
        os.environ.setdefault(name, value)
    uri, file = _resolve(config)
    if not make and not exists(config):
        raise TrackingError(
            f"there is no MLflow store at {file}, so nothing is registered. Make it with: dvc repro, "
            "or name another with MLFLOW_TRACKING_URI or tracking.uri."
        )
    root = None if uri.startswith(("http://", "https://")) else (file.parent if file else Path.cwd()) / "mlartifacts"
    with refusals(uri), quiet():
        if file is None:
            _check_reachable(uri)
        else:
            _make_once(file, root)
        client = MlflowClient(tracking_uri=uri, registry_uri=uri)
        return Store(uri=uri, client=client, identity=_identify(client, root), artifact_root=root)


def exists(config: TrackingConfig) -> bool:
    """False for an embedded store that was not made yet; whether a server answers is another question."""
    _, file = _resolve(config)
    return file is None or _is_made(file)


@contextmanager
def quiet() -> Iterator[None]:
    """Leave out what MLflow's own code, loaded on first use, is warned of: its users can do nothing about it."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", r"The ``noload`` loader strategy is deprecated", DeprecationWarning)
        warnings.filterwarnings("ignore", r".*Any type hint is inferred as AnyType", UserWarning)
        yield


@contextmanager
def refusals(uri: str) -> Iterator[None]:
    """Turn whatever the store refuses into one TrackingError that names the store."""
    try:
        yield
    except (MlflowException, OSError, sqlite3.Error) as error:
        words = without_password(" ".join(str(error).split()), uri=uri)
        shown = words if len(words) <= 400 else words[:400] + " ..."
        raise TrackingError(
            f"the MLflow store {without_password(uri, uri=uri)} refused: {shown} "
            "Check that it runs and may be written, or name another with MLFLOW_TRACKING_URI or tracking.uri."
        ) from error


def _resolve(config: TrackingConfig) -> tuple[str, Path | None]:
    """The URI with an absolute path, and the file behind it where it is SQLite."""
    uri = os.environ.get("MLFLOW_TRACKING_URI") or config.uri
    if uri is None:
        file = Path.cwd() / "mlflow.db"
        return f"sqlite:///{file}", file
    key = "MLFLOW_TRACKING_URI" if os.environ.get("MLFLOW_TRACKING_URI") else "tracking.uri"
    scheme = uri.partition(":")[0] if "://" in uri or uri.startswith("file:") else ""
    if scheme in {"", "file"}:
        raise ConfigError(
            f"{key}: {uri!r} is a folder, which MLflow no longer takes as a store. "
            "Use an SQLite file, as in sqlite:////absolute/path/mlflow.db, or a server, as in http://host:5000. "
            "Bring old runs over with: mlflow migrate-filestore --help"
        )
    if scheme != "sqlite":
        return uri, None
    name, mark, options = uri.removeprefix("sqlite:///").partition("?")
    if not name or name.startswith((":memory:", "sqlite:")):
        raise ConfigError(f"{key}: {uri!r} names no file. Write sqlite:////absolute/path/mlflow.db")
    file = Path.cwd() / name
    return f"sqlite:///{file}{mark}{options}", file


def _check_reachable(uri: str) -> None:
    """MLflow tries a database that is gone for many minutes; a server it gives up by the limits above."""
    address = urlsplit(uri)
    if not uri.startswith(("http://", "https://")) and address.hostname and address.port:
        socket.create_connection((address.hostname, address.port), timeout=_CONNECT_TIMEOUT_S).close()


def _make_once(file: Path, root: Path | None) -> None:
    """Make the database beside its name and rename it: processes that start together, or are killed, leave it whole."""
    if not _is_made(file):
        file.parent.mkdir(parents=True, exist_ok=True)
        with FileLock(f"{file}.lock", timeout=_INIT_TIMEOUT_S):
            if not _is_made(file):
                _make(file, root)
    connection = sqlite3.connect(f"{file.as_uri()}?mode=ro", uri=True)
    try:
        connection.execute("PRAGMA schema_version").fetchone()  # MLflow would try a damaged file for many minutes
    finally:
        connection.close()


def _is_made(file: Path) -> bool:
    return file.exists() and file.stat().st_size > 0


def _make(file: Path, root: Path | None) -> None:
    for left_over in file.parent.glob(f"{file.name}.new-*"):
        left_over.unlink()
    temporary = file.with_name(f"{file.name}.new-{uuid4().hex}")
    uri = f"sqlite:///{temporary}"
    client = MlflowClient(tracking_uri=uri, registry_uri=uri)
    _identify(client, root)
    temporary.replace(file)


def _identify(client: MlflowClient, root: Path | None) -> str:
    experiment = client.get_experiment(_experiment(client, _HOME, root))
    known = experiment.tags.get(_IDENTITY)
    if known is None:
        client.set_experiment_tag(experiment.experiment_id, _IDENTITY, uuid4().hex)
        known = client.get_experiment(experiment.experiment_id).tags[_IDENTITY]
    return str(known)


def _experiment(client: MlflowClient, name: str, root: Path | None) -> str:
    found = client.get_experiment_by_name(name)
    if found is not None:
        if found.lifecycle_stage == "deleted":
            client.restore_experiment(found.experiment_id)
        return str(found.experiment_id)
    try:
        return str(client.create_experiment(name, artifact_location=(root / name).as_uri() if root else None))
    except MlflowException as error:
        if error.error_code != "RESOURCE_ALREADY_EXISTS":
            raise
    return _experiment(client, name, root)  # another process was quicker


def without_password(text: str, *, uri: str) -> str:
    """`text`, which may quote `uri`, as it may be shown."""
    password = urlsplit(uri).password
    return text.replace(f":{password}@", ":***@") if password else text
