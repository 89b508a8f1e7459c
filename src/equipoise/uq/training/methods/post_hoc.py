"""After the baseline: a temperature, the density of the features, and SWAG.

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

SWAG (Maddox et al., NeurIPS 2019): a Gaussian over weights along the path of training.

Training goes on from the trained baseline at a *constant* learning rate (under a falling one
the iterates stand still and their covariance shrinks to nothing); several times per epoch the
weights enter a running mean and mean square, and the last K deviations from the running mean
are kept. A member is

    theta = mean + sqrt(variance) * e1 / sqrt(2) + D e2 / sqrt(2 (K - 1)),

with covariance 1/2 diag(variance) + 1/2 D D' / (K - 1); batch normalisation is estimated again
for each member on a tenth of the training images. The variance is at least 1e-30.
"""

import math
from typing import Any, Literal

import torch
from torch import Tensor, nn
from torch.nn import functional
from torch.nn.utils import parametrize

from equipoise.types import InputError, immutable
from equipoise.uq.training.methods.method import (
    MEMBERS,
    Classifier,
    Clock,
    Forecast,
    MakeNetwork,
    Method,
    full_precision,
    masked_mean,
)
from equipoise.uq.training.networks import Architecture, Network
from equipoise.uq.training.resident import DeviceData

_LIMIT = 7.0  # of |log T|: where the best T is infinite (or 0) it ends at about 1,100


def fit_temperature(
    logits: Tensor, labels: Tensor, known: Tensor, *, per_label: bool = False
) -> Tensor:
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

    def closure() -> Tensor:
        search.zero_grad()
        scaled = logits * (-log_t.clamp(-_LIMIT, _LIMIT)).exp()
        loss = masked_mean(functional.softplus(scaled) - labels * scaled, known)
        loss.backward()
        return loss

    with torch.enable_grad():
        search.step(closure)
    return log_t.detach().clamp(-_LIMIT, _LIMIT).exp()


@immutable(kw_only=True)
class TemperatureScaling(Method):
    """The baseline with calibrated logits."""

    title = "Temperature Scaling"
    from_baseline = True
    per_label: bool = False

    def build(self, make: MakeNetwork, classes: int) -> nn.Module:
        """The baseline with a temperature of 1."""
        return Classifier(make(), classes, temperatures=classes if self.per_label else 1)

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


def _unit(x: Tensor) -> Tensor:
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

    def _image(self, weight: Tensor) -> Tensor:
        return functional.conv2d(self.direction, weight, None, *self._how)

    @property
    def _how(self) -> tuple[Any, ...]:
        return self.stride, self.padding, self.dilation, self.groups

    def forward(self, weight: Tensor) -> Tensor:
        """The weight, scaled down where its norm is over the bound."""
        with full_precision(weight):
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

    def record(module: nn.Module, inputs: tuple[Tensor, ...]) -> None:
        sizes[module] = (inputs[0].shape[2], inputs[0].shape[3])

    convolutions = [module for module in network.modules() if isinstance(module, nn.Conv2d)]
    hooks = [module.register_forward_pre_hook(record) for module in convolutions]
    was = network.training
    with torch.no_grad():
        network.eval()
        network(torch.zeros(1, *network.shape))
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


def diagonal_log_density(features: Tensor, mean: Tensor, variance: Tensor) -> Tensor:
    """Log density N(z; mean, diag variance), (items, labels) of means (labels, dim)."""
    columns = []
    for centre, spread in zip(mean, variance, strict=True):
        distance = ((features - centre) ** 2 / spread).sum(1)
        columns.append(-0.5 * (distance + (2 * math.pi * spread).log().sum()))
    return torch.stack(columns, 1)


class DduModel(Classifier):
    """A classifier with a temperature and Gaussians of its features."""

    def __init__(self, network: Network, classes: int) -> None:
        super().__init__(network, classes)
        dim, double = network.dim, torch.float64
        self.register_buffer("means", torch.zeros(2, classes, dim, dtype=double))
        self.register_buffer("variances", torch.ones(2, classes, dim, dtype=double))
        self.register_buffer("counts", torch.zeros(2, classes, dtype=double))
        self.register_buffer("centre", torch.zeros(dim, dtype=double))
        self.register_buffer("factor", torch.eye(dim, dtype=double))

    def fit_diagonal(
        self, features: Tensor, labels: Tensor, known: Tensor, shrink: float
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

    def fit_global(self, features: Tensor) -> None:
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

    def log_density(self, features: Tensor, density: str) -> Tensor:
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


@immutable(kw_only=True)
class Ddu(Method):
    """The density of the feature as epistemic uncertainty."""

    title = "DDU"
    score_is = "EU"
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
        features = data.apply(model.network, images).double()
        model.fit_diagonal(features, labels, known, self.shrink)
        model.fit_global(features)
        settle_temperature(model, data, per_label=False)

    def predict(self, model: nn.Module, images: Tensor, data: DeviceData) -> Forecast:
        """One member, and minus the log density as its score."""
        features = data.apply(model.network, images)
        with torch.no_grad():
            logits = model.outputs(features)
        score = -model.log_density(features.double(), self.density)
        return Forecast(logits=logits[None], score=score.float())


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

    def weights(self) -> Tensor:
        """All parameters as one vector."""
        return torch.cat([parameter.detach().reshape(-1) for parameter in self.parameters()])

    def set_weights(self, vector: Tensor) -> None:
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

    def draw(self) -> Tensor:
        """Weights drawn from the Gaussian."""
        variance = (self.square - self.mean**2).clamp(min=_FLOOR)
        drawn = self.mean + variance.sqrt() * torch.randn_like(variance) / math.sqrt(2)
        rank = min(int(self.count), len(self.deviations))
        if rank > 1:
            weights = torch.randn(rank, device=drawn.device) / math.sqrt(2 * (rank - 1))
            drawn = drawn + weights @ self.deviations[:rank]
        return drawn


def _renew_batch_norm(model: nn.Module, images: Tensor, data: DeviceData) -> None:
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


@immutable(kw_only=True)
class Swag(Method):
    """A Gaussian over weights, from the path of further training."""

    title = "SWAG"
    from_baseline = True
    further_epochs = 5
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

    def predict(self, model: nn.Module, images: Tensor, data: DeviceData) -> Forecast:
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
