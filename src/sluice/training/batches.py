"""What the loop asks of data."""

from collections.abc import Iterator
from typing import Protocol

from torch import Tensor

__all__ = ["Batch", "Batches"]


class Batch(Protocol):
    @property
    def inputs(self) -> Tensor: ...

    @property
    def targets(self) -> Tensor: ...

    @property
    def size(self) -> int:
        """Samples."""
        ...


class Batches(Protocol):
    """One pass over a split."""

    def __len__(self) -> int:
        """Steps."""
        ...

    def __iter__(self) -> Iterator[Batch]: ...
