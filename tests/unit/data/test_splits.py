import hashlib

import pandas as pd
import pytest

from sluice.data.splits import assign
from sluice.errors import DataError


def _index(per_class: dict[str, int], *, split: str = "", start: int = 0) -> pd.DataFrame:
    rows = [
        (f"{label}/{split}{row}", split, label, hashlib.sha256(f"{label}{split}{row}".encode()).hexdigest())
        for label, count in per_class.items()
        for row in range(start, start + count)
    ]
    return pd.DataFrame(rows, columns=["sample", "split", "label", "digest"])


def _assign(index: pd.DataFrame, *, seed: int = 0, val: float = 0.1, gate: float = 0.2) -> pd.Series:
    return assign(index, val_share=val, gate_share=gate, seed=seed)


def test_shares_are_kept_in_each_class() -> None:
    """Every class is in every split, at about its share."""
    index = _index({"a": 2000, "b": 1000})
    table = pd.crosstab(index["label"], _assign(index), normalize="index")
    assert abs(table["gate"] - 0.2).max() < 0.04
    assert abs(table["val"] - 0.1).max() < 0.03


def test_split_is_a_function_of_digest_and_seed() -> None:
    """Equal runs are equal whatever the order of rows, another seed is another split (B3)."""
    index = _index({"a": 50, "b": 50})
    shuffled = index.sample(frac=1, random_state=1)
    assert _assign(shuffled).sort_index().equals(_assign(index))
    assert not _assign(index, seed=1).equals(_assign(index))


def test_a_sample_stays_when_others_come() -> None:
    """What the gate has seen never becomes training data."""
    before, more = _index({"a": 200, "b": 200}), _index({"a": 300, "b": 300}, start=200)
    both = pd.concat([before, more], ignore_index=True)
    assert _assign(both)[: len(before)].equals(_assign(before))


def test_equal_images_land_on_one_side() -> None:
    """No exact duplicate crosses a split, not even with two labels (A13)."""
    index = _index({"a": 100, "b": 100})
    copies = index.assign(sample="copy of " + index["sample"], label=index["label"].map({"a": "b", "b": "a"}))
    both = pd.concat([index, copies, index], ignore_index=True)
    assert _assign(both).groupby(both["digest"]).nunique().max() == 1


@pytest.mark.parametrize("count", [3, 4, 7])
@pytest.mark.parametrize("seed", range(5))
def test_small_classes_are_in_every_split(count: int, seed: int) -> None:
    """Three different samples are enough for three splits (A14)."""
    index = _index({"a": count, "b": count})
    assert (pd.crosstab(index["label"], _assign(index, seed=seed)).shape) == (2, 3)
    assert pd.crosstab(index["label"], _assign(index, seed=seed)).to_numpy().min() >= 1


def test_too_small_classes_are_named() -> None:
    """The message has class, count, split and remedy, for all of them (A14)."""
    with pytest.raises(
        DataError, match="'b' has 2 different samples, none left for (.|\n)*'c' has 1 different sample,"
    ) as caught:
        _assign(_index({"a": 10, "b": 2, "c": 1}))
    assert "'a'" not in str(caught.value)
    assert "at least 3 different samples" in str(caught.value)


def test_copies_do_not_fill_a_class() -> None:
    """Ten copies of one image are one sample (A14, A13)."""
    index = _index({"a": 10, "b": 10})
    index.loc[index["label"] == "b", "digest"] = "0" * 64
    with pytest.raises(DataError, match="'b' has 1 different sample,"):
        _assign(index)


def test_brought_test_split_is_the_gate() -> None:
    """Whole, and val comes from train."""
    index = pd.concat([_index({"a": 50, "b": 50}, split="train"), _index({"a": 5}, split="test")], ignore_index=True)
    assigned = _assign(index)
    assert (assigned[index["split"] == "test"] == "gate").all()
    assert set(assigned[index["split"] == "train"]) == {"train", "val"}


def test_brought_splits_are_kept() -> None:
    """With all three nothing is split, and a class may be absent from val (A6)."""
    parts = [_index({"a": 2, "b": 1}, split="train"), _index({"a": 1}, split="val"), _index({"b": 1}, split="test")]
    assert _assign(pd.concat(parts, ignore_index=True)).tolist() == ["train", "train", "train", "val", "gate"]


def test_brought_val_leaves_the_gate_to_train() -> None:
    """Without a test split the gate's part comes from train, and val stays whole."""
    index = pd.concat([_index({"a": 50, "b": 50}, split="train"), _index({"a": 9}, split="val")], ignore_index=True)
    assigned = _assign(index)
    assert (assigned[index["split"] == "val"] == "val").all()
    assert set(assigned[index["split"] == "train"]) == {"train", "gate"}
