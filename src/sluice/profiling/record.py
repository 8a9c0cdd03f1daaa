"""The operators of a few training steps, by torch.profiler on a fixed schedule, and a trace of bounded size."""

import gzip
import resource
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from torch.profiler import ProfilerActivity, profile, record_function, schedule

from sluice.config.learning import ProfileConfig
from sluice.io import files
from sluice.profiling.parts import PARTS, Workload, endless, step

__all__ = ["MAX_TRACE_BYTES", "Operator", "Recording", "peak_memory_mib", "record"]

MAX_TRACE_BYTES = 20 * 2**20
_TOP = 10
_SLACK = 0.8


@dataclass(frozen=True, kw_only=True)
class Operator:
    """`self_ms` is per step and leaves out the operators called from this one; `share` is of all operators."""

    name: str
    self_ms: float
    calls: int
    share: float


@dataclass(frozen=True, kw_only=True)
class Recording:
    """`steps` may be fewer than asked for; `trace_bytes` is 0, and the trace empty, when one step is over the cap."""

    steps: int
    operators: tuple[Operator, ...]
    trace_bytes: int


def record(
    config: ProfileConfig, *, workload: Workload, trace: Path, max_trace_bytes: int = MAX_TRACE_BYTES
) -> Recording:
    """Write a gzipped Chrome trace of at most `max_trace_bytes` to `trace` and return the ten costliest operators.

    One step is recorded first: it says how many fit, before a long recording has filled the memory.
    """
    one = _record(config, steps=1, workload=workload, trace=trace)
    steps = min(config.active, int(_SLACK * max_trace_bytes / one.trace_bytes))
    recording = _record(config, steps=steps, workload=workload, trace=trace) if steps > 1 else one
    if recording.trace_bytes > max_trace_bytes:
        _write_empty(trace)
        return Recording(steps=recording.steps, operators=recording.operators, trace_bytes=0)
    return recording


def peak_memory_mib() -> float:
    """The largest resident set that this process ever had."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / 2**20 if sys.platform == "darwin" else peak / 2**10


def _write_empty(trace: Path) -> None:
    with files.atomic_file(trace) as temporary:
        temporary.write_bytes(gzip.compress(b'{"traceEvents": []}', mtime=0))


def _record(config: ProfileConfig, *, steps: int, workload: Workload, trace: Path) -> Recording:
    plan = schedule(wait=config.wait, warmup=config.warmup, active=steps, repeat=1)
    batches = endless(workload)
    with profile(activities=[ProfilerActivity.CPU], schedule=plan, acc_events=True) as profiler:
        for _ in range(config.wait + config.warmup + steps):
            step(workload, batches=batches, around=record_function)
            profiler.step()
    with files.atomic_file(trace) as temporary:
        compressed = temporary.with_name(f"{temporary.name}.gz")
        profiler.export_chrome_trace(str(compressed))
        compressed.rename(temporary)
    operators = _costliest(profiler.key_averages(), steps=steps)
    return Recording(steps=steps, operators=operators, trace_bytes=trace.stat().st_size)


class _Row(Protocol):
    key: str
    count: int
    self_cpu_time_total: float


def _costliest(rows: Iterable[_Row], *, steps: int) -> tuple[Operator, ...]:
    cost_us = {
        row.key: (row.self_cpu_time_total, row.count)
        for row in rows
        if row.key not in PARTS and not row.key.startswith("ProfilerStep")
    }
    total_us = sum(cost for cost, _ in cost_us.values()) or 1.0
    largest = sorted(cost_us.items(), key=lambda item: -item[1][0])[:_TOP]
    return tuple(
        Operator(name=name, self_ms=cost / 1000 / steps, calls=count // steps, share=cost / total_us)
        for name, (cost, count) in largest
    )
