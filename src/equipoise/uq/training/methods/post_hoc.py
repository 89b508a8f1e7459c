"""Fitted after training: a temperature of the logits, and the density of the features.

Temperature scaling (Guo et al., ICML 2017) of the trained baseline.

T > 0 minimises BCE(u/T, y) over the known labels of the validation images; one for all labels,
or one per label. The minimum over log T is found by LBFGS in double precision; the grid of
steps of 0.1 that others use misses it. A single T leaves the order of entropies, and so their
AUROC per label, as it was.

DDU (Mukhoti et al., CVPR 2023), multi-label: the density of the feature as uncertainty.

Training is the baseline's with the spectral norm of every convolution held to at most ``bound``
(one power iteration per step, on the convolution as an operator; 1 x 1 convolutions on their
matrix). A transformer has no convolutions but its patches, so there the trained baseline is
used as it is and this is not DDU in the strict sense; ``spectral_norm=False`` does so
everywhere.

After training Gaussians are fitted to features of training images (at most 100,000), and a
temperature on the validation images. The score of label c, which stands for its epistemic
uncertainty (the total and the aleatoric are the entropy of sigma(u/T)), is minus a log density:

- ``"per_label_posneg"`` (default): log sum_k pi_ck N(z; mu_ck, diag) over k = absent, present;
- ``"per_label_pos"`` (the paper): log N(z; mu_c, diag) of present images only, under which an
  image that is surely without a label counts as uncertain for it;
- ``"global"``: one Gaussian with the full covariance shrunk towards a multiple of the identity
  by D / (N + D), the same score for all labels.

Diagonal variances are shrunk towards those of all images as if ``shrink`` more images had them
(rare labels have few images; 0 is the paper's, and undefined for fewer than two).
"""

import math
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import torch
from torch import nn
from torch.nn import functional
from torch.nn.utils import parametrize

from equipoise.types.arrays import InputError
from equipoise.uq.training.methods.method import (
    Classifier,
    Forecast,
    MakeNetwork,
    Method,
    in_float32,
    masked_mean,
)
from equipoise.uq.training.networks import Architecture, Network
from equipoise.uq.training.resident import DeviceData

_LIMIT = 7.0  # of |log T|: where the best T is infinite (or 0) it ends at about 1,100


def fit_temperature(
    logits: torch.Tensor, labels: torch.Tensor, known: torch.Tensor, *, per_label: bool = False
) -> torch.Tensor:
    """The temperatures (labels or 1) with the least cross-entropy.

    Examples
    --------
    >>> logits = torch.full((10, 1), 4.0)
    >>> labels = torch.tensor([[1.0]] * 9 + [[0.0]])
    >>> round(float(fit_temperature(logits, labels, torch.ones(10, 1))), 5)
    1.82048
    """
    logits, labels, known = (tensor.detach().double() for tensor in (logits, labels, known))
    shape = logits.shape[1] if per_label else 1
    log_t = torch.zeros(shape, dtype=torch.float64, device=logits.device, requires_grad=True)
    how = {"max_iter": 200, "tolerance_grad": 1e-10, "tolerance_change": 1e-14}
    search = torch.optim.LBFGS([log_t], line_search_fn="strong_wolfe", **how)

    def closure() -> torch.Tensor:
        search.zero_grad()
        scaled = logits * (-log_t.clamp(-_LIMIT, _LIMIT)).exp()
        loss = masked_mean(functional.softplus(scaled) - labels * scaled, known)
        loss.backward()
        return loss

    with torch.enable_grad():
        search.step(closure)
    return log_t.detach().clamp(-_LIMIT, _LIMIT).exp()


class TemperedClassifier(Classifier):
    """A classifier whose logits are divided by a temperature."""

    def __init__(self, network: Network, classes: int, temperatures: int) -> None:
        super().__init__(network, classes)
        self.register_buffer("temperature", torch.ones(temperatures))

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        """Logits over temperature."""
        return super().forward(images) / self.temperature


@dataclass(frozen=True, slots=True, kw_only=True)
class TemperatureScaling(Method):
    """The baseline with calibrated logits."""

    title: ClassVar[str] = "Temperature Scaling"
    reference: ClassVar[str] = "Guo et al., ICML 2017"
    from_baseline: ClassVar[bool] = True
    per_label: bool = False

    def build(self, make: MakeNetwork, classes: int) -> nn.Module:
        """The baseline with a temperature of 1."""
        return TemperedClassifier(make(), classes, classes if self.per_label else 1)

    def settle(self, model: nn.Module, data: DeviceData) -> None:
        """Fit the temperature on the validation images."""
        settle_temperature(model, data, per_label=self.per_label)


def settle_temperature(model: nn.Module, data: DeviceData, *, per_label: bool) -> None:
    """Set the temperature of a model to the best on the validation images."""
    model.temperature.fill_(1.0)
    logits = data.apply(model, data.val.images)
    best = fit_temperature(logits, data.val.labels, data.val.known, per_label=per_label)
    model.temperature.copy_(best)


_MOST = 100_000  # training features
_JITTERS = (0.0, *(10.0**power for power in range(-20, 0)))


def _unit(x: torch.Tensor) -> torch.Tensor:
    return x / x.norm().clamp(min=1e-12)


class SpectralBound(nn.Module):
    """Scales the weight of a convolution so that its operator norm is at most a bound."""

    def __init__(self, conv: nn.Conv2d, size: tuple[int, int], bound: float) -> None:
        super().__init__()
        single = conv.kernel_size == (1, 1)
        self.bound = bound
        self.stride = (1, 1) if single else conv.stride
        self.padding = (0, 0) if single else conv.padding
        self.groups, self.dilation = conv.groups, conv.dilation
        shape = (1, conv.in_channels, *((1, 1) if single else size))
        self.register_buffer("direction", _unit(torch.randn(shape)))

    def _image(self, weight: torch.Tensor) -> torch.Tensor:
        return functional.conv2d(self.direction, weight, None, *self._how)

    @property
    def _how(self) -> tuple[Any, ...]:
        return self.stride, self.padding, self.dilation, self.groups

    def forward(self, weight: torch.Tensor) -> torch.Tensor:
        """The weight, scaled down where its norm is over the bound."""
        with torch.autocast(weight.device.type, enabled=False):
            with torch.no_grad():
                image = _unit(self._image(weight))
                if self.training:
                    back = torch.nn.grad.conv2d_input(
                        self.direction.shape, weight, image, *self._how
                    )
                    self.direction.copy_(_unit(back))
                    image = _unit(self._image(weight))
            norm = (image * self._image(weight)).sum()
            return weight * (self.bound / norm).clamp(max=1.0)


def _bound_convolutions(network: Network, bound: float) -> Network:
    """Bound the operator norm of every convolution of a network."""
    sizes: dict[nn.Module, tuple[int, int]] = {}

    def record(module: nn.Module, inputs: tuple[torch.Tensor, ...]) -> None:
        sizes[module] = (inputs[0].shape[2], inputs[0].shape[3])

    convolutions = [module for module in network.modules() if isinstance(module, nn.Conv2d)]
    hooks = [module.register_forward_pre_hook(record) for module in convolutions]
    was = network.training
    with torch.no_grad():
        network.eval()
        network.features(torch.zeros(1, *network.shape))
    network.train(was)
    for hook in hooks:
        hook.remove()
    if not sizes:
        raise InputError(
            "ddu", "a network without convolutions", "some whose spectral norm can be bounded",
            "choose another architecture, or train with ddu.spectral_norm=false",
        )  # fmt: skip
    for conv, size in sizes.items():
        parametrize.register_parametrization(conv, "weight", SpectralBound(conv, size, bound))
    return network


def diagonal_log_density(
    features: torch.Tensor, mean: torch.Tensor, variance: torch.Tensor
) -> torch.Tensor:
    """Log density N(z; mean, diag variance), (items, labels) of means (labels, dim)."""
    columns = []
    for centre, spread in zip(mean, variance, strict=True):
        distance = ((features - centre) ** 2 / spread).sum(1)
        columns.append(-0.5 * (distance + (2 * math.pi * spread).log().sum()))
    return torch.stack(columns, 1)


class DduModel(TemperedClassifier):
    """A classifier with a temperature and Gaussians of its features."""

    def __init__(self, network: Network, classes: int) -> None:
        super().__init__(network, classes, 1)
        dim, double = network.dim, torch.float64
        self.register_buffer("means", torch.zeros(2, classes, dim, dtype=double))
        self.register_buffer("variances", torch.ones(2, classes, dim, dtype=double))
        self.register_buffer("counts", torch.zeros(2, classes, dtype=double))
        self.register_buffer("centre", torch.zeros(dim, dtype=double))
        self.register_buffer("factor", torch.eye(dim, dtype=double))

    def fit_diagonal(
        self, features: torch.Tensor, labels: torch.Tensor, known: torch.Tensor, shrink: float
    ) -> None:
        """Gaussians of absent and of present images per label."""
        pooled = features.var(0, correction=0)
        for side in (0, 1):
            member = ((labels == side) & (known > 0)).double()
            count = member.sum(0)[:, None]
            mean = member.T @ features / count
            squares = member.T @ features**2 - count * mean**2
            variance = squares.clamp(min=0) / (count - 1)
            if shrink:
                variance = (squares.clamp(min=0) + shrink * pooled) / (count + shrink)
            self.means[side], self.variances[side] = mean, variance.clamp(min=1e-12)
            self.counts[side] = count[:, 0]

    def fit_global(self, features: torch.Tensor) -> None:
        """One Gaussian with a shrunk covariance; the least jitter that factorises."""
        many, dim = features.shape
        centred = features - features.mean(0)
        covariance = centred.T @ centred / max(1, many - 1)
        share = dim / (many + dim)
        identity = torch.eye(dim, dtype=features.dtype, device=features.device)
        shrunk = (1 - share) * covariance + share * covariance.diagonal().mean() * identity
        for jitter in _JITTERS:
            factor, failed = torch.linalg.cholesky_ex(shrunk + jitter * identity)
            if not int(failed):
                break
        self.centre.copy_(features.mean(0))
        self.factor.copy_(factor)

    def log_density(self, features: torch.Tensor, density: str) -> torch.Tensor:
        """Log densities (items, labels)."""
        if density == "global":
            flat = (features - self.centre).T
            scaled = torch.linalg.solve_triangular(self.factor, flat, upper=False)
            log_det = self.factor.diagonal().log().sum()
            constant = features.shape[1] * math.log(2 * math.pi) / 2 + log_det
            return (-0.5 * (scaled**2).sum(0) - constant)[:, None].expand(
                -1, len(self.counts[0])
            )
        present = diagonal_log_density(features, self.means[1], self.variances[1])
        if density == "per_label_pos":
            return present
        absent = diagonal_log_density(features, self.means[0], self.variances[0])
        prior = (self.counts / self.counts.sum(0)).log()[:, None]
        both = torch.stack([absent, present]) + prior
        return both.masked_fill(self.counts[:, None] == 0, -math.inf).logsumexp(0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Ddu(Method):
    """The density of the feature as epistemic uncertainty."""

    title: ClassVar[str] = "DDU"
    reference: ClassVar[str] = "Mukhoti et al., CVPR 2023"
    score_is: ClassVar[Literal["EU", "own"]] = "EU"
    density: Literal["per_label_posneg", "per_label_pos", "global"] = "per_label_posneg"
    spectral_norm: bool = True
    bound: float = 3.0
    shrink: float = 10.0

    def baselines(self, architecture: Architecture, seed: int) -> tuple[int, ...]:
        """The baseline of the same seed where no spectral norm is to be held."""
        return () if self.spectral_norm and not architecture.transformer else (seed,)

    def build(self, make: MakeNetwork, classes: int) -> nn.Module:
        """The baseline, its convolutions bounded unless it is our own transformer."""
        network = make()
        if self.spectral_norm and not network.transformer:
            _bound_convolutions(network, self.bound)
        return DduModel(network, classes)

    def settle(self, model: nn.Module, data: DeviceData) -> None:
        """Fit the Gaussians and the temperature."""
        images, labels, known = (tensor[:_MOST] for tensor in data.train)
        features = data.apply(model.network.features, images).double()
        model.fit_diagonal(features, labels, known, self.shrink)
        model.fit_global(features)
        settle_temperature(model, data, per_label=False)

    def predict(self, model: nn.Module, images: torch.Tensor, data: DeviceData) -> Forecast:
        """One member, and minus the log density as its score."""
        features = data.apply(model.network.features, images)
        with torch.no_grad():
            logits = in_float32(model.head, features)
        score = -model.log_density(features.double(), self.density)
        return Forecast(logits=(logits / model.temperature)[None], score=score.float())
