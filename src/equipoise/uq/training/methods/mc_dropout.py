"""MC-Dropout (Gal and Ghahramani, ICML 2016): dropout that stays on in prediction.

Dropout follows *every* ReLU and GELU, in training and in prediction; M passes are the members.
``filterwise`` (default, p = 0.05, as tuned for ImageNet) drops whole channels of a map, and of
tokens the same features of all tokens; element-wise with p = 0.1 is what was tuned for
CIFAR-10.
"""

from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import nn
from torch.nn import functional

from equipoise.types.arrays import InputError
from equipoise.uq.training.methods.method import MEMBERS, Classifier, MakeNetwork, Method
from equipoise.uq.training.networks import Network, replace_modules


class LastingDropout(nn.Module):
    """Dropout that does not know of evaluation; the rest is scaled by 1 / (1 - p)."""

    def __init__(self, p: float, *, filterwise: bool) -> None:
        super().__init__()
        self.p, self.filterwise = p, filterwise

    def forward(self, x: torch.Tensor) -> torch.Tensor:
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


@dataclass(frozen=True, slots=True, kw_only=True)
class McDropout(Method):
    """Dropout after every activation, also in prediction."""

    title: ClassVar[str] = "MC-Dropout"
    reference: ClassVar[str] = "Gal and Ghahramani, ICML 2016"
    p: float = 0.05
    filterwise: bool = True
    members: int = MEMBERS

    def build(self, make: MakeNetwork, classes: int) -> nn.Module:
        """The baseline with dropout."""
        network = with_dropout(make(), self.p, filterwise=self.filterwise)
        return Classifier(network, classes)
