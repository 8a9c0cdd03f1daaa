"""signature.json: what a consumer of an exported folder must know, and nothing about the machine that made it.

Its form is docs/schemas/signature.schema.json.
"""

from collections.abc import Mapping
from importlib import metadata
from typing import Any

import sluice

__all__ = ["IR_VERSION", "METADATA_KEY", "SCHEMA_VERSION", "build", "for_engine", "output_names"]

SCHEMA_VERSION = 1
METADATA_KEY = "sluice.signature"
IR_VERSION = 10


def build(of_task: Mapping[str, Any], *, weights: str, opset: int) -> dict[str, Any]:
    """Complete what the task says of its model. `weights` is the SHA-256 of the trained weights' file."""
    return {
        "schema_version": SCHEMA_VERSION,
        **of_task,
        "weights": weights,
        "onnx": {"opset": opset, "ir_version": IR_VERSION},
        "versions": {
            "sluice": sluice.__version__,
            "torch": metadata.version("torch"),
            "onnx": metadata.version("onnx"),
        },
        "engine": None,
        "precision": {"requested": "fp32", "executed": "fp32"},
        "calibration": None,
    }


def for_engine(signature: Mapping[str, Any], *, engine: str, precision: str) -> dict[str, Any]:
    """The signature of one engine's folder. Parity refuses a folder whose engine executes another precision."""
    return {**signature, "engine": engine, "precision": {"requested": precision, "executed": precision}}


def output_names(signature: Mapping[str, Any]) -> tuple[str, ...]:
    return tuple(item["name"] for item in signature["outputs"])
