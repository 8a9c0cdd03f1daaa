"""A whole training: epochs, validation, checkpoints, the weights to keep."""

import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import nn

from sluice.config.learning import TrainConfig
from sluice.errors import TrainingError
from sluice.training import checkpoint
from sluice.training.batches import Batches
from sluice.training.determinism import isolated
from sluice.training.epoch import Correct, evaluate, run_epoch
from sluice.training.state import Epoch, TrainState
from sluice.training.step import Loss

__all__ = ["Epoch", "Fitted", "Learning", "fit"]


@dataclass(frozen=True, kw_only=True)
class Learning:
    """A task bound to data."""

    train_batches: Callable[[int], Batches]
    """By epoch, counted from 1; all epochs have the same number of steps, which is asked for with epoch 0."""
    val_batches: Callable[[], Batches]
    loss: Loss
    correct: Correct


@dataclass(frozen=True, kw_only=True)
class Fitted:
    net: nn.Module
    epochs: tuple[Epoch, ...]
    best_epoch: int
    """The first epoch with the highest validation accuracy."""
    kept: Epoch
    """The one whose weights `net` has."""
    resumed_from: int | None
    """Epochs that an earlier, interrupted run had finished."""
    threads: int
    images_per_s: float


def fit(
    config: TrainConfig,
    *,
    net: nn.Module,
    learning: Learning,
    seed: int,
    checkpoints: Path | None,
    on_epoch_end: Callable[[Epoch], None],
) -> Fitted:
    """Train `net` in place. Equal arguments and threads give equal bits, also over a kill and a resume.

    `checkpoints` is a folder for this training alone; threads and memory format of a state found there go before those
    of `config`. `on_epoch_end` is called before the epoch's state is saved, so it may see an epoch again after a kill.
    Raises TrainingError when a loss or a gradient is not finite; the states on disk are then from before.
    """
    saved = checkpoint.load(checkpoints) if checkpoints else None
    threads = saved["threads"] if saved else config.threads or torch.get_num_threads()
    channels_last = saved["channels_last"] if saved else config.channels_last
    with isolated(seed=seed, threads=threads):
        steps = config.epochs * len(learning.train_batches(0))
        state = TrainState.start(config, net=net, steps=steps, threads=threads, channels_last=channels_last)
        if saved:
            state.restore(saved)
        resumed_from = len(state.epochs) or None
        while len(state.epochs) < config.epochs:
            epoch = _next_epoch(config, state=state, learning=learning)
            state.finish(epoch, keep=config.keep)
            on_epoch_end(epoch)
            if checkpoints:
                checkpoint.save(checkpoints, state.as_dict(), epoch=epoch.epoch)
    return _fitted(state, keep_best=config.keep == "best", resumed_from=resumed_from)


def _next_epoch(config: TrainConfig, *, state: TrainState, learning: Learning) -> Epoch:
    number = len(state.epochs) + 1
    start = time.perf_counter()
    trained = run_epoch(
        state.net,
        learning.train_batches(number),
        loss=learning.loss,
        optimizer=state.optimizer,
        schedule=state.schedule,
        clip_norm=config.clip_norm,
        epoch=number,
    )
    seconds = time.perf_counter() - start
    score = evaluate(state.net, learning.val_batches(), loss=learning.loss, correct=learning.correct)
    if not math.isfinite(score.loss):
        raise TrainingError(
            f"epoch {number}: the validation loss is {score.loss} although the training loss is {trained.loss:.6g}. "
            "Nothing was saved. Lower train.optimizer.lr, or look for values in the val split that train does not have."
        )
    return Epoch(
        epoch=number,
        lr=trained.lr,
        train_loss=trained.loss,
        val_loss=score.loss,
        val_accuracy=score.accuracy,
        grad_norm=trained.grad_norm,
        images_per_s=trained.samples / seconds,
        seconds=seconds,
    )


def _fitted(state: TrainState, *, keep_best: bool, resumed_from: int | None) -> Fitted:
    epochs, best = tuple(state.epochs), state.best
    assert best is not None
    if keep_best and best.weights is not None:
        state.net.load_state_dict(best.weights)
    seconds = sum(epoch.seconds for epoch in epochs)
    return Fitted(
        net=state.net,
        epochs=epochs,
        best_epoch=best.epoch,
        kept=epochs[best.epoch - 1] if keep_best else epochs[-1],
        resumed_from=resumed_from,
        threads=state.threads,
        images_per_s=sum(epoch.images_per_s * epoch.seconds for epoch in epochs) / seconds,
    )
