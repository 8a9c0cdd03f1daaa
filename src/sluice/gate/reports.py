"""The parts of other stages' reports that the gate relies on, as strict types: what does not fit is no evidence."""

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

__all__ = [
    "Benchmark",
    "Cell",
    "Champion",
    "ComparedAccuracy",
    "ComparedLatency",
    "Comparison",
    "EngineMetrics",
    "MeasuredShare",
    "Metrics",
    "Parity",
    "Range",
    "Registry",
    "Report",
    "SchemaReport",
    "Stamp",
    "State",
    "Training",
    "Validation",
    "WorstClass",
]


class Report(BaseModel):
    model_config = ConfigDict(frozen=True, strict=True, extra="ignore", allow_inf_nan=False)


Share = Annotated[float, Field(ge=0, le=1)] | None
"""Null is what a number that is not finite becomes in JSON."""


class Stamp(Report):
    weights: str
    split: str | None = None
    split_digest: str | None = None
    exported: dict[str, str] = {}


class Range(Report):
    value: float | None
    low: float | None
    high: float | None


class Validation(Report):
    accepted: int
    evidence: Mapping[str, Any]
    """Older than any weights: there is nothing in it to compare."""


class SchemaReport(Report):
    task: str
    classes: tuple[str, ...] = Field(min_length=1)


class Training(Report):
    evidence: Stamp


class State(Report):
    status: str
    reason: str | None = None


class Parity(State):
    clean_process: State
    evidence: Stamp


class MeasuredShare(Report):
    value: Share


class WorstClass(Report):
    name: str
    recall: Share
    n: int


class EngineMetrics(State):
    difference: Range | None = None


class Metrics(Report):
    accuracy: MeasuredShare
    balanced_accuracy: MeasuredShare
    worst_class: WorstClass
    engines: dict[str, EngineMetrics]
    evidence: Stamp


class Cell(State):
    engine: str
    scenario: str


class Benchmark(Report):
    cells: tuple[Cell, ...]
    evidence: Stamp


class ComparedAccuracy(State):
    difference: Range | None = None
    n: int = 0


class ComparedLatency(State):
    ratio: Range | None = None
    aa: Range | None = None


class Champion(Report):
    version: int
    weights: str


class Registry(Report):
    champion: Champion | None


class Comparison(Report):
    champion: Champion | None
    same: bool
    verdict_on_record: Mapping[str, Any] | None = None
    accuracy: ComparedAccuracy | None
    latency: dict[str, ComparedLatency]
    evidence: Stamp
