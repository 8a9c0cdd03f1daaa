"""The configured model, untrained, taken through capture: what cannot be exported is known before it is trained."""

from pathlib import Path

from sluice import tasks
from sluice.config import Params
from sluice.config.schema import Schema, read_schema
from sluice.errors import MissingArtifact
from sluice.export.capture import capture
from sluice.export.signature import build

__all__ = ["dry_export"]

_CLASSES = ("a", "b", "c")


def dry_export(params: Params, *, folder: Path) -> None:
    """Write the captured files into `folder`; raises EngineError that says what cannot be captured, and where."""
    task, schema = tasks.load(params.task), _schema(params)
    net = task.module(params.model, schema=schema, seed=params.seed)
    signature = build(task.signature(schema), weights="untrained", opset=params.capture.opset)
    capture(task.deployable(net, schema=schema), signature=signature, folder=folder)


def _schema(params: Params) -> Schema:
    """That of the prepared data, or one of the same shape where nothing is prepared yet."""
    try:
        return read_schema()
    except MissingArtifact:
        image, channels = params.prepare.image, params.prepare.image.channels
        return Schema(
            task=params.task,
            classes=_CLASSES,
            height=image.height,
            width=image.width,
            channels=channels,
            mean=(0.5,) * channels,
            std=(0.5,) * channels,
        )
