"""Het-NN (Kendall and Gal, NeurIPS 2017): a predicted noise of each logit, with dropout.

Besides the logit mu a head gives the log-variance v (weights N(0, 0.01^2), bias 0), s =
exp(v/2).

- Default loss: cross-entropy of the *mean* probability, BCE(mean_k sigma(mu + s e_k), y), S
  noise samples. The paper's eq. (8), the mean cross-entropy of each sample, grows with s for
  every mu and y, so that training drives the noise to zero; ``objective="eq8"`` reproduces it.
- Prediction: M passes with dropout; *within* a pass the noise samples are averaged first, so
  that the noise becomes aleatoric and dropout epistemic uncertainty.
"""

from dataclasses import dataclass
from typing import ClassVar, Literal

import torch
from torch import nn

from equipoise.uq.training.methods.mc_dropout import with_dropout
from equipoise.uq.training.methods.method import (
    MEMBERS,
    Batch,
    Classifier,
    Clock,
    MakeNetwork,
    SampledMethod,
    label_bce,
    masked_mean,
    mean_bce,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class HetNn(SampledMethod):
    """Noise of the logits, predicted per image and label."""

    title: ClassVar[str] = "Het-NN"
    reference: ClassVar[str] = "Kendall and Gal, NeurIPS 2017"
    p: float = 0.05
    filterwise: bool = True
    samples: int = 1000
    members: int = MEMBERS
    objective: Literal["mean", "eq8"] = "mean"

    def build(self, make: MakeNetwork, classes: int) -> nn.Module:
        """A network with dropout and a head of means and log-variances."""
        network = with_dropout(make(), self.p, filterwise=self.filterwise)
        model = Classifier(network, 2 * classes)
        nn.init.normal_(model.head.weight[classes:].data, std=0.01)
        nn.init.zeros_(model.head.bias[classes:].data)
        return model

    def sample_logits(self, model: nn.Module, images: torch.Tensor) -> torch.Tensor:
        """Means with noise, of one pass."""
        output = model(images)
        with torch.autocast(output.device.type, enabled=False):
            mean, log_variance = output.float().chunk(2, 1)
            noise = torch.randn(self.samples, *mean.shape, device=mean.device)
            return mean + (log_variance / 2).exp() * noise

    def loss(self, model: nn.Module, batch: Batch, clock: Clock) -> torch.Tensor:
        """Cross-entropy of the mean over noise, or the mean of cross-entropies (eq. 8)."""
        del clock
        logits = self.sample_logits(model, batch.images)
        if self.objective == "mean":
            return mean_bce(logits, batch)
        return masked_mean(label_bce(logits, batch.labels).mean(0), batch.known)
