"""One pass to learn, one to look."""

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional
from unit.training import tiny

from sluice.config.learning import OptimizerConfig, ScheduleConfig
from sluice.errors import TrainingError
from sluice.training.epoch import Trained, evaluate, run_epoch
from sluice.training.optimizer import make_optimizer
from sluice.training.schedule import Schedule


def _run(net: nn.Module, batches: list[tiny.Batch]) -> Trained:
    optimizer = make_optimizer(OptimizerConfig(name="sgd", lr=0.1), net=net)
    schedule = Schedule(ScheduleConfig(name="constant"), optimizer=optimizer, steps=100)
    return run_epoch(net, batches, loss=functional.cross_entropy, optimizer=optimizer, schedule=schedule, epoch=7)


def test_means_are_over_samples() -> None:
    """A short last batch weighs less."""

    def first_pixel(outputs: Tensor, _: Tensor) -> Tensor:
        return outputs[:, 0].mean()

    images = torch.arange(5.0).view(5, 1, 1, 1)
    batches = [tiny.Batch(images[:4], torch.zeros(4)), tiny.Batch(images[4:], torch.ones(1))]
    score = evaluate(nn.Flatten(), batches, loss=first_pixel, correct=lambda _, targets: targets == 1)
    assert (score.loss, score.accuracy) == (2.0, 0.2)


def test_evaluation_saves_nothing_for_a_backward_pass() -> None:
    """No tensor is kept for gradients that nobody will ask for."""
    saved: list[Tensor] = []

    def pack(tensor: Tensor) -> Tensor:
        saved.append(tensor)
        return tensor

    net, batches = tiny.net(), tiny.batches()
    with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        evaluate(net, batches, loss=functional.cross_entropy, correct=tiny.correct)
        assert not saved
        _run(net, batches)
    assert saved


def test_evaluation_leaves_every_mode_as_it_was() -> None:
    """A part that its owner froze stays frozen, the rest goes on in training mode, and statistics do not move."""
    net = tiny.net().train()
    net[1].eval()
    before = {name: buffer.clone() for name, buffer in net.named_buffers()}
    evaluate(net, tiny.batches(), loss=functional.cross_entropy, correct=tiny.correct)
    assert [module.training for module in net] == [True, False, True, True, True, True, True]
    assert net.training
    assert all(torch.equal(buffer, before[name]) for name, buffer in net.named_buffers())


def test_evaluation_restores_the_modes_after_an_error() -> None:
    """An error in the middle leaves the net in training mode."""
    net = tiny.net().train()
    with pytest.raises(ZeroDivisionError, match="division"):
        evaluate(net, tiny.batches(), loss=lambda _, __: torch.ones(()) / (1 // 0), correct=tiny.correct)
    assert net.training


def test_an_epoch_puts_the_net_into_training_mode() -> None:
    """Statistics move and dropout works, whatever the mode before."""
    net = tiny.net().eval()
    _run(net, tiny.batches())
    assert net.training
    assert net[1].num_batches_tracked == 5


def test_a_tiny_set_is_learned_by_heart() -> None:
    """Eight images: the loss falls to nothing."""
    net, batch = nn.Sequential(nn.Flatten(), nn.Linear(64, 32), nn.ReLU(), nn.Linear(32, 3)), tiny.batches()[:1]
    for _ in range(200):
        trained = _run(net, batch)
    assert trained.loss < 0.01
    assert evaluate(net, batch, loss=functional.cross_entropy, correct=tiny.correct).accuracy == 1.0


def test_what_is_not_finite_names_epoch_and_step_and_a_remedy() -> None:
    """B19: the message says where, what, and what to do."""
    batches = tiny.batches()
    batches[2].inputs[0, 0, 0, 0] = torch.inf
    with pytest.raises(TrainingError, match=r"epoch 7, step 3 of 5: the loss is nan\..*Lower train\.optimizer\.lr"):
        _run(tiny.net(), batches)


def test_no_batch_is_an_error() -> None:
    """A15: no step is no epoch with loss NaN."""
    with pytest.raises(TrainingError, match="epoch 7 had no batch"):
        _run(tiny.net(), [])
    with pytest.raises(TrainingError, match="no sample to evaluate on"):
        evaluate(tiny.net(), [], loss=functional.cross_entropy, correct=tiny.correct)


def test_the_norm_is_looked_at_in_few_steps() -> None:
    """200 steps cost ten norms: each would take a large part of a small network's step."""
    net = nn.Sequential(nn.Flatten(), nn.Linear(64, 3))
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]) as profile:
        _run(net, tiny.batches(images=200, batch_size=1))
    counts = {event.key: event.count for event in profile.key_averages()}
    assert counts["aten::_foreach_norm"] == 10


def test_the_norm_is_looked_at_in_the_last_step() -> None:
    """B19: an infinite gradient of the last step, which no later loss would show, is found before it is saved."""
    net, calls = nn.Sequential(nn.Flatten(), nn.Linear(64, 3)), 0

    def steep_at_last(outputs: Tensor, targets: Tensor) -> Tensor:
        nonlocal calls
        calls += 1
        return (outputs * 0).sum().sqrt() if calls == 21 else functional.cross_entropy(outputs, targets)

    optimizer = torch.optim.SGD(net.parameters(), lr=0.0)
    schedule = Schedule(ScheduleConfig(name="constant"), optimizer=optimizer, steps=21)
    with pytest.raises(TrainingError, match="step 21 of 21: the loss is 0 and the norm of its gradient nan"):
        run_epoch(
            net,
            tiny.batches(images=21, batch_size=1),
            loss=steep_at_last,
            optimizer=optimizer,
            schedule=schedule,
            epoch=1,
        )


def test_no_bar_where_there_is_no_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    """A log file gets no control characters."""
    _run(tiny.net(), tiny.batches())
    assert capsys.readouterr() == ("", "")
