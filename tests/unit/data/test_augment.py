import pytest
import torch

from sluice.config.learning import AugmentConfig
from sluice.data.augment import Augmentation

SHAPE = (5, 4, 3)


def _images(count: int) -> torch.Tensor:
    return torch.randint(1, 256, (count, *SHAPE), dtype=torch.uint8, generator=torch.Generator().manual_seed(0))


def _augmented(images: torch.Tensor, *, epoch: int = 0, seed: int = 0, **config: int) -> torch.Tensor:
    augment = Augmentation(AugmentConfig(**config), shape_HWC=SHAPE, count=len(images), seed=seed, epoch=epoch)
    assert augment.active
    return augment(images.flatten(1).clone(), start=0).view(images.shape)


def test_flip_mirrors_about_half_of_the_images() -> None:
    """Each image is itself or its mirror image, colours in their place."""
    images = _images(200)
    changed = _augmented(images, horizontal_flip=True)
    same = (changed == images).flatten(1).all(1)
    mirrored = (changed == images.flip(2)).flatten(1).all(1)
    assert (same | mirrored).all()
    assert 70 < mirrored.sum() < 130


def test_shift_moves_the_image_and_fills_with_zeros() -> None:
    """Each image is one of the (2 s + 1)^2 shifts of itself, and all of them occur."""
    images = _images(300)
    changed = _augmented(images, shift_pixels=1)
    padded = torch.nn.functional.pad(images, (0, 0, 1, 1, 1, 1))
    windows = [padded[:, down : down + 5, right : right + 4] for down in range(3) for right in range(3)]
    matches = torch.stack([(changed == window).flatten(1).all(1) for window in windows])
    assert (matches.sum(0) == 1).all()
    assert (matches.sum(1) > 10).all()


def test_draws_are_a_function_of_seed_and_epoch() -> None:
    """A resume repeats them (B9); another epoch or seed draws anew."""
    images, config = _images(30), {"horizontal_flip": True, "shift_pixels": 2}
    first = _augmented(images, epoch=2, **config)
    assert torch.equal(first, _augmented(images, epoch=2, **config))
    assert not torch.equal(first, _augmented(images, epoch=3, **config))
    assert not torch.equal(first, _augmented(images, epoch=2, seed=1, **config))


def test_batches_cut_the_same_draws() -> None:
    """What a sample gets depends on its position in the epoch, not on the batch size."""
    images = _images(10)
    augment = Augmentation(
        AugmentConfig(horizontal_flip=True, shift_pixels=1), shape_HWC=SHAPE, count=10, seed=0, epoch=0
    )
    parts = [augment(images[start : start + 4].flatten(1).clone(), start=start) for start in range(0, 10, 4)]
    assert torch.equal(torch.cat(parts), augment(images.flatten(1).clone(), start=0))


@pytest.mark.parametrize("active", [False, True])
def test_nothing_asked_is_inactive(active: bool) -> None:
    """The loader skips it then."""
    augment = Augmentation(AugmentConfig(horizontal_flip=active), shape_HWC=SHAPE, count=1, seed=0, epoch=0)
    assert augment.active is active
