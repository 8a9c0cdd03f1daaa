"""What can be learned: one file per kind of learning problem, loaded by name."""

from collections.abc import Sequence
from difflib import get_close_matches
from importlib import import_module
from typing import Any, Protocol

from numpy.typing import NDArray
from torch import Tensor, nn

from sluice.config.learning import ModelConfig, TrainConfig
from sluice.config.plugins import TASKS
from sluice.config.schema import Schema
from sluice.data.loader import Batches
from sluice.data.store import Split
from sluice.errors import UnknownPlugin

__all__ = ["Task", "load"]


class Task(Protocol):
    """Has no state: all that a task knows comes in as arguments. Shapes: B samples of a batch, K classes."""

    def module(self, model: ModelConfig, *, schema: Schema, seed: int) -> nn.Module:
        """The net to train: normalised float inputs to logits [B, K]. Its first weights depend on the seed alone."""
        ...

    def train_batches(self, split: Split, *, schema: Schema, config: TrainConfig, seed: int, epoch: int) -> Batches:
        """One pass over the split, shuffled and augmented anew for every epoch."""
        ...

    def eval_batches(self, split: Split, *, schema: Schema, batch_size: int) -> Batches:
        """One pass over the split, in its own order."""
        ...

    def loss(self, outputs: Tensor, targets: Tensor, *, config: TrainConfig) -> Tensor:
        """Mean over the batch."""
        ...

    def correct(self, outputs: Tensor, targets: Tensor) -> Tensor:
        """One truth value per sample, [B]."""
        ...

    def deployable(self, net: nn.Module, *, schema: Schema) -> nn.Module:
        """A copy of the net, in eval mode, from raw inputs to outputs, both as the signature names them."""
        ...

    def signature(self, schema: Schema) -> dict[str, Any]:
        """Inputs, outputs, symbolic dimensions, classes and preprocessing of the deployable module."""
        ...

    def inputs(self, split: Split, rows: Sequence[int] | slice) -> dict[str, NDArray[Any]]:
        """Raw inputs of the deployable module, by the signature's names."""
        ...


def load(name: str) -> Task:
    if name not in TASKS:
        nearest = get_close_matches(name, TASKS, n=1, cutoff=0.0)
        raise UnknownPlugin(f"task: {name!r} is not one of {', '.join(TASKS)}. Nearest: {', '.join(nearest)}")
    task: Task = import_module(TASKS[name]).TASK
    return task
