"""What prepare learned of the data and every later stage relies on: classes in order, shape, statistics."""

from pathlib import Path

from pydantic import ValidationError

from sluice.config.section import Section
from sluice.errors import MissingArtifact
from sluice.io import files, paths

__all__ = ["Schema", "read_schema"]


class Schema(Section):
    task: str
    classes: tuple[str, ...]
    """In the order of the class map: position is the index that the model gives."""
    height: int
    width: int
    channels: int
    mean: tuple[float, ...]
    """Per channel, on the scale 0..1."""
    std: tuple[float, ...]

    @property
    def num_classes(self) -> int:
        return len(self.classes)


def read_schema(path: Path = paths.SCHEMA) -> Schema:
    values = files.read_json(path)
    try:
        return Schema.model_validate(values, strict=False)
    except ValidationError as error:
        raise MissingArtifact(
            f"{path} does not fit this version of Sluice ({error.error_count()} problems). Run: dvc repro prepare"
        ) from None
