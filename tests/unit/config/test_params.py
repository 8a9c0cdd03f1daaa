"""params.yaml is refused with every problem at once, or read exactly as DVC reads it."""

from pathlib import Path

import pytest

from sluice import config
from sluice.errors import ConfigError

DEMO = (Path(__file__).parents[3] / "params/demo.yaml").read_text(encoding="utf-8")


def parse(text: str) -> config.Params:
    return config.parse(text, name="params.yaml")


def changed(old: str, new: str) -> str:
    assert old in DEMO
    return DEMO.replace(old, new)


def test_all_problems_at_once() -> None:
    """Each problem is named with its key, its value and what is allowed."""
    text = (
        changed("epochs: 5", "epochs: 0")
        .replace("momentum: 0.9,", "momentun: 0.9, momentum: 0.9,")
        .replace("seed: 0", "seed: zero")
    )
    with pytest.raises(ConfigError) as error:
        parse(text.replace("engines: [onnxruntime-fp32, openvino-fp32]", "engines: [openvno-fp32]"))
    lines = str(error.value).splitlines()
    assert lines[0] == "params.yaml has 4 problems:"
    assert "  seed: Input should be a valid integer (got 'zero')" in lines
    assert "  train.epochs: Input should be greater than 0 (got 0)" in lines
    (line,) = (line for line in lines if line.startswith("  train.optimizer.momentun: "))
    assert line.startswith("  train.optimizer.momentun: there is no such key. There are: name, lr, momentum")
    assert line.endswith("did you mean 'momentum'? (got 0.9)")
    assert "  export.engines.0: expected one of 'onnxruntime-fp32', 'openvino-fp32' (got 'openvno-fp32')" in lines


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("name: resnet", "name: resnett", "model.name: expected one of 'mlp', 'resnet', or your own"),
        ("source: idx", "source: csv", "data.source: expected one of 'folder', 'idx'"),
        ("task: image_classification", "task: detection", "task: expected one of 'image_classification'"),
        ("epochs: 5", "epochs: 5.0", "train.epochs"),
        ("epochs: 5", "epochs: '4'", "train.epochs"),
        ("fetch: fashion-mnist", "fetch: imagenet", "data.fetch"),
        ("name: fashion-mnist", "name: a/../b", "registry.name"),
        ("limit: 1.0", "limit: 0", "data.limit"),
        ("val_share: 0.1", "val_share: 0.9", "val_share \\+ gate_share must be less than 1"),
        ("nesterov: true, ", "nesterov: true, name: adamw, ", "not valid YAML"),
        ("momentum: 0.9, nesterov", "momentum: 0.0, nesterov", "nesterov needs a momentum"),
        ("name: sgd", "name: adamw", "belong to sgd"),
        ("low: 0.05", "low: 1.05", "low must be less than high"),
        ("train.optimizer.lr:", "optimizer.lr:", "must start with 'train.' or 'model.options.'"),
        ("channels: 1}", "channels: 1}\n  normalization: {mean: [0, 0, 0], std: [1, 1, 1]}", "has 3 channels"),
        ("channels: 1}", "channels: 1}\n  normalization: {mean: [0], std: [0]}", "std must be greater than 0"),
        ("required: [onnxruntime-fp32, openvino-fp32]", "required: [openvino-fp32, openvino-fp32]", "named twice"),
        (
            "engines: [onnxruntime-fp32, openvino-fp32]",
            "engines: [openvino-fp32]",
            "which export.engines does not make",
        ),
        ("options: {}", "options: {tvm: {}}", "got options for 'tvm'"),
    ],
)
def test_one_problem(old: str, new: str, words: str) -> None:
    """A wrong value never gets past the door."""
    with pytest.raises(ConfigError, match=words):
        parse(changed(old, new))


def test_gate_has_no_default_floor() -> None:
    """A gate without floors is refused, not open."""
    with pytest.raises(ConfigError, match="gate.floors: Field required"):
        parse(changed("  floors: {accuracy: 0.88, balanced_accuracy: 0.88, worst_class_recall: 0.6}\n", ""))


def test_yaml_is_read_as_dvc_reads_it() -> None:
    """1e-3 is a number and no is text (D5)."""
    assert parse(changed("lr: 0.4", "lr: 1e-3")).train.optimizer.lr == pytest.approx(0.001)
    with pytest.raises(ConfigError, match=r"train.optimizer.nesterov.*got 'no'"):
        parse(changed("nesterov: true", "nesterov: no"))


@pytest.mark.parametrize(
    ("text", "words"),
    [("", "holds no keys"), ("- 1", "holds no keys"), ("a: [", "not valid YAML"), ("? [a]\n: 1", "as a key")],
)
def test_no_mapping(text: str, words: str) -> None:
    """An empty or broken file gets one sentence."""
    with pytest.raises(ConfigError, match=words):
        parse(text)


def test_missing_or_foreign_file(workspace: Path) -> None:
    """A file that is absent or not UTF-8 is named, with the remedy."""
    with pytest.raises(ConfigError, match="sluice preset demo"):
        config.load()
    (workspace / "params.yaml").write_bytes(b"seed: \xff")
    with pytest.raises(ConfigError, match="params.yaml is not UTF-8"):
        config.load()


def test_sections_are_frozen() -> None:
    """Nothing changes a parameter after it was read."""
    params = parse(DEMO)
    with pytest.raises(ValueError, match="frozen"):
        params.train.epochs = 9  # type: ignore[misc]
