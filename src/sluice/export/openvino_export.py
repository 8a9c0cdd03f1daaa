"""OpenVINO from the captured ONNX file, which keeps the sizes that OpenVINO loses from torch's own graph."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import openvino

from sluice.engines.openvino_engine import MODEL_NAME
from sluice.errors import ConfigError, EngineError
from sluice.export.signature import METADATA_KEY
from sluice.io import files, paths

__all__ = ["export"]


def export(captured: Path, folder: Path, *, precision: str, options: Mapping[str, Any]) -> None:
    """`folder` already holds signature.json, which goes into the file's `rt_info`. Weights stay float32."""
    del precision
    if options:
        unknown = ", ".join(map(repr, options))
        raise ConfigError(f"export.options.openvino: {unknown} is not known. This exporter takes no options.")
    signature = files.read_json(folder / paths.SIGNATURE_NAME)
    source = captured / paths.ONNX_NAME
    try:
        model = openvino.Core().read_model(str(source))
        if model.has_rt_info(["framework"]):
            del model.rt_info["framework"]  # the ONNX file's own copy of the signature
        model.set_rt_info(json.dumps(signature, ensure_ascii=False), METADATA_KEY.split("."))
        openvino.save_model(model, str(folder / MODEL_NAME), compress_to_fp16=False)
    except RuntimeError as error:
        said = [line.strip() for line in str(error).splitlines() if line.strip()]
        raise EngineError(f"OpenVINO cannot convert {source.name}: {said[-1]}") from error
