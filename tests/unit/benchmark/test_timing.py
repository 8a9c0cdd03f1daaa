import pytest
from unit.benchmark.machine import BusyMachine, Machine

from sluice.benchmark.timing import Timing, measure


def _measure(machine: Machine, *, rounds: int = 20, batch: int = 4, **ms: float) -> dict[str, Timing]:
    arms = {name: machine.work(value) for name, value in ms.items()}
    return measure(arms, reference="eager", batch=batch, rounds=rounds, seed=0, clock=machine.clock)


def test_latency_throughput_and_ratio_are_those_of_the_machine() -> None:
    """An engine that takes half the time has half the latency and twice the throughput."""
    found = _measure(Machine(), eager=4.0, engine=2.0)
    assert found["engine"].latency_ms.value == pytest.approx(2.0, rel=0.02)
    assert found["engine"].latency_ms.low <= found["engine"].latency_ms.value <= found["engine"].latency_ms.high
    assert found["engine"].samples_per_s == pytest.approx(2000, rel=0.02)
    assert found["engine"].ratio.low < 0.5 < found["engine"].ratio.high
    assert (found["eager"].ratio.low, found["eager"].ratio.value, found["eager"].ratio.high) == (1.0, 1.0, 1.0)


def test_interleaving_keeps_the_ratio_on_a_busy_machine() -> None:
    """The machine's moods change the latencies, and the ratio little (G13)."""
    found = _measure(BusyMachine(), rounds=40, eager=1.5, engine=1.0)
    assert found["engine"].ratio.value == pytest.approx(1 / 1.5, rel=0.1)


def test_p90_needs_64_runs() -> None:
    """A percentile is not made of fewer runs than can show it."""
    few = _measure(Machine(), rounds=5, eager=100.0)["eager"]
    many = _measure(Machine(), rounds=64, eager=100.0)["eager"]
    assert (few.runs, few.p90_ms) == (5, None)
    assert many.runs == 64
    assert many.p90_ms == pytest.approx(100 * (1 + 1.28 * 0.02), rel=0.01)


def test_short_functions_run_more_often_in_a_visit() -> None:
    """A visit lasts about 20 ms, and at most 100 runs."""
    found = _measure(Machine(noise=0), rounds=5, eager=0.01, engine=2.0)
    assert (found["eager"].runs, found["engine"].runs) == (500, 50)


def test_warm_up_is_not_counted() -> None:
    """The slow first calls of an engine stay out of its figures (G13)."""
    machine = Machine(noise=0)
    cold, warm = machine.work(500.0), machine.work(1.0)
    calls = iter(range(10**6))
    arms = {"eager": lambda: cold() if next(calls) < 3 else warm()}
    found = measure(arms, reference="eager", batch=1, rounds=5, seed=0, clock=machine.clock)
    assert found["eager"].latency_ms.high == 1.0


def test_every_round_visits_every_arm_in_another_order() -> None:
    """No arm always follows the same neighbour."""
    machine, visited = Machine(noise=0), []
    work = machine.work(30.0)

    def arm(name: str) -> object:
        return lambda: (visited.append(name), work())

    arms = {name: arm(name) for name in "abc"}
    measure(arms, reference="a", batch=1, rounds=12, seed=0, clock=machine.clock)  # type: ignore[arg-type]
    rounds = [tuple(visited[-36:][start : start + 3]) for start in range(0, 36, 3)]
    assert all(sorted(names) == ["a", "b", "c"] for names in rounds)
    assert len(set(rounds)) > 3
