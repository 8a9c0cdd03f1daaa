"""ONNX Runtime runs the captured ONNX file as it is."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sluice.errors import ConfigError
from sluice.export.onnx_file import copy_onnx
from sluice.io import files, paths

__all__ = ["export"]


def export(captured: Path, folder: Path, *, precision: str, options: Mapping[str, Any]) -> None:
    """`folder` already holds signature.json, which goes into the file."""
    del precision
    if options:
        unknown = ", ".join(map(repr, options))
        raise ConfigError(f"export.options.onnxruntime: {unknown} is not known. This exporter takes no options.")
    signature = files.read_json(folder / paths.SIGNATURE_NAME)
    copy_onnx(captured / paths.ONNX_NAME, folder / paths.ONNX_NAME, signature=signature)
