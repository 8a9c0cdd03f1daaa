"""The model itself as a predictor: what every engine is measured against."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import torch
from numpy.typing import NDArray
from torch import nn

from sluice import tasks
from sluice.engines.predictor import CheckedPredictor, Predictor
from sluice.export.signature import output_names
from sluice.tasks.trained import load_trained

__all__ = ["EagerPredictor", "eager_predictor"]


class EagerPredictor:
    """A deployable module, run by PyTorch on the CPU. The number of threads is the process's, set at each call."""

    executed_precision = "fp32"

    def __init__(self, deployable: nn.Module, *, outputs: Sequence[str], threads: int) -> None:
        self._module = deployable.eval()
        self._outputs = tuple(outputs)
        self._threads = threads

    def __call__(self, inputs: Mapping[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
        if torch.get_num_threads() != self._threads:
            torch.set_num_threads(self._threads)
        with torch.inference_mode():
            # from_numpy warns of arrays that may not be written, as those of memory-mapped files are.
            tensors = [torch.from_numpy(array if array.flags.writeable else array.copy()) for array in inputs.values()]
            values = self._module(*tensors)
        return {name: value.numpy() for name, value in zip(self._outputs, values, strict=True)}

    def close(self) -> None:
        self._module = nn.Identity()


def eager_predictor(trained: Path, *, threads: int) -> Predictor:
    """The trained model of a folder such as models/trained, with the checks that engines have."""
    net, card = load_trained(trained)
    task = tasks.load(card.task)
    signature = task.signature(card.schema)
    module = task.deployable(net, schema=card.schema)
    return CheckedPredictor(
        EagerPredictor(module, outputs=output_names(signature), threads=threads), signature=signature
    )
