from pathlib import Path

import numpy as np
import pytest
from contracts.small_model import SIGNATURE

from sluice.errors import MissingArtifact
from sluice.export.golden import Golden, read_golden, write_golden
from sluice.export.probes import BATCHES, batches_of, edge_batches, random_inputs, spread_rows


def test_absent_golden_is_named(tmp_path: Path) -> None:
    """The message names the file and the command that makes it."""
    with pytest.raises(MissingArtifact, match=r"golden\.npz does not exist. Make it with: dvc repro"):
        read_golden(tmp_path / "golden.npz")


@pytest.mark.parametrize("content", [b"", b"PK\3\4 not a zip", b"<html>"])
def test_damaged_golden_is_named(tmp_path: Path, content: bytes) -> None:
    """Half a file is said to be one."""
    (tmp_path / "golden.npz").write_bytes(content)
    with pytest.raises(MissingArtifact, match=r"golden\.npz cannot be read"):
        read_golden(tmp_path / "golden.npz")


def test_truncated_golden_is_named(tmp_path: Path) -> None:
    """A file cut short is said to be one."""
    path = tmp_path / "golden.npz"
    write_golden(path, Golden({"images": np.zeros((8, 4), np.uint8)}, {"logits": np.ones((8, 3), np.float32)}))
    path.write_bytes(path.read_bytes()[:-60])
    with pytest.raises(MissingArtifact, match="cannot be read"):
        read_golden(path)


def test_random_inputs_fit_the_signature_and_the_seed() -> None:
    """Where images must not leave, the inputs are noise, the same for the same seed."""
    first, again = (random_inputs(SIGNATURE, n=8, seed=3)["images"] for _ in range(2))
    assert (first.shape, first.dtype) == ((8, 12, 10, 3), np.uint8)
    assert first.min() == 0
    assert first.max() == 255
    np.testing.assert_array_equal(first, again)


@pytest.mark.parametrize(("given", "low", "high"), [({}, -1, 1), ({"range": [0, 10]}, 0, 10)])
def test_random_floats_keep_to_the_range(given: dict[str, list[int]], low: float, high: float) -> None:
    """Where the signature gives no range, floats lie in -1..1."""
    item = {"name": "series", "dtype": "float32", "shape": ["N", 500], **given}
    series = random_inputs({"inputs": [item]}, n=8, seed=0)["series"]
    assert (series.dtype, series.shape) == (np.float32, (8, 500))
    assert low <= series.min() < low + 0.1 * (high - low) < high - 0.1 * (high - low) < series.max() <= high


def test_rows_are_spread_over_the_classes() -> None:
    """Eight samples of three classes are three, three and two, whatever the order on disk."""
    labels = np.repeat([2, 0, 1], [50, 3, 40])
    rows = spread_rows(labels, n=8)
    assert sorted(labels[rows].tolist()) == [0, 0, 0, 1, 1, 1, 2, 2]
    assert spread_rows(labels[:2], n=8) == [0, 1]


def test_batches_are_of_all_sizes_even_from_few_samples() -> None:
    """The sizes asked for do not depend on how many samples there are (G1)."""
    batches = batches_of({"images": np.arange(5)})
    assert tuple(len(batch["images"]) for batch in batches) == BATCHES == (1, 2, 7, 64)
    assert batches[2]["images"].tolist() == [0, 1, 2, 3, 4, 0, 1]


def test_edges_are_the_ends_of_the_range() -> None:
    """Black and white images are asked too."""
    low, high = edge_batches(SIGNATURE)
    assert (low["images"].max(), high["images"].min(), high["images"].dtype) == (0, 255, np.uint8)
