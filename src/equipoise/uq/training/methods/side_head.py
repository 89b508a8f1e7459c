"""A perceptron beside the classifier that judges its predictions from the same feature."""

import torch
from torch import nn

from equipoise.uq.training.methods.method import in_float32
from equipoise.uq.training.networks import Network


class JudgedClassifier(nn.Module):
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
