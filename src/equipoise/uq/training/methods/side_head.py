"""A perceptron beside the classifier that judges its predictions from the same feature."""

from dataclasses import dataclass

import torch
from torch import nn

from equipoise.uq.training.methods.method import MakeNetwork, Method, in_float32
from equipoise.uq.training.networks import Network


class _JudgedClassifier(nn.Module):
    """A linear head for labels and a perceptron (LeakyReLU) for the judgement of each."""

    def __init__(self, network: Network, classes: int, depth: int, width: int) -> None:
        super().__init__()
        self.network = network
        self.head = nn.Linear(network.dim, classes)
        layers: list[nn.Module] = []
        before = network.dim
        for _ in range(depth):
            layers += [nn.Linear(before, width), nn.LeakyReLU()]
            before = width
        self.judge = nn.Sequential(*layers, nn.Linear(before, classes))

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        """Logits of labels and judgements side by side (items, 2, classes)."""
        feature = self.network.features(images)
        return torch.stack([in_float32(one, feature) for one in (self.head, self.judge)], 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedMethod(Method):
    """A method whose network judges its own predictions; what it judges is its own."""

    depth: int = 3
    width: int = 1024

    def build(self, make: MakeNetwork, classes: int) -> nn.Module:
        """The baseline with a perceptron beside it."""
        return _JudgedClassifier(make(), classes, self.depth, self.width)

    def logits(self, model: nn.Module, images: torch.Tensor) -> torch.Tensor:
        """Those of the classifier."""
        return model(images)[:, 0]
