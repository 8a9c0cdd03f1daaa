"""The files that capture, export and benchmark read: a small trained model and a val split."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import torch
from contracts.small_model import images
from ruamel.yaml import YAML

from sluice import tasks
from sluice.config import Params
from sluice.config.learning import ModelConfig
from sluice.config.params import parse
from sluice.config.schema import Schema
from sluice.io import files, paths
from sluice.models.trained import Card, save_trained

SCHEMA = Schema(
    task="image_classification",
    classes=("bag", "coat", "dress"),
    height=12,
    width=10,
    channels=3,
    mean=(0.3, 0.2, 0.1),
    std=(0.2, 0.2, 0.1),
)
MODEL = ModelConfig(name="resnet", options={"widths": [4, 8], "blocks": [1, 1]})


def write_workspace(root: Path, *, samples: int = 70) -> None:
    """A net with random weights and batch statistics, which so depends on its input."""
    net = tasks.load(SCHEMA.task).module(MODEL, schema=SCHEMA, seed=0)
    generator = torch.Generator().manual_seed(0)
    for name, tensor in net.state_dict().items():
        if name.endswith(("running_var", "weight")) and tensor.ndim == 1:
            tensor.copy_(0.5 + torch.rand(tensor.shape, generator=generator))
    save_trained(root / paths.TRAINED, net, Card(task=SCHEMA.task, model=MODEL, schema=SCHEMA, seed=0))
    folder = root / paths.split_folder("val")
    folder.mkdir(parents=True)
    labels = np.arange(samples) % len(SCHEMA.classes)
    np.save(folder / "images.npy", images(samples)["images"])
    np.save(folder / "labels.npy", labels)
    names = [f"{index}.png" for index in range(samples)]
    pd.DataFrame({"sample": names, "digest": names, "label": labels.astype(str)}).to_parquet(folder / "samples.parquet")
    files.write_json(folder / "split.json", {"split": "val", "n": samples, "digest": "d" * 64, "counts": {}})


def params(repository: Path, **sections: dict[str, object]) -> Params:
    """The shipped params.yaml with some keys replaced."""
    values = YAML(typ="safe").load((repository / "params.yaml").read_text(encoding="utf-8"))
    for name, keys in sections.items():
        values[name] = {**values.get(name, {}), **keys}
    return parse(json.dumps(values), name="params.yaml")
