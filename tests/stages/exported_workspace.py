"""A workspace up to export: small trained model, val and gate split, one engine's files with a good parity."""

import shutil
from contextlib import chdir
from pathlib import Path

from contracts.trained_workspace import SCHEMA, write_workspace
from contracts.trained_workspace import params as params_with

from sluice.config import Params
from sluice.io import files, paths
from sluice.stages import capture, export

ENGINE, UNMADE = "onnxruntime-fp32", "openvino-fp32"


def small_params(repository: Path) -> Params:
    """Two engines, of which the second is not required and was not made; the model is compared in few pairs."""
    margins = {"accuracy_margin": 0.05, "latency_margin": 0.5}
    floors = {"accuracy": 0.0, "balanced_accuracy": 0.0, "worst_class_recall": 0.0}
    return params_with(
        repository,
        export={"engines": [ENGINE, UNMADE]},
        evaluate={"batch_size": 32},
        compare={"pairs": 10},
        gate={"required": [ENGINE], "floors": floors, **margins},
    )


def exported_once(base: Path, repository: Path) -> Path:
    """Made on the first call of a test session, in its folder `base`; to be copied, not changed."""
    root = base / "exported-workspace"
    if not root.exists():
        root.mkdir()
        with chdir(root):
            _write(root, small_params(repository))
    return root


def _write(root: Path, params: Params) -> None:
    write_workspace(root)
    files.write_json(paths.SCHEMA, SCHEMA.model_dump(mode="json"))
    shutil.copytree(paths.split_folder("val"), paths.split_folder("gate"))
    about = files.read_json(paths.split_folder("gate") / "split.json")
    files.write_json(paths.split_folder("gate") / "split.json", about | {"split": "gate", "digest": "e" * 64})
    capture.run(params)
    export.run(params, ENGINE)
    paths.exported(UNMADE).mkdir(parents=True)
    unmade = {"engine": UNMADE, "status": "unavailable", "reason": "not installed here"}
    files.write_json(paths.exported(UNMADE) / paths.PARITY_NAME, unmade)
