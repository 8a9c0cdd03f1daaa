from pathlib import Path

import pytest
from unit.benchmark.machine import Machine

from sluice.benchmark.cells import Refusal, Scenario, cell
from sluice.benchmark.clock import StealMeter, warm_up


def test_warm_up_waits_until_runs_are_steady() -> None:
    """Ten slow runs are waited out until most of the window before is steady too."""
    machine = Machine(noise=0)
    runs = iter([machine.work(50.0 - 4 * index) for index in range(10)] + [machine.work(10.0)] * 100)

    def run() -> None:
        next(runs)()

    assert warm_up(run, clock=machine.clock) == 10_000_000
    assert machine.runs == 18


def test_warm_up_ends_where_runs_never_settle() -> None:
    """After three seconds enough is enough."""
    machine = Machine(noise=1.0)
    warm_up(machine.work(400.0), clock=machine.clock)
    assert machine.now_ns < 20e9


def test_warm_up_of_a_long_function_is_short() -> None:
    """A function of four seconds is run once."""
    machine = Machine(noise=0)
    assert warm_up(machine.work(4000.0), clock=machine.clock) == 4_000_000_000
    assert machine.runs == 1


def test_steal_is_the_share_since_the_start(tmp_path: Path) -> None:
    """Ticks that the host took, of all ticks in between."""
    source = tmp_path / "stat"
    source.write_text("cpu  100 0 50 800 0 0 0 50 0 0\ncpu0 1 2 3\n")
    meter = StealMeter(source)
    source.write_text("cpu  150 0 50 840 0 0 0 60 0 0\ncpu0 1 2 3\n")
    assert meter.share() == pytest.approx(0.1)


@pytest.mark.parametrize("content", [None, "", "cpu 1 2 3\n", "intr 5\n"])
def test_steal_is_unknown_where_the_system_does_not_tell(tmp_path: Path, content: str | None) -> None:
    """No figure is better than zero."""
    source = tmp_path / "stat"
    if content is not None:
        source.write_text(content)
    assert StealMeter(source).share() is None


def test_a_refused_cell_has_its_state_and_no_numbers() -> None:
    """An engine that is wrong is not timed, and the table says why."""
    scenario = Scenario("offline", 64, 1)
    found = cell("openvino-fp32", Refusal("refused", "SQNR is 30.0 dB"), precision="fp32", scenario=scenario)
    assert (found["status"], found["reason"], found["batch"]) == ("refused", "SQNR is 30.0 dB", 64)
    assert {found[key] for key in ("median_ms", "low_ms", "high_ms", "p90_ms", "samples_per_s", "ratio_to_eager")} == {
        None
    }
