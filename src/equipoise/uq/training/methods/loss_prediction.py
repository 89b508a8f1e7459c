"""Loss prediction (Yoo and Kweon, CVPR 2019): a side head predicts the loss of each label.

L = plain loss + weight * MSE(l_c, BCE_c), l = softplus of a perceptron D-1024-1024-1024-C on
the feature; no gradient passes through BCE_c. The score is l_c. The weight 0.0526 was tuned for
ImageNet, 0.0737 for CIFAR-10. (Under a calibrated model the expected loss is the entropy h(p),
so the score can hardly rank better than that.)
"""

from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import nn
from torch.nn import functional

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
class LossPrediction(JudgedMethod):
    """A side head that predicts the loss."""

    title: ClassVar[str] = "Loss Prediction"
    reference: ClassVar[str] = "Yoo and Kweon, CVPR 2019"
    weight: float = 0.0526

    def loss(self, model: nn.Module, batch: Batch, clock: Clock) -> torch.Tensor:
        """The plain loss and the squared error of its prediction."""
        del clock
        logits, judged = model(batch.images).unbind(1)
        plain = label_bce(logits, batch.labels)
        error = (functional.softplus(judged) - plain.detach()) ** 2
        return masked_mean(plain + self.weight * error, batch.known)

    def predict(self, model: nn.Module, images: torch.Tensor, data: DeviceData) -> Forecast:
        """One member, and the predicted loss as its score."""
        logits, judged = data.apply(model, images).unbind(1)
        return Forecast(logits=logits[None], score=functional.softplus(judged))
