"""Whether an exported folder stands on its own: it loads and answers without torch, from another place."""

import shutil
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from sluice.config.plugins import split_engine_name
from sluice.engines.answering import ask
from sluice.export.golden import read_golden
from sluice.export.parity import judge
from sluice.io import paths

__all__ = ["CleanProcess", "check_clean_process"]

_WITHOUT = ("torch", "torchvision", "onnxscript")


@dataclass(frozen=True)
class CleanProcess:
    status: str
    reason: str


def check_clean_process(engine: str, folder: Path, *, timeout_s: float = 120.0) -> CleanProcess:
    """Ask a copy of `folder` for the answers in its golden.npz, in a fresh process that cannot import torch.

    Raises MissingArtifact when there is no golden.npz.
    """
    golden = read_golden(folder / paths.GOLDEN_NAME)
    with TemporaryDirectory(prefix="sluice-") as elsewhere:
        copied = Path(shutil.copytree(folder, Path(elsewhere, "model")))
        answers = ask(engine, copied, [golden.inputs], timeout_s=timeout_s, without=_WITHOUT)
    if answers.state != "ok":
        return CleanProcess(answers.state, answers.reason)
    requested = split_engine_name(engine)[1]
    verdict = judge([golden.outputs], answers.outputs, requested=requested, executed=str(answers.executed_precision))
    return CleanProcess("refused" if verdict.reasons else "ok", "; ".join(verdict.reasons))
