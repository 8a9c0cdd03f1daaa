"""Parameters and a prepared store that train in no time: three classes of 8 x 8 squares, told apart by brightness."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from mlflow.entities import Run
from mlflow.tracking import MlflowClient

from sluice.config import Params, load
from sluice.config.schema import Schema
from sluice.io import files, paths

CLASSES = ("dark", "<b>grey</b>", "light")


def tiny_params(repository: Path, **sections: Any) -> Params:
    """The demo's with a small net; `sections` replace keys of its sections: `tune={"trials": 2}`."""
    params = load(repository / "params" / "demo.yaml")
    small = {
        "model": {"name": "mlp", "options": {"hidden": [8]}},
        "train": {"epochs": 1, "batch_size": 16, "threads": 1, "use_tuned": False},
    }
    for name, values in (small | sections).items():
        section = getattr(params, name)
        params = params.model_copy(update={name: section.model_copy(update=small.get(name, {}) | values)})
    return params


def write_store() -> None:
    """Fill data/prepared of the current folder."""
    for split, count in (("train", 60), ("val", 30), ("gate", 30)):
        folder = paths.split_folder(split)
        folder.mkdir(parents=True)
        labels = np.arange(count, dtype=np.int64) % 3
        noise = np.random.default_rng(count).integers(0, 60, (count, 8, 8, 1))
        np.save(folder / "images.npy", (noise + 80 * labels[:, None, None, None]).astype(np.uint8))
        np.save(folder / "labels.npy", labels)
        samples = [f"{split}/{row}.png" for row in range(count)]
        table = {"sample": samples, "digest": samples, "label": [CLASSES[label] for label in labels]}
        pd.DataFrame(table).to_parquet(folder / "samples.parquet", index=False)
        counts = dict.fromkeys(CLASSES, count // 3)
        files.write_json(folder / "split.json", {"split": split, "n": count, "digest": split, "counts": counts})
    schema = Schema(
        task="image_classification", classes=CLASSES, height=8, width=8, channels=1, mean=(0.45,), std=(0.3,)
    )
    files.write_json(paths.SCHEMA, schema.model_dump(mode="json"))


def runs(workspace: Path, repository: Path) -> list[Run]:
    """All MLflow runs of the tiny model in the store of `workspace`."""
    client = MlflowClient(f"sqlite:///{workspace / 'mlflow.db'}")
    experiment = client.get_experiment_by_name(tiny_params(repository).registry.name)
    return list(client.search_runs([experiment.experiment_id]))
