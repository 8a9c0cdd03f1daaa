"""What goes wrong in a user's own model is one sentence with its line."""

from pathlib import Path

import pytest

from sluice.config.learning import ModelConfig
from sluice.config.schema import Schema
from sluice.errors import ConfigError
from sluice.models.build import build

SCHEMA = Schema(
    task="image_classification", classes=("a", "b", "c"), height=4, width=5, channels=1, mean=(0.5,), std=(0.2,)
)
LINEAR = "nn.Sequential(nn.Flatten(), nn.Linear(20, {width}))"


@pytest.mark.parametrize(
    ("number", "body", "words"),
    [
        (1, f"return {LINEAR.format(width=2)}", r"gives \[2, 2\] for 2 images, expected \[2, 3\]"),
        (2, "return nn.Flatten()", "has no parameters"),
        (3, "return nn.Linear(7, 3)", r"does not take images \[2, 1, 4, 5\]: .*mat1"),
        (4, "return nowhere", "cannot be built with .*nowhere.* line 4"),
        (5, "return 3", "returned int"),
        (6, "return (", "cannot be imported"),
    ],
)
def test_a_mistake_is_named(workspace: Path, number: int, body: str, words: str) -> None:
    """Wrong outputs, wrong inputs, no parameters, and errors of Python itself."""
    (workspace / "plugins").mkdir()
    code = f"from torch import nn\n\ndef build(*, in_channels, height, width, num_classes):\n    {body}\n"
    (workspace / f"plugins/mistake{number}.py").write_text(code)
    with pytest.raises(ConfigError, match=words):
        build(ModelConfig(name=f"mistake{number}:build"), schema=SCHEMA)


def test_a_sound_model_keeps_its_mode(workspace: Path) -> None:
    """It is looked at in eval mode, and handed on as it was."""
    (workspace / "plugins").mkdir()
    code = f"from torch import nn\n\ndef build(**shape):\n    return {LINEAR.format(width=3)}\n"
    (workspace / "plugins/sound.py").write_text(code)
    assert build(ModelConfig(name="sound:build"), schema=SCHEMA).training


@pytest.mark.parametrize("name", [":", ":x", "../x:y", "a b:c", "a:b:c"])
def test_a_name_that_is_none(name: str) -> None:
    """A name is module:factory."""
    with pytest.raises(ValueError, match="or your own as 'module:factory'"):
        ModelConfig(name=name)
