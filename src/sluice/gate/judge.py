"""All checks in order, and the verdict that they come to."""

from collections.abc import Sequence
from typing import Any

from sluice.config.release import GateConfig
from sluice.gate import agreement, champion, checks
from sluice.gate.dossier import Dossier, Problem
from sluice.gate.verdict import Check, Verdict, decide

__all__ = ["judge"]


def judge(dossier: Dossier, *, config: GateConfig, engines: Sequence[str]) -> Verdict:
    """`engines` are those of export.engines; of them `config.required` must be ok.

    When the candidate is the champion, the verdict on record is repeated, as long as it is about the files on disk.
    """
    found = [
        agreement.evidence_complete(dossier, required=config.required),
        agreement.digests_agree(dossier, required=config.required),
    ]
    record = _record(dossier, found, required=config.required)
    if record is not None:
        return _verdict(dossier, [*found, record], repeated=True)
    found += checks.floor_checks(dossier.metrics, floors=config.floors)
    for engine in engines:
        required = engine in config.required
        found += checks.engine_checks(dossier, engine, required=required, margin=config.accuracy_margin)
    compared = dossier.comparison
    if isinstance(compared, Problem) or not compared.same:
        found.append(champion.accuracy_check(compared, margin=config.accuracy_margin))
        found += champion.latency_checks(
            compared, engines=engines, required=config.required, margin=config.latency_margin
        )
    return _verdict(dossier, found)


def _record(dossier: Dossier, found: Sequence[Check], *, required: Sequence[str]) -> Check | None:
    compared = dossier.comparison
    if isinstance(compared, Problem) or not compared.same or decide(found) != "PROMOTE":
        return None
    return champion.recorded_check(compared, disk=dossier.disk, required=required)


def _verdict(dossier: Dossier, found: Sequence[Check], *, repeated: bool = False) -> Verdict:
    compared = dossier.comparison
    known: dict[str, Any] | None = None
    if not isinstance(compared, Problem) and compared.champion is not None:
        known = compared.champion.model_dump()
    return Verdict(
        verdict=decide(found),
        checks=tuple(found),
        weights=dossier.disk.weights,
        exported=dict(dossier.disk.exported),
        champion=known,
        repeated=repeated,
    )
