"""From a folder of labelled data to a gated, versioned, deployable PyTorch model."""

__version__ = "0.1.0"
