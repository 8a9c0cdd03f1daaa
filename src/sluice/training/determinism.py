"""What makes two runs equal to the bit, set for as long as a training lasts and put back afterwards."""

import random
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import torch
from torch.utils import deterministic

__all__ = ["get_rng", "isolated", "set_rng"]


@contextmanager
def isolated(*, seed: int, threads: int) -> Iterator[None]:
    """Seed torch, numpy and python; fix the threads; take deterministic algorithms. All of it is undone at the end."""
    rng, threads_before = get_rng(), torch.get_num_threads()
    mode = torch.are_deterministic_algorithms_enabled()
    warn_only = torch.is_deterministic_algorithms_warn_only_enabled()
    filling = deterministic.fill_uninitialized_memory  # type: ignore[attr-defined]
    torch.set_num_threads(threads)
    torch.use_deterministic_algorithms(mode=True, warn_only=True)
    # Filling finds bugs of operators, changes no result, and takes a tenth of a small network's step.
    deterministic.fill_uninitialized_memory = False  # type: ignore[attr-defined]
    torch.manual_seed(seed)
    np.random.seed(seed)  # noqa: NPY002 - the state that a user's own code may draw from
    random.seed(seed)
    try:
        yield
    finally:
        set_rng(rng)
        deterministic.fill_uninitialized_memory = filling  # type: ignore[attr-defined]
        torch.use_deterministic_algorithms(mode, warn_only=warn_only)
        torch.set_num_threads(threads_before)


def get_rng() -> dict[str, Any]:
    """State of the three global generators as plain types and tensors."""
    numpy = np.random.get_state(legacy=False)  # noqa: NPY002 - as above
    numpy["state"]["key"] = numpy["state"]["key"].tolist()
    return {"torch": torch.get_rng_state(), "numpy": numpy, "python": random.getstate()}


def set_rng(state: dict[str, Any]) -> None:
    np.random.set_state(state["numpy"])  # noqa: NPY002 - as above
    torch.set_rng_state(state["torch"])
    random.setstate(state["python"])
