"""Fully connected network; the default is 784-128-10 on 28x28 grey images."""

from collections import OrderedDict
from collections.abc import Sequence
from itertools import pairwise

from torch import nn

from sluice.errors import ConfigError
from sluice.models.initialisation import kaiming
from sluice.models.options import positive_whole_numbers

__all__ = ["build"]


def build(
    *,
    in_channels: int,
    height: int,
    width: int,
    num_classes: int,
    hidden: Sequence[int] = (128,),
    dropout: float = 0.0,
) -> nn.Module:
    """`hidden` has one width per hidden layer and may be empty; `dropout` (0 to 1, 1 excluded) follows each of them."""
    if isinstance(dropout, bool) or not isinstance(dropout, int | float) or not 0 <= dropout < 1:
        raise ConfigError(f"model.options.dropout: expected a number from 0 to below 1, got {dropout!r}")
    sizes = (in_channels * height * width, *positive_whole_numbers("hidden", hidden))
    layers: OrderedDict[str, nn.Module] = OrderedDict(flatten=nn.Flatten())
    for number, (size, next_size) in enumerate(pairwise(sizes), start=1):
        layers[f"hidden{number}"] = nn.Linear(size, next_size)
        layers[f"relu{number}"] = nn.ReLU()
        if dropout:
            layers[f"dropout{number}"] = nn.Dropout(dropout)
    layers["head"] = nn.Linear(sizes[-1], num_classes)
    return kaiming(nn.Sequential(layers))
