"""The table with a row per accepted sample."""

from pathlib import Path

import pandas as pd

from sluice.errors import MissingArtifact
from sluice.io import paths

__all__ = ["COLUMNS", "read_index"]

COLUMNS = {
    "sample": "str",
    "split": "str",
    "label": "str",
    "digest": "str",
    "width": "int64",
    "height": "int64",
    "channels": "int64",
    "mean": "float64",
    "std": "float64",
}


def read_index(path: Path = paths.INDEX) -> pd.DataFrame:
    """Raises MissingArtifact when the file is absent, damaged, or of another version."""
    try:
        index = pd.read_parquet(path)
    except FileNotFoundError:
        raise MissingArtifact(f"{path} does not exist. Make it with: dvc repro validate") from None
    except (OSError, ValueError) as error:
        raise MissingArtifact(f"{path} cannot be read ({error}). Delete it and run: dvc repro validate") from None
    missing = [name for name in COLUMNS if name not in index]
    if missing:
        raise MissingArtifact(f"{path} lacks the columns {', '.join(missing)}. Run: dvc repro validate")
    return index[list(COLUMNS)].astype(COLUMNS)
