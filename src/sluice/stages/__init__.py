"""One page per stage of dvc.yaml: read, call, write."""
