"""Is a registered version still what was judged, and does it answer? Everything is read from the store alone."""

import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from sluice.errors import PromotionRefused
from sluice.io import files, paths
from sluice.tracking.registry import Version, download, download_model, recorded_verdict
from sluice.tracking.store import Store

__all__ = ["verify"]

_TIMEOUT_S = 120
_TOLERANCE = 1e-3  # relative to the largest output: other CPUs round otherwise, a wrong model is far off

_PROGRAM = f"""
import sys
import numpy, onnxruntime
session = onnxruntime.InferenceSession(sys.argv[1], providers=["CPUExecutionProvider"])
golden = numpy.load(sys.argv[2], allow_pickle=False)
inputs = {{key.removeprefix("input."): golden[key] for key in golden.files if key.startswith("input.")}}
wanted = {{key.removeprefix("output."): golden[key] for key in golden.files if key.startswith("output.")}}
for rows in (slice(0, 1), slice(None)):
    given = session.run(list(wanted), {{name: array[rows] for name, array in inputs.items()}})
    for name, got in zip(wanted, given):
        expected = wanted[name][rows]
        if got.shape != expected.shape:
            sys.exit(f"output {{name!r}} has shape {{got.shape}}, golden.npz {{expected.shape}}")
        error = float(numpy.abs(got - expected).max()) / max(1.0, float(numpy.abs(expected).max()))
        if not error <= {_TOLERANCE}:
            sys.exit(f"output {{name!r}} is {{error:.2g}} away from golden.npz, allowed are {_TOLERANCE:g}")
"""


def verify(store: Store, version: Version) -> dict[str, Any]:
    """The verdict on record, once record and files agree and the model answers in a clean process.

    Raises PromotionRefused with the first thing that does not agree, TrackingError when something is gone.
    """
    verdict = recorded_verdict(store, version)
    judged = verdict["candidate"]
    _agree(version, "verdict", version.verdict, verdict["verdict"])
    _agree(version, "weights of the verdict", version.weights, judged["weights"])
    _agree(version, "exports of the verdict", version.exported, judged["exported"])
    with TemporaryDirectory() as temporary:
        folder = Path(temporary)
        weights = download(store, run_id=version.run_id, artifact=paths.WEIGHTS.as_posix(), to=folder / "weights")
        _agree(version, "weights", version.weights, files.digest_file(weights))
        for engine, recorded in version.exported.items():
            export = download(store, run_id=version.run_id, artifact=f"exported/{engine}", to=folder / "exported")
            found = files.digest_folder(export, without=(paths.PARITY_NAME,))
            _agree(version, f"files of {engine}", recorded, found)
        model = download_model(store, version.model_id, to=folder / "model")
        _agree(version, paths.ONNX_NAME, version.onnx, files.digest_file(model / paths.ONNX_NAME))
        _agree(version, paths.GOLDEN_NAME, version.golden, files.digest_file(model / paths.GOLDEN_NAME))
        _answers(version, model)
    return verdict


def _agree(version: Version, what: str, recorded: str | Mapping[str, str], found: str | Mapping[str, str]) -> None:
    if recorded != found:
        raise PromotionRefused(
            f"version {version.number}: {what}: recorded {recorded}, found {found}. It is not what was judged: "
            "register it anew with dvc repro -f -s register, or choose another version."
        )


def _answers(version: Version, model: Path) -> None:
    """Python without site paths of the user, another folder, ONNX Runtime and NumPy alone."""
    command = [sys.executable, "-I", "-c", _PROGRAM, str(model / paths.ONNX_NAME), str(model / paths.GOLDEN_NAME)]
    try:
        done = subprocess.run(command, cwd=model, capture_output=True, text=True, check=False, timeout=_TIMEOUT_S)
    except subprocess.TimeoutExpired:
        raise PromotionRefused(f"version {version.number} gave no answer within {_TIMEOUT_S} s.") from None
    if done.returncode != 0:
        last = (done.stderr.strip().splitlines() or [f"its process ended with code {done.returncode}"])[-1]
        raise PromotionRefused(
            f"version {version.number} does not answer golden.npz in a clean process: {last}. "
            "Choose another version, or register it anew with: dvc repro -f -s register"
        )
