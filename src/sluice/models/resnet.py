"""Residual network for small images: a stem, stages that halve height and width, global average, a linear head."""

from collections.abc import Sequence
from typing import Literal

from torch import Tensor, nn

from sluice.errors import ConfigError
from sluice.models.initialisation import kaiming
from sluice.models.options import positive_whole_number, positive_whole_numbers

__all__ = ["BasicBlock", "Bottleneck", "Residual", "build"]


class Residual(nn.Module):
    """`relu(body(x) + shortcut(x))`; the shortcut is a 1x1 convolution where the shape changes."""

    def __init__(self, body: nn.Module, *, in_channels: int, out_channels: int, stride: int) -> None:
        super().__init__()
        self.body = body
        same = in_channels == out_channels and stride == 1
        self.shortcut = nn.Identity() if same else _conv_norm(in_channels, out_channels, kernel=1, stride=stride)
        self.relu = nn.ReLU()

    def forward(self, x_BCHW: Tensor) -> Tensor:
        summed: Tensor = self.body(x_BCHW) + self.shortcut(x_BCHW)
        return self.relu(summed)  # type: ignore[no-any-return]


class BasicBlock(Residual):
    """Two 3x3 convolutions."""

    expansion = 1

    def __init__(self, in_channels: int, width: int, *, stride: int) -> None:
        body = nn.Sequential(
            _conv_norm(in_channels, width, kernel=3, stride=stride),
            nn.ReLU(),
            _conv_norm(width, width, kernel=3),
        )
        super().__init__(body, in_channels=in_channels, out_channels=width, stride=stride)


class Bottleneck(Residual):
    """1x1 down to `width`, 3x3, 1x1 up to four times `width`: deeper for the same work."""

    expansion = 4

    def __init__(self, in_channels: int, width: int, *, stride: int) -> None:
        out_channels = self.expansion * width
        body = nn.Sequential(
            _conv_norm(in_channels, width, kernel=1),
            nn.ReLU(),
            _conv_norm(width, width, kernel=3, stride=stride),
            nn.ReLU(),
            _conv_norm(width, out_channels, kernel=1),
        )
        super().__init__(body, in_channels=in_channels, out_channels=out_channels, stride=stride)


_BLOCKS: dict[str, type[BasicBlock | Bottleneck]] = {"basic": BasicBlock, "bottleneck": Bottleneck}


def build(
    *,
    in_channels: int,
    height: int,
    width: int,
    num_classes: int,
    widths: Sequence[int] = (16, 32, 64),
    blocks: Sequence[int] = (1, 1, 1),
    block: Literal["basic", "bottleneck"] = "basic",
    stem_width: int | None = None,
    stem_kernel: int = 3,
    stem_stride: int = 1,
    stem_pool: bool = False,
) -> nn.Module:
    """`widths` and `blocks` have one value per stage; every stage but the first halves height and width.

    The stem is one convolution of `stem_width` channels (null: the first of `widths`), followed by a max pool that
    halves the image where `stem_pool` is true. Any size of image fits: the head averages over what is left of it.
    """
    del height, width
    widths, blocks = positive_whole_numbers("widths", widths), positive_whole_numbers("blocks", blocks)
    if not widths or len(widths) != len(blocks):
        raise ConfigError(
            f"model.options.widths has {len(widths)} stages, blocks has {len(blocks)}: give one value each"
        )
    if block not in _BLOCKS:
        raise ConfigError(f"model.options.block: expected one of {', '.join(map(repr, _BLOCKS))}, got {block!r}")
    if not isinstance(stem_pool, bool):
        raise ConfigError(f"model.options.stem_pool: expected true or false, got {stem_pool!r}")
    channels = positive_whole_number("stem_width", widths[0] if stem_width is None else stem_width)
    stem = _conv_norm(
        in_channels,
        channels,
        kernel=positive_whole_number("stem_kernel", stem_kernel),
        stride=positive_whole_number("stem_stride", stem_stride),
    )
    net = nn.Sequential()
    net.add_module("stem", nn.Sequential(stem, nn.ReLU()))
    if stem_pool:
        net.add_module("pool", nn.MaxPool2d(3, stride=2, padding=1))
    for number, (stage_width, depth) in enumerate(zip(widths, blocks, strict=True), start=1):
        stride = 1 if number == 1 else 2
        stage = _stage(_BLOCKS[block], channels, stage_width, depth=depth, stride=stride)
        net.add_module(f"stage{number}", stage)
        channels = stage_width * _BLOCKS[block].expansion
    net.add_module("average", nn.AdaptiveAvgPool2d(1))
    net.add_module("flatten", nn.Flatten())
    net.add_module("head", nn.Linear(channels, num_classes))
    return kaiming(net)


def _stage(block: type[BasicBlock | Bottleneck], channels: int, width: int, *, depth: int, stride: int) -> nn.Module:
    first = block(channels, width, stride=stride)
    rest = (block(width * block.expansion, width, stride=1) for _ in range(depth - 1))
    return nn.Sequential(first, *rest)


def _conv_norm(in_channels: int, out_channels: int, *, kernel: int, stride: int = 1) -> nn.Sequential:
    return nn.Sequential(
        nn.Conv2d(in_channels, out_channels, kernel, stride=stride, padding=kernel // 2, bias=False),
        nn.BatchNorm2d(out_channels),
    )
