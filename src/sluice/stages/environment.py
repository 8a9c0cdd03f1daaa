"""What this machine has: stable facts only, from package metadata, without importing an engine."""

import os
import platform
from importlib import metadata
from pathlib import Path

import numpy as np

from sluice.config import Params
from sluice.config.plugins import ENGINES
from sluice.io import files, paths

__all__ = ["run"]

_LIBRARIES = ("torch", "torchvision", "numpy", "onnx", "onnxscript", "pillow", "mlflow", "optuna", "great_expectations")


def run(params: Params) -> None:
    del params
    files.write_json(
        paths.ENVIRONMENT,
        {
            "python": platform.python_version(),
            "platform": f"{platform.system()} {platform.machine()}",
            "cores": os.cpu_count(),
            "cpu_flags": np.show_config(mode="dicts")["SIMD Extensions"]["found"],
            "gpus": _gpus(),
            "libraries": {name: _version(name) for name in _LIBRARIES},
            "engines": {kind: _version(entry.library) for kind, entry in ENGINES.items()},
        },
    )


def _version(distribution: str) -> str | None:
    try:
        return metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return None


def _gpus() -> list[str]:
    """Model names as the NVIDIA driver on Linux tells them."""
    found = sorted(Path("/proc/driver/nvidia/gpus").glob("*/information"))
    lines = [line for path in found for line in path.read_text().splitlines()]
    return [line.partition(":")[2].strip() for line in lines if line.startswith("Model:")]
