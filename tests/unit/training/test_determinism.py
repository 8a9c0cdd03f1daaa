"""What makes runs equal, and is gone afterwards."""

import random

import numpy as np
import torch

from sluice.training.determinism import get_rng, isolated, set_rng


def _draw() -> tuple[float, float, float]:
    return torch.rand(()).item(), float(np.random.rand()), random.random()  # noqa: NPY002


def test_equal_seeds_draw_equal_numbers_and_leave_no_trace() -> None:
    """All three generators follow the seed inside, and go on outside as if nothing had been."""
    outside = get_rng()
    expected = _draw()
    set_rng(outside)
    drawn = []
    for _ in range(2):
        with isolated(seed=5, threads=1):
            drawn.append(_draw())
    assert drawn[0] == drawn[1]
    assert _draw() == expected


def test_threads_and_algorithms_are_put_back() -> None:
    """A training changes no setting of the process for good."""
    before = torch.get_num_threads()
    with isolated(seed=0, threads=before + 1):
        assert torch.get_num_threads() == before + 1
        assert torch.are_deterministic_algorithms_enabled()
    assert torch.get_num_threads() == before
    assert not torch.are_deterministic_algorithms_enabled()
    assert torch.utils.deterministic.fill_uninitialized_memory
