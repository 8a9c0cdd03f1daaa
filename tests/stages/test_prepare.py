import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from PIL import Image

from sluice.config import Params, load
from sluice.config.schema import read_schema
from sluice.data.scan import scan
from sluice.data.store import open_split
from sluice.errors import DataError, MissingArtifact
from sluice.io import files, paths
from sluice.stages import prepare


@pytest.fixture
def params(workspace: Path, repository: Path) -> Params:
    """64 images of four classes, scanned; 8 x 6 grey in the store."""
    for row in range(64):
        folder = paths.RAW / str(row % 4 * 5)
        folder.mkdir(parents=True, exist_ok=True)
        pixels = np.random.default_rng(row).integers(0, 256, (12, 10, 3), dtype=np.uint8)
        Image.fromarray(pixels).save(folder / f"{row}.png")
    params = load(repository / "params" / "demo.yaml")
    data = params.data.model_copy(update={"source": "folder", "fetch": None, "limit": 1.0})
    image = params.prepare.image.model_copy(update={"height": 8, "width": 6, "channels": 1})
    section = params.prepare.model_copy(update={"image": image, "normalization": None})
    _scan(changed := params.model_copy(update={"data": data, "prepare": section}))
    return changed


def _scan(params: Params) -> None:
    paths.INDEX.parent.mkdir(exist_ok=True)
    scan(paths.RAW, config=params.data, max_pixels=10**6).index.to_parquet(paths.INDEX, index=False)


def test_writes_three_splits_and_a_schema(params: Params) -> None:
    """Every sample is in one split, all classes in each, and the statistics are those of train."""
    prepare.run(params)
    splits = {name: open_split(paths.split_folder(name)) for name in ("train", "val", "gate")}
    assert sorted(sample for split in splits.values() for sample in split.samples) == sorted(
        pd.read_parquet(paths.INDEX)["sample"]
    )
    assert all(set(split.labels) == {0, 1, 2, 3} for split in splits.values())
    schema = read_schema()
    assert schema.classes == ("0", "5", "10", "15")
    assert (schema.task, schema.height, schema.width, schema.channels) == ("image_classification", 8, 6, 1)
    images = splits["train"].images
    assert images.shape[1:] == (8, 6, 1)
    assert schema.mean == pytest.approx((images.mean() / 255,))
    assert schema.std == pytest.approx((images.std() / 255,))


def test_twice_is_the_same(params: Params) -> None:
    """Byte for byte, class map and all."""
    prepare.run(params)
    first = files.digest_folder(Path("data"))
    prepare.run(params)
    assert files.digest_folder(Path("data")) == first


def test_classes_keep_their_index(params: Params) -> None:
    """A class that is gone stays in the map and the schema, a new one comes last (A7)."""
    prepare.run(params)
    (paths.RAW / "5").rename(paths.RAW / "1")
    _scan(params)
    prepare.run(params)
    assert read_schema().classes == ("0", "5", "10", "15", "1")
    assert set(open_split(paths.split_folder("gate")).labels) == {0, 2, 3, 4}
    about = json.loads((paths.split_folder("val") / "split.json").read_text())
    assert about["counts"]["5"] == 0


def test_given_statistics_are_taken(params: Params) -> None:
    """prepare.normalization goes before the train split's own."""
    given = Params.model_validate(
        params.model_dump(by_alias=True)
        | {"prepare": params.prepare.model_dump() | {"normalization": {"mean": (0.5,), "std": (0.25,)}}}
    )
    prepare.run(given)
    assert (read_schema().mean, read_schema().std) == ((0.5,), (0.25,))


def test_a_class_too_small_to_split_is_named(params: Params) -> None:
    """Nothing is written then, not even the class map (A14)."""
    for file in sorted((paths.RAW / "10").iterdir())[1:]:
        file.unlink()
    _scan(params)
    with pytest.raises(DataError, match="class '10' has 1 different sample,"):
        prepare.run(params)
    assert not paths.PREPARED.exists()
    assert not paths.CLASS_MAPS.exists()


def test_needs_the_index(params: Params) -> None:
    """The message says what makes it."""
    paths.INDEX.unlink()
    with pytest.raises(MissingArtifact, match="dvc repro validate"):
        prepare.run(params)
