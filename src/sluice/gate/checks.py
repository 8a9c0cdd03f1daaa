"""The checks on the candidate itself: floors, and every engine's export, speed cells and accuracy."""

from collections.abc import Iterator, Sequence

from sluice.config.release import Floors
from sluice.gate import limits
from sluice.gate.dossier import Dossier, Problem
from sluice.gate.reports import Metrics, State
from sluice.gate.verdict import Check, check
from sluice.io import paths

__all__ = ["engine_checks", "floor_checks"]

_OPTIONAL = "it is not in gate.required, so this is only noted"


def floor_checks(metrics: Metrics | Problem, *, floors: Floors) -> Iterator[Check]:
    """Of the eager model on the gate split."""
    limit_of = floors.model_dump()
    if isinstance(metrics, Problem):
        for name, floor in limit_of.items():
            yield _no_report(f"floor:{name}", metrics, required=True, limit=floor)
        return
    worst = metrics.worst_class
    values = {
        "accuracy": metrics.accuracy.value,
        "balanced_accuracy": metrics.balanced_accuracy.value,
        "worst_class_recall": worst.recall,
    }
    for name, floor in limit_of.items():
        value = values[name]
        status = limits.above(value, floor)
        shown = "not a number" if value is None else f"{value:.4f}"
        said = f"{name} is {shown}, the floor is {floor:g}"
        if status != "ok":
            said += (
                f", worst in class {worst.name!r}: look at worst_samples in {paths.METRICS} and train a better model"
            )
        yield check(f"floor:{name}", status, said, value=value, limit=floor)


def engine_checks(dossier: Dossier, engine: str, *, required: bool, margin: float) -> Iterator[Check]:
    parity = dossier.parity.get(engine) or Problem(paths.exported(engine) / paths.PARITY_NAME, "is missing")
    if isinstance(parity, Problem):
        yield _no_report(f"parity:{engine}", parity, required=required)
        yield _no_report(f"clean_process:{engine}", parity, required=required)
    else:
        yield _of_state(f"parity:{engine}", parity, required=required, good="gives the model's answers")
        clean = parity.clean_process
        yield _of_state(f"clean_process:{engine}", clean, required=required, good="loads and answers without torch")
    yield _benchmark(dossier, engine, required=required)
    yield _accuracy(dossier.metrics, engine, required=required, margin=margin)


def _benchmark(dossier: Dossier, engine: str, *, required: bool) -> Check:
    name = f"benchmark:{engine}"
    if isinstance(dossier.benchmark, Problem):
        return _no_report(name, dossier.benchmark, required=required)
    cells = [cell for cell in dossier.benchmark.cells if cell.engine == engine]
    if not cells:
        return _no_report(name, Problem(paths.BENCHMARK, f"has no cell of {engine}"), required=required)
    # Of several bad cells the first is named; a required engine needs all of them, so any of them decides.
    worst = max(cells, key=lambda cell: _severity(name, cell))
    return _of_state(name, worst, required=required, good="was timed in every scenario")


def _accuracy(metrics: Metrics | Problem, engine: str, *, required: bool, margin: float) -> Check:
    name = f"engine_accuracy:{engine}"
    if isinstance(metrics, Problem):
        return _no_report(name, metrics, required=required, limit=-margin)
    scored = metrics.engines.get(engine)
    if scored is None:
        return _no_report(name, Problem(paths.METRICS, f"has no engine {engine}"), required=required, limit=-margin)
    if scored.status != "ok":
        return _of_state(name, scored, required=required, good="", limit=-margin)
    difference = scored.difference
    status = limits.difference_state(difference, margin=margin)
    value = difference.value if difference else None
    low = difference.low if difference else None
    said = f"its accuracy less the model's may be as low as {_number(low)}, the limit is {-margin:g}"
    remedy = {"inconclusive": "a larger gate split would tell", "ok": None}.get(status, "export with more precision")
    return check(name, status, _joined(said, remedy, required=required), required=required, value=value, limit=-margin)


def _of_state(name: str, state: State, *, required: bool, good: str, limit: float | None = None) -> Check:
    if state.status == "ok":
        return check(name, "ok", good, required=required, value=state.status, limit=limit)
    said = f"it is {state.status}" + (f" ({state.reason.rstrip('.')})" if state.reason else "")
    remedy = "mend that, or take it out of gate.required"
    return check(
        name, state.status, _joined(said, remedy, required=required), required=required, value=state.status, limit=limit
    )


def _no_report(name: str, problem: Problem, *, required: bool, limit: float | None = None) -> Check:
    said = f"{problem.path} {problem.reason}"
    return check(
        name, "missing", _joined(said, "run dvc repro gate", required=required), required=required, limit=limit
    )


def _severity(name: str, state: State) -> int:
    order: Sequence[str] = ("pass", "HOLD", "REJECT")
    return order.index(check(name, state.status, "").counts_as)


def _joined(said: str, remedy: str | None, *, required: bool) -> str:
    if remedy is None:
        return said
    return f"{said}: {remedy}" if required else f"{said}; {_OPTIONAL}"


def _number(value: float | None) -> str:
    return "not a number" if value is None else f"{value:+.4f}"
