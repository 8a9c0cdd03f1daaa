"""Load and run exported models. Needs no PyTorch, and imports an engine's library only when that engine is loaded."""

from sluice.engines.loading import Available, Missing, load, probe
from sluice.engines.predictor import Predictor

__all__ = ["Available", "Missing", "Predictor", "load", "probe"]
