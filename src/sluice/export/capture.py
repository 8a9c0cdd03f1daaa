"""Capture a model as one graph with symbolic dimensions, and write the ONNX file that engines start from.

Both files are the same, byte for byte, wherever and whenever they are made from the same model.
"""

import copy
import traceback
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn
from torch.export import Dim, ExportedProgram

from sluice.errors import EngineError
from sluice.export.onnx_conversion import write_onnx
from sluice.io import files, paths

__all__ = ["capture"]

_PATH_BEARING = ("stack_trace", "source_fn_stack", "from_node")
_NOT_OURS = (str(Path(torch.__file__).parent), str(Path(__file__).parent), "<")
_REFUSALS = (RuntimeError, TypeError, ValueError, LookupError, AttributeError, AssertionError, ArithmeticError)


def capture(deployable: nn.Module, *, signature: Mapping[str, Any], folder: Path) -> None:
    """Write graph.pt2, model.onnx and signature.json into `folder`.

    `deployable` maps the signature's inputs, in order, to its outputs, in order; it is put into eval mode on a copy.
    Raises EngineError that says what cannot be captured, and where.
    """
    program = _export(copy.deepcopy(deployable).eval(), signature)
    _plain_means(program)
    _forget_paths(program)
    torch.export.save(program, folder / paths.GRAPH_NAME)
    write_onnx(program, folder / paths.ONNX_NAME, signature=signature)
    files.write_json(folder / paths.SIGNATURE_NAME, signature)


def _export(module: nn.Module, signature: Mapping[str, Any]) -> ExportedProgram:
    ranges = signature["dimensions"]
    symbols = {name: Dim(name, min=item["min"], max=item["max"]) for name, item in ranges.items()}
    # Examples of 0 and 1 would be taken for constants, and equal ones for the same dimension.
    sizes = {name: item["min"] + 1 + index for index, (name, item) in enumerate(ranges.items())}
    shapes = [item["shape"] for item in signature["inputs"]]
    dtypes = [np.dtype(item["dtype"]) for item in signature["inputs"]]
    examples = [
        torch.from_numpy(np.zeros([sizes.get(size, size) for size in shape], dtype))
        for shape, dtype in zip(shapes, dtypes, strict=True)
    ]
    dynamic = [{axis: symbols[size] for axis, size in enumerate(shape) if size in symbols} for shape in shapes]
    try:
        return torch.export.export(module, tuple(examples), dynamic_shapes=tuple(dynamic))
    except _REFUSALS as error:
        raise EngineError(_explain(error, module)) from error


def _explain(error: Exception, module: nn.Module) -> str:
    """What torch.export said, in one line, and the line of the model's own code that it was at."""
    frames = traceback.extract_tb(error.__traceback__)
    ours = [frame for frame in frames if not frame.filename.startswith(_NOT_OURS)]
    where = f" at {'/'.join(Path(ours[-1].filename).parts[-2:])}:{ours[-1].lineno} ({ours[-1].line})" if ours else ""
    lines = [line.strip(" -") for line in str(error).splitlines() if line.strip()] or [type(error).__name__]
    said = lines[1] if lines[0].startswith("Constraints violated") and len(lines) > 1 else lines[0]
    return (
        f"the model cannot be captured as one graph{where}: {said.split('. ')[0].rstrip('.')}. "
        f"The forward of {type(module).__name__} may not branch on values, leave torch, or fix the batch: "
        "use torch.where instead of if, tensor methods instead of numpy, and -1 or x.shape[0] for the batch size."
    )


def _plain_means(program: ExportedProgram) -> None:
    """Write a global average pool as the mean that it is.

    torch.onnx decomposes the pool of a channels-last tensor to as_strided, which ONNX can only say as a gather over
    all elements.
    """
    aten = torch.ops.aten
    for node in program.graph.nodes:
        if node.target is aten.adaptive_avg_pool2d.default and list(node.args[1]) == [1, 1]:
            node.target, node.args = aten.mean.dim, (node.args[0], [-2, -1], True)
    program.graph_module.recompile()


def _forget_paths(program: ExportedProgram) -> None:
    for module in program.graph_module.modules():
        if isinstance(module, torch.fx.GraphModule):
            for node in module.graph.nodes:
                for key in _PATH_BEARING:
                    node.meta.pop(key, None)
