"""Trained weights and the card that says which network they belong to."""

from dataclasses import dataclass
from pathlib import Path

import torch
from pydantic import ValidationError
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import Tensor, nn

from sluice.config.learning import ModelConfig
from sluice.config.schema import Schema
from sluice.errors import MissingArtifact
from sluice.io import files, paths

__all__ = ["Card", "load_weights", "read_card", "save_trained", "unwrap"]


@dataclass(frozen=True, kw_only=True)
class Card:
    """All that it takes to build the network again."""

    task: str
    model: ModelConfig
    schema: Schema
    seed: int


def unwrap(net: nn.Module) -> nn.Module:
    """The network itself, whatever nesting of `torch.compile` and data-parallel wrappers is around it."""
    while True:
        if isinstance(net, nn.parallel.DistributedDataParallel | nn.DataParallel):
            net = net.module
        elif isinstance(inner := getattr(net, "_orig_mod", None), nn.Module):
            net = inner
        else:
            return net


def save_trained(folder: Path, net: nn.Module, card: Card) -> None:
    """Write weights.safetensors and model.json; equal weights give equal bytes, whatever their memory format."""
    with files.atomic_file(folder / paths.WEIGHTS.name) as temporary:
        save_file(_weights(net, copy=True), temporary)
    files.write_json(
        folder / paths.MODEL_CARD.name,
        {
            "task": card.task,
            "name": card.model.name,
            "options": card.model.options,
            "seed": card.seed,
            "schema": card.schema.model_dump(mode="json"),
        },
    )


def load_weights(net: nn.Module, folder: Path) -> None:
    """Load into `net` in place; all or nothing. Raises MissingArtifact that lists every weight which does not fit."""
    path = folder / paths.WEIGHTS.name
    try:
        stored = load_file(path)
    except FileNotFoundError:
        raise MissingArtifact(f"{path} does not exist. Make it with: dvc repro train") from None
    except SafetensorError as error:
        raise MissingArtifact(f"{path} is damaged ({error}). Make it again with: dvc repro -f -s train") from None
    expected = _weights(net, copy=False)
    problems = [
        *(f"missing {name}" for name in expected if name not in stored),
        *(f"unexpected {name}" for name in stored if name not in expected),
        *(
            f"{name} is {_form(stored[name])}, expected {_form(tensor)}"
            for name, tensor in expected.items()
            if name in stored and _form(stored[name]) != _form(tensor)
        ),
    ]
    if problems:
        raise MissingArtifact(
            f"{path} does not fit the model: {'; '.join(problems)}. Make it again with: dvc repro -f -s train"
        )
    with torch.no_grad():
        for name, tensor in expected.items():
            tensor.copy_(stored[name])


def read_card(folder: Path) -> Card:
    path = folder / paths.MODEL_CARD.name
    values = files.read_json(path)
    try:
        return Card(
            task=values["task"],
            model=ModelConfig(name=values["name"], options=values["options"]),
            schema=Schema.model_validate(values["schema"], strict=False),
            seed=values["seed"],
        )
    except (KeyError, TypeError, ValidationError) as error:
        reason = " ".join(str(error).split())
        raise MissingArtifact(f"{path} does not fit this Sluice ({reason}). Run: dvc repro -f -s train") from None


def _weights(net: nn.Module, *, copy: bool) -> dict[str, Tensor]:
    """Parameters and buffers by the names that the model's own code gives them."""
    state = {name.replace("_orig_mod.", ""): tensor for name, tensor in unwrap(net).state_dict().items()}
    # A copy has storage of its own, which safetensors asks for: tied weights are stored once per name.
    return {name: tensor.contiguous().clone() for name, tensor in state.items()} if copy else state


def _form(tensor: Tensor) -> str:
    return f"{str(tensor.dtype).removeprefix('torch.')}{list(tensor.shape)}"
