"""Split the accepted samples, fit them to one shape, and store them for reading at random."""

from sluice.config import Params
from sluice.config.schema import Schema
from sluice.data import class_map, splits, store
from sluice.data.index import read_index
from sluice.data.source import open_source
from sluice.io import files, paths

__all__ = ["run"]


def run(params: Params) -> None:
    config = params.prepare
    index = read_index()
    source = open_source(params.data.source, max_pixels=params.validate_.max_pixels)
    assigned = splits.assign(index, val_share=config.val_share, gate_share=config.gate_share, seed=params.seed)
    classes = class_map.update(paths.class_map(params.registry.name), index["label"])
    for split in ("train", "val", "gate"):
        folder = paths.split_folder(split)
        store.write_split(folder, index[assigned == split], source=source, image=config.image, classes=classes)
    normalization = config.normalization or store.statistics(store.open_split(paths.split_folder("train")).images)
    schema = Schema(
        task=params.task,
        classes=classes.classes,
        height=config.image.height,
        width=config.image.width,
        channels=config.image.channels,
        mean=normalization.mean,
        std=normalization.std,
    )
    files.write_json(paths.SCHEMA, schema.model_dump(mode="json"))
    sizes = ", ".join(f"{split} {int((assigned == split).sum())}" for split in ("train", "val", "gate"))
    print(f"{sizes} samples of {len(classes.classes)} classes")
