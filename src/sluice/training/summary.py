"""What is told of a finished training. All but the speed is equal from run to run."""

from collections.abc import Mapping
from typing import Any

from sluice.training.fit import Fitted

__all__ = ["scores", "speed", "summary"]


def summary(fitted: Fitted, *, sources: Mapping[str, str], evidence: Mapping[str, Any]) -> dict[str, Any]:
    """`sources` says where each value of the model and train sections came from."""
    return scores(fitted) | {"sources": dict(sources), "evidence": dict(evidence)}


def scores(fitted: Fitted) -> dict[str, float]:
    """What `dvc metrics` shows."""
    return {
        "epochs": len(fitted.epochs),
        "best_epoch": fitted.best_epoch,
        "kept_epoch": fitted.kept.epoch,
        "val_accuracy": fitted.kept.val_accuracy,
        "val_loss": fitted.kept.val_loss,
        "parameters": sum(parameter.numel() for parameter in fitted.net.parameters()),
    }


def speed(fitted: Fitted) -> dict[str, Any]:
    return {
        "images_per_s": fitted.images_per_s,
        "seconds": sum(epoch.seconds for epoch in fitted.epochs),
        "resumed_from_epoch": fitted.resumed_from,
    }
