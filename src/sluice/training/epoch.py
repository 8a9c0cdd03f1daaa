"""One pass over a split: to learn, or to look."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.optim import Optimizer
from tqdm import tqdm

from sluice.errors import TrainingError
from sluice.training.batches import Batches
from sluice.training.schedule import Schedule
from sluice.training.step import Loss, train_step

__all__ = ["Correct", "Score", "Trained", "evaluate", "run_epoch"]

Correct = Callable[[Tensor, Tensor], Tensor]
"""(outputs, targets) to one truth value per sample."""

_NORMS_PER_EPOCH = 10


@dataclass(frozen=True, kw_only=True)
class Trained:
    loss: float
    """Mean over the samples, each as it was when its batch came."""
    grad_norm: float
    """Mean over ten to twenty steps spread over the epoch, the last one among them: every step would cost too much."""
    lr: float
    """Of the last step."""
    samples: int


@dataclass(frozen=True, kw_only=True)
class Score:
    loss: float
    accuracy: float


def run_epoch(
    net: nn.Module,
    batches: Batches,
    *,
    loss: Loss,
    optimizer: Optimizer,
    schedule: Schedule,
    clip_norm: float | None = None,
    epoch: int,
) -> Trained:
    """Train on each batch once; the schedule moves after each optimizer step.

    Raises TrainingError that names epoch and step, before that step changes a weight, when a number is not finite.
    """
    net.train()
    steps = len(batches)
    every = max(1, steps // _NORMS_PER_EPOCH)
    total, samples, norms, lr = 0.0, 0, [], 0.0
    # disable=None: a bar on a terminal, nothing elsewhere
    for step, batch in enumerate(tqdm(batches, desc=f"epoch {epoch}", unit="step", leave=False, disable=None), start=1):
        with_norm = step == steps or step % every == 0
        try:
            result = train_step(net, batch, loss=loss, optimizer=optimizer, clip_norm=clip_norm, with_norm=with_norm)
        except TrainingError as error:
            raise _stopped(f"epoch {epoch}, step {step} of {steps}: {error}") from None
        lr = schedule.lr
        schedule.step()
        total += result.loss * result.size
        samples += result.size
        if with_norm and result.grad_norm is not None:
            norms.append(result.grad_norm)
    if not samples:
        raise TrainingError(f"epoch {epoch} had no batch. Add samples, or lower train.batch_size.")
    return Trained(loss=total / samples, grad_norm=sum(norms) / len(norms), lr=lr, samples=samples)


def evaluate(net: nn.Module, batches: Batches, *, loss: Loss, correct: Correct) -> Score:
    """Mean over the samples, without gradients. Every module is left in the mode that it was in."""
    total, hits, samples = 0.0, 0, 0
    with _eval_mode(net), torch.inference_mode():
        for batch in batches:
            outputs = net(batch.inputs)
            total += loss(outputs, batch.targets).item() * batch.size
            hits += int(correct(outputs, batch.targets).sum())
            samples += batch.size
    if not samples:
        raise TrainingError("there is no sample to evaluate on. Give the val split at least one.")
    return Score(loss=total / samples, accuracy=hits / samples)


@contextmanager
def _eval_mode(net: nn.Module) -> Iterator[None]:
    training = [module for module in net.modules() if module.training]
    net.eval()
    try:
        yield
    finally:
        for module in training:
            module.training = True


def _stopped(what: str) -> TrainingError:
    return TrainingError(
        f"{what}. Stopped before the weights changed; the last checkpoint is from before. "
        "Lower train.optimizer.lr, set train.clip_norm (1.0 is usual), or lengthen train.schedule.warmup_share."
    )
