"""A run while it runs: it always ends, as what it was, and never takes the training down with it."""

import logging
import signal
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from types import FrameType, TracebackType
from typing import Any, Self

from mlflow.entities import Metric, Param, Run, RunTag
from mlflow.exceptions import MlflowException
from mlflow.tracking import MlflowClient

from sluice.tracking import lineage
from sluice.tracking.names import finite, flatten, slugs
from sluice.tracking.store import Store, refusals, without_password

__all__ = ["LiveRun", "close_stale_runs", "stale_runs", "start_run"]

_PARENT = "mlflow.parentRunId"
_NAME_MAP = "names.json"
_METRICS_PER_CALL = 1000
_PARAMS_PER_CALL = 100
_QUIET_AFTER_FAILURE_S = 30.0

log = logging.getLogger(__name__)


class LiveRun:
    """Use it as a context: ends FINISHED; FAILED on an exception; KILLED on SIGTERM, Ctrl-C or SystemExit.

    A store that fails is warned of once; metrics that it did not take are kept and sent again later.
    """

    def __init__(self, store: Store, run: Run) -> None:
        self.run_id: str = run.info.run_id
        self._client: MlflowClient = store.client
        self._store = store
        self._pending: list[Metric] = []
        self._renamed: dict[str, str] = {}
        self._known = _points(store.client, run)
        self._warned = False
        self._quiet_until = 0.0
        self._restore: Callable[[], None] = lambda: None

    def log_params(self, params: Mapping[str, Any]) -> None:
        """Nested sections become dotted names. A parameter that the run already has stays as it is."""
        with self._forgiving():
            has = self._client.get_run(self.run_id).data.params
            new = [Param(key, value) for key, value in flatten(params).items() if key not in has]
            for first in range(0, len(new), _PARAMS_PER_CALL):
                self._client.log_batch(self.run_id, params=new[first : first + _PARAMS_PER_CALL])

    def log_metrics(self, metrics: Mapping[str, float], step: int) -> None:
        """NaN and infinities are left out, odd names become slugs, and a point that the run has is not sent twice."""
        names = slugs(metrics)
        self._renamed |= {name: short for name, short in names.items() if name != short}
        now = int(time.time() * 1000)
        points = [Metric(names[key], value, now, step) for key, value in finite(metrics).items()]
        self._pending += [point for point in points if (point.key, step) not in self._known]
        self._known |= {(point.key, step) for point in points}
        if time.monotonic() >= self._quiet_until:
            self._send()

    def tag(self, key: str, value: str) -> None:
        with self._forgiving():
            self._client.set_tag(self.run_id, key, value)

    def __enter__(self) -> Self:
        if threading.current_thread() is threading.main_thread():
            before = signal.getsignal(signal.SIGTERM)
            signal.signal(signal.SIGTERM, _leave)
            self._restore = lambda: _set_handler(before)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._send()
        with self._forgiving():
            if self._renamed:
                self._client.log_dict(self.run_id, self._renamed, _NAME_MAP)
        with self._forgiving():
            self._client.set_terminated(self.run_id, status=_status(kind, error))
        self._restore()

    def _send(self) -> None:
        with self._forgiving():
            while self._pending:
                self._client.log_batch(self.run_id, metrics=self._pending[:_METRICS_PER_CALL])
                del self._pending[:_METRICS_PER_CALL]

    @contextmanager
    def _forgiving(self) -> Iterator[None]:
        try:
            yield
        except (MlflowException, OSError) as error:
            self._quiet_until = time.monotonic() + _QUIET_AFTER_FAILURE_S
            if not self._warned:
                shown = without_password(f"{self._store.uri} refused: {error}", uri=self._store.uri)
                log.warning("run %s goes on without MLflow: %s", self.run_id, shown)
            self._warned = True


def start_run(
    store: Store,
    *,
    experiment: str,
    run_name: str,
    tags: Mapping[str, str],
    parent: LiveRun | None = None,
    resume_run_id: str | None = None,
) -> LiveRun:
    """Start a run, or go on with `resume_run_id` where this store still has it.

    Raises TrackingError when the store refuses. The code's revision and this process are tagged without asking.
    """
    known = dict(tags) | lineage.process_tags() | ({_PARENT: parent.run_id} if parent else {})
    with refusals(store.uri):
        found = _find(store.client, resume_run_id)
        if found is not None:
            store.client.update_run(found.info.run_id, status="RUNNING")
            store.client.log_batch(found.info.run_id, tags=[RunTag(key, value) for key, value in known.items()])
            return LiveRun(store, found)
        known = lineage.code_tags() | known
        made = store.client.create_run(store.experiment(experiment), tags=known, run_name=run_name)
        return LiveRun(store, made)


def close_stale_runs(store: Store, *, experiment: str) -> int:
    """End, as KILLED, the runs whose process is gone; one on another machine cannot be asked, so its run stays."""
    stale = stale_runs(store, experiment=experiment)
    with refusals(store.uri):
        for run in stale:
            store.client.set_terminated(run.info.run_id, status="KILLED")
    return len(stale)


def stale_runs(store: Store, *, experiment: str) -> list[Run]:
    """The runs that are RUNNING although their process, on this machine, is gone."""
    with refusals(store.uri):
        found = store.client.search_runs([store.experiment(experiment)], "attributes.status = 'RUNNING'")
    return [run for run in found if lineage.is_alive(run.data.tags) is False]


def _find(client: MlflowClient, run_id: str | None) -> Run | None:
    if run_id is None:
        return None
    try:
        run = client.get_run(run_id)
    except MlflowException as error:
        if error.error_code in {"RESOURCE_DOES_NOT_EXIST", "INVALID_PARAMETER_VALUE"}:
            return None
        raise
    return run if run.info.lifecycle_stage == "active" else None


def _points(client: MlflowClient, run: Run) -> set[tuple[str, int]]:
    """(metric, step) of all that a resumed run already has."""
    run_id = run.info.run_id
    return {(key, point.step) for key in run.data.metrics for point in client.get_metric_history(run_id, key)}


def _status(kind: type[BaseException] | None, error: BaseException | None) -> str:
    if kind is None or (isinstance(error, SystemExit) and not error.code):
        return "FINISHED"
    return "KILLED" if issubclass(kind, KeyboardInterrupt | SystemExit) else "FAILED"


def _leave(signum: int, _frame: FrameType | None) -> None:
    raise SystemExit(128 + signum)


def _set_handler(handler: Any) -> None:
    """None stands for a handler that was not set from Python and cannot be put back."""
    if handler is not None:
        signal.signal(signal.SIGTERM, handler)
