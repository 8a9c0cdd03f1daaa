"""The models of this repository."""

from typing import Any

import pytest
import torch
from torch import nn

from sluice.config.learning import ModelConfig
from sluice.config.schema import Schema
from sluice.errors import ConfigError
from sluice.models.build import build
from sluice.models.resnet import BasicBlock, Bottleneck

RESNETS: list[dict[str, Any]] = [
    {},
    {"widths": [4, 8], "blocks": [1, 2]},
    {"widths": [4, 8], "blocks": [2, 1], "block": "bottleneck"},
    {"widths": [4], "blocks": [1], "stem_width": 3, "stem_kernel": 5, "stem_stride": 2, "stem_pool": True},
]
MODELS = [
    ModelConfig(name="mlp"),
    ModelConfig(name="mlp", options={"hidden": []}),
    ModelConfig(name="mlp", options={"hidden": [16, 8], "dropout": 0.3}),
    *(ModelConfig(name="resnet", options=options) for options in RESNETS),
]


def schema(*, height: int = 28, width: int = 28, channels: int = 1, classes: int = 10) -> Schema:
    return Schema(
        task="image_classification",
        classes=tuple(map(str, range(classes))),
        height=height,
        width=width,
        channels=channels,
        mean=(0.5,) * channels,
        std=(0.25,) * channels,
    )


def _seeded(config: ModelConfig, seed: int, **shape: int) -> nn.Module:
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return build(config, schema=schema(**shape))


@pytest.mark.parametrize("config", MODELS, ids=str)
@pytest.mark.parametrize(("height", "width", "channels"), [(28, 28, 1), (8, 12, 3), (1, 1, 1)])
def test_shapes(config: ModelConfig, height: int, width: int, channels: int) -> None:
    """Images of any size and depth give one finite score per class, for batches of any size."""
    net = _seeded(config, 0, height=height, width=width, channels=channels, classes=3).eval()
    for batch in (1, 5):
        logits = net(torch.rand(batch, channels, height, width))
        assert logits.shape == (batch, 3)
        assert logits.isfinite().all()


@pytest.mark.parametrize("config", MODELS, ids=str)
def test_first_weights_are_a_pure_function_of_the_seed(config: ModelConfig) -> None:
    """Equal seeds, equal bits; another seed, other weights."""
    first, again, other = (_seeded(config, seed).state_dict() for seed in (1, 1, 2))
    assert all(torch.equal(first[name], again[name]) for name in first)
    assert any(not torch.equal(first[name], other[name]) for name in first)


@pytest.mark.parametrize("config", MODELS, ids=str)
def test_the_gradient_reaches_every_parameter(config: ModelConfig) -> None:
    """No layer is cut off."""
    net = _seeded(config, 0)
    nn.functional.cross_entropy(net(torch.rand(8, 1, 28, 28)), torch.arange(8)).backward()
    assert [
        name for name, parameter in net.named_parameters() if parameter.grad is None or not parameter.grad.any()
    ] == []


def test_kaiming_keeps_the_variance() -> None:
    """He et al. 2015: weights of a layer with n inputs have variance 2 / n; biases start at 0."""
    hidden = _seeded(ModelConfig(name="mlp", options={"hidden": [512]}), 0).get_submodule("hidden1")
    assert isinstance(hidden, nn.Linear)
    assert hidden.weight.var().item() == pytest.approx(2 / 784, rel=0.02)
    assert not hidden.bias.any()


def test_the_default_mlp_is_784_128_10() -> None:
    """The first model everybody knows."""
    assert sum(parameter.numel() for parameter in _seeded(ModelConfig(name="mlp"), 0).parameters()) == 101_770


@pytest.mark.parametrize("block", [BasicBlock, Bottleneck])
def test_a_block_halves_the_image(block: type[BasicBlock | Bottleneck]) -> None:
    """Height and width are halved, rounded up; the shortcut follows."""
    images = torch.rand(2, 4, 7, 8)
    assert block(4, 6, stride=2)(images).shape == (2, 6 * block.expansion, 4, 4)


def test_a_block_adds_its_input() -> None:
    """With a body of zeros, what comes in goes out."""
    block = BasicBlock(4, 4, stride=1).eval()
    for parameter in block.body.parameters():
        nn.init.zeros_(parameter)
    images = torch.rand(2, 4, 5, 5)
    assert torch.equal(block(images), images)


def test_stages_halve_and_the_stem_as_told() -> None:
    """28 pixels: 28 with a plain stem, then half per stage; 7 after a stem with stride and pool."""
    plain = _seeded(ModelConfig(name="resnet", options={"widths": [4, 8], "blocks": [1, 1]}), 0)
    small = _seeded(ModelConfig(name="resnet", options=RESNETS[3]), 0)
    sizes: list[int] = []
    for net in (plain, small):
        for name in ("stage1", "stage2"):
            if hasattr(net, name):
                net.get_submodule(name).register_forward_hook(lambda _, __, out: sizes.append(out.shape[-1]))
        net(torch.rand(2, 1, 28, 28))
    assert sizes == [28, 14, 7]


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("mlp", {"hiden": [1]}, r"'mlp' does not take 'hiden'\. It takes: hidden, dropout"),
        ("mlp", {"num_classes": 3}, r"'mlp' does not take 'num_classes'"),
        ("mlp", {"hidden": 128}, r"hidden: expected a list of whole numbers, got 128"),
        ("mlp", {"hidden": [128, 0]}, r"hidden\.1: expected a whole number of at least 1, got 0"),
        ("mlp", {"dropout": 1}, r"dropout: expected a number from 0 to below 1, got 1"),
        ("mlp", {"dropout": True}, r"dropout: expected a number from 0 to below 1, got True"),
        ("resnet", {"widths": [8]}, r"widths has 1 stages, blocks has 3"),
        ("resnet", {"widths": "88", "blocks": [1, 1]}, r"widths: expected a list of whole numbers, got '88'"),
        ("resnet", {"block": "dense"}, r"block: expected one of 'basic', 'bottleneck', got 'dense'"),
        ("resnet", {"stem_stride": 1.5}, r"stem_stride: expected a whole number of at least 1, got 1\.5"),
        ("resnet", {"stem_pool": "yes"}, r"stem_pool: expected true or false, got 'yes'"),
    ],
)
def test_wrong_options_are_named(name: str, options: dict[str, Any], message: str) -> None:
    """The message names the key, the value, and what is taken."""
    with pytest.raises(ConfigError, match=rf"model\.options.*{message}"):
        build(ModelConfig(name=name, options=options), schema=schema())
