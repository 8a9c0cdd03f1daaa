from pathlib import Path

import pandas as pd
import pytest

from sluice.data.index import COLUMNS, read_index
from sluice.errors import MissingArtifact


def test_reads_what_was_written(tmp_path: Path) -> None:
    """Types are fixed."""
    file = tmp_path / "index.parquet"
    row = {"sample": "a/0", "split": "", "label": "a", "digest": "0", "width": 1, "height": 2, "channels": 3}
    pd.DataFrame([row | {"mean": 1, "std": 0}]).to_parquet(file, index=False)
    index = read_index(file)
    assert {name: str(kind) for name, kind in index.dtypes.items()} == COLUMNS


def test_missing_or_damaged_index_says_what_to_run(tmp_path: Path) -> None:
    """Absent, no Parquet, and lacking columns."""
    file = tmp_path / "index.parquet"
    with pytest.raises(MissingArtifact, match="does not exist. Make it with: dvc repro validate"):
        read_index(file)
    file.write_bytes(b"no parquet")
    with pytest.raises(MissingArtifact, match="cannot be read"):
        read_index(file)
    pd.DataFrame({"sample": ["a"]}).to_parquet(file)
    with pytest.raises(MissingArtifact, match="lacks the columns split, label"):
        read_index(file)
