"""OpenVINO on the CPU."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import openvino
from numpy.typing import NDArray

from sluice.errors import EngineError

__all__ = ["MODEL_NAME", "load"]

MODEL_NAME = "model.xml"
_PRECISIONS = {openvino.Type.f32: "fp32", openvino.Type.f16: "fp16", openvino.Type.bf16: "bf16"}


class _OpenVinoPredictor:
    def __init__(self, model: openvino.CompiledModel) -> None:
        self._request: openvino.InferRequest | None = model.create_infer_request()
        self._names = [output.any_name for output in model.outputs]
        hint = model.get_property("INFERENCE_PRECISION_HINT")
        self.executed_precision = _PRECISIONS.get(hint, str(hint))

    def __call__(self, inputs: Mapping[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
        if self._request is None:
            raise EngineError("the predictor is closed. Load the folder again.")
        try:
            values = self._request.infer(dict(inputs), share_inputs=True)
        except RuntimeError as error:
            raise EngineError(f"OpenVINO could not run the model: {_short(error)}") from error
        return dict(zip(self._names, values.to_tuple(), strict=True))

    def close(self) -> None:
        self._request = None


def load(folder: Path, *, threads: int) -> _OpenVinoPredictor:
    """Without the precision hint OpenVINO runs float32 models in bfloat16 where the CPU has it.

    Without pinning off it would move the calling thread, and with it the other engines of the process.
    """
    file = folder / MODEL_NAME
    options = {
        "INFERENCE_PRECISION_HINT": "f32",
        "INFERENCE_NUM_THREADS": threads,
        "NUM_STREAMS": 1,
        "ENABLE_CPU_PINNING": False,
    }
    try:
        model = openvino.Core().compile_model(str(file), "CPU", options)
    except RuntimeError as error:
        raise EngineError(
            f"OpenVINO cannot load {file}: {_short(error)}. Make it again with: "
            f"dvc repro -f -s export@{file.parent.name}"
        ) from error
    return _OpenVinoPredictor(model)


def _short(error: Exception) -> str:
    lines = [
        line.strip()
        for line in str(error).splitlines()
        if line.strip() and not line.startswith(("Exception from", "Check '"))
    ]
    return " ".join(lines)[:300].rstrip(".")
