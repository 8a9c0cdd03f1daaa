import logging

import numpy as np
import pytest
import torch

from sluice.config.learning import AugmentConfig
from sluice.config.schema import Schema
from sluice.data.loader import Batches, eval_batches, train_batches
from sluice.data.store import Split
from sluice.errors import DataError


def _split(count: int, *, channels: int = 1) -> Split:
    images = np.random.default_rng(0).integers(0, 256, (count, 5, 4, channels), dtype=np.uint8)
    return Split("train", images, np.arange(count), [str(row) for row in range(count)], "d")


def _schema(*, channels: int = 1) -> Schema:
    return Schema(
        task="image_classification",
        classes=("a", "b"),
        height=5,
        width=4,
        channels=channels,
        mean=(0.5, 0.4, 0.3)[:channels],
        std=(0.2, 0.3, 0.1)[:channels],
    )


def _train(count: int, batch_size: int, *, seed: int = 0, epoch: int = 0, **augment: int) -> Batches:
    return train_batches(
        _split(count),
        schema=_schema(),
        batch_size=batch_size,
        augment=AugmentConfig(**augment),
        seed=seed,
        epoch=epoch,
        channels_last=False,
    )


def _order(batches: Batches) -> list[int]:
    return [int(row) for batch in batches for row in batch.targets]


def _normalised(split: Split, schema: Schema) -> torch.Tensor:
    pixels = torch.from_numpy(split.images).float().permute(0, 3, 1, 2) / 255
    mean, std = (torch.tensor(values)[:, None, None] for values in (schema.mean, schema.std))
    return (pixels - mean) / std


@pytest.mark.parametrize("channels", [1, 3])
@pytest.mark.parametrize("channels_last", [False, True])
def test_batches_are_normalised_samples(channels: int, channels_last: bool) -> None:
    """Every sample comes once, with its own target, normalised per channel, in the memory format asked for."""
    split, schema = _split(10, channels=channels), _schema(channels=channels)
    batches = train_batches(
        split, schema=schema, batch_size=4, augment=AugmentConfig(), seed=0, epoch=0, channels_last=channels_last
    )
    expected = _normalised(split, schema)
    assert sorted(_order(batches)) == list(range(10))
    layout = torch.channels_last if channels_last else torch.contiguous_format
    for batch in batches:
        assert batch.size == len(batch.inputs) == len(batch.targets)
        assert batch.inputs.shape[1:] == (channels, 5, 4)
        assert batch.inputs.is_contiguous(memory_format=layout)
        torch.testing.assert_close(batch.inputs, expected[batch.targets])


def test_eval_batches_keep_all_in_order() -> None:
    """Nothing is left out, not even a last sample that stands alone."""
    split, schema = _split(9, channels=3), _schema(channels=3)
    batches = eval_batches(split, schema=schema, batch_size=4)
    assert len(batches) == 3
    assert [batch.size for batch in batches] == [4, 4, 1]
    assert _order(batches) == list(range(9))
    torch.testing.assert_close(torch.cat([batch.inputs for batch in batches]), _normalised(split, schema))


def test_order_is_a_function_of_seed_and_epoch() -> None:
    """Epochs differ, equal seeds agree, and a resume repeats the order without what came before (B3)."""
    first = _order(_train(50, 8, seed=1, epoch=3))
    assert first == _order(_train(50, 8, seed=1, epoch=3))
    assert first != _order(_train(50, 8, seed=1, epoch=4))
    assert first != _order(_train(50, 8, seed=2, epoch=3))


def test_a_batch_list_can_be_read_twice() -> None:
    """Iterating again gives the same epoch."""
    batches = _train(20, 8, horizontal_flip=True, shift_pixels=2)
    first, second = ([batch.inputs for batch in batches] for _ in range(2))
    assert all(torch.equal(a, b) for a, b in zip(first, second, strict=True))


@pytest.mark.parametrize(
    ("count", "batch_size", "sizes"),
    [
        (9, 8, [8]),
        (10, 8, [8, 2]),
        (16, 8, [8, 8]),
        (5, 8, [5]),
        (8, 8, [8]),
        (3, 1, [1, 1, 1]),
        (2, 8, [2]),
        (1, 1, [1]),
    ],
)
def test_a_lonely_last_sample_is_left_out(count: int, batch_size: int, sizes: list[int]) -> None:
    """Only a remainder of one is dropped, and a small set is one small batch (A15)."""
    batches = _train(count, batch_size)
    assert len(batches) == len(sizes)
    assert [batch.size for batch in batches] == sizes


def test_a_small_set_lowers_the_batch_with_a_notice(caplog: pytest.LogCaptureFixture) -> None:
    """It is said once, in the first epoch (A15)."""
    with caplog.at_level(logging.WARNING):
        _train(5, 8, epoch=0)
        _train(5, 8, epoch=1)
        _train(8, 8, epoch=0)
    assert [record.getMessage() for record in caplog.records] == [
        "train has 5 samples, fewer than train.batch_size 8: one batch of 5"
    ]


@pytest.mark.parametrize("count", [0, 1])
def test_no_step_is_an_error(count: int) -> None:
    """An epoch without a step would train nothing and say nothing (A15)."""
    with pytest.raises(DataError, match=f"train has {count} samples, which make no step with train.batch_size 8"):
        _train(count, 8)


def test_augmented_batches_keep_their_targets() -> None:
    """Augmentation changes inputs and neither order nor targets, and each epoch draws anew."""
    plain, changed = _train(40, 8), _train(40, 8, horizontal_flip=True, shift_pixels=1)
    assert _order(plain) == _order(changed)
    assert not all(torch.equal(a.inputs, b.inputs) for a, b in zip(plain, changed, strict=True))


def test_augmentation_leaves_the_store_alone() -> None:
    """What is changed is the batch's copy."""
    split = _split(16)
    before = split.images.copy()
    for _ in train_batches(
        split,
        schema=_schema(),
        batch_size=8,
        augment=AugmentConfig(horizontal_flip=True, shift_pixels=2),
        seed=0,
        epoch=0,
    ):
        pass
    assert (split.images == before).all()
