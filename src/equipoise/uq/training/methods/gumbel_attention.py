"""Gumbel-softmax attention (Pei et al., AAAI 2022): attention weights are random draws.

- single (``centroids=0``, default): A = softmax((QK' + g)/tau2), g ~ Gumbel(0, 1) independent,
  drawn in training and in prediction; output A V.
- hierarchical (``centroids=k``): keys are replaced by mixtures of k centroids C that the heads
  of a layer share, K^ = softmax((K C + g')/tau1) C', C ~ U(-0.5, 0.5) at the start.

There is no further 1/sqrt(d): tau2 plays that part and divides the noise too. Default
tau2 = sqrt(d); Gumbel noise on QK'/sqrt(d) with tau 1 would be a far noisier model. ``hard``
takes the largest weight alone and lets gradients pass as if it had not. Members are passes.
"""

import math
from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import nn

from equipoise.uq.training.methods.method import MEMBERS, Classifier, MakeNetwork, Method
from equipoise.uq.training.networks import Attention, replace_modules


def gumbel_weights(scores: torch.Tensor, tau: float, *, hard: bool = False) -> torch.Tensor:
    """Random weights over the last axis, softmax((scores + g)/tau)."""
    with torch.autocast(scores.device.type, enabled=False):
        scores = scores.float()
        noise = -torch.empty_like(scores).exponential_().clamp(min=1e-20).log()
        soft = ((scores + noise) / tau).softmax(-1)
    if not hard:
        return soft
    top = torch.zeros_like(soft).scatter_(-1, soft.argmax(-1, keepdim=True), 1.0)
    return top + soft - soft.detach()


class RandomAttention(nn.Module):
    """Attention with Gumbel noise."""

    def __init__(self, plain: Attention, settings: "GumbelAttention") -> None:
        super().__init__()
        width = plain.out.in_features // plain.heads
        self.plain, self.settings = plain, settings
        self.tau = settings.tau2 if settings.tau2 is not None else math.sqrt(width)
        if settings.centroids:
            start = torch.rand(width, settings.centroids) - 0.5
            self.centroids = nn.Parameter(start)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Attention drawn at random."""
        query, key, value = self.plain.split(x)
        hard = self.settings.hard
        if self.settings.centroids:
            mixture = gumbel_weights(key @ self.centroids, self.settings.tau1, hard=hard)
            key = (mixture @ self.centroids.T).to(query.dtype)
        weights = gumbel_weights(query @ key.transpose(-1, -2), self.tau, hard=hard)
        return self.plain.join(weights.to(value.dtype) @ value)


@dataclass(frozen=True, slots=True, kw_only=True)
class GumbelAttention(Method):
    """Random attention weights."""

    title: ClassVar[str] = "Gumbel-Softmax Attention"
    reference: ClassVar[str] = "Pei et al., AAAI 2022"
    transformer_only: ClassVar[bool] = True
    tau1: float = 1.0
    tau2: float | None = None
    centroids: int = 0
    hard: bool = False
    members: int = MEMBERS

    def build(self, make: MakeNetwork, classes: int) -> nn.Module:
        """The baseline with random attention."""
        network = make()
        replace_modules(network, Attention, lambda plain: RandomAttention(plain, self))
        return Classifier(network, classes)
