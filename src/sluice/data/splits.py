"""Which sample is learned from, which one chooses, and which one only the gate reads."""

import hashlib
from collections import Counter

import pandas as pd

from sluice.errors import DataError

__all__ = ["assign"]


def assign(index: pd.DataFrame, *, val_share: float, gate_share: float, seed: int) -> pd.Series:
    """Name the split of each row of the index: "train", "val" or "gate".

    Splits that the data bring are kept: test is the gate's, whole. The rest is split by a hash of pixels and seed, so
    equal images land on one side, and a sample stays where it was when others are added. Where a class is so small
    that a split would get none of it, the sample nearest to that split moves there.
    Raises DataError when a class has too few different samples to stand in every split that is made here.
    """
    brought = index["split"].map({"": "train", "train": "train", "val": "val", "test": "gate"})
    shares = {"gate": gate_share, "val": val_share}
    made = {split: share for split, share in shares.items() if not (brought == split).any()}
    free = index[brought == "train"]
    side = _sides(free, made, seed=seed)
    assigned = brought.where(brought != "train", index["digest"].map(side))
    _refuse_missing(free, assigned, splits=[*made, "train"])
    return assigned.rename("assigned")


def _sides(free: pd.DataFrame, shares: dict[str, float], *, seed: int) -> dict[str, str]:
    """The split of each digest: a position in [0, 1) falls into the gate's part, val's part, or the rest."""
    position = {digest: _position(digest, seed) for digest in free["digest"].unique()}
    side = {digest: _part(at, shares) for digest, at in position.items()}
    for _, digests in free.groupby("label")["digest"]:
        in_order = sorted(set(digests), key=position.__getitem__)
        _share_out(in_order, side, splits=[*shares, "train"])
    return side


def _share_out(in_order: list[str], side: dict[str, str], *, splits: list[str]) -> None:
    """Give each split, in the order of its part, at least one of a class's samples, while there are enough of them."""
    if len(in_order) < len(splits):
        return
    for number, split in enumerate(splits):
        counts = Counter(side[digest] for digest in in_order)
        if counts[split]:
            continue
        spare = [digest for digest in in_order if counts[side[digest]] > 1]
        later = [digest for digest in spare if splits.index(side[digest]) > number]
        side[later[0] if later else spare[-1]] = split


def _position(digest: str, seed: int) -> float:
    return int.from_bytes(hashlib.sha256(f"{seed}:{digest}".encode()).digest()[:8]) / 2**64


def _part(position: float, shares: dict[str, float]) -> str:
    end = 0.0
    for split, share in shares.items():
        end += share
        if position < end:
            return split
    return "train"


def _refuse_missing(free: pd.DataFrame, assigned: pd.Series, *, splits: list[str]) -> None:
    left = Counter(zip(free["label"], assigned[free.index], strict=True))
    different = free.groupby("label")["digest"].nunique().to_dict()
    problems = [
        f"  class {label!r} has {count} different sample{'s' if count != 1 else ''}, none left for {split}"
        for label, count in different.items()
        for split in splits
        if not left[label, split]
    ]
    if problems:
        raise DataError(
            "\n".join(["the data cannot be split:", *problems])
            + f"\nEvery class needs at least {len(splits)} different samples: add some, raise data.limit, or drop it."
        )
