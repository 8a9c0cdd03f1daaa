"""Runs, the model registry and lineage: the only importer of mlflow."""
