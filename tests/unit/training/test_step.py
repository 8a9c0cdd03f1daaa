"""One batch."""

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional
from unit.training import tiny

from sluice.errors import TrainingError
from sluice.training.step import train_step


def _sgd(net: nn.Module) -> torch.optim.SGD:
    return torch.optim.SGD(net.parameters(), lr=0.1)


def test_step_is_plain_gradient_descent() -> None:
    """A step is forward, loss, backward, w -= lr * gradient; nothing else moves."""
    net, batch = nn.Sequential(nn.Flatten(), nn.Linear(64, 3)), tiny.batches()[0]
    before = [parameter.detach().clone() for parameter in net.parameters()]
    loss = functional.cross_entropy(net(batch.inputs), batch.targets)
    gradients = torch.autograd.grad(loss, list(net.parameters()))
    result = train_step(net, batch, loss=functional.cross_entropy, optimizer=_sgd(net))
    assert (result.loss, result.size, result.grad_norm) == (loss.item(), 8, None)
    for after, start, gradient in zip(net.parameters(), before, gradients, strict=True):
        torch.testing.assert_close(after.detach(), start - 0.1 * gradient)


def test_every_parameter_gets_a_gradient() -> None:
    """The gradient flows to the first layer."""
    net = tiny.net()
    train_step(net, tiny.batches()[0], loss=functional.cross_entropy, optimizer=_sgd(net))
    assert all(parameter.grad is not None and parameter.grad.abs().sum() > 0 for parameter in net.parameters())


def test_gradients_of_the_step_before_do_not_add_up() -> None:
    """Two steps on the same weights see the same norm."""
    net, batch = nn.Sequential(nn.Flatten(), nn.Linear(64, 3)), tiny.batches()[0]
    frozen = torch.optim.SGD(net.parameters(), lr=0.0)
    norms = {
        train_step(net, batch, loss=functional.cross_entropy, optimizer=frozen, with_norm=True).grad_norm
        for _ in range(2)
    }
    assert len(norms) == 1


def test_clip_norm_scales_the_gradient_down() -> None:
    """The norm told is the one before; the gradient used has at most clip_norm."""
    net = tiny.net()
    result = train_step(net, tiny.batches()[0], loss=functional.cross_entropy, optimizer=_sgd(net), clip_norm=0.01)
    used = torch.cat([parameter.grad.flatten() for parameter in net.parameters() if parameter.grad is not None])
    assert result.grad_norm is not None
    assert result.grad_norm > 0.01
    assert used.norm().item() == pytest.approx(0.01, rel=1e-3)


def test_a_loss_that_is_not_finite_stops_before_the_weights_change() -> None:
    """B19: NaN in one image changes nothing."""
    net, batch = tiny.net().eval(), tiny.batches()[0]
    batch.inputs[0, 0, 0, 0] = torch.nan
    before = tiny.net().eval()
    with pytest.raises(TrainingError, match="the loss is nan"):
        train_step(net, batch, loss=functional.cross_entropy, optimizer=_sgd(net))
    assert tiny.same_bits(net, before)


def test_a_gradient_that_is_not_finite_stops_before_the_weights_change() -> None:
    """B19: a finite loss with an infinite slope changes nothing."""

    def steep(outputs: Tensor, _: Tensor) -> Tensor:
        return (outputs * 0).sum().sqrt()

    net = tiny.net().eval()
    with pytest.raises(TrainingError, match="the norm of its gradient nan"):
        train_step(net, tiny.batches()[0], loss=steep, optimizer=_sgd(net), clip_norm=1.0)
    assert tiny.same_bits(net, tiny.net())
