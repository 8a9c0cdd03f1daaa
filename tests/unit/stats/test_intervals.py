"""Intervals hold what they promise, against known values and by simulation."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from sluice.stats.intervals import bootstrap, bootstrap_counts, wilson


@pytest.mark.parametrize(("successes", "n"), [(0, 10), (1, 10), (5, 10), (10, 10), (97, 100), (9123, 10_000)])
def test_wilson_equals_scipy(successes: int, n: int) -> None:
    """Wilson's interval is the one that scipy computes."""
    interval = wilson(successes, n, confidence=0.95)
    expected = stats.binomtest(successes, n).proportion_ci(confidence_level=0.95, method="wilson")
    assert interval.value == successes / n
    assert interval.low == pytest.approx(expected.low, abs=1e-12)
    assert interval.high == pytest.approx(expected.high, abs=1e-12)


def test_wilson_of_nothing_knows_nothing() -> None:
    """No sample gives NaN within 0..1, not a perfect or a zero score (A6)."""
    interval = wilson(0, 0, confidence=0.95)
    assert math.isnan(interval.value)
    assert (interval.low, interval.high) == (0.0, 1.0)


def test_wilson_refuses_more_successes_than_samples() -> None:
    """A count that cannot be is refused with both numbers."""
    with pytest.raises(ValueError, match="got 4 of 3"):
        wilson(4, 3, confidence=0.95)


@given(st.integers(1, 500).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))), st.floats(0.51, 0.999))
def test_wilson_holds_its_value(counts: tuple[int, int], confidence: float) -> None:
    """The interval stays within 0..1 and holds the share."""
    interval = wilson(*counts, confidence=confidence)
    assert 0 <= interval.low <= interval.value <= interval.high <= 1


def test_wilson_covers_the_truth() -> None:
    """95 % intervals hold the true share about 95 times in 100."""
    counts = np.random.default_rng(0).binomial(60, 0.9, size=2000)
    covered = [wilson(int(count), 60, confidence=0.95) for count in counts]
    assert 0.93 <= np.mean([one.low <= 0.9 <= one.high for one in covered]) <= 0.98


@pytest.mark.parametrize("method", ["percentile", "bca"])
def test_bootstrap_agrees_with_scipy(method: str) -> None:
    """Both forms of the bootstrap give scipy's interval up to the chance of the draws."""
    values = np.random.default_rng(1).exponential(size=80)
    interval = bootstrap(values, np.mean, confidence=0.95, draws=20_000, seed=0, method=method)  # type: ignore[arg-type]
    reference = stats.bootstrap(
        (values,), np.mean, confidence_level=0.95, n_resamples=20_000, method=method, rng=np.random.default_rng(2)
    ).confidence_interval
    assert interval.value == values.mean()
    assert interval.low == pytest.approx(reference.low, abs=0.015)
    assert interval.high == pytest.approx(reference.high, abs=0.015)


def test_bootstrap_takes_a_median_and_repeats() -> None:
    """Any statistic with numpy's signature works, and equal seeds give equal intervals."""
    values = np.random.default_rng(3).normal(5, 1, size=51)
    once, again = (bootstrap(values, np.median, confidence=0.9, draws=500, seed=7) for _ in range(2))
    assert once == again
    assert once.low <= once.value <= once.high


def test_bootstrap_splits_large_work_into_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Draws made in several parts are as many as were asked for."""
    monkeypatch.setattr("sluice.stats.intervals._VALUES_AT_ONCE", 100)
    seen: list[int] = []

    def counted(values: np.ndarray, axis: int) -> np.ndarray:
        seen.append(len(values) if values.ndim > 1 else 0)
        return np.mean(values, axis=axis)

    bootstrap(np.arange(30), counted, confidence=0.95, draws=10, seed=0)
    assert sum(seen) == 10
    assert max(seen) <= 3


@pytest.mark.parametrize("method", ["percentile", "bca"])
def test_bootstrap_of_equal_values_is_a_point(method: str) -> None:
    """Values that do not vary give their value, not NaN."""
    interval = bootstrap([2.0, 2.0, 2.0], np.mean, confidence=0.95, draws=100, seed=0, method=method)  # type: ignore[arg-type]
    assert (interval.value, interval.low, interval.high) == (2.0, 2.0, 2.0)


def test_bootstrap_refuses_an_empty_sample() -> None:
    """Nothing to draw from is an error that shows the shape."""
    with pytest.raises(ValueError, match=r"got shape \(0,\)"):
        bootstrap([], np.mean, confidence=0.95, draws=10, seed=0)


def test_bootstrap_covers_the_truth() -> None:
    """95 % intervals of a mean hold the true mean about 95 times in 100."""
    generator = np.random.default_rng(4)
    intervals = [bootstrap(generator.normal(1, 1, 60), np.mean, confidence=0.95, draws=400, seed=i) for i in range(400)]
    assert 0.91 <= np.mean([one.low <= 1 <= one.high for one in intervals]) <= 0.98


def test_bootstrap_counts_equals_a_bootstrap_of_the_samples() -> None:
    """Drawing tables of counts is drawing samples."""
    counted = bootstrap_counts([30, 70], lambda c: c[..., 1] / c.sum(axis=-1), confidence=0.95, draws=20_000, seed=0)
    drawn = bootstrap([0.0] * 30 + [1.0] * 70, np.mean, confidence=0.95, draws=20_000, seed=1)
    assert counted.value == drawn.value
    assert (counted.low, counted.high) == pytest.approx((drawn.low, drawn.high), abs=0.011)


@pytest.mark.parametrize("counts", [[], [0, 0], [-1, 3]])
def test_bootstrap_counts_refuses_what_are_no_counts(counts: list[int]) -> None:
    """Empty, all zero or negative counts are refused."""
    with pytest.raises(ValueError, match="at least 0 and not all 0"):
        bootstrap_counts(counts, np.sum, confidence=0.95, draws=10, seed=0)
