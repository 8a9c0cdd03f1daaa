"""Is every report there, and were all of them made from the files that lie on disk."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from sluice.gate.dossier import Disk, Dossier, Problem
from sluice.gate.reports import Stamp
from sluice.gate.verdict import Check, check
from sluice.io import paths

__all__ = ["digests_agree", "evidence_complete"]

_SHORT = 12


def evidence_complete(dossier: Dossier, *, required: Sequence[str]) -> Check:
    problems = dossier.problems(required=required)
    if not problems:
        return check("evidence_complete", "ok", "every report is there and can be read")
    listed = "; ".join(f"{one.path} {one.reason}" for one in problems)
    return check(
        "evidence_complete", "missing", f"{listed}: run dvc repro gate, which makes it anew", value=len(problems)
    )


def digests_agree(dossier: Dossier, *, required: Sequence[str]) -> Check:
    found = [line for path, stamp in dossier.stamps() for line in _of_report(path, stamp, disk=dossier.disk)]
    found += _unnamed(dossier, required=required)
    found += _false_champion(dossier)
    if dossier.disk.weights is None:
        found.insert(0, f"{paths.WEIGHTS} is missing")
    if not found:
        return check("digests_agree", "ok", "all reports were made from the files on disk")
    return check(
        "digests_agree", "disagree", f"{'; '.join(found)}: run dvc repro gate, which makes it anew", value=len(found)
    )


def _of_report(path: Path, stamp: Stamp, *, disk: Disk) -> Iterator[str]:
    if disk.weights is not None and stamp.weights != disk.weights:
        yield f"{path} is about other weights ({_short(stamp.weights)}, on disk {_short(disk.weights)})"
    if stamp.split is not None and stamp.split_digest != (on_disk := disk.splits.get(stamp.split)):
        yield f"{path} used another {stamp.split} split ({_short(stamp.split_digest)}, on disk {_short(on_disk)})"
    for engine, digest in stamp.exported.items():
        if digest != (on_disk := disk.exported.get(engine)):
            yield f"{path} is about another {engine} ({_short(digest)}, on disk {_short(on_disk)})"


def _unnamed(dossier: Dossier, *, required: Sequence[str]) -> Iterator[str]:
    """Reports that do not say which files of a required engine they are about, or are not on the gate split."""
    measured = {
        paths.METRICS: dossier.metrics,
        paths.BENCHMARK: dossier.benchmark,
        paths.COMPARISON: dossier.comparison,
    }
    for path, report in measured.items():
        if isinstance(report, Problem):
            continue
        for engine in required:
            if engine not in report.evidence.exported:
                yield f"{path} does not say which {engine} it is about"
        if path != paths.BENCHMARK and report.evidence.split != "gate":
            yield f"{path} is on split {report.evidence.split!r} instead of 'gate'"
    for engine in required:
        parity = dossier.parity.get(engine)
        if parity is not None and not isinstance(parity, Problem) and engine not in parity.evidence.exported:
            yield f"{paths.exported(engine) / paths.PARITY_NAME} does not say which files it is about"


def _false_champion(dossier: Dossier) -> Iterator[str]:
    compared, registry = dossier.comparison, dossier.registry
    if isinstance(compared, Problem):
        return
    if not isinstance(registry, Problem) and registry.champion != compared.champion:
        yield f"{paths.COMPARISON} is against another champion than {paths.REGISTRY} names"
    if compared.same and (compared.champion is None or compared.champion.weights != dossier.disk.weights):
        yield f"{paths.COMPARISON} calls the candidate the champion, whose weights are others"


def _short(digest: str | None) -> str:
    return digest[:_SHORT] if digest else "none"
