"""From a name to a network."""

import sys
from pathlib import Path

import pytest
import torch
from torch import nn
from unit.models.test_models import schema

from sluice.config.learning import ModelConfig
from sluice.errors import ConfigError, MissingLibrary, UnknownPlugin
from sluice.models.build import build

OWN = """
from torch import nn

def make(*, in_channels, height, width, num_classes, bias=True):
    return nn.Sequential(nn.Flatten(), nn.Linear(in_channels * height * width, num_classes, bias=bias))

def anything(**options):
    features = options["in_channels"] * options["height"] * options["width"]
    return nn.Sequential(nn.Flatten(), nn.Linear(features, options["num_classes"]), *[nn.ReLU()] * options["extra"])

def no_module(*, in_channels, height, width, num_classes):
    return "net"
"""


@pytest.fixture
def plugins(workspace: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = workspace / "plugins"
    folder.mkdir()
    (folder / "own_model.py").write_text(OWN)
    monkeypatch.delitem(sys.modules, "own_model", raising=False)
    return folder


def test_own_model_is_a_function_in_plugins(plugins: Path) -> None:
    """One file and one line of YAML; the import path is as before."""
    before = list(sys.path)
    net = build(ModelConfig(name="own_model:make", options={"bias": False}), schema=schema(classes=4))
    assert net(torch.rand(2, 1, 28, 28)).shape == (2, 4)
    assert sys.path == before
    free = build(ModelConfig(name="own_model:anything", options={"extra": 2}), schema=schema())
    assert sum(isinstance(module, nn.ReLU) for module in free) == 2


def test_options_of_an_own_model_are_checked(plugins: Path) -> None:
    """As those of a model of this repository."""
    with pytest.raises(ConfigError, match=r"model\.options: 'own_model:make' does not take 'biass'\. It takes: bias"):
        build(ModelConfig(name="own_model:make", options={"biass": False}), schema=schema())


def test_what_is_no_module_is_refused(plugins: Path) -> None:
    """The message names what came back."""
    with pytest.raises(ConfigError, match=r"'own_model:no_module' returned str, expected a torch\.nn\.Module"):
        build(ModelConfig(name="own_model:no_module"), schema=schema())


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("own_modl:make", r"'own_modl:make' is not there.*own_model:make.*Nearest: own_model:make"),
        ("own_model:mak", r"'own_model:mak' is not there.*Nearest: own_model:make"),
        ("own_model.inner:make", r"'own_model\.inner:make' is not there"),
    ],
)
def test_an_unknown_own_model_lists_what_is_there(plugins: Path, name: str, message: str) -> None:
    """The nearest name is said."""
    with pytest.raises(UnknownPlugin, match=message):
        build(ModelConfig(name=name), schema=schema())


def test_an_unknown_model_lists_what_is_there(workspace: Path) -> None:
    """A name that got past params.yaml."""
    config = ModelConfig.model_construct(name="resnett", options={})
    with pytest.raises(UnknownPlugin, match=r"'resnett' is not there\. There are: mlp, resnet\. Nearest: resnet"):
        build(config, schema=schema())


def test_a_library_that_an_own_model_lacks_is_named(plugins: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is not taken for a missing plug-in."""
    (plugins / "needy_model.py").write_text("import a_library_that_is_not_there\n")
    with pytest.raises(MissingLibrary, match="needs the library 'a_library_that_is_not_there'. Install it with: pip"):
        build(ModelConfig(name="needy_model:make"), schema=schema())
