"""Presets, schema and shipped files agree."""

import json
from pathlib import Path

import pytest
from ruamel.yaml import YAML

from sluice import config

PRESETS = sorted((Path(__file__).parents[2] / "params").glob("*.yaml"))


@pytest.mark.parametrize("path", PRESETS, ids=lambda path: path.stem)
def test_presets_load(path: Path) -> None:
    """Every preset is a whole, valid file."""
    assert config.load(path).registry.name


def test_presets_have_their_own_registry_names() -> None:
    """No preset adds versions to another's registered model."""
    names = [config.load(path).registry.name for path in PRESETS]
    assert len(set(names)) == len(names)


def test_params_is_the_demo(repository: Path) -> None:
    """A fresh clone runs the demo."""
    assert (repository / "params.yaml").read_bytes() == (repository / "params/demo.yaml").read_bytes()


def test_schema_copy_is_true(repository: Path) -> None:
    """The schema that editors read is the one that `sluice schema` prints."""
    assert json.loads((repository / "params.schema.json").read_text(encoding="utf-8")) == config.json_schema()


@pytest.mark.parametrize("path", PRESETS, ids=lambda path: path.stem)
def test_presets_hold_all_that_dvc_asks_for(path: Path, repository: Path) -> None:
    """DVC refuses a params.yaml without a key that a stage names."""
    yaml = YAML(typ="safe", pure=True)
    stages = yaml.load((repository / "dvc.yaml").read_text(encoding="utf-8"))["stages"]
    values = yaml.load(path.read_text(encoding="utf-8"))
    for key in {key for stage in stages.values() for key in stage.get("params", [])}:
        at = values
        for part in key.split("."):
            assert part in at, key
            at = at[part]
