"""Where the weights of this repository's models start."""

from typing import TypeVar

from torch import nn

__all__ = ["kaiming"]

Net = TypeVar("Net", bound=nn.Module)


def kaiming(net: Net) -> Net:
    """He initialisation for ReLU networks (He et al. 2015), drawn from torch's global generator, module by module.

    Convolutions keep the variance of the backward pass (`fan_out`), linear layers that of the forward pass (`fan_in`);
    biases are 0, batch norms the identity.
    """
    for module in net.modules():
        if isinstance(module, nn.Conv2d):
            nn.init.kaiming_normal_(module.weight, mode="fan_out", nonlinearity="relu")
        elif isinstance(module, nn.Linear):
            nn.init.kaiming_normal_(module.weight, mode="fan_in", nonlinearity="relu")
        elif isinstance(module, nn.BatchNorm2d):
            nn.init.ones_(module.weight)
        if isinstance(module, nn.Conv2d | nn.Linear | nn.BatchNorm2d) and module.bias is not None:
            nn.init.zeros_(module.bias)
    return net
