import gzip
import json
from pathlib import Path

from unit.profiling.workload import workload

from sluice.config.learning import ProfileConfig
from sluice.profiling.record import peak_memory_mib, record

CONFIG = ProfileConfig(wait=1, warmup=1, active=5)


def test_the_trace_names_the_parts_of_each_recorded_step(tmp_path: Path) -> None:
    """B21: wait and warm-up steps are not in the trace, the active ones are, with their labels."""
    recording = record(CONFIG, workload=workload(), trace=tmp_path / "trace.json.gz")

    events = json.loads(gzip.decompress((tmp_path / "trace.json.gz").read_bytes()))["traceEvents"]
    names = [event.get("name") for event in events if event.get("cat") == "user_annotation"]
    assert recording.steps == 5
    assert [names.count(part) for part in ("data", "forward", "backward", "optimizer")] == [5, 5, 5, 5]
    assert list(tmp_path.iterdir()) == [tmp_path / "trace.json.gz"]


def test_the_costliest_operators_come_first(tmp_path: Path) -> None:
    """Ten operators by their own time, labels left out, shares of all operators."""
    operators = record(CONFIG, workload=workload(), trace=tmp_path / "trace.json.gz").operators

    assert len(operators) == 10
    assert [operator.self_ms for operator in operators] == sorted((o.self_ms for o in operators), reverse=True)
    assert any(operator.name == "aten::addmm" and operator.calls == 2 for operator in operators)
    assert not {operator.name for operator in operators} & {"data", "forward", "backward", "optimizer"}
    assert 0 < sum(operator.share for operator in operators) <= 1


def test_a_cap_that_fits_a_few_steps_shortens_the_recording(tmp_path: Path) -> None:
    """B21: the size is bounded by recording less, not by writing more and hoping."""
    trace = tmp_path / "trace.json.gz"
    one_step = record(CONFIG.model_copy(update={"active": 1}), workload=workload(), trace=trace).trace_bytes

    recording = record(
        CONFIG.model_copy(update={"active": 100}), workload=workload(), trace=trace, max_trace_bytes=4 * one_step
    )

    assert 1 <= recording.steps < 5
    assert trace.stat().st_size == recording.trace_bytes <= 4 * one_step


def test_a_step_over_the_cap_leaves_an_empty_trace_and_its_operators(tmp_path: Path) -> None:
    """B21: an empty trace is better than one that no viewer opens."""
    trace = tmp_path / "trace.json.gz"
    recording = record(CONFIG, workload=workload(), trace=trace, max_trace_bytes=100)

    assert recording.trace_bytes == 0
    assert recording.operators
    assert json.loads(gzip.decompress(trace.read_bytes())) == {"traceEvents": []}


def test_peak_memory_is_that_of_this_process() -> None:
    """A Python process with torch takes more than ten MiB and less than a terabyte."""
    assert 10 < peak_memory_mib() < 2**20
