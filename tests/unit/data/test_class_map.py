import json
from pathlib import Path

import pytest

from sluice.data.class_map import natural_order, update
from sluice.errors import DataError


def test_first_order_is_natural(tmp_path: Path) -> None:
    """Numbers count as numbers (A8), and the file says the order."""
    file = tmp_path / "maps/mine.json"
    assert update(file, ["10", "2", "1", "2"]).classes == ("1", "2", "10")
    assert json.loads(file.read_text()) == {"classes": ["1", "2", "10"]}
    assert natural_order(["b10", "b2", "a", "01", "1"]) == ["01", "1", "a", "b2", "b10"]


def test_entries_never_move(tmp_path: Path) -> None:
    """New classes come last, and those that are gone keep their index (A7)."""
    file = tmp_path / "map.json"
    update(file, ["b", "d"])
    assert update(file, ["a", "d", "c"]).classes == ("b", "d", "a", "c")
    assert update(file, ["c"]).classes == ("b", "d", "a", "c")
    assert update(file, ["c"]).indices(["c", "b"]).tolist() == [3, 0]


def test_nothing_new_writes_nothing(tmp_path: Path) -> None:
    """The file of an unchanged map is left alone."""
    file = tmp_path / "map.json"
    update(file, ["a"])
    before = file.stat().st_ino
    update(file, ["a"])
    assert file.stat().st_ino == before


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"{", "is not valid JSON"),
        (b"\xff", "is not valid JSON"),
        (b"[]", "no list of names under 'classes'"),
        (b'{"classes": [1]}', "no list of names under 'classes'"),
        (b'{"classes": ["a", "a"]}', "names a class twice"),
    ],
)
def test_damaged_map_is_refused(tmp_path: Path, content: bytes, message: str) -> None:
    """It is never made anew in silence: that would move every class."""
    file = tmp_path / "map.json"
    file.write_bytes(content)
    with pytest.raises(DataError, match=f"{message}.*dvc checkout"):
        update(file, ["a"])
    assert file.read_bytes() == content
