"""Calibration against values worked out by hand."""

import numpy as np
import pytest

from sluice.evaluation.calibration import expected_calibration_error, negative_log_likelihood


def test_ece_known_value() -> None:
    """Two bins: two sure answers, one of them wrong, and two at 0.6, both right."""
    probabilities = np.array([[1.0, 0.0], [1.0, 0.0], [0.6, 0.4], [0.4, 0.6]])
    labels = np.array([0, 1, 0, 1])
    assert expected_calibration_error(probabilities, labels) == pytest.approx((abs(2 - 1) + abs(1.2 - 2)) / 4)


def test_ece_of_a_calibrated_model_is_small() -> None:
    """Answers that are right as often as they claim have an error near 0."""
    generator = np.random.default_rng(0)
    sure = generator.uniform(0.5, 1, size=20_000)
    labels = (generator.uniform(size=20_000) > sure).astype(np.int64)
    assert expected_calibration_error(np.stack([sure, 1 - sure], axis=1), labels) < 0.02


def test_ece_bin_edges_belong_below() -> None:
    """A confidence of exactly 1 falls into the last bin, not beside it."""
    assert expected_calibration_error(np.array([[1.0, 0.0]]), np.array([0]), bins=2) == 0


def test_nll_known_value_and_no_infinity() -> None:
    """The mean of -ln p; a probability of 0 for the label is very bad, not infinite."""
    assert negative_log_likelihood(np.array([[0.5, 0.5], [0.25, 0.75]]), np.array([0, 0])) == pytest.approx(
        np.log(8) / 2
    )
    assert 700 < negative_log_likelihood(np.array([[0.0, 1.0]]), np.array([0])) < 710


def test_nan_is_not_calibrated() -> None:
    """A probability that is NaN makes both NaN, which reports show as null."""
    probabilities = np.array([[np.nan, np.nan], [0.5, 0.5]])
    assert np.isnan(expected_calibration_error(probabilities, np.array([0, 0])))
    assert np.isnan(negative_log_likelihood(probabilities, np.array([0, 0])))
