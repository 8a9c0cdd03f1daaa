"""A task bound to data, as training takes it."""

from functools import partial

from sluice.config.learning import TrainConfig
from sluice.config.schema import Schema
from sluice.data.store import Split
from sluice.tasks import Task
from sluice.training.fit import Learning

__all__ = ["bind"]

_EVAL_BATCH_SIZE = 256


def bind(task: Task, *, train: Split, val: Split, schema: Schema, config: TrainConfig, seed: int) -> Learning:
    return Learning(
        train_batches=lambda epoch: task.train_batches(train, schema=schema, config=config, seed=seed, epoch=epoch),
        val_batches=lambda: task.eval_batches(val, schema=schema, batch_size=_EVAL_BATCH_SIZE),
        loss=partial(task.loss, config=config),
        correct=task.correct,
    )
