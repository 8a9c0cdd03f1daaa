"""The optimizer that params.yaml asks for."""

import pytest
import torch
from torch import nn
from unit.training import tiny

from sluice.config.learning import OptimizerConfig
from sluice.training.optimizer import make_optimizer


@pytest.mark.parametrize(
    ("config", "kind"),
    [
        (
            OptimizerConfig(name="sgd", lr=0.2, momentum=0.9, nesterov=True, weight_decay=0.01),
            lambda parameters: torch.optim.SGD(parameters, lr=0.2, momentum=0.9, nesterov=True, weight_decay=0.01),
        ),
        (
            OptimizerConfig(name="adamw", lr=0.02, weight_decay=0.01),
            lambda parameters: torch.optim.AdamW(parameters, lr=0.02, weight_decay=0.01),
        ),
    ],
    ids=["sgd", "adamw"],
)
def test_it_steps_as_torch_does(config: OptimizerConfig, kind: type[torch.optim.SGD]) -> None:
    """The fused kernel gives what the plain one gives."""
    ours, theirs = tiny.net().eval(), tiny.net().eval()
    pairs = ((ours, make_optimizer(config, net=ours)), (theirs, kind(theirs.parameters())))
    for net, optimizer in pairs:
        for batch in tiny.batches():
            optimizer.zero_grad()
            nn.functional.cross_entropy(net(batch.inputs), batch.targets).backward()
            optimizer.step()
    for mine, other in zip(ours.parameters(), theirs.parameters(), strict=True):
        torch.testing.assert_close(mine, other)


def test_frozen_parameters_are_left_out() -> None:
    """Weight decay does not move what is frozen."""
    net = tiny.net()
    net[0].requires_grad_(requires_grad=False)
    optimizer = make_optimizer(OptimizerConfig(name="sgd", lr=0.1, weight_decay=0.1), net=net)
    assert len(optimizer.param_groups[0]["params"]) == len(list(net.parameters())) - 2
