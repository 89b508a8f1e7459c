"""Noise: dropout, and noise of logits or features that the network predicts.

MC-Dropout (Gal and Ghahramani, ICML 2016): dropout that stays on in prediction.

Dropout follows *every* ReLU and GELU, in training and in prediction; M passes are the members.
``filterwise`` (default, p = 0.05, as tuned for ImageNet) drops whole channels of a map, and of
tokens the same features of all tokens; element-wise with p = 0.1 is what was tuned for
CIFAR-10.

Het-NN (Kendall and Gal, NeurIPS 2017): a predicted noise of each logit, with dropout.

Besides the logit mu a head gives the log-variance v (weights N(0, 0.01^2), bias 0), s =
exp(v/2).

- Loss: cross-entropy of the *mean* probability, BCE(mean_k sigma(mu + s e_k), y), S noise
  samples. The paper's eq. (8), the mean cross-entropy of each sample, grows with s for every mu
  and y, so that training drives the noise to zero.
- Prediction: M passes with dropout; *within* a pass the noise samples are averaged first, so
  that the noise becomes aleatoric and dropout epistemic uncertainty.

HET-XL (Collier et al., ICLR 2023): noise in the feature whose covariance is predicted.

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

import torch
from torch import Tensor, nn
from torch.nn import functional

from equipoise.types import InputError, immutable
from equipoise.uq.training.methods.method import (
    MEMBERS,
    Classifier,
    Forecast,
    MakeNetwork,
    Method,
    full_precision,
    in_float32,
)
from equipoise.uq.training.networks import Network, replace_modules
from equipoise.uq.training.resident import DeviceData


class LastingDropout(nn.Module):
    """Dropout that does not know of evaluation; the rest is scaled by 1 / (1 - p)."""

    def __init__(self, p: float, *, filterwise: bool) -> None:
        super().__init__()
        self.p, self.filterwise = p, filterwise

    def forward(self, x: Tensor) -> Tensor:
        """Drop elements, or channels of maps and features of tokens."""
        if not self.filterwise or x.ndim == 2:
            return functional.dropout(x, self.p, training=True)
        shape = (len(x), 1, x.shape[2]) if x.ndim == 3 else (*x.shape[:2], 1, 1)
        keep = torch.empty(shape, dtype=x.dtype, device=x.device).bernoulli_(1 - self.p)
        return x * (keep / (1 - self.p))


def with_dropout(network: Network, p: float, *, filterwise: bool) -> Network:
    """Put dropout after every ReLU and GELU of a network; one that has none is refused."""
    count = 0
    for kind in (nn.ReLU, nn.GELU):
        count += replace_modules(
            network,
            kind,
            lambda old: nn.Sequential(old, LastingDropout(p, filterwise=filterwise)),
        )
    if not count:
        raise InputError(
            "dropout", "a network without a ReLU or GELU of its own",
            "activations for dropout to follow",
            "choose another architecture, or leave mc_dropout and het_nn out",
        )  # fmt: skip
    return network


@immutable(kw_only=True)
class McDropout(Method):
    """Dropout after every activation, also in prediction."""

    title = "MC-Dropout"
    p: float = 0.05
    filterwise: bool = True
    members: int = MEMBERS

    def build(self, make: MakeNetwork, classes: int) -> nn.Module:
        """The baseline with dropout."""
        network = with_dropout(make(), self.p, filterwise=self.filterwise)
        return Classifier(network, classes)


@immutable(kw_only=True)
class HetNn(McDropout):
    """Noise of the logits, predicted per image and label."""

    title = "Het-NN"
    sampled = True
    samples: int = 1000

    def build(self, make: MakeNetwork, classes: int) -> nn.Module:
        """A network with dropout and a head of means and log-variances."""
        model = McDropout.build(self, make, 2 * classes)
        nn.init.normal_(model.head.weight[classes:].data, std=0.01)
        nn.init.zeros_(model.head.bias[classes:].data)
        return model

    def outputs(self, model: nn.Module, images: Tensor) -> Tensor:
        """Means with noise, of one pass."""
        output = model(images)
        with full_precision(output):
            mean, log_variance = output.float().chunk(2, 1)
            noise = torch.randn(self.samples, *mean.shape, device=mean.device)
            return mean + (log_variance / 2).exp() * noise


class HetXlModel(nn.Module):
    """A network, a linear head, and heads for the noise."""

    def __init__(self, network: Network, classes: int, settings: "HetXl") -> None:
        super().__init__()
        self.network, self.rank = network, settings.rank
        self.temperature = settings.temperature
        self.head = nn.Linear(network.dim, classes)
        self.factor = nn.Linear(network.dim, network.dim * settings.rank)
        self.scale = nn.Linear(network.dim, network.dim)

    def forward(self, images: Tensor) -> tuple[Tensor, Tensor]:
        """Mean logits (items, classes) and noise factors (items, classes, rank + dim).

        Logits with noise are ``mean + factors @ e`` with standard normal e.
        """
        feature = self.network(images)
        raw, spread = (in_float32(head, feature) for head in (self.factor, self.scale))
        with full_precision(feature):
            feature = feature.float()
            weight = self.head.weight
            low_rank = raw.view(len(raw), self.network.dim, self.rank)
            deviation = functional.softplus(spread) + 1e-3
            factors = torch.cat([weight @ low_rank, weight * deviation[:, None]], 2)
            mean = functional.linear(feature, weight, self.head.bias)
            return mean / self.temperature, factors / self.temperature


@immutable(kw_only=True)
class HetXl(Method):
    """Heteroscedastic noise in the feature."""

    title = "HET-XL"
    sampled = True
    rank: int = 15
    temperature: float = 1.5
    samples: int = 1000
    members: int = 25

    def build(self, make: MakeNetwork, classes: int) -> nn.Module:
        """A network with heads for logits and noise."""
        return HetXlModel(make(), classes, self)

    def outputs(self, model: nn.Module, images: Tensor) -> Tensor:
        """Logits (samples, items, classes), the noise shared by the images."""
        mean, factors = model(images)
        with full_precision(mean):
            noise = torch.randn(factors.shape[2], self.samples, device=mean.device)
            return (mean[..., None] + factors @ noise).permute(2, 0, 1)

    def predict(self, model: nn.Module, images: Tensor, data: DeviceData) -> Forecast:
        """Noise samples as members."""

        def noisy(inputs: Tensor) -> Tensor:
            mean, factors = model(inputs)
            with full_precision(mean):
                shape = (len(mean), factors.shape[2], self.members)
                noise = torch.randn(shape, device=mean.device)
                return mean[..., None] + factors @ noise

        return Forecast(logits=data.apply(noisy, images).permute(2, 0, 1))
