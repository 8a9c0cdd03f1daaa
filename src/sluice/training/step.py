"""One batch: forward, loss, backward, optimizer."""

import math
from collections.abc import Callable
from dataclasses import dataclass

from torch import Tensor, nn
from torch.nn.utils import clip_grads_with_norm_, get_total_norm
from torch.optim import Optimizer

from sluice.errors import TrainingError
from sluice.training.batches import Batch

__all__ = ["Loss", "StepResult", "train_step"]

Loss = Callable[[Tensor, Tensor], Tensor]
"""(outputs, targets) to the mean over the batch."""


@dataclass(frozen=True, slots=True)
class StepResult:
    loss: float
    size: int
    grad_norm: float | None
    """Over all parameters, before clipping; None where nobody asked."""


def train_step(
    net: nn.Module,
    batch: Batch,
    *,
    loss: Loss,
    optimizer: Optimizer,
    clip_norm: float | None = None,
    with_norm: bool = False,
) -> StepResult:
    """Raises TrainingError, and leaves the weights as they were, when the loss or a norm it looked at is not finite."""
    loss_of_batch = loss(net(batch.inputs), batch.targets)
    value = loss_of_batch.item()
    if not math.isfinite(value):
        raise TrainingError(f"the loss is {value}")
    optimizer.zero_grad(set_to_none=True)
    loss_of_batch.backward()  # type: ignore[no-untyped-call]
    norm = _clip(net, clip_norm) if with_norm or clip_norm is not None else None
    if norm is not None and not math.isfinite(norm):
        raise TrainingError(f"the loss is {value:.6g} and the norm of its gradient {norm}")
    optimizer.step()
    return StepResult(loss=value, size=batch.size, grad_norm=norm)


def _clip(net: nn.Module, clip_norm: float | None) -> float:
    """Norm of the whole gradient as it was before."""
    parameters = [parameter for parameter in net.parameters() if parameter.grad is not None]
    norm = get_total_norm([parameter.grad for parameter in parameters if parameter.grad is not None])
    if clip_norm is not None:
        clip_grads_with_norm_(parameters, clip_norm, norm)
    return norm.item()
