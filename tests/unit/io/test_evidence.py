"""Evidence says what a report was made from."""

from pathlib import Path

from sluice.io import evidence, files, paths


def test_code_is_that_of_the_stage(workspace: Path, repository: Path) -> None:
    """Code that a stage does not depend on leaves its digest alone."""
    whole = evidence.code_digest("train")
    (workspace / "dvc.yaml").write_text("stages: {train: {deps: [data/raw, src/sluice/errors.py, src/sluice/stats]}}")
    own = evidence.code_digest("train")
    assert own != whole
    assert evidence.code_digest("gate") == whole
    (workspace / "dvc.yaml").write_text("stages: {train: {deps: [src/sluice/errors.py]}}")
    assert evidence.code_digest("train") != own


def test_json_has_the_keys_of_the_contract(workspace: Path) -> None:
    """Every reader finds the same keys; a machine that nobody described is null."""
    made = evidence.Evidence(stage="gate", weights="w", split="gate", split_digest="d", exported={"e": "x"}, params="p")
    assert set(made.as_json()) == {"weights", "split", "split_digest", "exported", "code", "params", "environment"}
    assert made.as_json()["environment"] is None
    files.write_json(paths.ENVIRONMENT, {})
    again = evidence.Evidence(stage="gate", weights=None, params="p")
    assert again.as_json()["environment"] == files.digest_file(paths.ENVIRONMENT)
