"""Temperature scaling (Guo et al., ICML 2017) of the trained baseline.

T > 0 minimises BCE(u/T, y) over the known labels of the validation images; one for all labels,
or one per label. The minimum over log T is found by LBFGS in double precision; the grid of
steps of 0.1 that others use misses it. A single T leaves the order of entropies, and so their
AUROC per label, as it was.
"""

from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import nn
from torch.nn import functional

from equipoise.uq.training.methods.method import (
    Classifier,
    MakeNetwork,
    Method,
    masked_mean,
)
from equipoise.uq.training.networks import Network
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
    logits, labels, known = (one.detach().double() for one in (logits, labels, known))
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
