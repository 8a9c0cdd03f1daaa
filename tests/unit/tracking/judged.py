"""A workspace as the gate leaves it: a tiny model, its export, all reports, and a verdict."""

import shutil
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from sluice.config import Params, load
from sluice.config.release import TrackingConfig
from sluice.io import files, paths
from sluice.tracking.candidate import Candidate, read_candidate
from sluice.tracking.store import Store, open_store

NAME = "shapes"
ENGINE = "onnxruntime-fp32"
CLASSES = ("square", "circle", "star")
SIDE = 4

PRESET = Path(__file__).parents[3] / "params" / "demo.yaml"


def params() -> Params:
    """The demo's, with another name and one engine."""
    preset = load(PRESET)
    changed = {
        "registry": preset.registry.model_copy(update={"name": NAME}),
        "export": preset.export.model_copy(update={"engines": (ENGINE,)}),
        "gate": preset.gate.model_copy(update={"required": (ENGINE,)}),
    }
    return preset.model_copy(update=changed)


def fresh_store(workspace: Path) -> Store:
    """An initialised store in `workspace`, the current folder; made once for all tests and copied."""
    template = workspace.parent / "mlflow-template"
    if not template.exists():
        template.mkdir()
        open_store(TrackingConfig(uri=f"sqlite:///{template}/mlflow.db"))
    shutil.copyfile(template / "mlflow.db", workspace / "mlflow.db")
    return open_store(TrackingConfig())


def candidate(*, images: bool = True) -> Candidate:
    return read_candidate(name=NAME, engines=(ENGINE,), required=(ENGINE,), images=images)


def write_all(*, verdict: str = "PROMOTE", seed: int = 0, classes: tuple[str, ...] = CLASSES) -> None:
    """Everything that register reads, in the current folder; another `seed` is another model."""
    files.write_text(paths.WEIGHTS, f"weights {seed}")
    files.write_json(paths.MODEL_CARD, {"task": "image_classification"})
    files.write_text(paths.RESOLVED, "seed: 0\ntrain: {epochs: 2, optimizer: {lr: 1e-1}}\nsources: {}\n")
    rows = [(epoch, 0.1, 1.0 / epoch, float("nan") if epoch == 1 else 0.5) for epoch in (1, 2)]
    files.write_csv(paths.CURVES, ("epoch", "lr", "train_loss", "val_loss"), rows)
    files.write_json(paths.TRAINING_SUMMARY, {"epochs": 2})
    files.write_json(paths.PROFILE_OF_DATA, {"n": 3, "features": {}, "labels": {}})
    for split in ("train", "val", "gate"):
        files.write_json(paths.split_folder(split) / "split.json", {"split": split, "digest": split * 12})
    write_metrics(classes)
    write_export(paths.exported(ENGINE), seed=seed, num_classes=len(classes))
    write_verdict(verdict)


def write_metrics(classes: tuple[str, ...] = CLASSES) -> None:
    per_class = {name: {"precision": 1.0, "recall": 0.5, "f1": 0.6, "support": 3} for name in classes}
    interval = {"value": 0.9, "low": 0.8, "high": 0.95, "n": 3}
    engines = {ENGINE: {"status": "ok", "accuracy": interval}}
    report = {"accuracy": interval, "nll": 0.3, "ece": float("inf"), "per_class": per_class, "engines": engines}
    files.write_json(paths.METRICS, report)
    files.write_text(paths.PER_CLASS, "class,recall\n")
    files.write_text(paths.EVALUATION / "sample.png", "a picture")


def write_verdict(verdict: str, *, repeated: bool = False, note: str = "") -> dict[str, Any]:
    exported = {ENGINE: files.digest_folder(paths.exported(ENGINE), without=(paths.PARITY_NAME,))}
    weights = files.digest_file(paths.WEIGHTS)
    report = {
        "verdict": verdict,
        "checks": [{"name": "floor:accuracy", "status": "ok", "reason": note}],
        "candidate": {"weights": weights, "exported": exported},
        "champion": None,
        "repeated": repeated,
    }
    files.write_json(paths.VERDICT, report)
    return report


def write_export(folder: Path, *, seed: int, num_classes: int = 3) -> None:
    """images uint8 [N, H, W, 1] -> logits, probabilities float32 [N, K], and the answers to eight samples."""
    random = np.random.default_rng(seed)
    weights_DK = random.normal(size=(SIDE * SIDE, num_classes)).astype(np.float32)
    images_NHWC = random.integers(0, 256, size=(8, SIDE, SIDE, 1), dtype=np.uint8)
    logits_NK = images_NHWC.reshape(8, -1).astype(np.float32) / 255 @ weights_DK
    powers_NK = np.exp(logits_NK - logits_NK.max(axis=1, keepdims=True))
    folder.mkdir(parents=True, exist_ok=True)
    onnx.save(_graph(weights_DK, num_classes), str(folder / paths.ONNX_NAME))
    answers = {"logits": logits_NK, "probabilities": powers_NK / powers_NK.sum(axis=1, keepdims=True)}
    arrays = {"input.images": images_NHWC} | {f"output.{name}": array for name, array in answers.items()}
    np.savez(folder / paths.GOLDEN_NAME, allow_pickle=False, **arrays)
    files.write_json(folder / paths.SIGNATURE_NAME, {"task": "image_classification", "classes": list(CLASSES)})
    files.write_json(folder / paths.PARITY_NAME, {"status": "ok"})


def _graph(weights_DK: np.ndarray, num_classes: int) -> onnx.ModelProto:
    nodes = [
        helper.make_node("Cast", ["images"], ["numbers"], to=TensorProto.FLOAT),
        helper.make_node("Div", ["numbers", "white"], ["scaled"]),
        helper.make_node("Flatten", ["scaled"], ["flat"]),
        helper.make_node("MatMul", ["flat", "weights"], ["logits"]),
        helper.make_node("Softmax", ["logits"], ["probabilities"]),
    ]
    constants = {"weights": weights_DK, "white": np.array(255, np.float32)}
    graph = helper.make_graph(
        nodes,
        "tiny",
        [helper.make_tensor_value_info("images", TensorProto.UINT8, ["N", SIDE, SIDE, 1])],
        [
            helper.make_tensor_value_info(name, TensorProto.FLOAT, ["N", num_classes])
            for name in ("logits", "probabilities")
        ],
        [numpy_helper.from_array(array, name) for name, array in constants.items()],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=10)
