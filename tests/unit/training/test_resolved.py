"""The sections as they are run, and where each value came from."""

from pathlib import Path
from typing import Any

import pytest
import torch
from unit.training import tiny

from sluice.config.learning import ModelConfig
from sluice.errors import ConfigError, MissingArtifact
from sluice.io import files
from sluice.training.resolved import overlay, read_resolved, read_tuned, resolve_once

MODEL = ModelConfig(name="mlp", options={"hidden": [16], "dropout": 0.1})
BEST = Path("best_params.yaml")


def test_tuned_values_go_over_the_sections() -> None:
    """Exactly the given keys change, and the sources say so."""
    values = {"train.optimizer.lr": 0.3, "model.options.dropout": 0.0, "model.options.hidden": [8, 8]}
    resolved = overlay(values, model=MODEL, train=tiny.config())
    assert resolved.train == tiny.config(optimizer=tiny.config().optimizer.model_copy(update={"lr": 0.3}))
    assert resolved.model.options == {"hidden": [8, 8], "dropout": 0.0}
    assert {key for key, source in resolved.sources.items() if source == "tune"} == set(values)
    assert {"seed", "model.name", "train.epochs", "train.augment.horizontal_flip"} < resolved.sources.keys()
    assert resolved.sources["train.epochs"] == "params.yaml"
    assert resolved.sources["train.clip_norm"] == "default"


def test_nothing_tuned_changes_nothing() -> None:
    """All values come from params.yaml, or are the defaults."""
    resolved = overlay({}, model=MODEL, train=tiny.config())
    assert (resolved.model, resolved.train) == (MODEL, tiny.config())
    assert set(resolved.sources.values()) == {"params.yaml", "default"}


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"train.optimizer.lrr": 0.1}, r"train\.optimizer\.lrr: Extra inputs are not permitted \(got 0\.1\)"),
        ({"train.optimizer.lr": -1.0}, r"train\.optimizer\.lr: Input should be greater than 0 \(got -1\.0\)"),
        ({"train.batch_size": 8.5, "train.epochs": 0}, r"train\.epochs.*train\.batch_size"),
        ({"train.epochs.low": 1}, r"train\.epochs\.low: there is no such key"),
        ({"train.adam.lr": 1}, r"train\.adam\.lr: there is no such key"),
    ],
)
def test_a_value_that_does_not_fit_is_refused(values: dict[str, Any], message: str) -> None:
    """The message names key, value and tune.space."""
    with pytest.raises(ConfigError, match=rf"tune\.space.*{message}"):
        overlay(values, model=MODEL, train=tiny.config())


def test_a_resume_reads_what_the_start_decided(tmp_path: Path) -> None:
    """threads: 0 becomes the machine's number once, and stays that number elsewhere."""
    path = tmp_path / "resolved.yaml"
    asked = overlay({}, model=MODEL, train=tiny.config(threads=0))
    first = resolve_once(path, asked, seed=5)
    assert first.train.threads == torch.get_num_threads()
    assert first.sources["train.threads"] == "machine"
    text = path.read_text(encoding="utf-8")
    assert text.startswith("seed: 5\nmodel:\n  name: mlp\n")
    changed = overlay({}, model=MODEL, train=tiny.config(threads=0, epochs=9))
    assert resolve_once(path, changed, seed=5) == first == read_resolved(path)
    assert path.read_text(encoding="utf-8") == text


def test_a_fixed_number_of_threads_is_left(workspace: Path) -> None:
    """What params.yaml says is not the machine's to decide."""
    resolved = resolve_once(Path("a.yaml"), overlay({}, model=MODEL, train=tiny.config(threads=3)), seed=0)
    assert (resolved.train.threads, resolved.sources["train.threads"]) == (3, "params.yaml")


def test_tuned_values_are_read_as_yaml_1_2(workspace: Path) -> None:
    """1e-3 is a number."""
    files.write_text(BEST, "values: {train.optimizer.lr: 1e-3}\n")
    assert read_tuned(BEST, space=("train.optimizer.lr",)) == {"train.optimizer.lr": 0.001}


@pytest.mark.parametrize("text", ["values: {}\n", "values: {train.epochs: 1}\n", "other: 1\n"])
def test_other_keys_than_those_of_the_space_are_refused(workspace: Path, text: str) -> None:
    """Values of an older space, or of none, are not taken for those asked for."""
    files.write_text(BEST, text)
    with pytest.raises(ConfigError, match=r"train\.use_tuned: best_params\.yaml has .*asks for train\.optimizer\.lr"):
        read_tuned(BEST, space=("train.optimizer.lr",))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (None, "best_params.yaml does not exist. Make it with: dvc repro -f -s tune"),
        ("values: [", "best_params.yaml is not valid YAML"),
        ("- 1\n", "best_params.yaml holds no keys"),
    ],
)
def test_an_unreadable_file_is_named(workspace: Path, text: str | None, message: str) -> None:
    """The message says which file, and how to make it."""
    if text is not None:
        files.write_text(BEST, text)
    with pytest.raises(MissingArtifact, match=message):
        read_tuned(BEST, space=())


def test_a_resolved_file_of_another_version_is_named(workspace: Path) -> None:
    """No traceback for a file that lacks a section."""
    files.write_text(BEST, "seed: 1\nmodel: {name: mlp}\n")
    with pytest.raises(MissingArtifact, match=r"best_params\.yaml does not fit this Sluice \('train'\)"):
        read_resolved(BEST)
