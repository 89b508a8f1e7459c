"""Random attention of a transformer: Gumbel noise on its weights, or masks over its heads.

Gumbel-softmax attention (Pei et al., AAAI 2022): attention weights are random draws.

- single (``centroids=0``, default): A = softmax((QK' + g)/tau2), g ~ Gumbel(0, 1) independent,
  drawn in training and in prediction; output A V.
- hierarchical (``centroids=k``): keys are replaced by mixtures of k centroids C that the heads
  of a layer share, K^ = softmax((K C + g')/tau1) C', C ~ U(-0.5, 0.5) at the start.

There is no further 1/sqrt(d): tau2 plays that part and divides the noise too. Default
tau2 = sqrt(d); Gumbel noise on QK'/sqrt(d) with tau 1 would be a far noisier model. ``hard``
takes the largest weight alone and lets gradients pass as if it had not. Members are passes.

Masked attention heads, after Baur 2025 (reconstruction).

No code is public; the abstract (SPIE 13406, 2025) speaks of a hierarchical mask on the heads of
attention and of a schedule for the masked portion. Reconstructed so:

- level 1: each image masks a layer with probability ``p_block`` r;
- level 2: in a masked layer each head stays with probability 1 - ``p_head`` r, one at least;
  the heads that stay are scaled by H / (how many) before the output projection;
- level 3 (option): every token but the class token is hidden from attention with probability
  ``p_token`` r.

r rises as (1 - cos(pi t/T))/2 (or linearly, or is constant 1) in training and is 1 in
prediction, where M draws of masks are the members. With r = 0 a block is the plain block.
"""

import math
from typing import Literal

import torch
from torch import Tensor, nn
from torch.nn import functional

from equipoise.types import immutable
from equipoise.uq.training.methods.method import (
    MEMBERS,
    Classifier,
    Clock,
    MakeNetwork,
    Method,
    full_precision,
    masked_bce,
)
from equipoise.uq.training.networks import Attention, replace_modules
from equipoise.uq.training.resident import Batch


def gumbel_weights(scores: Tensor, tau: float, *, hard: bool = False) -> Tensor:
    """Random weights over the last axis, softmax((scores + g)/tau)."""
    with full_precision(scores):
        scores = scores.float()
        noise = -torch.empty_like(scores).exponential_().clamp(min=1e-20).log()
        soft = ((scores + noise) / tau).softmax(-1)
    if not hard:
        return soft
    top = torch.zeros_like(soft).scatter_(-1, soft.argmax(-1, keepdim=True), 1.0)
    return top + soft - soft.detach()


class RandomAttention(nn.Module):
    """Attention with Gumbel noise."""

    def __init__(self, plain: Attention, settings: "GumbelAttention") -> None:
        super().__init__()
        width = plain.out.in_features // plain.heads
        self.plain, self.settings = plain, settings
        self.tau = settings.tau2 if settings.tau2 is not None else math.sqrt(width)
        if settings.centroids:
            start = torch.rand(width, settings.centroids) - 0.5
            self.centroids = nn.Parameter(start)

    def forward(self, x: Tensor) -> Tensor:
        """Attention drawn at random."""
        query, key, value = self.plain.split(x)
        hard = self.settings.hard
        if self.settings.centroids:
            mixture = gumbel_weights(key @ self.centroids, self.settings.tau1, hard=hard)
            key = (mixture @ self.centroids.T).to(query.dtype)
        weights = gumbel_weights(query @ key.transpose(-1, -2), self.tau, hard=hard)
        return self.plain.join(weights.to(value.dtype) @ value)


@immutable(kw_only=True)
class GumbelAttention(Method):
    """Random attention weights."""

    title = "Gumbel-Softmax Attention"
    transformer_only = True
    tau1: float = 1.0
    tau2: float | None = None
    centroids: int = 0
    hard: bool = False
    members: int = MEMBERS

    def build(self, make: MakeNetwork, classes: int) -> nn.Module:
        """The baseline with random attention."""
        network = make()
        replace_modules(network, Attention, lambda plain: RandomAttention(plain, self))
        return Classifier(network, classes)


class HeadMasks(nn.Module):
    """Attention with random masks over heads and tokens; `share` is r."""

    def __init__(self, plain: Attention, settings: "MaskedAttention") -> None:
        super().__init__()
        self.plain, self.settings, self.share = plain, settings, 1.0

    def _keep(self, items: int, device: torch.device) -> Tensor:
        """What each head of each image counts (items, heads)."""
        heads = self.plain.heads
        draw = torch.rand(items, heads, device=device)
        block = torch.rand(items, 1, device=device) < self.settings.p_block * self.share
        stays = draw >= self.settings.p_head * self.share
        stays = stays | ~block | (draw == draw.amax(1, keepdim=True))
        return stays * (heads / stays.sum(1, keepdim=True))

    def _hidden(self, x: Tensor) -> Tensor | None:
        """What is added to the attention of each token (items, 1, 1, tokens)."""
        p = self.settings.p_token * self.share
        if p == 0:
            return None
        hide = torch.rand(x.shape[:2], device=x.device) < p
        hide[:, 0] = False
        bias = torch.zeros(hide.shape, dtype=x.dtype, device=x.device)
        return bias.masked_fill(hide, -math.inf)[:, None, None]

    def forward(self, x: Tensor) -> Tensor:
        """Attention whose heads are weighted."""
        query, key, value = self.plain.split(x)
        hidden = self._hidden(query.transpose(1, 2))
        attend = functional.scaled_dot_product_attention
        heads = attend(query, key, value, attn_mask=hidden)
        keep = self._keep(len(x), x.device).to(heads.dtype)
        return self.plain.join(heads * keep[..., None, None])


@immutable(kw_only=True)
class MaskedAttention(Method):
    """Random masks over the heads of attention."""

    title = "Masked Attention (after Baur 2025, reconstruction)"
    transformer_only = True
    p_block: float = 0.5
    p_head: float = 0.5
    p_token: float = 0.0
    schedule: Literal["cosine", "linear", "constant"] = "cosine"
    members: int = MEMBERS

    def build(self, make: MakeNetwork, classes: int) -> nn.Module:
        """The baseline with masks in every attention."""
        network = make()
        replace_modules(network, Attention, lambda plain: HeadMasks(plain, self))
        return Classifier(network, classes)

    def portion(self, share: float) -> float:
        """The portion r after a share of the training."""
        if self.schedule == "cosine":
            return (1 - math.cos(math.pi * share)) / 2
        return share if self.schedule == "linear" else 1.0

    def loss(self, model: nn.Module, batch: Batch, clock: Clock) -> Tensor:
        """The plain loss under masks of the scheduled portion."""
        _set_share(model, self.portion(clock.share))
        return masked_bce(model(batch.images), batch)

    def logits(self, model: nn.Module, images: Tensor) -> Tensor:
        """One draw of whole masks."""
        _set_share(model, 1.0)
        return model(images)


def _set_share(model: nn.Module, share: float) -> None:
    for module in model.modules():
        if isinstance(module, HeadMasks):
            module.share = share
