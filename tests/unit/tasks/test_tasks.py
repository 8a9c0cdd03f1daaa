"""Image classification as a task, and trained networks."""

from pathlib import Path

import numpy as np
import pytest
import torch
from torch import nn
from unit.models.test_models import schema
from unit.training.tiny import config

from sluice import tasks
from sluice.config.learning import ModelConfig
from sluice.data.store import Split
from sluice.errors import DataError, UnknownPlugin
from sluice.models.trained import Card, save_trained
from sluice.tasks.learning import bind
from sluice.tasks.trained import load_trained
from sluice.training.fit import fit

TASK = tasks.load("image_classification")
SCHEMA = schema(height=8, width=6, channels=3, classes=3)
MODEL = ModelConfig(name="resnet", options={"widths": [4, 8], "blocks": [1, 1]})


def split(n: int, *, name: str = "train") -> Split:
    draw = np.random.default_rng(n)
    labels = np.arange(n, dtype=np.int64) % 3
    images = draw.integers(0, 200, (n, 8, 6, 3), dtype=np.uint8) + (20 * labels).astype(np.uint8)[:, None, None, None]
    return Split(name=name, images=images, labels=labels, samples=[f"{row}" for row in range(n)], digest="0" * 64)


def test_an_unknown_task_lists_what_is_there() -> None:
    """The nearest name is said."""
    with pytest.raises(
        UnknownPlugin, match=r"'image_clasification' is not one of image_classification\. Nearest: image_"
    ):
        tasks.load("image_clasification")


def test_first_weights_depend_on_the_seed_alone() -> None:
    """Not on what was drawn before, and nothing is drawn from the caller's generator."""
    torch.manual_seed(1)
    expected = torch.rand(2)
    torch.manual_seed(1)
    first = TASK.module(MODEL, schema=SCHEMA, seed=5).state_dict()
    assert torch.equal(torch.rand(2), expected)
    second = TASK.module(MODEL, schema=SCHEMA, seed=5).state_dict()
    assert all(torch.equal(first[name], second[name]) for name in first)


def test_deployable_gives_what_the_trained_net_gives() -> None:
    """Raw pixels in, and the same logits as from the batches of evaluation; probabilities add up to 1."""
    net, data = TASK.module(MODEL, schema=SCHEMA, seed=0), split(10)
    net = net.to(memory_format=torch.channels_last).train()
    deployable = TASK.deployable(net, schema=SCHEMA)
    raw = TASK.inputs(data, slice(None))
    logits, probabilities = deployable(torch.from_numpy(raw["images"]))
    (batch,) = TASK.eval_batches(data, schema=SCHEMA, batch_size=10)
    torch.testing.assert_close(logits, net.eval()(batch.inputs), rtol=1e-4, atol=1e-5)
    torch.testing.assert_close(probabilities.sum(dim=1), torch.ones(10))
    assert (logits.dtype, probabilities.dtype) == (torch.float32, torch.float32)


def test_deployable_is_a_copy_in_eval_mode() -> None:
    """The net that it came from trains on."""
    net = TASK.module(MODEL, schema=SCHEMA, seed=0).train()
    deployable = TASK.deployable(torch.compile(net), schema=SCHEMA)
    assert not any(module.training for module in deployable.modules())
    assert all(module.training for module in net.modules())
    assert not any(parameter.requires_grad for parameter in deployable.parameters())
    assert all(parameter.requires_grad for parameter in net.parameters())
    with torch.no_grad():
        next(net.parameters()).zero_()
    assert next(deployable.parameters()).any()


def test_the_signature_says_what_the_deployable_does() -> None:
    """Names, types, shapes and classes."""
    signature = TASK.signature(SCHEMA)
    (images,) = signature["inputs"]
    assert (images["name"], images["dtype"], images["shape"]) == ("images", "uint8", ["N", 8, 6, 3])
    raw = TASK.inputs(split(4), [2, 0])
    assert raw["images"].dtype == images["dtype"]
    assert raw["images"].shape == (2, 8, 6, 3)
    assert np.array_equal(raw["images"], split(4).images[[2, 0]])
    net = TASK.module(MODEL, schema=SCHEMA, seed=0)
    outputs = TASK.deployable(net, schema=SCHEMA)(torch.from_numpy(raw["images"]))
    for item, output in zip(signature["outputs"], outputs, strict=True):
        assert (f"torch.{item['dtype']}", item["shape"]) == (str(output.dtype), ["N", output.shape[1]])
    assert [item["name"] for item in signature["outputs"]] == ["logits", "probabilities"]
    assert signature["classes"] == ["0", "1", "2"]
    assert signature["dimensions"]["N"]["min"] == 1


def test_loss_smooths_labels_and_correct_compares() -> None:
    """Label smoothing is train.label_smoothing."""
    outputs, targets = torch.tensor([[2.0, 0.0], [0.0, 3.0]]), torch.tensor([0, 0])
    for smoothing in (0.0, 0.2):
        expected = nn.functional.cross_entropy(outputs, targets, label_smoothing=smoothing)
        assert TASK.loss(outputs, targets, config=config(label_smoothing=smoothing)) == expected
    assert TASK.correct(outputs, targets).tolist() == [True, False]


@pytest.mark.parametrize(("images", "steps"), [(9, 1), (5, 1), (8, 1), (10, 2)])
def test_batch_norm_survives_every_number_of_images(images: int, steps: int) -> None:
    """A15: a remainder of one, and fewer images than a batch of 8, train to finite losses."""
    settings = config(epochs=2, channels_last=True)
    learning = bind(TASK, train=split(images), val=split(3, name="val"), schema=SCHEMA, config=settings, seed=0)
    assert len(learning.train_batches(1)) == steps
    net = TASK.module(MODEL, schema=SCHEMA, seed=0)
    fitted = fit(settings, net=net, learning=learning, seed=0, checkpoints=None, on_epoch_end=lambda _: None)
    assert all(np.isfinite([epoch.train_loss, epoch.val_loss, epoch.grad_norm]).all() for epoch in fitted.epochs)


def test_one_image_makes_no_step() -> None:
    """A15: zero steps is an error that says what to do."""
    with pytest.raises(DataError, match="make no step with train.batch_size 8. Add samples"):
        TASK.train_batches(split(1), schema=SCHEMA, config=config(), seed=0, epoch=0)


def test_a_trained_net_is_loaded_ready_to_answer(tmp_path: Path) -> None:
    """In eval mode, with the weights that were saved, whatever its seed would give."""
    net = TASK.module(MODEL, schema=SCHEMA, seed=1)
    card = Card(task="image_classification", model=MODEL, schema=SCHEMA, seed=0)
    save_trained(tmp_path, net, card)
    loaded, found = load_trained(tmp_path)
    assert found == card
    assert not any(module.training for module in loaded.modules())
    assert all(torch.equal(tensor, net.state_dict()[name]) for name, tensor in loaded.state_dict().items())
