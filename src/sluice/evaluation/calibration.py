"""Are the probabilities as good as they claim to be.

Shapes: N samples, K classes.
"""

import numpy as np
from numpy.typing import NDArray

__all__ = ["expected_calibration_error", "negative_log_likelihood"]

_BINS = 15


def expected_calibration_error(
    probabilities_NK: NDArray[np.float64], labels_N: NDArray[np.int64], *, bins: int = _BINS
) -> float:
    """Mean distance of confidence and accuracy over equally wide bins of confidence, weighted by samples: 0 is best.

    Naeini, Cooper, Hauskrecht (AAAI 2015), with the 15 bins of Guo et al. (ICML 2017). NaN if a probability is.
    """
    if np.isnan(probabilities_NK).any():
        return float("nan")
    confidence_N = probabilities_NK.max(axis=1)
    correct_N = probabilities_NK.argmax(axis=1) == labels_N
    bin_N = np.clip(np.ceil(confidence_N * bins).astype(np.int64) - 1, 0, bins - 1)
    gaps = np.bincount(bin_N, weights=confidence_N, minlength=bins) - np.bincount(
        bin_N, weights=correct_N, minlength=bins
    )
    return float(np.abs(gaps).sum() / len(labels_N))


def negative_log_likelihood(probabilities_NK: NDArray[np.float64], labels_N: NDArray[np.int64]) -> float:
    """Mean of -ln(probability of the label). NaN if a probability is."""
    of_label_N = probabilities_NK[np.arange(len(labels_N)), labels_N]
    return float(-np.log(np.maximum(of_label_N, np.finfo(np.float64).tiny)).mean())
