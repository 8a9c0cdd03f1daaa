"""A trained network, ready to answer."""

from pathlib import Path

from torch import nn

from sluice import tasks
from sluice.models.trained import Card, load_weights, read_card

__all__ = ["load_trained"]


def load_trained(folder: Path) -> tuple[nn.Module, Card]:
    """The net in eval mode, and its card. Raises MissingArtifact for files that are absent or do not fit each other."""
    card = read_card(folder)
    net = tasks.load(card.task).module(card.model, schema=card.schema, seed=card.seed)
    load_weights(net, folder)
    return net.eval(), card
