"""HET-XL (Collier et al., ICLR 2023): noise in the feature whose covariance is predicted.

z_s = z + V(z) e + d(z) * e', with V: D -> D x R, d = softplus(D -> D) + 1e-3, and
u_s = (W z_s + b) / T. The loss is the cross-entropy of the mean probability over S samples.

The noise of the logits is W V e + W (d * e'), so the covariance of a label pair is
W (V V' + diag d^2) W' / T^2. Training draws one set of S noise vectors per step and uses it for
all images of the batch: for each image it is the same distribution, so the expected loss is the
same, at a hundredth of the cost. In prediction every image has its own noise, and samples are
members: 25 by default, not the M = 5 of passes through a network, since the mean of five draws
would be mostly their noise and a draw costs next to nothing, and not S, since 1000 members of
every label would be files a hundred times as large. That books this noise, which is noise of
the label, as epistemic, as the paper does.

Defaults are those tuned for ImageNet (R = 15, T = 1.5, S = 1000); R = 6, T = 1.123 are those
for CIFAR-10.
"""

from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import nn
from torch.nn import functional

from equipoise.uq.training.methods.method import (
    Forecast,
    MakeNetwork,
    SampledMethod,
    in_float32,
)
from equipoise.uq.training.networks import Network
from equipoise.uq.training.resident import DeviceData


class HetXlModel(nn.Module):
    """A network, a linear head, and heads for the noise."""

    def __init__(self, network: Network, classes: int, settings: "HetXl") -> None:
        super().__init__()
        self.network, self.rank = network, settings.rank
        self.temperature = settings.temperature
        self.head = nn.Linear(network.dim, classes)
        self.factor = nn.Linear(network.dim, network.dim * settings.rank)
        self.scale = nn.Linear(network.dim, network.dim)

    def forward(self, images: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Mean logits (items, classes) and noise factors (items, classes, rank + dim).

        Logits with noise are ``mean + factors @ e`` with standard normal e.
        """
        feature = self.network.features(images)
        raw, spread = (in_float32(one, feature) for one in (self.factor, self.scale))
        with torch.autocast(feature.device.type, enabled=False):
            feature = feature.float()
            weight = self.head.weight
            low_rank = raw.view(len(raw), self.network.dim, self.rank)
            deviation = functional.softplus(spread) + 1e-3
            factors = torch.cat([weight @ low_rank, weight * deviation[:, None]], 2)
            mean = functional.linear(feature, weight, self.head.bias)
            return mean / self.temperature, factors / self.temperature


@dataclass(frozen=True, slots=True, kw_only=True)
class HetXl(SampledMethod):
    """Heteroscedastic noise in the feature."""

    title: ClassVar[str] = "HET-XL"
    reference: ClassVar[str] = "Collier et al., ICLR 2023"
    rank: int = 15
    temperature: float = 1.5
    samples: int = 1000
    members: int = 25

    def build(self, make: MakeNetwork, classes: int) -> nn.Module:
        """A network with heads for logits and noise."""
        return HetXlModel(make(), classes, self)

    def sample_logits(self, model: nn.Module, images: torch.Tensor) -> torch.Tensor:
        """Logits (samples, items, classes), the noise shared by the images."""
        mean, factors = model(images)
        with torch.autocast(mean.device.type, enabled=False):
            noise = torch.randn(factors.shape[2], self.samples, device=mean.device)
            return (mean[..., None] + factors @ noise).permute(2, 0, 1)

    def predict(self, model: nn.Module, images: torch.Tensor, data: DeviceData) -> Forecast:
        """Noise samples as members."""

        def noisy(inputs: torch.Tensor) -> torch.Tensor:
            mean, factors = model(inputs)
            with torch.autocast(mean.device.type, enabled=False):
                shape = (len(mean), factors.shape[2], self.members)
                noise = torch.randn(shape, device=mean.device)
                return mean[..., None] + factors @ noise

        return Forecast(logits=data.apply(noisy, images).permute(2, 0, 1))
