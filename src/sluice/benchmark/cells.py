"""One line of the benchmark's table: an engine in a scenario, timed or not."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sluice.benchmark.timing import Timing

__all__ = ["Refusal", "Scenario", "cell", "sentence"]


@dataclass(frozen=True)
class Scenario:
    name: str
    batch: int
    threads: int


@dataclass(frozen=True)
class Refusal:
    """Why an engine is not timed, by one of the states of a cell."""

    status: str
    reason: str


def cell(engine: str, result: Timing | Refusal, *, precision: str, scenario: Scenario) -> dict[str, Any]:
    about = {
        "engine": engine,
        "precision": precision,
        "batch": scenario.batch,
        "threads": scenario.threads,
        "scenario": scenario.name,
    }
    if isinstance(result, Refusal):
        numbers = dict.fromkeys(("median_ms", "low_ms", "high_ms", "p90_ms", "samples_per_s", "ratio_to_eager"))
        return {**about, "status": result.status, "reason": result.reason, **numbers}
    return {
        **about,
        "status": "ok",
        "reason": "",
        "median_ms": result.latency_ms.value,
        "low_ms": result.latency_ms.low,
        "high_ms": result.latency_ms.high,
        "p90_ms": result.p90_ms,
        "samples_per_s": result.samples_per_s,
        "ratio_to_eager": result.ratio.as_json(),
    }


def sentence(of: Mapping[str, Any]) -> str:
    where = f"{of['engine']}, {of['scenario']} of {of['batch']}"
    if of["status"] != "ok":
        return f"{where}: {of['status']}, {of['reason']}"
    return f"{where}: {of['median_ms']:.3g} ms, {of['ratio_to_eager']['value']:.2f} of eager"
