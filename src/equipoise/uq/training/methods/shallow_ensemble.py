"""Shallow ensemble (Lee et al., 2015): several linear heads on one network.

The loss is the cross-entropy of the heads' mean probability; heads are the members. H = 10 was
tuned for ImageNet; 5 is the paper's M and the default here.
"""

from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import nn

from equipoise.uq.training.methods.method import (
    MEMBERS,
    Classifier,
    Forecast,
    MakeNetwork,
    SampledMethod,
)
from equipoise.uq.training.resident import DeviceData


@dataclass(frozen=True, slots=True, kw_only=True)
class ShallowEnsemble(SampledMethod):
    """Several heads on one network."""

    title: ClassVar[str] = "Shallow Ensemble"
    reference: ClassVar[str] = "Lee et al., 2015"
    heads: int = MEMBERS

    def build(self, make: MakeNetwork, classes: int) -> nn.Module:
        """A network with heads side by side."""
        return Classifier(make(), classes * self.heads)

    def _members(self, output: torch.Tensor) -> torch.Tensor:
        """Logits (heads, items, classes)."""
        return output.float().unflatten(1, (self.heads, -1)).transpose(0, 1)

    def sample_logits(self, model: nn.Module, images: torch.Tensor) -> torch.Tensor:
        """Those of the heads."""
        return self._members(model(images))

    def predict(self, model: nn.Module, images: torch.Tensor, data: DeviceData) -> Forecast:
        """Heads as members."""
        return Forecast(logits=self._members(data.apply(model, images)))
