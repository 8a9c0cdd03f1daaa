"""ONNX Runtime on the CPU."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import onnxruntime
from numpy.typing import NDArray
from onnxruntime.capi import onnxruntime_pybind11_state as states

from sluice.errors import EngineError
from sluice.io import paths

__all__ = ["load"]

_ERRORS = (
    states.Fail,
    states.InvalidArgument,
    states.InvalidGraph,
    states.InvalidProtobuf,
    states.NoSuchFile,
    states.NotImplemented,
    states.RuntimeException,
)
_ERRORS_ONLY = 3
_PRECISIONS = {"tensor(float)": "fp32", "tensor(float16)": "fp16", "tensor(bfloat16)": "bf16"}


class _OnnxRuntimePredictor:
    def __init__(self, session: onnxruntime.InferenceSession) -> None:
        self._session: onnxruntime.InferenceSession | None = session
        outputs = session.get_outputs()
        self._names = [output.name for output in outputs]
        self.executed_precision = _PRECISIONS.get(outputs[0].type, outputs[0].type)

    def __call__(self, inputs: Mapping[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
        if self._session is None:
            raise EngineError("the predictor is closed. Load the folder again.")
        try:
            values = self._session.run(self._names, dict(inputs))
        except _ERRORS as error:
            raise EngineError(f"ONNX Runtime could not run the model: {_short(error)}") from error
        return dict(zip(self._names, values, strict=True))

    def close(self) -> None:
        self._session = None


def load(folder: Path, *, threads: int) -> _OnnxRuntimePredictor:
    """Threads do not spin between calls, which would spoil the figures of other engines in the same process."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.log_severity_level = _ERRORS_ONLY
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    file = folder / paths.ONNX_NAME
    try:
        session = onnxruntime.InferenceSession(str(file), options, providers=["CPUExecutionProvider"])
    except _ERRORS as error:
        raise EngineError(
            f"ONNX Runtime cannot load {file}: {_short(error)}. Make it again with: "
            f"dvc repro -f -s export@{file.parent.name}"
        ) from error
    return _OnnxRuntimePredictor(session)


def _short(error: Exception) -> str:
    return " ".join(str(error).split())[:300].rstrip(".")
