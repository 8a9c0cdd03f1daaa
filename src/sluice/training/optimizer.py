"""The optimizer that params.yaml asks for."""

from torch import nn
from torch.optim import SGD, AdamW, Optimizer

from sluice.config.learning import OptimizerConfig

__all__ = ["make_optimizer"]


def make_optimizer(config: OptimizerConfig, *, net: nn.Module) -> Optimizer:
    """Weight decay applies to every parameter. Fused: one kernel for a step is the fastest on a CPU as well."""
    parameters = [parameter for parameter in net.parameters() if parameter.requires_grad]
    if config.name == "adamw":
        return AdamW(parameters, lr=config.lr, weight_decay=config.weight_decay, fused=True)
    return SGD(
        parameters,
        lr=config.lr,
        momentum=config.momentum,
        nesterov=config.nesterov,
        weight_decay=config.weight_decay,
        fused=True,
    )
