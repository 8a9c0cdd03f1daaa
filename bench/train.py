"""The product's training loop against one synthetic batch repeated and against torchvision, on Fashion-MNIST.

The 784-128-10 network with SGD 0.01 and batch 64; interleaved rounds in one process; images per second as ratios.
"""

import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import torch
from ratios import Ratio, median_ratio, write
from torch import nn
from torch.utils.data import DataLoader
from torchvision import datasets, transforms

from sluice import config, tasks
from sluice.config.learning import AugmentConfig, ModelConfig, OptimizerConfig, ScheduleConfig, TrainConfig
from sluice.config.schema import Schema, read_schema
from sluice.data.loader import Batch
from sluice.data.store import open_split
from sluice.io import paths
from sluice.tasks.learning import bind
from sluice.training.fit import Learning, fit

ROUNDS = 7
TORCHVISION_STEPS = 400
BATCH = 64
WARM_UP = 20
MODEL = ModelConfig(name="mlp", options={"hidden": [128]})
TRAIN = TrainConfig(
    epochs=1,
    batch_size=BATCH,
    optimizer=OptimizerConfig(name="sgd", lr=0.01),
    schedule=ScheduleConfig(name="constant"),
    augment=AugmentConfig(),
)


@dataclass(frozen=True)
class Repeated:
    """Free data: one batch, again and again."""

    batch: Batch
    steps: int

    def __len__(self) -> int:
        return self.steps

    def __iter__(self) -> Iterator[Batch]:
        return (self.batch for _ in range(self.steps))


def main() -> None:
    schema = read_schema()
    split = open_split(paths.split_folder("train"))
    task = tasks.load(config.load().task)
    net = partial(task.module, MODEL, schema=schema, seed=0)
    learning = bind(task, train=split, val=open_split(paths.split_folder("val")), schema=schema, config=TRAIN, seed=0)
    repeated = Repeated(batch=next(iter(learning.train_batches(1))), steps=len(split) // BATCH)
    print(f"{len(split)} samples, {torch.get_num_threads()} threads, {ROUNDS} rounds")
    with tempfile.TemporaryDirectory() as folder:
        arms = {
            "product": lambda: _through_fit(net(), learning),
            "synthetic": lambda: _through_fit(net(), replace(learning, train_batches=lambda _epoch: repeated)),
            **{
                f"torchvision_{workers}": partial(_torchvision, Path(folder), schema, net, workers)
                for workers in (0, 2)
            },
        }
        rates: dict[str, list[float]] = {name: [] for name in arms}
        for _ in range(ROUNDS):
            for name, arm in arms.items():
                rates[name].append(arm())
            print({name: round(values[-1]) for name, values in rates.items()}, flush=True)
    best = max(("torchvision_0", "torchvision_2"), key=lambda name: sorted(rates[name])[ROUNDS // 2])
    write(
        "train",
        {
            "mlp_vs_synthetic": _ratio(rates["product"], rates["synthetic"], target=0.75),
            "mlp_vs_torchvision": _ratio(rates["product"], rates[best], target=8.0),
        },
        images_per_s=rates,
        torchvision=best,
    )


def _through_fit(net: nn.Module, learning: Learning) -> float:
    fitted = fit(TRAIN, net=net, learning=learning, seed=0, checkpoints=None, on_epoch_end=lambda _epoch: None)
    return fitted.images_per_s


def _torchvision(folder: Path, schema: Schema, make_net: Callable[[], nn.Module], workers: int) -> float:
    """A loop as torchvision's users write it, from the same files; starting the workers is not counted."""
    raw = folder / "FashionMNIST/raw"
    if not raw.exists():
        raw.parent.mkdir()
        raw.symlink_to(paths.RAW.resolve())
    transform = transforms.Compose([transforms.ToTensor(), transforms.Normalize(schema.mean, schema.std)])
    data = datasets.FashionMNIST(str(folder), train=True, transform=transform)
    loader = DataLoader(data, batch_size=BATCH, shuffle=True, num_workers=workers)
    net = make_net()
    optimizer = torch.optim.SGD(net.parameters(), lr=TRAIN.optimizer.lr)
    loss_fn = nn.CrossEntropyLoss()
    start = 0.0
    for step, (images, labels) in enumerate(loader):
        if step == WARM_UP:
            start = time.perf_counter()
        if step == WARM_UP + TORCHVISION_STEPS:
            break
        optimizer.zero_grad()
        loss_fn(net(images), labels).backward()
        optimizer.step()
    return TORCHVISION_STEPS * BATCH / (time.perf_counter() - start)


def _ratio(ours: Sequence[float], theirs: Sequence[float], *, target: float) -> Ratio:
    return median_ratio([a / b for a, b in zip(ours, theirs, strict=True)], target=target)


if __name__ == "__main__":
    main()
