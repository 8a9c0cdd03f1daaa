"""Weights on disk."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file
from torch import Tensor, nn
from unit.models.test_models import schema

from sluice.config.learning import ModelConfig
from sluice.errors import MissingArtifact
from sluice.models.build import build
from sluice.models.trained import Card, load_weights, read_card, save_trained, unwrap

CARD = Card(
    task="image_classification",
    model=ModelConfig(name="resnet", options={"widths": [4], "blocks": [1]}),
    schema=schema(),
    seed=7,
)


class Tied(nn.Module):
    """Two names for one weight."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = nn.Linear(4, 4), nn.Linear(4, 4)
        self.second.weight = self.first.weight

    def forward(self, inputs: Tensor) -> Tensor:
        return self.second(self.first(inputs))


def _net() -> nn.Module:
    return build(CARD.model, schema=CARD.schema)


def _same(one: nn.Module, other: nn.Module) -> bool:
    return all(torch.equal(a, b) for a, b in zip(one.state_dict().values(), other.state_dict().values(), strict=True))


def test_weights_and_card_come_back(tmp_path: Path) -> None:
    """Bits, options, schema and seed."""
    net, other = _net(), _net()
    assert not _same(net, other)
    save_trained(tmp_path, net, CARD)
    load_weights(other, tmp_path)
    assert _same(net, other)
    assert read_card(tmp_path) == CARD


def test_equal_weights_give_equal_files(tmp_path: Path) -> None:
    """Also from another memory format, which is not the file's business."""
    net = _net()
    save_trained(tmp_path / "a", net, CARD)
    save_trained(tmp_path / "b", net.to(memory_format=torch.channels_last), CARD)
    for name in ("weights.safetensors", "model.json"):
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()


@pytest.fixture
def ddp() -> Iterator[type[nn.parallel.DistributedDataParallel]]:
    """In a process group of one."""
    torch.distributed.init_process_group("gloo", store=torch.distributed.HashStore(), rank=0, world_size=1)
    yield nn.parallel.DistributedDataParallel
    torch.distributed.destroy_process_group()


def test_wrappers_leave_no_trace_in_the_names(tmp_path: Path, ddp: type[nn.parallel.DistributedDataParallel]) -> None:
    """B11: compiled, distributed, either around the other, compiled parts: the model's own names, strict loading."""
    net = _net()
    wrapped = [torch.compile(net), ddp(net), ddp(torch.compile(net)), torch.compile(ddp(net)), nn.DataParallel(net)]
    for number, outer in enumerate(wrapped):
        assert unwrap(outer) is net
        save_trained(tmp_path / str(number), outer, CARD)
    part = _net()
    part.add_module("head", torch.compile(part.get_submodule("head")))
    save_trained(tmp_path / "part", part, CARD)
    for folder in tmp_path.iterdir():
        assert load_file(folder / "weights.safetensors").keys() == net.state_dict().keys()
        load_weights(_net(), folder)
        load_weights(torch.compile(_net()), folder)


def test_tied_weights_stay_tied(tmp_path: Path) -> None:
    """One weight under two names is one weight after loading."""
    net, other = Tied(), Tied()
    save_trained(tmp_path, net, CARD)
    load_weights(other, tmp_path)
    assert other.first.weight is other.second.weight
    assert _same(net, other)


def test_what_does_not_fit_is_listed_and_nothing_is_loaded(tmp_path: Path) -> None:
    """B11: strict; every missing, unexpected and mis-shaped weight is named."""
    save_file({"first.weight": torch.ones(4, 3), "first.bias": torch.ones(4), "x": torch.ones(1)}, tmp_path / "w")
    (tmp_path / "w").rename(tmp_path / "weights.safetensors")
    net = Tied()
    before = {name: tensor.clone() for name, tensor in net.state_dict().items()}
    with pytest.raises(
        MissingArtifact,
        match=r"does not fit the model: missing second\.weight; missing second\.bias; unexpected x; "
        r"first\.weight is float32\[4, 3\], expected float32\[4, 4\]\. Make it again with",
    ):
        load_weights(net, tmp_path)
    assert all(torch.equal(tensor, before[name]) for name, tensor in net.state_dict().items())


def test_absent_and_damaged_weights_are_named(tmp_path: Path) -> None:
    """No traceback of a library."""
    with pytest.raises(MissingArtifact, match=r"weights\.safetensors does not exist\. Make it with: dvc repro train"):
        load_weights(Tied(), tmp_path)
    (tmp_path / "weights.safetensors").write_bytes(b"half")
    with pytest.raises(MissingArtifact, match=r"weights\.safetensors is damaged"):
        load_weights(Tied(), tmp_path)


def test_a_card_that_does_not_fit_is_named(tmp_path: Path) -> None:
    """A file of another version says so."""
    save_trained(tmp_path, Tied(), CARD)
    values = json.loads((tmp_path / "model.json").read_text())
    assert list(values) == ["task", "name", "options", "seed", "schema"]
    del values["schema"]["mean"]
    (tmp_path / "model.json").write_text(json.dumps(values))
    with pytest.raises(MissingArtifact, match=r"model\.json does not fit this Sluice \(1 validation error"):
        read_card(tmp_path)
