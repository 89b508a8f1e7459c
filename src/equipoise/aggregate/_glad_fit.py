"""What the fits of ability and sign have in common: priors, how long they go on, results."""

from dataclasses import dataclass
from typing import Any

from equipoise.arrays import Floats

START_ABILITY, START_SPREAD = 1.0, 0.1  # positive: votes are meant to be right


@dataclass(frozen=True, slots=True)
class GladPrior:
    """Items b ~ N(0, sigma_b^2), abilities c ~ N(mu_c, sigma_c^2)."""

    sigma_b: float = 3.0
    mu_c: float = 1.0
    sigma_c: float = 1.0


@dataclass(frozen=True, slots=True)
class GladFit:
    """How long a fit goes on.

    Attributes
    ----------
    tolerance, most, inner
        A climb stops when no chance moves by more than `tolerance`, or after `most` sweeps; a
        sweep updates each row `inner` times.
    rescale
        Whether a sweep ends with the best scale of items against annotators. It ends in the
        same place sooner; without it sweeps are plain coordinate ascent.
    draws, burn_in, seed
        Of the Gibbs chain.
    """

    tolerance: float = 1e-4
    most: int = 2000
    draws: int = 1000
    burn_in: int = 1000
    seed: int = 0
    inner: int = 1
    rescale: bool = True


@dataclass(frozen=True, slots=True, eq=False)
class Found:
    """What a fit found: chance and mean of items, abilities, and what it says about itself."""

    chance: Floats
    item: Floats
    ability: Floats
    low: Floats | None
    high: Floats | None
    diagnostics: dict[str, Any]
    notices: tuple[str, ...]
