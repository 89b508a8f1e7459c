"""A Gibbs chain on ability and sign."""

import numpy as np

from equipoise.aggregate._glad_climb import climb
from equipoise.aggregate._glad_fit import Found, GladFit, GladPrior
from equipoise.aggregate._glad_votes import Votes
from equipoise.arrays import InputError

HEAVIEST = 10_000  # votes of one annotator on one item that a chain draws one by one


def sample(votes: Votes, prior: GladPrior, fit: GladFit) -> Found:
    """Draw from the posterior by a Gibbs chain that starts where coordinate ascent ends."""
    from equipoise.aggregate._chains import effective_size, split_r_hat
    from equipoise.kernels.glad import chain

    weight = votes.by_item[2]
    if (weight != np.round(weight)).any() or weight.max(initial=0) > HEAVIEST:
        raise InputError(
            "glad, inference 'gibbs'", f"weights up to {weight.max():g}, some not whole",
            f"whole numbers of votes, at most {HEAVIEST:,}", "choose inference='cavi'",
        )  # fmt: skip
    items, people = len(votes.side), len(votes.annotator_part)
    chance, item, ability = np.zeros(items), np.zeros(items), np.empty((fit.draws, people))
    codes = (votes.item_part, votes.annotator_part)
    numbered = tuple(np.where(code < 0, len(votes.anchored), code) for code in codes)
    parts = (*numbered, votes.anchored, votes.load)
    precisions = (prior.sigma_b**-2, float(prior.mu_c), prior.sigma_c**-2)
    ability[0] = climb(votes, prior, fit).ability
    steps = (fit.burn_in, np.uint64(fit.seed))
    chain((*votes.by_item, votes.side), parts, precisions, steps, (chance, item, ability))
    r_hat, size = split_r_hat(ability), effective_size(ability)
    low, high = np.quantile(ability, [0.025, 0.975], axis=0)
    mixed = bool(r_hat.max() < 1.1)
    said = (
        "The Gibbs chain has not mixed (R-hat of abilities above 1.1): raise burn_in and draws."
    )
    return Found(
        chance=chance,
        item=item,
        ability=ability.mean(axis=0),
        low=low,
        high=high,
        diagnostics={
            "converged": mixed,
            "iterations": fit.burn_in + fit.draws,
            "r_hat": r_hat,
            "effective_size": size,
        },
        notices=() if mixed else (said,),
    )
