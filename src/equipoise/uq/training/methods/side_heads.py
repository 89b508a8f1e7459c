"""Side heads: a perceptron beside the classifier judges its predictions from the same feature.

Loss prediction (Yoo and Kweon, CVPR 2019): a side head predicts the loss of each label.

L = plain loss + weight * MSE(l_c, BCE_c), l = softplus of a perceptron D-1024-1024-1024-C on
the feature; no gradient passes through BCE_c. The score is l_c. The weight 0.0526 was tuned for
ImageNet, 0.0737 for CIFAR-10. (Under a calibrated model the expected loss is the entropy h(p),
so the score can hardly rank better than that.)

Correctness prediction: a side head predicts whether each label is right at threshold 0.5.

L = plain loss + weight * BCE(r_c, 1[(sigma(u_c) > 0.5) = y_c]) with the perceptron of loss
prediction; the score is 1 - sigma(r_c). The weight 0.0667 was tuned for ImageNet, 0.0776 for
CIFAR-10.
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
    MakeNetwork,
    Method,
    in_float32,
    label_bce,
    masked_mean,
)
from equipoise.uq.training.networks import Network
from equipoise.uq.training.resident import DeviceData


class _JudgedClassifier(nn.Module):
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


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedMethod(Method):
    """A method whose network judges its own predictions; what it judges is its own."""

    depth: int = 3
    width: int = 1024

    def build(self, make: MakeNetwork, classes: int) -> nn.Module:
        """The baseline with a perceptron beside it."""
        return _JudgedClassifier(make(), classes, self.depth, self.width)

    def logits(self, model: nn.Module, images: torch.Tensor) -> torch.Tensor:
        """Those of the classifier."""
        return model(images)[:, 0]


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
