"""SWAG (Maddox et al., NeurIPS 2019): a Gaussian over weights along the path of training.

Training goes on from the trained baseline at a *constant* learning rate (under a falling one
the iterates stand still and their covariance shrinks to nothing); several times per epoch the
weights enter a running mean and mean square, and the last K deviations from the running mean
are kept. A member is

    theta = mean + sqrt(variance) * e1 / sqrt(2) + D e2 / sqrt(2 (K - 1)),

with covariance 1/2 diag(variance) + 1/2 D D' / (K - 1); batch normalisation is estimated again
for each member on a tenth of the training images. The variance is at least 1e-30.
"""

import math
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
    Method,
)
from equipoise.uq.training.networks import Network
from equipoise.uq.training.resident import DeviceData

_FLOOR = 1e-30


class SwagModel(Classifier):
    """A classifier that remembers the path of its weights."""

    def __init__(self, network: Network, classes: int, rank: int) -> None:
        super().__init__(network, classes)
        many = sum(parameter.numel() for parameter in self.parameters())
        self.register_buffer("mean", torch.zeros(many))
        self.register_buffer("square", torch.zeros(many))
        self.register_buffer("deviations", torch.zeros(rank, many))
        self.register_buffer("count", torch.zeros((), dtype=torch.long))

    def weights(self) -> torch.Tensor:
        """All parameters as one vector."""
        return torch.cat([parameter.detach().reshape(-1) for parameter in self.parameters()])

    def set_weights(self, vector: torch.Tensor) -> None:
        """Put a vector of all parameters in their place."""
        parameters = list(self.parameters())
        parts = vector.split([weight.numel() for weight in parameters])
        with torch.no_grad():
            for parameter, part in zip(parameters, parts, strict=True):
                parameter.copy_(part.view(parameter.shape))

    def remember(self) -> None:
        """Take the present weights into the moments."""
        count, now = int(self.count), self.weights()
        self.mean += (now - self.mean) / (count + 1)
        self.square += (now**2 - self.square) / (count + 1)
        self.deviations[count % len(self.deviations)] = now - self.mean
        self.count += 1

    def draw(self) -> torch.Tensor:
        """Weights drawn from the Gaussian."""
        variance = (self.square - self.mean**2).clamp(min=_FLOOR)
        drawn = self.mean + variance.sqrt() * torch.randn_like(variance) / math.sqrt(2)
        rank = min(int(self.count), len(self.deviations))
        if rank > 1:
            weights = torch.randn(rank, device=drawn.device) / math.sqrt(2 * (rank - 1))
            drawn = drawn + weights @ self.deviations[:rank]
        return drawn


def _renew_batch_norm(model: nn.Module, images: torch.Tensor, data: DeviceData) -> None:
    """Estimate the statistics of batch normalisation again on some images."""
    norms = [module for module in model.modules() if isinstance(module, nn.BatchNorm2d)]
    if not norms:
        return
    momenta = [module.momentum for module in norms]
    for norm in norms:
        norm.reset_running_stats()
        norm.momentum = None  # the plain mean over batches
        norm.train()
    data.apply(model, images)
    for norm, momentum in zip(norms, momenta, strict=True):
        norm.momentum = momentum
        norm.eval()


@dataclass(frozen=True, slots=True, kw_only=True)
class Swag(Method):
    """A Gaussian over weights, from the path of further training."""

    title: ClassVar[str] = "SWAG"
    reference: ClassVar[str] = "Maddox et al., NeurIPS 2019"
    from_baseline: ClassVar[bool] = True
    further_epochs: ClassVar[int] = 5
    rank: int = 20
    per_epoch: int = 4
    renew: float = 0.1
    members: int = MEMBERS

    def build(self, make: MakeNetwork, classes: int) -> nn.Module:
        """The baseline with moments."""
        return SwagModel(make(), classes, self.rank)

    def observe(self, model: nn.Module, clock: Clock) -> None:
        """Take the weights in, several times per epoch and at its end."""
        interval = max(1, clock.steps_per_epoch // self.per_epoch)
        place = clock.step % clock.steps_per_epoch or clock.steps_per_epoch
        left = clock.steps_per_epoch - place
        if left % interval == 0 and left // interval < self.per_epoch:
            model.remember()

    def predict(self, model: nn.Module, images: torch.Tensor, data: DeviceData) -> Forecast:
        """Draws of weights as members."""
        train = data.train.images
        some = torch.randperm(len(train))[: max(2, math.ceil(self.renew * len(train)))]
        subset = train[some.to(train.device)]
        passes = []
        for _ in range(self.members):
            model.set_weights(model.draw())
            _renew_batch_norm(model, subset, data)
            passes.append(data.apply(model, images))
        model.set_weights(model.mean)
        _renew_batch_norm(model, subset, data)
        return Forecast(logits=torch.stack(passes))
