"""How a trained model is exported, judged, compared and registered."""

from typing import Annotated, Any

from pydantic import AfterValidator, Field, field_validator

from sluice.config.plugins import ENGINES, engine_names
from sluice.config.section import Section

__all__ = [
    "BenchmarkConfig",
    "CaptureConfig",
    "CompareConfig",
    "EvaluateConfig",
    "ExportConfig",
    "Floors",
    "GateConfig",
    "RegistryConfig",
    "ReportConfig",
    "TrackingConfig",
]


def _known_engine(name: str) -> str:
    if name not in engine_names():
        raise ValueError(f"expected one of {', '.join(map(repr, engine_names()))}")
    return name


def _some_and_once(names: tuple[str, ...]) -> tuple[str, ...]:
    if not names:
        raise ValueError(f"expected at least one of {', '.join(map(repr, engine_names()))}")
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise ValueError(f"named twice: {', '.join(map(repr, twice))}")
    return names


EngineNames = Annotated[tuple[Annotated[str, AfterValidator(_known_engine)], ...], AfterValidator(_some_and_once)]


class CaptureConfig(Section):
    opset: int = Field(default=18, ge=18, le=23)
    """Of the ONNX file: 18 is read by the most runtimes."""


class ExportConfig(Section):
    engines: EngineNames
    """`<engine>-<precision>`, each made and checked on its own."""
    options: dict[str, dict[str, Any]] = Field(default_factory=dict)
    """Per engine, passed to its exporter."""

    @field_validator("options")
    @classmethod
    def _of_known_engines(cls, value: dict[str, dict[str, Any]]) -> dict[str, dict[str, Any]]:
        for kind in value:
            if kind not in ENGINES:
                raise ValueError(f"got options for {kind!r}, expected one of {', '.join(map(repr, ENGINES))}")
        return value


class EvaluateConfig(Section):
    confidence: float = Field(default=0.95, gt=0.5, lt=1)
    batch_size: int = Field(default=256, gt=0)


class BenchmarkConfig(Section):
    rounds: int = Field(default=20, ge=5)
    """Interleaved rounds: each visits every engine once, in random order."""
    offline_batch: int = Field(default=64, gt=0)
    threads: int = Field(default=1, gt=0)
    """CPU threads of each engine."""


class CompareConfig(Section):
    pairs: int = Field(default=40, ge=10)
    """Interleaved pairs of candidate and champion at the first look; doubled twice while undecided."""
    batch: int = Field(default=1, gt=0)
    threads: int = Field(default=1, gt=0)


class Floors(Section):
    """Absolute limits on the gate split; a model below one of them is rejected."""

    accuracy: float = Field(ge=0, le=1)
    balanced_accuracy: float = Field(ge=0, le=1)
    worst_class_recall: float = Field(ge=0, le=1)


class GateConfig(Section):
    required: EngineNames
    """Engines that must be ok; each must stand in export.engines."""
    floors: Floors
    accuracy_margin: float = Field(default=0.005, gt=0, lt=1)
    """The candidate may be worse than the champion by less than this, shown by the 95 % interval."""
    latency_margin: float = Field(default=0.05, gt=0)
    """The candidate may be slower than the champion by this share."""


class RegistryConfig(Section):
    name: str = Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_-]{0,99}$")
    """The registered model in MLflow, and the class map's file."""


class TrackingConfig(Section):
    uri: str | None = None
    """An MLflow server; null is the embedded store, mlflow.db. MLFLOW_TRACKING_URI goes before both."""


class ReportConfig(Section):
    images: bool = True
    """Show samples in reports, MLflow and golden.npz; false keeps them out."""
