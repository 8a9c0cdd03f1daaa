"""The one name of each artefact, relative to the root of the workspace."""

from pathlib import Path

PARAMS = Path("params.yaml")
DAG = Path("dvc.yaml")
LOCK = Path("dvc.lock")
PRESETS = Path("params")
PLUGINS = Path("plugins")
RAW = Path("data/raw")
STATE = Path(".sluice")

ENVIRONMENT = Path("reports/environment.json")
REGISTRY = Path("models/registry.json")

INDEX = Path("data/index.parquet")
VALIDATION = Path("reports/validation")
VALIDATION_SUMMARY = VALIDATION / "summary.json"
PROFILE_OF_DATA = VALIDATION / "profile.json"
DATA_DOCS = VALIDATION / "docs"

DRIFT = Path("reports/drift/drift.json")

PREPARED = Path("data/prepared")
SCHEMA = PREPARED / "schema.json"
CLASS_MAPS = Path("data/class_map")

TUNING = Path("reports/tuning")
BEST_PARAMS = TUNING / "best_params.yaml"
TRIALS = TUNING / "trials.csv"

TRAINED = Path("models/trained")
WEIGHTS = TRAINED / "weights.safetensors"
MODEL_CARD = TRAINED / "model.json"
RESOLVED = TRAINED / "resolved.yaml"
TRAINING = Path("reports/training")
CURVES = TRAINING / "curves.csv"
TRAINING_SCORES = TRAINING / "scores.json"
TRAINING_SUMMARY = TRAINING / "summary.json"
TRAINING_SPEED = TRAINING / "speed.json"

PROFILE = Path("reports/profile")

CAPTURED = Path("models/captured")
EXPORTED = Path("models/exported")
PARITY_NAME = "parity.json"
SIGNATURE_NAME = "signature.json"
GOLDEN_NAME = "golden.npz"
ONNX_NAME = "model.onnx"
GRAPH_NAME = "graph.pt2"

EVALUATION = Path("reports/evaluation")
METRICS = EVALUATION / "metrics.json"
SCORES = EVALUATION / "scores.json"
OUTPUTS = EVALUATION / "outputs.npz"
PER_CLASS = EVALUATION / "per_class.csv"
CONFUSION = EVALUATION / "confusion.csv"

BENCHMARK = Path("reports/benchmark/benchmark.json")
COMPARISON = Path("reports/compare/compare.json")
VERDICT = Path("reports/gate/verdict.json")
REGISTERED = Path("models/registered.json")
REPORT = Path("reports/index.html")


def split_folder(split: str) -> Path:
    return PREPARED / split


def class_map(registry_name: str) -> Path:
    return CLASS_MAPS / f"{registry_name}.json"


def exported(engine: str) -> Path:
    return EXPORTED / engine
