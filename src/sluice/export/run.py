"""Make an engine's folder and judge it: what goes wrong is a state with a reason, not an exception."""

import shutil
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from sluice.config.plugins import ENGINES, split_engine_name
from sluice.engines import Missing, Predictor, probe
from sluice.engines.answering import Answers, ask
from sluice.engines.isolated import run_isolated
from sluice.engines.loading import import_plugin
from sluice.export import parity
from sluice.export.clean_process import CleanProcess, check_clean_process
from sluice.export.probes import BATCHES, batches_of, edge_batches
from sluice.export.signature import for_engine
from sluice.io import files, paths

__all__ = ["Exported", "export_engine", "export_files"]

TIMEOUT_S = 600.0

Arrays = Mapping[str, NDArray[Any]]


@dataclass(frozen=True, kw_only=True)
class Exported:
    """What parity.json says, but for the evidence."""

    engine: str
    status: str
    reason: str
    numbers: parity.Parity | None = None
    limits: parity.Limits | None = None
    samples: int = 0
    executed_precision: str | None = None
    clean_process: CleanProcess = field(default_factory=lambda: CleanProcess("skipped", "there is nothing to check"))

    def as_json(self) -> dict[str, Any]:
        names = ("max_abs_error", "relative_max", "sqnr_db", "kl_max", "top1_agreement")
        return {
            "engine": self.engine,
            "status": self.status,
            "reason": self.reason,
            **{name: getattr(self.numbers, name, None) for name in names},
            "batches": list(BATCHES),
            "samples": self.samples,
            "executed_precision": self.executed_precision,
            "clean_process": asdict(self.clean_process),
            "limits": asdict(self.limits) if self.limits else None,
        }


def export_engine(
    engine: str,
    *,
    captured: Path,
    folder: Path,
    reference: Predictor,
    inputs: Arrays,
    options: Mapping[str, Any],
    timeout_s: float = TIMEOUT_S,
) -> Exported:
    """Fill `folder` from `captured`, ask it what `reference` is asked, and try it in a clean process.

    `inputs` are real samples; each process may take `timeout_s`.
    """
    missing = probe(split_engine_name(engine)[0])
    if isinstance(missing, Missing):
        return Exported(engine=engine, status="unavailable", reason=f"{missing.reason}. {missing.remedy}")
    request = {
        "engine": engine,
        "captured": str(captured.resolve()),
        "folder": str(folder.resolve()),
        "options": dict(options),
    }
    made = run_isolated("sluice.export.run:export_files", request, timeout_s=timeout_s)
    if made.state != "ok":
        _empty(folder)
        return Exported(engine=engine, status=made.state, reason=made.reason)
    batches = [*batches_of(inputs), *edge_batches(files.read_json(folder / paths.SIGNATURE_NAME))]
    answers = ask(engine, folder, batches, timeout_s=timeout_s)
    samples = len(next(iter(inputs.values())))
    if answers.state != "ok":
        return Exported(engine=engine, status=answers.state, reason=answers.reason, samples=samples)
    return _judged(engine, folder, [reference(batch) for batch in batches], answers, samples=samples)


def export_files(*, engine: str, captured: str, folder: str, options: Mapping[str, Any]) -> None:
    """The other end: everything that the folder of an engine holds but parity.json."""
    kind, precision = split_engine_name(engine)
    source, target = Path(captured), Path(folder)
    signature = for_engine(files.read_json(source / paths.SIGNATURE_NAME), engine=engine, precision=precision)
    files.write_json(target / paths.SIGNATURE_NAME, signature)
    shutil.copyfile(source / paths.GOLDEN_NAME, target / paths.GOLDEN_NAME)
    exporter = import_plugin(kind, module=ENGINES[kind].exports)
    exporter.export(source, target, precision=precision, options=options)


def _judged(engine: str, folder: Path, ours: Sequence[Arrays], answers: Answers, *, samples: int) -> Exported:
    verdict = parity.judge(
        ours, answers.outputs, requested=split_engine_name(engine)[1], executed=str(answers.executed_precision)
    )
    return Exported(
        engine=engine,
        status="refused" if verdict.reasons else "ok",
        reason="; ".join(verdict.reasons),
        numbers=verdict.parity,
        limits=verdict.limits,
        samples=samples,
        executed_precision=answers.executed_precision,
        clean_process=check_clean_process(engine, folder),
    )


def _empty(folder: Path) -> None:
    """Half a model is no model."""
    shutil.rmtree(folder)
    folder.mkdir()
