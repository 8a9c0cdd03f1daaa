"""What the workspace offers for registration: the judged files, found to be the ones that were judged."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sluice.config.plugins import split_engine_name
from sluice.errors import MissingArtifact, TrackingError
from sluice.io import files, paths
from sluice.tracking.registry import TAGS

__all__ = ["Candidate", "read_candidate"]


@dataclass(frozen=True, kw_only=True)
class Candidate:
    """`exported` has the digest of each engine's folder that the verdict speaks of; `model` holds the ONNX to register.

    `images` is whether pictures of samples may leave the workspace.
    """

    name: str
    weights: str
    exported: dict[str, str]
    verdict: dict[str, Any]
    model: Path
    engines: tuple[str, ...]
    images: bool

    @property
    def judged(self) -> str:
        return str(self.verdict["verdict"])

    def identity_tags(self) -> dict[str, str]:
        """Tags that tell this candidate's files from any other's."""
        return {TAGS["weights"]: self.weights, TAGS["exported"]: json.dumps(self.exported, sort_keys=True)}

    def evidence_tags(self) -> dict[str, str]:
        """Tags that change when the same files are judged anew."""
        tags = {TAGS["verdict"]: self.judged, TAGS["verdict_digest"]: files.digest_file(paths.VERDICT)}
        if paths.PROFILE_OF_DATA.exists():
            tags[TAGS["profile"]] = files.digest_file(paths.PROFILE_OF_DATA)
        return tags


def read_candidate(*, name: str, engines: tuple[str, ...], required: tuple[str, ...], images: bool) -> Candidate:
    """Raises TrackingError when a model that passed is no longer the one on disk."""
    verdict = files.read_json(paths.VERDICT)
    judged = _judged(verdict)
    weights = files.digest_file(paths.WEIGHTS)
    folders = {engine: paths.exported(engine) for engine in judged["exported"] if paths.exported(engine).is_dir()}
    exported = {name: files.digest_folder(folder, without=(paths.PARITY_NAME,)) for name, folder in folders.items()}
    if verdict["verdict"] != "REJECT" and (weights, exported) != (judged["weights"], judged["exported"]):
        raise TrackingError(
            f"{paths.VERDICT} judged other files than those in models/: weights {judged['weights']} there, {weights} "
            f"here; exports {judged['exported']} there, {exported} here. Judge what is there with: dvc repro gate"
        )
    return Candidate(
        name=name,
        weights=weights,
        exported=exported,
        verdict=verdict,
        model=_model_folder(required),
        engines=tuple(engine for engine in engines if paths.exported(engine).is_dir()),
        images=images,
    )


def _judged(verdict: Any) -> dict[str, Any]:
    match verdict:
        case {"verdict": str(), "candidate": {"weights": str() | None, "exported": dict()} as judged}:
            return dict(judged)
    raise MissingArtifact(f"{paths.VERDICT} is not a verdict of sluice gate. Make it anew with: dvc repro -f -s gate")


def _model_folder(required: tuple[str, ...]) -> Path:
    """The registry serves plain fp32 ONNX: what ONNX Runtime was judged with, else what all engines were made from."""
    for engine in required:
        if split_engine_name(engine) == ("onnxruntime", "fp32"):
            return paths.exported(engine)
    return paths.CAPTURED
