"""Random changes to a whole training batch of uint8 images at once.

Shapes: B images, H height, W width, C channels, P = H * W * C.
"""

import numpy as np
import torch
from torch import Tensor

from sluice.config.learning import AugmentConfig

__all__ = ["Augmentation"]


class Augmentation:
    """All draws of an epoch, made beforehand from seed and epoch: a resume repeats them without replay."""

    def __init__(self, config: AugmentConfig, *, shape_HWC: tuple[int, ...], count: int, seed: int, epoch: int) -> None:
        self.active = config.horizontal_flip or config.shift_pixels > 0
        self._shape_HWC = shape_HWC
        self._shift = config.shift_pixels
        height, width, _ = shape_HWC
        self._padded = (height + 2 * self._shift, width + 2 * self._shift)
        draw = torch.Generator().manual_seed(_mixed(seed, epoch))
        self._flips = torch.rand(count, generator=draw) < 0.5 if config.horizontal_flip else None
        self._corners = self._draw_corners(count, draw) if self._shift else None
        self._lines = torch.arange(height) * self._padded[1]

    def __call__(self, images_BP: Tensor, *, start: int) -> Tensor:
        """`start` is the position of the first image in the epoch. May change the batch that it is given."""
        stop = start + len(images_BP)
        images_BHWC = images_BP.view(-1, *self._shape_HWC)
        if self._flips is not None:
            rows = self._flips[start:stop].nonzero().view(-1)
            images_BHWC.index_copy_(0, rows, images_BHWC.index_select(0, rows).flip(2))
        if self._corners is not None:
            images_BHWC = self._shifted(images_BHWC, self._corners[start:stop])
        return images_BHWC.reshape(len(images_BP), -1)

    def _draw_corners(self, count: int, draw: torch.Generator) -> Tensor:
        """Offset of the upper left corner of each window in its padded image."""
        down, right = torch.randint(0, 2 * self._shift + 1, (2, count), generator=draw)
        return torch.add(right, down, alpha=self._padded[1])

    def _shifted(self, images_BHWC: Tensor, corners_B: Tensor) -> Tensor:
        """Cut a window out of each image with zeros around it: each of its lines is a run of bytes, gathered whole."""
        count, height, width, channels = images_BHWC.shape
        shift, (padded_height, padded_width) = self._shift, self._padded
        padded = images_BHWC.new_zeros((count, padded_height, padded_width, channels))
        padded[:, shift : shift + height, shift : shift + width] = images_BHWC
        image_starts_B = torch.arange(count) * (padded_height * padded_width)
        line_starts = ((image_starts_B + corners_B)[:, None] + self._lines).view(-1)
        runs = padded.view(-1).unfold(0, width * channels, channels)
        return runs.index_select(0, line_starts).view(images_BHWC.shape)


def _mixed(seed: int, epoch: int) -> int:
    return int(np.random.SeedSequence((seed, epoch)).generate_state(1, np.uint64)[0] >> np.uint64(1))
