"""Stochastic variational inference of ability and sign, for reproduction.

The guide is a normal for every item and every ability, each on its own. A step draws each of
them once, b = mean + deviation * noise, and moves means and log deviations along the gradient
of the sampled bound, log p(votes, c, b) - log q(c, b), by Adam (Kingma and Ba 2015). Items
start at N(0, 1) and abilities at N(1, 1). There is no stop rule: the steps are fixed.
"""

from typing import Any

import numpy as np

from equipoise.truth.glad.votes import (
    START_ABILITY,
    GladPosterior,
    GladPrior,
    GladSvi,
    VoteGraph,
)
from equipoise.types.arrays import Bools, Floats, InputError, require_finite
from equipoise.types.notices import Notice

_UNIDENTIFIED = (
    "As published the sign of this model is not identified (its start at zero ends upside down "
    "for many seeds): here abilities start positive and every group of annotators and items is "
    "turned so that its mean ability is positive. Its {steps:count} steps have no stop rule; "
    "two seeds differ. Choose inference='cavi' for anything but reproduction."
)


def fit_svi(votes: VoteGraph, prior: GladPrior, fit: GladSvi) -> GladPosterior:
    """Fit the guide, turn parts that came out upside down, count draws above zero.

    Where the prior knows the sign, the steps are taken again from the turned state, as a climb
    goes on; the trace is that of the last run.
    """
    torch = _torch()
    if (votes.side != 0).any():
        raise InputError(
            "glad, inference 'svi'",
            f"{int((votes.side != 0).sum())} gold items",
            "votes only, as the published model",
            "choose inference='cavi', which knows gold",
        )
    guide = _Guide(torch, votes, prior, fit)
    trace = guide.adapt()
    runs, down = 1, votes.lean(guide.ability()) < 0
    guide.turn(down)
    if down.any() and prior.mu_c > 0:
        runs, trace = 2, guide.adapt()
    require_finite(np.array(trace), where="glad, bound after each step")
    item, ability = guide.mean[: guide.items].numpy().copy(), guide.ability()
    return GladPosterior(
        chance=guide.share_above_zero(),
        item=item,
        ability=ability,
        diagnostics={
            "iterations": runs * fit.steps,
            "steps": fit.steps,
            "trace": trace,
            "turned": int(down.sum()),
        },
        notices=(Notice("sign_unidentified", _UNIDENTIFIED, (), {"steps": fit.steps}),),
    )


class _Guide:
    """Means and log deviations, items first and annotators after them."""

    __slots__ = ("fit", "generator", "items", "log", "mean", "prior", "torch", "votes")

    def __init__(self, torch: Any, votes: VoteGraph, prior: GladPrior, fit: GladSvi) -> None:
        items, people = len(votes.item_part), len(votes.annotator_part)
        self.torch, self.votes, self.fit, self.items = torch, votes, fit, items
        start = np.repeat([0.0, START_ABILITY], [items, people])
        self.mean, self.log = torch.from_numpy(start), torch.zeros_like(torch.from_numpy(start))
        self.generator = torch.Generator().manual_seed(int(fit.seed) % 2**63)
        centre = np.repeat([0.0, float(prior.mu_c)], [items, people])
        precision = np.repeat([prior.sigma_b**-2, prior.sigma_c**-2], [items, people])
        self.prior = (torch.from_numpy(centre), torch.from_numpy(precision))

    def adapt(self) -> tuple[float, ...]:
        """Take all steps; the sampled bound before each."""
        torch, (start, column, weight, kappa) = self.torch, self.votes.by_item
        row = np.repeat(np.arange(self.items), np.diff(start))
        code = (torch.from_numpy(row), torch.from_numpy(column + self.items))
        answer = (torch.from_numpy(weight), torch.from_numpy(np.sign(kappa)))
        mean, log = (x.clone().requires_grad_() for x in (self.mean, self.log))
        walk = torch.optim.Adam([mean, log], lr=self.fit.learning_rate)
        trace = []
        for _ in range(self.fit.steps):
            walk.zero_grad()
            bound = self._bound(mean, log, code, answer)
            (-bound).backward()
            walk.step()
            trace.append(bound.item())
        self.mean, self.log = mean.detach(), log.detach()
        return tuple(trace)

    def _bound(self, mean: Any, log: Any, code: Any, answer: Any) -> Any:
        """One draw of the bound (its expectation is the bound)."""
        torch, (centre, precision) = self.torch, self.prior
        noise = torch.randn(len(mean), generator=self.generator, dtype=mean.dtype)
        value = mean + log.exp() * noise
        b, c = (value.index_select(0, one) for one in code)
        fit = (answer[0] * torch.nn.functional.logsigmoid(answer[1] * b * c)).sum()
        away = 0.5 * (precision * (value - centre) ** 2 - precision.log()).sum()
        return fit - away + (log + 0.5 * noise**2).sum()

    def ability(self) -> Floats:
        """Mean ability of each annotator."""
        return np.asarray(self.mean[self.items :].numpy().copy())

    def turn(self, parts: Bools) -> None:
        """Change the sign of some parts."""
        padded = np.append(parts, False)  # the last stands for -1, those without votes
        part = np.concatenate([self.votes.item_part, self.votes.annotator_part])
        self.mean = self.mean * self.torch.from_numpy(np.where(padded[part], -1.0, 1.0))

    def share_above_zero(self) -> Floats:
        """Share of the draws of each item that are above zero."""
        mean, deviation = self.mean[: self.items], self.log[: self.items].exp()
        above = self.torch.zeros_like(mean)
        for _ in range(self.fit.draws):
            noise = self.torch.randn(self.items, generator=self.generator, dtype=mean.dtype)
            above += mean + deviation * noise > 0
        return np.asarray((above / self.fit.draws).numpy())


def _torch() -> Any:
    """Return PyTorch, or say how to get it."""
    try:
        import torch
    except ImportError as missing:
        raise InputError(
            "glad, inference 'svi'",
            "torch is not installed",
            "torch 2.6 or later",
            'pip install "equipoise[torch]"',
        ) from missing
    return torch
