"""One class for each image. Shapes: N images, H height, W width, C channels, K classes, B images of a batch."""

import copy
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional

from sluice.config.learning import ModelConfig, TrainConfig
from sluice.config.schema import Schema
from sluice.data import loader
from sluice.data.decode import preprocessing
from sluice.data.store import Split
from sluice.models.build import build
from sluice.models.trained import unwrap
from sluice.tasks import Task

__all__ = ["TASK", "Deployable", "ImageClassification"]


class Deployable(nn.Module):
    """Raw uint8 images [N, H, W, C] to (logits, probabilities), both float32 [N, K]."""

    mean_1C11: Tensor
    std_1C11: Tensor

    def __init__(self, net: nn.Module, *, mean: Sequence[float], std: Sequence[float]) -> None:
        super().__init__()
        self.net = net
        self.register_buffer("mean_1C11", torch.tensor(mean).view(1, -1, 1, 1))
        self.register_buffer("std_1C11", torch.tensor(std).view(1, -1, 1, 1))

    def forward(self, images_NHWC: Tensor) -> tuple[Tensor, Tensor]:
        # The cast comes first: TensorRT takes no other operator on uint8.
        images_NCHW = images_NHWC.float().permute(0, 3, 1, 2)
        logits_NK = self.net((images_NCHW / 255 - self.mean_1C11) / self.std_1C11)
        return logits_NK, torch.softmax(logits_NK, dim=1)


class ImageClassification:
    def module(self, model: ModelConfig, *, schema: Schema, seed: int) -> nn.Module:
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            return build(model, schema=schema)

    def train_batches(
        self, split: Split, *, schema: Schema, config: TrainConfig, seed: int, epoch: int
    ) -> loader.Batches:
        return loader.train_batches(
            split,
            schema=schema,
            batch_size=config.batch_size,
            augment=config.augment,
            seed=seed,
            epoch=epoch,
            channels_last=config.channels_last,
        )

    def eval_batches(self, split: Split, *, schema: Schema, batch_size: int) -> loader.Batches:
        return loader.eval_batches(split, schema=schema, batch_size=batch_size)

    def loss(self, outputs: Tensor, targets: Tensor, *, config: TrainConfig) -> Tensor:
        return functional.cross_entropy(outputs, targets, label_smoothing=config.label_smoothing)

    def correct(self, outputs: Tensor, targets: Tensor) -> Tensor:
        return outputs.argmax(dim=1) == targets

    def deployable(self, net: nn.Module, *, schema: Schema) -> nn.Module:
        copied = copy.deepcopy(unwrap(net)).to(memory_format=torch.contiguous_format)
        module = Deployable(copied, mean=schema.mean, std=schema.std)
        return module.requires_grad_(requires_grad=False).eval()

    def signature(self, schema: Schema) -> dict[str, Any]:
        height, width, channels, classes = schema.height, schema.width, schema.channels, schema.num_classes
        return {
            "task": schema.task,
            "inputs": [
                {
                    "name": "images",
                    "dtype": "uint8",
                    "shape": ["N", height, width, channels],
                    "meaning": f"{'grey' if channels == 1 else 'RGB'} images, made as preprocessing says",
                    "unit": "intensity of a pixel, 0 to 255",
                    "range": [0, 255],
                }
            ],
            "outputs": [
                {
                    "name": "logits",
                    "dtype": "float32",
                    "shape": ["N", classes],
                    "meaning": "score of each class, in the order of classes",
                    "unit": "natural logarithm of odds, up to a constant per image",
                },
                {
                    "name": "probabilities",
                    "dtype": "float32",
                    "shape": ["N", classes],
                    "meaning": "softmax of the logits",
                    "unit": "probability, 0 to 1",
                },
            ],
            "dimensions": {"N": {"min": 1, "max": None, "meaning": "images of a batch"}},
            "classes": list(schema.classes),
            "preprocessing": preprocessing(height=height, width=width, channels=channels),
            "inside": [
                {"op": "cast", "dtype": "float32"},
                {"op": "layout", "order": "CHW"},
                {"op": "scale", "divisor": 255},
                {"op": "normalise", "mean": list(schema.mean), "std": list(schema.std)},
                {"op": "model"},
                {"op": "softmax"},
            ],
        }

    def inputs(self, split: Split, rows: Sequence[int] | slice) -> dict[str, NDArray[Any]]:
        chosen = rows if isinstance(rows, slice) else np.asarray(rows, dtype=np.int64)
        return {"images": np.array(split.images[chosen])}


TASK: Task = ImageClassification()
