"""The checks against the model in production."""

from collections.abc import Iterator, Mapping, Sequence

from sluice.gate import limits
from sluice.gate.dossier import Disk, Problem
from sluice.gate.reports import ComparedAccuracy, Comparison, Range, State
from sluice.gate.verdict import Check, check
from sluice.io import paths

__all__ = ["accuracy_check", "latency_checks", "recorded_check"]

_STATE_OF = {"PROMOTE": "ok", "HOLD": "inconclusive", "REJECT": "refused"}
_NAME = "accuracy_vs_champion"


def recorded_check(comparison: Comparison, *, disk: Disk, required: Sequence[str]) -> Check | None:
    """The verdict that the registry holds on these very files; None when it holds none, or one on other files."""
    record = comparison.verdict_on_record or {}
    decision, candidate = record.get("verdict"), record.get("candidate")
    if not isinstance(decision, str) or decision not in _STATE_OF or not isinstance(candidate, Mapping):
        return None
    exported = candidate.get("exported")
    if candidate.get("weights") != disk.weights or not isinstance(exported, Mapping):
        return None
    if any(exported.get(engine) != disk.exported.get(engine) for engine in required):
        return None
    said = "the candidate is the champion: this repeats the verdict that the registry has on record"
    return check("verdict_on_record", _STATE_OF[decision], said, value=decision)


def accuracy_check(comparison: Comparison | Problem, *, margin: float) -> Check:
    """By the 95 % interval of the paired difference, candidate - champion."""
    if isinstance(comparison, Problem):
        said = f"{comparison.path} {comparison.reason}: run dvc repro gate"
        return check(_NAME, "missing", said, limit=-margin)
    if comparison.champion is None:
        return check(_NAME, "no_champion", "there is no champion to be worse than", limit=-margin)
    accuracy = comparison.accuracy
    if accuracy is None or accuracy.status == "no_champion":
        said = f"{paths.COMPARISON} holds no comparison with the champion: run dvc repro -f -s compare"
        return check(_NAME, "missing", said, limit=-margin)
    if accuracy.status != "ok":
        return check(_NAME, accuracy.status, _said(accuracy), limit=-margin)
    status = limits.difference_state(accuracy.difference, margin=margin)
    value = accuracy.difference.value if accuracy.difference else None
    return check(_NAME, status, _told(accuracy, status, margin=margin), value=value, limit=-margin)


def latency_checks(
    comparison: Comparison | Problem, *, engines: Sequence[str], required: Sequence[str], margin: float
) -> Iterator[Check]:
    """By the interval of the ratio candidate : champion, one check an engine."""
    for engine in engines:
        needed, limit = engine in required, 1 + margin
        status, said, ratio = _latency(comparison, engine, margin=margin)
        value = ratio.value if ratio else None
        yield check(f"latency_vs_champion:{engine}", status, said, required=needed, value=value, limit=limit)


def _latency(comparison: Comparison | Problem, engine: str, *, margin: float) -> tuple[str, str, Range | None]:
    if isinstance(comparison, Problem):
        return "missing", f"{comparison.path} {comparison.reason}: run dvc repro gate", None
    if comparison.champion is None:
        return "no_champion", "there is no champion to be slower than", None
    found = comparison.latency.get(engine)
    if found is None:
        return "missing", f"{paths.COMPARISON} has no latency of {engine}: run dvc repro -f -s compare", None
    if found.status != "ok":
        return found.status, _said(found), found.ratio
    status = limits.ratio_state(found.ratio, found.aa, margin=margin)
    if found.ratio is None or found.ratio.low is None or found.ratio.high is None:
        return status, "its ratio to the champion is not a number: run dvc repro -f -s compare", found.ratio
    low, high = found.ratio.low, found.ratio.high
    said = f"it takes {low:.3f} to {high:.3f} times as long as the champion, the limit is {1 + margin:g}"
    remedies = {"ok": "", "refused": ": make the model faster, or raise gate.latency_margin on purpose"}
    return (
        status,
        said + remedies.get(status, ": measure on an idle machine, with dvc repro -f -s compare"),
        found.ratio,
    )


def _told(accuracy: ComparedAccuracy, status: str, *, margin: float) -> str:
    difference = accuracy.difference
    if difference is None or difference.value is None or difference.low is None or difference.high is None:
        return "the difference to the champion is not a number: run dvc repro -f -s compare"
    seen, gap = limits.half_width(difference), difference.value + margin
    said = (
        f"the accuracy less the champion's is {difference.low:+.4f} to {difference.high:+.4f}, the limit is "
        f"{-margin:g}, and {accuracy.n} samples can show a difference of {seen:.4f}"
    )
    if status == "ok":
        return said
    if status == "refused" or gap <= 0:
        return f"{said}: train a better model"
    return f"{said}: about {round(accuracy.n * (seen / gap) ** 2)} would tell, use more or decide by hand"


def _said(state: State) -> str:
    return f"it is {state.status}" + (f": {state.reason.rstrip('.')}" if state.reason else "")
