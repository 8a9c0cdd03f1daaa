from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pyarrow.parquet as pq

from sluice.data.index import read_index
from sluice.validation.index_file import write_index

MakeIndex = Callable[..., pd.DataFrame]


def test_equal_rows_give_equal_bytes(make_index: MakeIndex, tmp_path: Path) -> None:
    """The file depends on the rows alone: not on dtypes, row labels, the order of columns or those of pandas."""
    index = make_index()
    other = index[list(reversed(index.columns))].astype({"label": object, "width": "int32", "split": "category"})
    other.index = other.index + 100
    write_index(tmp_path / "a.parquet", index)
    write_index(tmp_path / "b.parquet", other)
    assert (tmp_path / "a.parquet").read_bytes() == (tmp_path / "b.parquet").read_bytes()
    assert pq.read_schema(tmp_path / "a.parquet").metadata is None


def test_index_reads_back(make_index: MakeIndex, tmp_path: Path) -> None:
    """What prepare reads is what was accepted, row by row."""
    index = make_index(splits=("train", "test"))
    write_index(tmp_path / "index.parquet", index)
    pd.testing.assert_frame_equal(read_index(tmp_path / "index.parquet"), index)
