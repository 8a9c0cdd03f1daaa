"""A small deployable model, and images with structure: what export and engines are tested with."""

from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from sluice.config.schema import Schema
from sluice.engines.predictor import CheckedPredictor
from sluice.export.capture import capture
from sluice.export.eager import EagerPredictor
from sluice.export.golden import Golden, write_golden
from sluice.export.signature import build, output_names
from sluice.io import paths
from sluice.tasks.image_classification import ImageClassification

CLASSES = ("coat", "bag", "naïve & co")
SCHEMA = Schema(
    task="image_classification",
    classes=CLASSES,
    height=12,
    width=10,
    channels=3,
    mean=(0.5, 0.4, 0.3),
    std=(0.25, 0.2, 0.3),
)
SIGNATURE = build(ImageClassification().signature(SCHEMA), weights="0" * 64, opset=18)


class SmallModel(nn.Module):
    """From uint8 images [N, 12, 10, 3]; has batch norm and dropout, and starts in train mode."""

    def __init__(self) -> None:
        super().__init__()
        generator = torch.Generator().manual_seed(0)
        self.stem = nn.Conv2d(3, 8, 3, padding=1)
        self.norm = nn.BatchNorm2d(8)
        self.pool = nn.AdaptiveAvgPool2d(1)
        self.drop = nn.Dropout(0.5)
        self.head = nn.Linear(8, len(CLASSES))
        with torch.no_grad():
            for tensor in (*self.parameters(), self.norm.running_mean):
                tensor.copy_(torch.randn(tensor.shape, generator=generator) / 2)
            self.norm.running_var.copy_(0.5 + torch.rand(8, generator=generator))

    def forward(self, images: Tensor) -> tuple[Tensor, Tensor]:
        x = images.float().permute(0, 3, 1, 2)
        x = (x / 255 - torch.tensor(SCHEMA.mean).view(1, 3, 1, 1)) / torch.tensor(SCHEMA.std).view(1, 3, 1, 1)
        x = self.pool(torch.relu(self.norm(self.stem(x)))).flatten(1)
        logits = self.head(self.drop(x))
        return logits, torch.softmax(logits, dim=1)


def images(n: int = 64, *, seed: int = 0) -> dict[str, NDArray[Any]]:
    """Coloured gradients: unlike noise, their channels differ."""
    generator = np.random.default_rng(seed)
    colours = generator.uniform(0, 1, (n, 1, 1, 3)) * np.array([1.0, 0.6, 0.2])
    ramp = np.linspace(0.2, 1, 120).reshape(1, 12, 10, 1) ** generator.uniform(0.3, 3, (n, 1, 1, 1))
    return {"images": (255 * colours * ramp).astype(np.uint8)}


def predictor_of(model: nn.Module) -> CheckedPredictor:
    return CheckedPredictor(EagerPredictor(model, outputs=output_names(SIGNATURE), threads=1), signature=SIGNATURE)


def write_captured(folder: Path, *, model: nn.Module | None = None) -> Path:
    """What stage capture leaves: graph, ONNX file, signature and golden answers."""
    folder.mkdir(parents=True)
    inputs = images(8)
    capture(model or SmallModel(), signature=SIGNATURE, folder=folder)
    write_golden(folder / paths.GOLDEN_NAME, Golden(inputs, predictor_of(SmallModel())(inputs)))
    return folder
