"""The ONNX file: the signature inside, and checked against it. Needs no PyTorch."""

import json
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import onnx

from sluice.errors import EngineError
from sluice.export.signature import METADATA_KEY

__all__ = ["check_onnx", "copy_onnx", "save_onnx"]


def copy_onnx(source: Path, target: Path, *, signature: Mapping[str, Any]) -> None:
    """Copy the file, and its weights where they stand beside it, with another signature inside."""
    beside = source.with_name(f"{source.name}.data")
    if beside.exists():
        shutil.copyfile(beside, target.with_name(f"{target.name}.data"))
    save_onnx(onnx.load(source, load_external_data=False), target, signature=signature)


def check_onnx(path: Path, *, signature: Mapping[str, Any]) -> None:
    """Refuse a file that a consumer who read the signature would stumble over. Raises EngineError."""
    try:
        onnx.checker.check_model(str(path))
    except (onnx.checker.ValidationError, OSError) as error:
        raise EngineError(f"{path.name} is not valid ONNX: {str(error).splitlines()[0]}") from error
    model = onnx.load(path, load_external_data=False)
    opsets = {item.domain: item.version for item in model.opset_import}
    wanted = signature["onnx"]
    if opsets.get("", 0) != wanted["opset"] or model.ir_version > wanted["ir_version"]:
        raise EngineError(
            f"{path.name} has opset {opsets.get('')} and IR {model.ir_version}, "
            f"the signature says {wanted['opset']} and {wanted['ir_version']}."
        )
    for promised, values in ((signature["inputs"], model.graph.input), (signature["outputs"], model.graph.output)):
        found = [_described(value) for value in values]
        expected = [(item["name"], item["dtype"], list(item["shape"])) for item in promised]
        if found != expected:
            raise EngineError(f"{path.name} has {found}, the signature says {expected}.")


def save_onnx(model: onnx.ModelProto, path: Path, *, signature: Mapping[str, Any]) -> None:
    """Write `model` with the signature in its metadata, and check what was written."""
    onnx.helper.set_model_props(model, {METADATA_KEY: json.dumps(signature, ensure_ascii=False)})
    onnx.save(model, path)
    check_onnx(path, signature=signature)


def _described(value: onnx.ValueInfoProto) -> tuple[str, str, list[int | str]]:
    tensor = value.type.tensor_type
    shape = [dim.dim_param or dim.dim_value for dim in tensor.shape.dim]
    return value.name, str(np.dtype(onnx.helper.tensor_dtype_to_np_dtype(tensor.elem_type))), shape
