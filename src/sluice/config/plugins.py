"""Every plug-in, one line each. Names only: nothing here imports the code or the library behind a name."""

from dataclasses import dataclass

__all__ = ["ENGINES", "MODELS", "SOURCES", "TASKS", "EngineEntry", "engine_names", "split_engine_name"]


@dataclass(frozen=True)
class EngineEntry:
    loads: str
    exports: str
    library: str
    install: str
    precisions: tuple[str, ...]


TASKS = {
    "image_classification": "sluice.tasks.image_classification",
}

SOURCES = {
    "folder": "sluice.data.folder_source",
    "idx": "sluice.data.idx_source",
}

MODELS = {
    "mlp": "sluice.models.mlp:build",
    "resnet": "sluice.models.resnet:build",
}

ENGINES = {
    "onnxruntime": EngineEntry(
        "sluice.engines.onnxruntime_engine",
        "sluice.export.onnxruntime_export",
        "onnxruntime",
        "pip install onnxruntime",
        ("fp32",),
    ),
    "openvino": EngineEntry(
        "sluice.engines.openvino_engine", "sluice.export.openvino_export", "openvino", "pip install openvino", ("fp32",)
    ),
}


def engine_names() -> list[str]:
    """Every `<engine>-<precision>` that can stand in `export.engines`."""
    return [f"{kind}-{precision}" for kind, entry in ENGINES.items() for precision in entry.precisions]


def split_engine_name(name: str) -> tuple[str, str]:
    """`onnxruntime-fp32` is the engine `onnxruntime` with the precision `fp32`."""
    kind, _, precision = name.rpartition("-")
    return kind, precision
