"""Judge all evidence. The verdict is data: a rejected model is no error."""

from sluice.config import Params
from sluice.gate.dossier import read_dossier
from sluice.gate.judge import judge
from sluice.gate.verdict import EXIT_CODES, Verdict
from sluice.io import files, paths
from sluice.io.evidence import Evidence

__all__ = ["check", "run"]


def run(params: Params) -> None:
    dossier = read_dossier(params.export.engines)
    verdict = judge(dossier, config=params.gate, engines=params.export.engines)
    evidence = Evidence(
        stage="gate",
        weights=verdict.weights or "missing",
        split="gate",
        split_digest=dossier.disk.splits.get("gate"),
        exported=verdict.exported,
        params=params.gate.digest(),
    )
    files.write_json(paths.VERDICT, verdict.as_json() | {"evidence": evidence.as_json()})
    _print(verdict)


def check(params: Params) -> int:
    """Judge again what lies on disk, write nothing: 0 PROMOTE, 10 HOLD, 11 REJECT."""
    verdict = judge(read_dossier(params.export.engines), config=params.gate, engines=params.export.engines)
    _print(verdict)
    return EXIT_CODES[verdict.verdict]


def _print(verdict: Verdict) -> None:
    passed = sum(one.counts_as == "pass" for one in verdict.checks)
    print(f"{verdict.verdict}: {passed} of {len(verdict.checks)} checks passed")
    for one in verdict.checks:
        if one.counts_as != "pass":
            print(f"  {one.counts_as}  {one.name}: {one.reason}")
