"""Heads: several of them, of evidence, or beside the classifier to judge it.

Deep ensemble (Lakshminarayanan et al., NeurIPS 2017): K baselines of different seeds.

The ensemble of seed s has the baseline of seed s and those of seeds s + 1000, s + 2000, ...: no
two ensembles of a grid share a member, so their spread over seeds is that of independent
ensembles. The members are trained as baselines and reused.

Shallow ensemble (Lee et al., 2015): several linear heads on one network.

The loss is the cross-entropy of the heads' mean probability; heads are the members. H = 10 was
tuned for ImageNet; 5 is the paper's M and the default here.

Beta-EDL, evidential learning with a Beta distribution per label (after Sensoy et al., NeurIPS
2018).

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

Side heads: a perceptron beside the classifier judges its predictions from the same feature.

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

from collections.abc import Sequence
from typing import Literal

import torch
from torch import Tensor, nn
from torch.nn import functional

from equipoise.types import immutable
from equipoise.uq.training.methods.method import (
    MEMBERS,
    Classifier,
    Clock,
    Forecast,
    MakeNetwork,
    Method,
    State,
    full_precision,
    label_bce,
    load_baseline,
    masked_mean,
)
from equipoise.uq.training.networks import Architecture
from equipoise.uq.training.resident import Batch, DeviceData

APART = 1000  # between the seeds of the members of an ensemble


@immutable(kw_only=True)
class DeepEnsemble(Method):
    """Independent baselines."""

    title = "Deep Ensemble"
    sampled = True
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

    def outputs(self, model: nn.Module, images: Tensor) -> Tensor:
        """One of each network."""
        return torch.stack([member(images) for member in model])

    def predict(self, model: nn.Module, images: Tensor, data: DeviceData) -> Forecast:
        """Each network is a member."""
        return Forecast(logits=torch.stack([data.apply(member, images) for member in model]))


@immutable(kw_only=True)
class ShallowEnsemble(Method):
    """Several heads on one network."""

    title = "Shallow Ensemble"
    sampled = True
    heads: int = MEMBERS

    def build(self, make: MakeNetwork, classes: int) -> nn.Module:
        """A network with heads side by side."""
        return Classifier(make(), classes * self.heads)

    def _members(self, output: Tensor) -> Tensor:
        """Logits (heads, items, classes)."""
        return output.float().unflatten(1, (self.heads, -1)).transpose(0, 1)

    def outputs(self, model: nn.Module, images: Tensor) -> Tensor:
        """Those of the heads."""
        return self._members(model(images))

    def predict(self, model: nn.Module, images: Tensor, data: DeviceData) -> Forecast:
        """Heads as members."""
        return Forecast(logits=self._members(data.apply(model, images)))


def beta_fit(a: Tensor, b: Tensor, y: Tensor) -> Tensor:
    """Expected squared error of a probability drawn from Beta(a, b).

    Examples
    --------
    >>> round(float(beta_fit(torch.tensor(3.0), torch.tensor(2.0), torch.tensor(1.0))), 6)
    0.2
    """
    total = a + b
    mean = a / total
    return (mean - y) ** 2 + mean * (1 - mean) / (total + 1)


def beta_kl(a: Tensor, b: Tensor) -> Tensor:
    """Divergence of Beta(a, b) from the uniform distribution, in nats.

    Examples
    --------
    >>> round(float(beta_kl(torch.tensor(2.0), torch.tensor(1.0))), 6)
    0.193147
    """
    log_b = torch.lgamma(a) + torch.lgamma(b) - torch.lgamma(a + b)
    pull = (a + b - 2) * torch.digamma(a + b)
    return (a - 1) * torch.digamma(a) + (b - 1) * torch.digamma(b) - pull - log_b


@immutable(kw_only=True)
class BetaEdl(Method):
    """A Beta distribution per label."""

    title = "Beta-EDL"
    evidence: Literal["softplus", "exp"] = "softplus"
    kl: Literal["other_evidence", "full"] = "other_evidence"
    scale: float = 0.01
    start_epoch: float = 0.0
    ramp: float = 10.0

    def build(self, make: MakeNetwork, classes: int) -> nn.Module:
        """A network with two outputs per label."""
        return Classifier(make(), 2 * classes)

    def parameters(self, output: Tensor) -> tuple[Tensor, Tensor]:
        """The Beta parameters of outputs."""
        output = output.float()
        if self.evidence == "exp":
            grown = output.clamp(-10, 10).exp()
        else:
            grown = functional.softplus(output)
        a, b = (1 + grown).chunk(2, 1)
        return a, b

    def loss(self, model: nn.Module, batch: Batch, clock: Clock) -> Tensor:
        """Fit and penalty."""
        output, y = model(batch.images), batch.labels
        with full_precision(output):
            a, b = self.parameters(output)
            ramp = (clock.epoch - self.start_epoch) / self.ramp
            weight = self.scale * min(1.0, max(0.0, ramp))
            if self.kl == "full":
                penalty = beta_kl(a, b)
            else:
                none = torch.ones_like(a)
                penalty = beta_kl(torch.where(y == 1, none, a), torch.where(y == 1, b, none))
            return masked_mean(beta_fit(a, b, y) + weight * penalty, batch.known)

    def probability(self, model: nn.Module, images: Tensor) -> Tensor:
        """The mean of the Beta distribution."""
        a, b = self.parameters(model(images))
        return a / (a + b)

    def predict(self, model: nn.Module, images: Tensor, data: DeviceData) -> Forecast:
        """Beta parameters."""
        a, b = self.parameters(data.apply(model, images))
        return Forecast(alpha=a, beta=b)


@immutable(kw_only=True)
class LossPrediction(Method):
    """A side head that predicts the loss."""

    title = "Loss Prediction"
    depth: int = 3
    width: int = 1024
    weight: float = 0.0526

    def build(self, make: MakeNetwork, classes: int) -> nn.Module:
        """The baseline with a perceptron beside it."""
        model = Classifier(make(), classes)
        layers: list[nn.Module] = []
        before = model.network.dim
        for _ in range(self.depth):
            layers += [nn.Linear(before, self.width), nn.LeakyReLU()]
            before = self.width
        model.side = nn.Sequential(*layers, nn.Linear(before, classes))
        return model

    def logits(self, model: nn.Module, images: Tensor) -> Tensor:
        """Those of the classifier."""
        return model(images)[:, 0]

    def loss(self, model: nn.Module, batch: Batch, clock: Clock) -> Tensor:
        """The plain loss and, weighted, that of the judgement."""
        del clock
        logits, judged = model(batch.images).unbind(1)
        plain = label_bce(logits, batch.labels)
        judgement = self.judgement_loss(judged, logits, batch.labels)
        return masked_mean(plain + self.weight * judgement, batch.known)

    def judgement_loss(self, judged: Tensor, logits: Tensor, labels: Tensor) -> Tensor:
        """The squared error of the predicted loss of each label."""
        return (functional.softplus(judged) - label_bce(logits, labels).detach()) ** 2

    def score(self, judged: Tensor) -> Tensor:
        """The predicted loss."""
        return functional.softplus(judged)

    def predict(self, model: nn.Module, images: Tensor, data: DeviceData) -> Forecast:
        """One member, and what its judgement says as its score."""
        logits, judged = data.apply(model, images).unbind(1)
        return Forecast(logits=logits[None], score=self.score(judged))


@immutable(kw_only=True)
class CorrectnessPrediction(LossPrediction):
    """A side head that predicts correctness."""

    title = "Correctness Prediction"
    weight: float = 0.0667

    def judgement_loss(self, judged: Tensor, logits: Tensor, labels: Tensor) -> Tensor:
        """The cross-entropy of the predicted correctness of each label."""
        return label_bce(judged, ((logits > 0) == (labels > 0.5)).float())

    def score(self, judged: Tensor) -> Tensor:
        """The predicted probability of an error."""
        return torch.sigmoid(-judged)
