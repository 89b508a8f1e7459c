"""Ensembles: members are networks, or heads on one network.

Deep ensemble (Lakshminarayanan et al., NeurIPS 2017): K baselines of different seeds.

The ensemble of seed s has the baseline of seed s and those of seeds s + 1000, s + 2000, ...: no
two ensembles of a grid share a member, so their spread over seeds is that of independent
ensembles. The members are trained as baselines and reused; the loss here, the mean of the
members' losses, trains all at once from scratch for those who want that.

Shallow ensemble (Lee et al., 2015): several linear heads on one network.

The loss is the cross-entropy of the heads' mean probability; heads are the members. H = 10 was
tuned for ImageNet; 5 is the paper's M and the default here.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import nn

from equipoise.uq.training.methods.method import (
    MEMBERS,
    Classifier,
    Clock,
    Forecast,
    MakeNetwork,
    SampledMethod,
    State,
    load_baseline,
    masked_bce,
)
from equipoise.uq.training.networks import Architecture
from equipoise.uq.training.resident import Batch, DeviceData

APART = 1000  # between the seeds of the members of an ensemble


@dataclass(frozen=True, slots=True, kw_only=True)
class DeepEnsemble(SampledMethod):
    """Independent baselines."""

    title: ClassVar[str] = "Deep Ensemble"
    reference: ClassVar[str] = "Lakshminarayanan et al., NeurIPS 2017"
    members: int = MEMBERS

    def baselines(self, architecture: Architecture, seed: int) -> tuple[int, ...]:
        """The seed's own baseline and others that no other ensemble has."""
        del architecture
        return tuple(seed + APART * member for member in range(self.members))

    def build(self, make: MakeNetwork, classes: int) -> nn.Module:
        """Several baselines."""
        return nn.ModuleList(Classifier(make(), classes) for _ in range(self.members))

    def start(self, model: nn.Module, states: Sequence[State]) -> None:
        """One trained baseline per member."""
        for member, state in zip(model, states, strict=True):
            load_baseline(member, state)

    def loss(self, model: nn.Module, batch: Batch, clock: Clock) -> torch.Tensor:
        """The mean of the members' own losses."""
        del clock
        return torch.stack([masked_bce(member(batch.images), batch) for member in model]).mean()

    def sample_logits(self, model: nn.Module, images: torch.Tensor) -> torch.Tensor:
        """One of each network."""
        return torch.stack([member(images) for member in model])

    def predict(self, model: nn.Module, images: torch.Tensor, data: DeviceData) -> Forecast:
        """Each network is a member."""
        return Forecast(logits=torch.stack([data.apply(member, images) for member in model]))


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
