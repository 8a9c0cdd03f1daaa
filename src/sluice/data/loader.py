"""Batches of normalised tensors out of the store.

Shapes: B samples of a batch, H height, W width, C channels. A training step of a small network takes a quarter of a
millisecond, so nothing here is done sample by sample: one gather a batch, then two passes over it.
"""

import logging
import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import torch
from torch import Tensor

from sluice.config.learning import AugmentConfig
from sluice.config.schema import Schema
from sluice.data.augment import Augmentation
from sluice.data.store import Split
from sluice.errors import DataError

__all__ = ["Batch", "Batches", "eval_batches", "train_batches"]

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Batch:
    inputs: Tensor
    """float32 [B, C, H, W], normalised."""
    targets: Tensor
    """int64 [B]."""
    size: int


class Batches(Protocol):
    def __len__(self) -> int:
        """Steps."""

    def __iter__(self) -> Iterator[Batch]: ...


def train_batches(
    split: Split,
    *,
    schema: Schema,
    batch_size: int,
    augment: AugmentConfig,
    seed: int,
    epoch: int,
    channels_last: bool = False,
) -> Batches:
    """One epoch; order and augmentation are a pure function of seed and epoch.

    A last batch of one sample, which batch norm cannot take, is left out. Fewer samples than a batch make one smaller
    batch. Raises DataError when no step is left.
    """
    count = len(split)
    used = count - 1 if batch_size > 1 and count % batch_size == 1 else count
    if not used:
        raise DataError(
            f"{split.name} has {count} samples, which make no step with train.batch_size {batch_size}. Add samples."
        )
    size = min(batch_size, used)
    if size < batch_size and epoch == 0:
        _log.warning(
            "%s has %d samples, fewer than train.batch_size %d: one batch of %d", split.name, count, batch_size, size
        )
    return _TrainBatches(split, schema, size, used, augment, seed, epoch, channels_last)


def eval_batches(split: Split, *, schema: Schema, batch_size: int, channels_last: bool = False) -> Batches:
    """All samples, in the order of the store."""
    return _EvalBatches(split, schema, batch_size, channels_last)


@dataclass(frozen=True)
class _TrainBatches:
    split: Split
    schema: Schema
    size: int
    used: int
    augment: AugmentConfig
    seed: int
    epoch: int
    channels_last: bool

    def __len__(self) -> int:
        return math.ceil(self.used / self.size)

    def __iter__(self) -> Iterator[Batch]:
        images_NP = torch.from_numpy(self.split.images).flatten(1)
        order = torch.from_numpy(
            np.random.default_rng((self.seed, self.epoch)).permutation(len(self.split))[: self.used]
        )
        targets = torch.from_numpy(self.split.labels)[order]
        normalise = _Normaliser(self.schema, channels_last=self.channels_last)
        augment = Augmentation(
            self.augment, shape_HWC=self.split.images.shape[1:], count=self.used, seed=self.seed, epoch=self.epoch
        )
        for start, rows, targets_B in zip(
            range(0, self.used, self.size), torch.split(order, self.size), torch.split(targets, self.size), strict=True
        ):
            images_BP = images_NP.index_select(0, rows)
            if augment.active:
                images_BP = augment(images_BP, start=start)
            yield Batch(normalise(images_BP), targets_B, len(rows))


@dataclass(frozen=True)
class _EvalBatches:
    split: Split
    schema: Schema
    size: int
    channels_last: bool

    def __len__(self) -> int:
        return math.ceil(len(self.split) / self.size)

    def __iter__(self) -> Iterator[Batch]:
        images_NP = torch.from_numpy(self.split.images).flatten(1)
        targets = torch.from_numpy(self.split.labels)
        normalise = _Normaliser(self.schema, channels_last=self.channels_last)
        for images_BP, targets_B in zip(
            torch.split(images_NP, self.size), torch.split(targets, self.size), strict=True
        ):
            yield Batch(normalise(images_BP), targets_B, len(targets_B))


class _Normaliser:
    """(x / 255 - mean) / std as one multiplication and one addition, spread over all pixels of an image beforehand."""

    def __init__(self, schema: Schema, *, channels_last: bool) -> None:
        std = torch.tensor(schema.std, dtype=torch.float64)
        mean = torch.tensor(schema.mean, dtype=torch.float64)
        pixels = schema.height * schema.width
        self._scale_P = (1 / (255 * std)).float().repeat(pixels)
        self._shift_P = (-mean / std).float().repeat(pixels)
        self._shape_HWC = (schema.height, schema.width, schema.channels)
        self._contiguous = not channels_last and schema.channels > 1

    def __call__(self, images_BP: Tensor) -> Tensor:
        normal_BP = torch.addcmul(self._shift_P, images_BP.float(), self._scale_P)
        images_BCHW = normal_BP.view(-1, *self._shape_HWC).permute(0, 3, 1, 2)
        return images_BCHW.contiguous() if self._contiguous else images_BCHW
