"""From the captured graph to an ONNX file with named symbolic dimensions and no trace of the machine."""

import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import onnx
import torch
from torch.export import ExportedProgram

from sluice.errors import EngineError, MissingLibrary
from sluice.export.onnx_file import save_onnx
from sluice.export.signature import output_names

__all__ = ["write_onnx"]

_EXTERNAL_DATA_FROM_BYTES = 1_500_000_000
"""Protocol buffers end at 2 GB; the graph itself needs some room."""
_KEPT_METADATA = ("namespace", "pkg.torch.onnx.class_hierarchy", "pkg.torch.onnx.name_scopes")


def write_onnx(program: ExportedProgram, path: Path, *, signature: Mapping[str, Any]) -> None:
    """Raises EngineError when an operator has no ONNX form or the file is not what the signature promises."""
    weights_bytes = sum(tensor.nbytes for tensor in program.state_dict.values())
    try:
        converted = torch.onnx.export(
            program,
            dynamo=True,
            optimize=True,
            opset_version=signature["onnx"]["opset"],
            input_names=[item["name"] for item in signature["inputs"]],
            output_names=list(output_names(signature)),
            verbose=False,
        )
    except ModuleNotFoundError as error:
        raise MissingLibrary(
            f"the ONNX file needs the library {error.name!r}. Install it with: pip install {error.name}"
        ) from None
    except (torch.onnx.OnnxExporterError, RuntimeError) as error:
        raise EngineError(
            f"the captured graph has no ONNX form at opset {signature['onnx']['opset']}: {_innermost(error)}. "
            "Replace that operator in the model, or raise capture.opset."
        ) from error
    if converted is None:
        raise EngineError("torch.onnx.export gave no program.")
    converted.save(str(path), external_data=weights_bytes >= _EXTERNAL_DATA_FROM_BYTES)
    model = onnx.load(path, load_external_data=False)
    _name_dimensions(model, program, signature)
    _forget_machine(model)
    save_onnx(model, path, signature=signature)


def _innermost(error: BaseException) -> str:
    """The first line of what lies under torch's own summaries."""
    while error.__cause__ is not None:
        error = error.__cause__
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return lines[0].rstrip(".") if lines else type(error).__name__


def _name_dimensions(model: onnx.ModelProto, program: ExportedProgram, signature: Mapping[str, Any]) -> None:
    """Put the signature's names in the place of torch's ("s34"), also within expressions of them."""
    placeholders = {node.name: node for node in program.graph.nodes if node.op == "placeholder"}
    names = {}
    for user_input, item in zip(program.graph_signature.user_inputs, signature["inputs"], strict=True):
        for size, name in zip(placeholders[str(user_input)].meta["val"].shape, item["shape"], strict=True):
            if isinstance(name, str):
                names[str(size)] = name
    graph = model.graph
    for value in (*graph.input, *graph.output, *graph.value_info):
        for dim in value.type.tensor_type.shape.dim:
            if dim.dim_param:
                dim.dim_param = re.sub(r"\w+", lambda found: names.get(found[0], found[0]), dim.dim_param)


def _forget_machine(model: onnx.ModelProto) -> None:
    graph = model.graph
    del model.metadata_props[:]
    del graph.metadata_props[:]
    for value in (*graph.input, *graph.output, *graph.value_info, *graph.initializer):
        _keep(value, ())
    for node in (*graph.node, *(node for function in model.functions for node in function.node)):
        _keep(node, _KEPT_METADATA)


def _keep(item: Any, keys: Iterable[str]) -> None:
    item.doc_string = ""
    kept = [entry for entry in item.metadata_props if entry.key in keys]
    del item.metadata_props[:]
    item.metadata_props.extend(kept)
