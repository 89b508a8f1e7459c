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
    Clock,
    Forecast,
    MakeNetwork,
    Method,
    in_float32,
    label_bce,
    masked_mean,
)
from equipoise.uq.training.networks import Network
from equipoise.uq.training.resident import Batch, DeviceData


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
        return torch.stack([in_float32(head, feature) for head in (self.head, self.judge)], 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class LossPrediction(Method):
    """A side head that predicts the loss."""

    title: ClassVar[str] = "Loss Prediction"
    reference: ClassVar[str] = "Yoo and Kweon, CVPR 2019"
    depth: int = 3
    width: int = 1024
    weight: float = 0.0526

    def build(self, make: MakeNetwork, classes: int) -> nn.Module:
        """The baseline with a perceptron beside it."""
        return _JudgedClassifier(make(), classes, self.depth, self.width)

    def logits(self, model: nn.Module, images: torch.Tensor) -> torch.Tensor:
        """Those of the classifier."""
        return model(images)[:, 0]

    def loss(self, model: nn.Module, batch: Batch, clock: Clock) -> torch.Tensor:
        """The plain loss and, weighted, that of the judgement."""
        del clock
        logits, judged = model(batch.images).unbind(1)
        plain = label_bce(logits, batch.labels)
        judgement = self.judgement_loss(judged, logits, batch.labels)
        return masked_mean(plain + self.weight * judgement, batch.known)

    def judgement_loss(
        self, judged: torch.Tensor, logits: torch.Tensor, labels: torch.Tensor
    ) -> torch.Tensor:
        """The squared error of the predicted loss of each label."""
        return (functional.softplus(judged) - label_bce(logits, labels).detach()) ** 2

    def score(self, judged: torch.Tensor) -> torch.Tensor:
        """The predicted loss."""
        return functional.softplus(judged)

    def predict(self, model: nn.Module, images: torch.Tensor, data: DeviceData) -> Forecast:
        """One member, and what its judgement says as its score."""
        logits, judged = data.apply(model, images).unbind(1)
        return Forecast(logits=logits[None], score=self.score(judged))


@dataclass(frozen=True, slots=True, kw_only=True)
class CorrectnessPrediction(LossPrediction):
    """A side head that predicts correctness."""

    title: ClassVar[str] = "Correctness Prediction"
    reference: ClassVar[str] = ""
    weight: float = 0.0667

    def judgement_loss(
        self, judged: torch.Tensor, logits: torch.Tensor, labels: torch.Tensor
    ) -> torch.Tensor:
        """The cross-entropy of the predicted correctness of each label."""
        return label_bce(judged, ((logits > 0) == (labels > 0.5)).float())

    def score(self, judged: torch.Tensor) -> torch.Tensor:
        """The predicted probability of an error."""
        return torch.sigmoid(-judged)
