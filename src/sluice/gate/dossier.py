"""All evidence as it lies on disk: what was read, what is missing or wrong, and the digests of the files themselves."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from pydantic import ValidationError

from sluice.errors import MissingArtifact
from sluice.gate import reports
from sluice.io import files, paths

__all__ = ["Disk", "Dossier", "Problem", "read_dossier"]

_SPLITS = ("train", "val", "gate")

R = TypeVar("R", bound=reports.Report)


@dataclass(frozen=True)
class Problem:
    """A report that is no evidence, and why."""

    path: Path
    reason: str


@dataclass(frozen=True)
class Disk:
    """Digests of what lies there now; an engine or split that is not there is left out."""

    weights: str | None
    exported: Mapping[str, str]
    splits: Mapping[str, str]


@dataclass(frozen=True, kw_only=True)
class Dossier:
    disk: Disk
    validation: reports.Validation | Problem
    schema: reports.SchemaReport | Problem
    training: reports.Training | Problem
    metrics: reports.Metrics | Problem
    benchmark: reports.Benchmark | Problem
    comparison: reports.Comparison | Problem
    registry: reports.Registry | Problem
    """Who is champion: no evidence itself, but what the comparison must be with."""
    parity: Mapping[str, reports.Parity | Problem]
    """One of each engine in export.engines."""

    def problems(self, *, required: Sequence[str]) -> list[Problem]:
        """What is no evidence, of all reports that must be there."""
        always = (self.validation, self.schema, self.training, self.metrics, self.benchmark, self.comparison)
        missing = Problem(paths.EXPORTED, "has nothing of a required engine")
        parities = [self.parity.get(engine, missing) for engine in required]
        return [report for report in (*always, *parities) if isinstance(report, Problem)]

    def stamps(self) -> Iterator[tuple[Path, reports.Stamp]]:
        """What every report that could be read was made from."""
        named = {
            paths.TRAINING_SUMMARY: self.training,
            **{paths.exported(engine) / paths.PARITY_NAME: parity for engine, parity in self.parity.items()},
            paths.METRICS: self.metrics,
            paths.BENCHMARK: self.benchmark,
            paths.COMPARISON: self.comparison,
        }
        for path, report in named.items():
            if not isinstance(report, Problem):
                yield path, report.evidence


def read_dossier(engines: Sequence[str]) -> Dossier:
    """Read everything, whatever state it is in; nothing is raised for what is missing or wrong."""
    folders = {engine: paths.exported(engine) for engine in engines}
    disk = Disk(
        weights=_digest(paths.WEIGHTS),
        exported={engine: found for engine, at in folders.items() if (found := _digest(at)) is not None},
        splits={split: found for split in _SPLITS if (found := _split_digest(split)) is not None},
    )
    return Dossier(
        disk=disk,
        validation=_read(paths.VALIDATION_SUMMARY, reports.Validation),
        schema=_read(paths.SCHEMA, reports.SchemaReport),
        training=_read(paths.TRAINING_SUMMARY, reports.Training),
        metrics=_read(paths.METRICS, reports.Metrics),
        benchmark=_read(paths.BENCHMARK, reports.Benchmark),
        comparison=_read(paths.COMPARISON, reports.Comparison),
        registry=_read(paths.REGISTRY, reports.Registry),
        parity={engine: _read(at / paths.PARITY_NAME, reports.Parity) for engine, at in folders.items()},
    )


def _read(path: Path, kind: type[R]) -> R | Problem:
    try:
        return kind.model_validate_json(path.read_bytes())
    except FileNotFoundError:
        return Problem(path, "is missing")
    except OSError as error:
        return Problem(path, f"cannot be read ({error.strerror})")
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False)[0]
        where = ".".join(str(part) for part in first["loc"]) or "the whole file"
        return Problem(path, f"cannot be used ({where}: {first['msg']})")


def _digest(path: Path) -> str | None:
    try:
        return files.digest_folder(path, without=(paths.PARITY_NAME,)) if path.is_dir() else files.digest_file(path)
    except (MissingArtifact, OSError):
        return None


class _SplitReport(reports.Report):
    digest: str


def _split_digest(split: str) -> str | None:
    found = _read(paths.split_folder(split) / "split.json", _SplitReport)
    return None if isinstance(found, Problem) else found.digest
