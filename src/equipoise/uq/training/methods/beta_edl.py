"""Evidential learning with a Beta distribution per label (after Sensoy et al., NeurIPS 2018).

Two outputs per label are evidence for and against: a = 1 + e+, b = 1 + e-, S = a + b, m = a/S.

- fit = (m - y)^2 + m(1 - m)/(S + 1), the expected squared error under Beta(a, b);
- penalty = KL(Beta(a~, b~) || Beta(1, 1)), where the evidence for the true label is taken out
  first: (a~, b~) = (1, b) if y = 1 else (a, 1). Its weight rises from 0 to ``scale`` over
  ``ramp`` epochs from epoch ``start_epoch`` on.

``kl="full"`` is the paper's eq. (5), which penalises *all* evidence: its own optimum for a
label that is never present has a mean of 0.43 at weight 1, which is the bad calibration it
reports. ``evidence="exp"`` (clamped to +-10) with scale 1 is what was tuned for CIFAR-10,
softplus with 0.001 from epoch 10 for ImageNet; early stopping often ends before epoch 10, so we
start at once, with 0.01.
"""

from dataclasses import dataclass
from typing import ClassVar, Literal

import torch
from torch import nn
from torch.nn import functional

from equipoise.uq.training.methods.method import (
    Classifier,
    Clock,
    Forecast,
    MakeNetwork,
    Method,
    masked_mean,
)
from equipoise.uq.training.resident import Batch, DeviceData


def beta_fit(a: torch.Tensor, b: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    """Expected squared error of a probability drawn from Beta(a, b).

    Examples
    --------
    >>> round(float(beta_fit(torch.tensor(3.0), torch.tensor(2.0), torch.tensor(1.0))), 6)
    0.2
    """
    total = a + b
    mean = a / total
    return (mean - y) ** 2 + mean * (1 - mean) / (total + 1)


def beta_kl(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """Divergence of Beta(a, b) from the uniform distribution, in nats.

    Examples
    --------
    >>> round(float(beta_kl(torch.tensor(2.0), torch.tensor(1.0))), 6)
    0.193147
    """
    log_b = torch.lgamma(a) + torch.lgamma(b) - torch.lgamma(a + b)
    pull = (a + b - 2) * torch.digamma(a + b)
    return (a - 1) * torch.digamma(a) + (b - 1) * torch.digamma(b) - pull - log_b


@dataclass(frozen=True, slots=True, kw_only=True)
class BetaEdl(Method):
    """A Beta distribution per label."""

    title: ClassVar[str] = "Beta-EDL"
    reference: ClassVar[str] = "Sensoy et al., NeurIPS 2018"
    evidence: Literal["softplus", "exp"] = "softplus"
    kl: Literal["other_evidence", "full"] = "other_evidence"
    scale: float = 0.01
    start_epoch: float = 0.0
    ramp: float = 10.0

    def build(self, make: MakeNetwork, classes: int) -> nn.Module:
        """A network with two outputs per label."""
        return Classifier(make(), 2 * classes)

    def parameters(self, output: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """The Beta parameters of outputs."""
        output = output.float()
        if self.evidence == "exp":
            grown = output.clamp(-10, 10).exp()
        else:
            grown = functional.softplus(output)
        a, b = (1 + grown).chunk(2, 1)
        return a, b

    def loss(self, model: nn.Module, batch: Batch, clock: Clock) -> torch.Tensor:
        """Fit and penalty."""
        output, y = model(batch.images), batch.labels
        with torch.autocast(output.device.type, enabled=False):
            a, b = self.parameters(output)
            ramp = (clock.epoch - self.start_epoch) / self.ramp
            weight = self.scale * min(1.0, max(0.0, ramp))
            if self.kl == "full":
                penalty = beta_kl(a, b)
            else:
                none = torch.ones_like(a)
                penalty = beta_kl(torch.where(y == 1, none, a), torch.where(y == 1, b, none))
            return masked_mean(beta_fit(a, b, y) + weight * penalty, batch.known)

    def probability(self, model: nn.Module, images: torch.Tensor) -> torch.Tensor:
        """The mean of the Beta distribution."""
        a, b = self.parameters(model(images))
        return a / (a + b)

    def predict(self, model: nn.Module, images: torch.Tensor, data: DeviceData) -> Forecast:
        """Beta parameters."""
        a, b = self.parameters(data.apply(model, images))
        return Forecast(alpha=a, beta=b)
