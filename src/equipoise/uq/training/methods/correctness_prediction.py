"""Correctness prediction: a side head predicts whether each label is right at threshold 0.5.

L = plain loss + weight * BCE(r_c, 1[(sigma(u_c) > 0.5) = y_c]) with the perceptron of loss
prediction; the score is 1 - sigma(r_c). The weight 0.0667 was tuned for ImageNet, 0.0776 for
CIFAR-10.
"""

from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import nn

from equipoise.uq.training.methods.method import (
    Batch,
    Clock,
    Forecast,
    label_bce,
    masked_mean,
)
from equipoise.uq.training.methods.side_head import JudgedMethod
from equipoise.uq.training.resident import DeviceData


@dataclass(frozen=True, slots=True, kw_only=True)
class CorrectnessPrediction(JudgedMethod):
    """A side head that predicts correctness."""

    title: ClassVar[str] = "Correctness Prediction"
    weight: float = 0.0667

    def loss(self, model: nn.Module, batch: Batch, clock: Clock) -> torch.Tensor:
        """The plain loss and the cross-entropy of correctness."""
        del clock
        logits, judged = model(batch.images).unbind(1)
        right = ((logits > 0) == (batch.labels > 0.5)).float()
        each = label_bce(logits, batch.labels) + self.weight * label_bce(judged, right)
        return masked_mean(each, batch.known)

    def predict(self, model: nn.Module, images: torch.Tensor, data: DeviceData) -> Forecast:
        """One member, and the predicted probability of an error as its score."""
        logits, judged = data.apply(model, images).unbind(1)
        return Forecast(logits=logits[None], score=torch.sigmoid(-judged))
