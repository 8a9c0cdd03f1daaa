"""The paired difference of two accuracies."""

import time

import numpy as np
import pytest

from sluice.stats.paired import paired_difference


def _pair(n: int, *, better: int, worse: int) -> tuple[np.ndarray, np.ndarray]:
    candidate, champion = np.ones(n, dtype=bool), np.ones(n, dtype=bool)
    champion[:better] = False
    candidate[better : better + worse] = False
    return candidate, champion


def test_the_sign_is_that_of_candidate_minus_champion() -> None:
    """A better candidate has a positive difference."""
    interval = paired_difference(*_pair(2000, better=60, worse=10), confidence=0.95, seed=0)
    assert interval.value == pytest.approx(0.025)
    assert 0 < interval.low < interval.value < interval.high


def test_only_samples_that_differ_widen_the_interval() -> None:
    """The half width is 1.96 * sqrt(share that differs / n)."""
    interval = paired_difference(*_pair(3100, better=31, worse=31), confidence=0.95, seed=0)
    assert (interval.high - interval.low) / 2 == pytest.approx(1.96 * np.sqrt(0.02 / 3100), rel=0.06)


def test_agreement_on_few_samples_proves_little() -> None:
    """300 samples without one difference do not show that half a percent was not lost; 10,000 do."""
    few = paired_difference(*_pair(300, better=0, worse=0), confidence=0.95, seed=0)
    many = paired_difference(*_pair(10_000, better=0, worse=0), confidence=0.95, seed=0)
    assert few.value == many.value == 0
    assert few.low < -0.005 < many.low


def test_ten_thousand_samples_are_instant() -> None:
    """10,000 draws of 10,000 samples take no visible time."""
    start = time.perf_counter()
    paired_difference(*_pair(10_000, better=100, worse=90), confidence=0.95, seed=0)
    assert time.perf_counter() - start < 1.0


@pytest.mark.parametrize(("better", "worse", "n"), [(0.01, 0.01, 300), (0.03, 0.01, 300), (0.002, 0.001, 1000)])
def test_the_interval_covers_the_truth(better: float, worse: float, n: int) -> None:
    """95 % intervals hold the true difference at least 93 times in 100, also where hardly a sample differs."""
    generator = np.random.default_rng(5)
    covered = []
    for seed in range(200):
        _, up, down = generator.multinomial(n, [1 - better - worse, better, worse])
        interval = paired_difference(*_pair(n, better=up, worse=down), confidence=0.95, seed=seed)
        covered.append(interval.low <= better - worse <= interval.high)
    assert np.mean(covered) >= 0.93


@pytest.mark.parametrize(("candidate", "champion"), [([], []), ([True], [True, False])])
def test_models_without_the_same_samples_are_refused(candidate: list[bool], champion: list[bool]) -> None:
    """Results of different samples cannot be paired."""
    with pytest.raises(ValueError, match="for the same samples"):
        paired_difference(candidate, champion, confidence=0.95, seed=0)
