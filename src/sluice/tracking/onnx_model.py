"""The model as MLflow serves it: ONNX, no pickle, any batch size, with what a consumer needs to check it."""

import json
import shutil
from importlib import metadata
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import mlflow.onnx
import numpy as np
import onnx
from mlflow.entities import LoggedModel, LoggedModelOutput, Run
from mlflow.models import Model, infer_signature
from numpy.typing import NDArray

from sluice.errors import MissingArtifact, SluiceError
from sluice.io import files, paths
from sluice.tracking.candidate import Candidate
from sluice.tracking.registry import TAGS, download_model
from sluice.tracking.store import Store, quiet

__all__ = ["is_whole", "log_onnx"]

_SOURCE = "sluice.source"
_EXAMPLES = 2  # a serving example of one sample would suggest a batch of one
_NEEDS = ("mlflow", "numpy", "onnx", "onnxruntime")


def log_onnx(store: Store, run: Run, candidate: Candidate) -> LoggedModel:
    """Log the candidate's ONNX with its run, unless that was done before; one that was left half-made is removed.

    This is mlflow.onnx.log_model without the process-wide tracking URI and the active run that it goes by.
    """
    for file in (candidate.model / paths.ONNX_NAME, candidate.model / paths.GOLDEN_NAME):
        if not file.exists():
            raise MissingArtifact(f"{file} does not exist, so there is no model to register. Make it with: dvc repro")
    source = files.digest_file(candidate.model / paths.ONNX_NAME)
    golden = files.digest_file(candidate.model / paths.GOLDEN_NAME)
    for known in _logged(store, run):
        tags = known.tags
        if known.status != "READY":
            store.client.delete_logged_model(known.model_id)
        elif (tags.get(_SOURCE), tags.get(TAGS["golden"])) != (source, golden):
            continue
        elif is_whole(store, known.model_id, onnx=tags.get(TAGS["onnx"]), golden=golden):
            return known
    made = store.client.create_logged_model(
        run.info.experiment_id,
        name="model",
        source_run_id=run.info.run_id,
        tags={_SOURCE: source, TAGS["golden"]: golden, TAGS["weights"]: candidate.weights},
    )
    with TemporaryDirectory() as temporary, quiet():
        folder = Path(temporary, "model")
        _save(candidate.model, folder, logged=made, run_id=run.info.run_id)
        digest = files.digest_file(folder / paths.ONNX_NAME)
        store.client.log_model_artifacts(made.model_id, str(folder))
    store.client.set_logged_model_tags(made.model_id, {TAGS["onnx"]: digest})
    store.client.log_outputs(run.info.run_id, [LoggedModelOutput(made.model_id, step=0)])
    store.client.finalize_logged_model(made.model_id, "READY")
    return store.client.get_logged_model(made.model_id)


def is_whole(store: Store, model_id: str, *, onnx: str | None, golden: str) -> bool:
    """Whether the store still holds the logged model with the files of these digests."""
    with TemporaryDirectory() as temporary:
        try:
            folder = download_model(store, model_id, to=Path(temporary))
            found = [files.digest_file(folder / name) for name in (paths.ONNX_NAME, paths.GOLDEN_NAME)]
        except SluiceError:
            return False
    return found == [onnx, golden]


def _logged(store: Store, run: Run) -> list[LoggedModel]:
    wanted = f"source_run_id = '{run.info.run_id}'"
    return list(store.client.search_logged_models([run.info.experiment_id], wanted))


def _save(model: Path, folder: Path, *, logged: LoggedModel, run_id: str) -> None:
    inputs, outputs = _golden(model / paths.GOLDEN_NAME)
    mlflow.onnx.save_model(
        onnx.load(str(model / paths.ONNX_NAME)),
        str(folder),
        mlflow_model=Model(
            artifact_path=logged.artifact_location, run_id=run_id, model_uuid=logged.model_id, model_id=logged.model_id
        ),
        signature=infer_signature(inputs, outputs),  # makes the first dimension symbolic
        input_example={name: array[:_EXAMPLES] for name, array in inputs.items()},
        pip_requirements=[f"{name}=={metadata.version(name)}" for name in _NEEDS],
        onnx_execution_providers=["CPUExecutionProvider"],
        save_as_external_data=False,  # True takes the weights out of the object and registers an empty model
        metadata={"signature": json.loads((model / paths.SIGNATURE_NAME).read_text(encoding="utf-8"))},
    )
    for name in (paths.GOLDEN_NAME, paths.SIGNATURE_NAME):
        shutil.copyfile(model / name, folder / name)


def _golden(file: Path) -> tuple[dict[str, NDArray[Any]], dict[str, NDArray[Any]]]:
    with np.load(file, allow_pickle=False) as arrays:
        named = {key: arrays[key] for key in arrays.files}
    inputs = {key.removeprefix("input."): array for key, array in named.items() if key.startswith("input.")}
    outputs = {key.removeprefix("output."): array for key, array in named.items() if key.startswith("output.")}
    return inputs, outputs
