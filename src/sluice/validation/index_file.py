"""data/index.parquet: one row per accepted sample, equal bytes for equal rows."""

from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from sluice.io import files

__all__ = ["write_index"]

_SCHEMA = pa.schema(
    [
        *((name, pa.string()) for name in ("sample", "split", "label", "digest")),
        *((name, pa.int64()) for name in ("width", "height", "channels")),
        *((name, pa.float64()) for name in ("mean", "std")),
    ]
)


def write_index(path: Path, index: pd.DataFrame) -> None:
    """Columns and types are fixed, so that the file does not depend on those of the data frame."""
    table = pa.Table.from_pandas(index[_SCHEMA.names], schema=_SCHEMA, preserve_index=False)
    with files.atomic_file(path) as temporary:
        pq.write_table(table.replace_schema_metadata(None), temporary)
