"""Measures of drift, against known values."""

import numpy as np
import pytest
from scipy import stats

from sluice.stats.drift import chi_square, holm, psi, two_sample


def test_psi_of_equal_shares_is_zero() -> None:
    """Twice the data in the same shares is no drift (up to the half count that is added)."""
    assert psi([100, 200, 300], [200, 400, 600]) == pytest.approx(0, abs=1e-4)


def test_psi_known_value() -> None:
    """Half against four fifths is 0.3 * ln(4)."""
    assert psi([500_000, 500_000], [800_000, 200_000]) == pytest.approx(0.3 * np.log(4), rel=1e-4)


def test_psi_of_an_empty_bin_is_finite_and_large() -> None:
    """A bin that emptied does not make the index infinite."""
    assert 1 < psi([100, 100], [200, 0]) < 10


@pytest.mark.parametrize("counts", [([1, 2], [1, 2, 3]), ([], [])])
def test_histograms_over_other_bins_are_refused(counts: tuple[list[int], list[int]]) -> None:
    """Two histograms must have the same bins."""
    with pytest.raises(ValueError, match="the same bins"):
        psi(*counts)


def test_negative_counts_are_refused() -> None:
    """A count below 0 is an error."""
    with pytest.raises(ValueError, match="at least 0"):
        psi([1, -2], [1, 2])


@pytest.mark.parametrize("n", [30, 900])
def test_two_sample_equals_scipy(n: int) -> None:
    """The p value is that of scipy's test, small samples exactly."""
    generator = np.random.default_rng(0)
    a, b = generator.normal(0, 1, n), generator.normal(0.2, 1, n)
    method = "exact" if n == 30 else "asymp"
    assert two_sample(a, b) == stats.ks_2samp(a, b, method=method).pvalue


def test_two_sample_tells_moved_from_not_moved() -> None:
    """A shift by one deviation is seen, equal samples are not."""
    a = np.random.default_rng(1).normal(size=300)
    assert two_sample(a, a + 1) < 1e-6
    assert two_sample(a, a) == pytest.approx(1.0)


def test_two_sample_refuses_nothing() -> None:
    """An empty sample is an error that says which."""
    with pytest.raises(ValueError, match="got 0 and 1"):
        two_sample([], [1.0])


def test_chi_square_equals_scipy() -> None:
    """Class counts are compared by the contingency test without continuity correction."""
    table = [[50, 60, 70], [70, 60, 40]]
    assert chi_square(*table) == pytest.approx(stats.chi2_contingency(table, correction=False).pvalue)


def test_chi_square_leaves_out_classes_that_neither_has() -> None:
    """A class without a sample on either side does not break the test, and one class alone tells nothing."""
    assert chi_square([50, 0, 50], [30, 0, 70]) == pytest.approx(chi_square([50, 50], [30, 70]))
    assert chi_square([5, 0], [9, 0]) == 1.0


def test_holm_known_values() -> None:
    """Holm's textbook example, in the order given."""
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([]) == []


def test_holm_never_exceeds_one_and_keeps_order() -> None:
    """Adjusted values stay within 1 and rise with the raw ones."""
    raw = sorted(np.random.default_rng(2).uniform(size=20))
    adjusted = holm(raw)
    assert adjusted == sorted(adjusted)
    assert max(adjusted) <= 1
    assert all(a >= p for a, p in zip(adjusted, raw, strict=True))
