"""Intervals against margins."""

import pytest

from sluice.gate.limits import above, difference_state, half_width, ratio_state
from sluice.gate.reports import Range


def _range(low: float | None, high: float | None, value: float | None = 0.0) -> Range:
    return Range(value=value, low=low, high=high)


@pytest.mark.parametrize(("value", "status"), [(0.9, "ok"), (0.88, "ok"), (0.8799, "failed"), (None, "failed")])
def test_floor(value: float | None, status: str) -> None:
    """At the floor is above it; no number is below it (B19, F10)."""
    assert above(value, 0.88) == status


@pytest.mark.parametrize(
    ("low", "high", "status"),
    [
        (-0.004, 0.002, "ok"),
        (0.01, 0.02, "ok"),
        (-0.005, 0.002, "inconclusive"),
        (-0.02, 0.02, "inconclusive"),
        (-0.02, -0.005, "inconclusive"),
        (-0.02, -0.006, "refused"),
        (None, 0.02, "failed"),
        (-0.001, None, "failed"),
        (0.02, -0.02, "failed"),
    ],
)
def test_difference(low: float | None, high: float | None, status: str) -> None:
    """Above the margin, below it, on both sides of it, or no interval at all."""
    assert difference_state(_range(low, high), margin=0.005) == status


def test_no_difference_failed() -> None:
    """What was not measured is not equal, nor is an interval around nothing."""
    assert difference_state(None, margin=0.005) == "failed"
    assert difference_state(_range(0.0, 0.0, None), margin=0.005) == "failed"


@pytest.mark.parametrize(
    ("low", "high", "status"),
    [
        (0.9, 1.04, "ok"),
        (0.9, 1.05, "inconclusive"),
        (1.04, 1.06, "inconclusive"),
        (1.06, 1.2, "refused"),
        (None, 1.0, "failed"),
    ],
)
def test_ratio(low: float | None, high: float | None, status: str) -> None:
    """A candidate is too slow only when the whole interval says so (G13)."""
    assert ratio_state(_range(low, high), _range(0.99, 1.01), margin=0.05) == status


@pytest.mark.parametrize("aa", [None, _range(0.97, 1.0), _range(1.0, 1.03), _range(None, None)])
def test_a_disturbed_machine_concludes_nothing(aa: Range | None) -> None:
    """Where a model is not as fast as itself neither a pass nor a refusal counts (G13)."""
    assert ratio_state(_range(0.5, 0.6), aa, margin=0.05) == "inconclusive"
    assert ratio_state(_range(2.0, 3.0), aa, margin=0.05) == "inconclusive"


def test_half_width() -> None:
    """What so many samples can show is half the interval."""
    assert half_width(_range(-0.01, 0.02)) == pytest.approx(0.015)
