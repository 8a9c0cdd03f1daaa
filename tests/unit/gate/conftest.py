"""Evidence of a candidate that deserves PROMOTE, to be made worse by each test."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from sluice.config.release import Floors, GateConfig
from sluice.gate import reports
from sluice.gate.dossier import Disk, Dossier
from sluice.gate.judge import judge
from sluice.gate.verdict import Check, Verdict

REQUIRED, OPTIONAL = "onnxruntime-fp32", "openvino-fp32"
ENGINES = (REQUIRED, OPTIONAL)
DISK = Disk(
    weights="w" * 64,
    exported={REQUIRED: "r" * 64, OPTIONAL: "o" * 64},
    splits={"train": "t" * 64, "val": "v" * 64, "gate": "g" * 64},
)


def _stamp(split: str, exported: dict[str, str] | None = None) -> reports.Stamp:
    made = dict(DISK.exported) if exported is None else exported
    return reports.Stamp(weights="w" * 64, split=split, split_digest=DISK.splits[split], exported=made)


def _range(value: float, low: float, high: float) -> reports.Range:
    return reports.Range(value=value, low=low, high=high)


def _comparison() -> reports.Comparison:
    latency = reports.ComparedLatency(status="ok", ratio=_range(0.98, 0.96, 1.0), aa=_range(1.0, 0.99, 1.01))
    return reports.Comparison(
        champion=reports.Champion(version=3, weights="c" * 64),
        same=False,
        accuracy=reports.ComparedAccuracy(status="ok", difference=_range(0.001, -0.002, 0.004), n=10_000),
        latency=dict.fromkeys(ENGINES, latency),
        evidence=_stamp("gate"),
    )


@pytest.fixture
def good() -> Dossier:
    engine = reports.EngineMetrics(status="ok", difference=_range(0.0, 0.0, 0.0))
    ok = reports.State(status="ok", reason="")
    comparison = _comparison()
    return Dossier(
        disk=DISK,
        validation=reports.Validation(accepted=70_000, evidence={}),
        schema=reports.SchemaReport(task="image_classification", classes=("a", "b")),
        training=reports.Training(evidence=_stamp("val", {})),
        metrics=reports.Metrics(
            accuracy=reports.MeasuredShare(value=0.92),
            balanced_accuracy=reports.MeasuredShare(value=0.91),
            worst_class=reports.WorstClass(name="b", recall=0.8, n=1000),
            engines=dict.fromkeys(ENGINES, engine),
            evidence=_stamp("gate"),
        ),
        benchmark=reports.Benchmark(
            cells=tuple(
                reports.Cell(engine=name, scenario=scenario, status="ok")
                for name in ("eager", *ENGINES)
                for scenario in ("single_stream", "offline")
            ),
            evidence=_stamp("val"),
        ),
        comparison=comparison,
        registry=reports.Registry(champion=comparison.champion),
        parity={
            name: reports.Parity(
                status="ok", reason="", clean_process=ok, evidence=_stamp("val", {name: DISK.exported[name]})
            )
            for name in ENGINES
        },
    )


@pytest.fixture
def change() -> Callable[..., Dossier]:
    """`change(dossier, "metrics", accuracy=...)`: the dossier with some fields of one report replaced."""

    def changed(dossier: Dossier, report: str, **fields: Any) -> Dossier:
        return replace(dossier, **{report: getattr(dossier, report).model_copy(update=fields)})

    return changed


@pytest.fixture
def config() -> GateConfig:
    floors = Floors(accuracy=0.88, balanced_accuracy=0.88, worst_class_recall=0.6)
    return GateConfig(required=(REQUIRED,), floors=floors, accuracy_margin=0.005, latency_margin=0.05)


@pytest.fixture
def judged(config: GateConfig) -> Callable[[Dossier], Verdict]:
    return lambda dossier: judge(dossier, config=config, engines=ENGINES)


@pytest.fixture
def outcome(judged: Callable[[Dossier], Verdict]) -> Callable[[Dossier, str], tuple[str, Check]]:
    """The verdict on a dossier, and one check of it by name."""

    def found(dossier: Dossier, name: str) -> tuple[str, Check]:
        verdict = judged(dossier)
        return verdict.verdict, next(one for one in verdict.checks if one.name == name)

    return found
