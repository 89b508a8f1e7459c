"""Masked attention heads, after Baur 2025 (reconstruction).

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
from dataclasses import dataclass
from typing import ClassVar, Literal

import torch
from torch import nn
from torch.nn import functional

from equipoise.uq.training.methods.method import (
    MEMBERS,
    Batch,
    Classifier,
    Clock,
    MakeNetwork,
    Method,
    masked_bce,
)
from equipoise.uq.training.networks import Attention, replace_modules


class HeadMasks(nn.Module):
    """Attention with random masks over heads and tokens; `share` is r."""

    def __init__(self, plain: Attention, settings: "MaskedAttention") -> None:
        super().__init__()
        self.plain, self.settings, self.share = plain, settings, 1.0

    def _keep(self, items: int, device: torch.device) -> torch.Tensor:
        """What each head of each image counts (items, heads)."""
        heads = self.plain.heads
        draw = torch.rand(items, heads, device=device)
        block = torch.rand(items, 1, device=device) < self.settings.p_block * self.share
        stays = draw >= self.settings.p_head * self.share
        stays = stays | ~block | (draw == draw.amax(1, keepdim=True))
        return stays * (heads / stays.sum(1, keepdim=True))

    def _hidden(self, x: torch.Tensor) -> torch.Tensor | None:
        """What is added to the attention of each token (items, 1, 1, tokens)."""
        p = self.settings.p_token * self.share
        if p == 0:
            return None
        hide = torch.rand(x.shape[:2], device=x.device) < p
        hide[:, 0] = False
        bias = torch.zeros(hide.shape, dtype=x.dtype, device=x.device)
        return bias.masked_fill(hide, -math.inf)[:, None, None]

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Attention whose heads are weighted."""
        query, key, value = self.plain.split(x)
        hidden = self._hidden(query.transpose(1, 2))
        attend = functional.scaled_dot_product_attention
        heads = attend(query, key, value, attn_mask=hidden)
        keep = self._keep(len(x), x.device).to(heads.dtype)
        return self.plain.join(heads * keep[..., None, None])


@dataclass(frozen=True, slots=True, kw_only=True)
class MaskedAttention(Method):
    """Random masks over the heads of attention."""

    title: ClassVar[str] = "Masked Attention (after Baur 2025, reconstruction)"
    reference: ClassVar[str] = "Baur et al., SPIE 13406, 2025 (reconstruction)"
    transformer_only: ClassVar[bool] = True
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

    def loss(self, model: nn.Module, batch: Batch, clock: Clock) -> torch.Tensor:
        """The plain loss under masks of the scheduled portion."""
        _set_share(model, self.portion(clock.share))
        return masked_bce(model(batch.images), batch)

    def logits(self, model: nn.Module, images: torch.Tensor) -> torch.Tensor:
        """One draw of whole masks."""
        _set_share(model, 1.0)
        return model(images)


def _set_share(model: nn.Module, share: float) -> None:
    for module in model.modules():
        if isinstance(module, HeadMasks):
            module.share = share
