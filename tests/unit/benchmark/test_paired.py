import pytest
from unit.benchmark.machine import BusyMachine, Machine

from sluice.benchmark.paired import PairedRatio, paired_ratio

MARGIN = 0.05


def _compare(
    machine: Machine, candidate_ms: float, champion_ms: float, *, seed: int = 0, pairs: int = 40
) -> PairedRatio:
    return paired_ratio(
        machine.work(candidate_ms),
        machine.work(champion_ms),
        pairs=pairs,
        margin=MARGIN,
        seed=seed,
        clock=machine.clock,
    )


@pytest.mark.parametrize("seed", range(8))
def test_the_same_model_passes(seed: int) -> None:
    """A against A is never slower (G13)."""
    found = _compare(Machine(seed=seed), 2.0, 2.0, seed=seed)
    assert found.status == "pass"
    assert found.low < 1 < found.high
    assert found.pairs == 40


@pytest.mark.parametrize("seed", range(8))
def test_ten_percent_slower_fails(seed: int) -> None:
    """A real slow-down of twice the margin is found (G13)."""
    found = _compare(Machine(seed=seed), 2.2, 2.0, seed=seed)
    assert found.status == "fail"
    assert found.value == pytest.approx(1.1, abs=0.02)
    assert found.reason.startswith("slower: the interval starts at 1.")


@pytest.mark.parametrize("seed", range(8))
def test_three_percent_slower_does_not_fail(seed: int) -> None:
    """Within the margin is pass or undecided, never fail."""
    assert _compare(Machine(seed=seed, noise=0.05), 2.06, 2.0, seed=seed).status in {"pass", "inconclusive"}


def test_faster_passes() -> None:
    """Half the time is no reason to complain."""
    found = _compare(Machine(), 1.0, 2.0)
    assert (found.status, round(found.value, 1)) == ("pass", 0.5)


def test_on_the_margin_is_inconclusive_after_three_looks() -> None:
    """The number of pairs is doubled twice and no more."""
    found = _compare(Machine(noise=0.03), 2.1, 2.0)
    assert (found.status, found.pairs) == ("inconclusive", 160)
    assert "holds 1.050, after 160 pairs" in found.reason


@pytest.mark.parametrize("slower", [1.0, 1.1])
def test_a_noisy_machine_concludes_nothing(slower: float) -> None:
    """Where the champion is not as fast as itself, neither pass nor fail is said (G13)."""
    found = _compare(Machine(noise=0.6), 2.0 * slower, 2.0)
    assert found.status == "inconclusive"
    assert "this machine is too disturbed to tell" in found.reason
    assert not (found.aa.low > 1 - MARGIN / 2 and found.aa.high < 1 + MARGIN / 2)


@pytest.mark.parametrize("seed", range(4))
def test_slow_moments_hit_both_and_blame_neither(seed: int) -> None:
    """A machine that turns three times slower and back does not make a model look slower (G13)."""
    assert _compare(BusyMachine(seed=seed), 2.0, 2.0, seed=seed).status != "fail"


def test_the_same_measurements_give_the_same_verdict() -> None:
    """All randomness is the seed's."""
    assert _compare(Machine(seed=3), 2.0, 2.0, seed=5) == _compare(Machine(seed=3), 2.0, 2.0, seed=5)
