r"""Cut: from which score on an item is called a problem, and how many problems there are.

**The cut** [@groger2024]. Let :math:`s = 1 - \text{score}`, small for problems. The lower tail
of :math:`\operatorname{logit}(s)` is taken for that of a logistic law, the one through the
quantiles :math:`\alpha` and :math:`\sqrt{\alpha/2}`; what lies below its quantile

.. math:: p = q \, \alpha \, \frac{N}{M}

(N items, M scores) would be rare for clean data and is called a problem. The formula takes for
granted that far fewer than :math:`\alpha` of the scores are problems. Exact zeros of s (copies)
have no logit: they are left out of the fit and called problems, as the surest cases; exact ones
are left out and never called. Where no law can be fitted (fewer than ten other scores, or
quantiles that tie) only exact zeros are called. Areas of off-topic images are zero only where
all images are the same, and then none is off topic: with ``copies=False`` zeros are not called
without a law.

A list of candidate pairs holds only the closest of all :math:`N(N-1)/2` pairs. By itself it is
cut as a list of M scores; with ``background``, the scores of pairs drawn at random from all,
the law is fitted to these and M counts all pairs, as published.

**The share of problems.** The cut fits its law to the very tail where problems are, so that it
cannot count more than a fraction of :math:`\alpha`. `contamination` fits a law F to the clean
bulk instead and counts the excess below it. With a share :math:`\pi` of problems, all below the
bulk, the clean quantile :math:`u` is the quantile :math:`\pi + (1 - \pi) u` of all scores; the
law through two of these has its 5 % point at t, and

.. math:: \pi = \frac{P(\operatorname{logit}(s) < t) - 0.05}{1 - 0.05}

is solved by iteration. Zeros and ones keep their places below and above all others. How heavy
the clean tail is cannot be seen where problems lie on it, and it decides the answer; so four
laws are tried, logistic and normal, through u = 1/4 and 3/4 or, for skewed scores, 1/4 and
1/2. Those that the bulk does not contradict (Kolmogorov distance within 1.36 over the root of
the number of scores) are kept: the value is the median of theirs, and the interval reaches from
the lowest to the highest end of their bootstrap intervals. ``valid`` is false, and all four are
kept, where all are contradicted; also where there are fewer than 200 scores (nan) or more than
a quarter would be problems.

It counts problems that stand apart; those that score like clean items are not seen, so that it
says "at least": of the labels of CIFAR-10N 9.2 % are wrong, and it says 1.0 %, 0 to 3.1 %, for
SelfClean's scores of them. In simulations with problems that stand apart (shares of 0, 2 and
10 %; 300 to 8,000 scores; 40 samples each) intervals of 95 % covered the share in 92 to 100 %
of samples for logistic and for normal scores. It is wrong, and cannot notice, where the clean
scores have a heavier lower tail than either: for log-gamma scores (shape 2) it counts 2 to 3
points too many and covers in 58 to 100 %. Scores of pairs are not independent: give the highest
score of each item.

>>> import numpy as np
>>> clean = 1 / (1 + np.exp(-np.random.default_rng(0).logistic(2, 0.5, 1000)))
>>> automatic_cut(1 - np.append(clean, [0, 1e-6, 1e-5]), items=1003).flagged
3
"""

import math
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from equipoise.types.arrays import (
    Floats,
    InputError,
    require_drawn,
    require_number,
    require_whole,
)

LEAST, LEAST_FOR_SHARE = 10, 200  # scores
LOWER = 0.25  # clean quantile that every law of the bulk goes through
TAIL = 0.05  # clean share below the point from which the excess is counted
MOST = 0.25  # share of problems beyond which the bulk is not clean
BINS = 2_000  # that the bootstrap tells apart
ITERATIONS = 60


@dataclass(frozen=True, slots=True)
class Cut:
    """Where suspicion begins.

    Attributes
    ----------
    threshold
        Scores from here on are called problems.
    flagged
        How many are.
    location, scale
        Of the logistic law of logit(1 - score); nan where none could be fitted.
    """

    threshold: float
    flagged: int
    location: float
    scale: float


@dataclass(frozen=True, slots=True)
class Share:
    """The share of problems, its interval, and whether it can be believed.

    Attributes
    ----------
    value, low, high
        Share and interval; nan where there are too few scores.
    misfit
        Smallest distance, over the laws, between the bulk of the scores and the law.
    valid
        Whether the assumptions seem to hold.
    """

    value: float
    low: float
    high: float
    misfit: float
    valid: bool


def automatic_cut(
    scores: Floats,
    *,
    items: int,
    alpha: float = 0.01,
    q: float = 0.05,
    background: Floats | None = None,
    copies: bool = True,
) -> Cut:
    """The score from which on items or pairs are called problems.

    Parameters
    ----------
    scores
        In [0, 1], higher for more suspicious.
    items
        Number of items that were scored, or whose pairs were.
    alpha
        More than the share of problems; the law is fitted to that quantile.
    q
        Wanted share of alpha that is called by mistake.
    background
        Scores of pairs drawn from all pairs of items, where ``scores`` has only the closest.
    copies
        Whether scores of exactly 1 are copies, called problems though there be no law.
    """
    values = _checked_scores(scores)
    require_whole("automatic cut, items", items, least=1, do="give the number of items")
    for name, value in (("alpha", alpha), ("q", q)):
        require_number(f"automatic cut, {name}", value, above=0, below=1, do="try the default")
    fitted = values if background is None else _checked_scores(background)
    total = len(values) if background is None else items * (items - 1) / 2
    share = q * alpha * items / max(total, 1)
    law = _tail_law(fitted, alpha)
    if law is None or share >= 1:
        surest = int((values == 1).sum()) if copies else 0
        return Cut(1.0 if copies else math.inf, surest, math.nan, math.nan)
    location, scale = law
    low = 1 / (1 + math.exp(-(location + scale * _logit(share))))
    threshold = 1.0 - low
    return Cut(threshold, int((values >= threshold).sum()), location, scale)


def contamination(
    scores: Floats, *, level: float = 0.95, replicates: int = 400, seed: int = 0
) -> Share:
    """The share of problems that stand apart from the clean scores.

    Parameters
    ----------
    scores
        In [0, 1], higher for more suspicious; one per item.
    level
        Of the interval.
    replicates, seed
        Of the bootstrap.
    """
    values = _checked_scores(scores)
    require_number("contamination, level", level, above=0, below=1, do="try 0.95")
    require_drawn("contamination, replicates", replicates, least=20, do="try 400")
    if len(values) < LEAST_FOR_SHARE:
        return Share(math.nan, math.nan, math.nan, math.nan, valid=False)
    with np.errstate(divide="ignore"):
        logits = np.sort(np.log1p(-values) - np.log(values))
    ends = np.unique(np.linspace(0, len(logits), min(BINS, len(logits)) + 1).astype(int))
    weight = np.diff(ends) / len(logits)
    random = np.random.default_rng(seed)
    drawn = random.multinomial(len(logits), weight, size=replicates) / len(logits)
    tops = logits[ends[1:] - 1]
    points, misfits = zip(*(law.estimate(logits, tops, weight) for law in LAWS), strict=True)
    noise = 1.36 / math.sqrt(len(logits))  # what chance alone exceeds once in twenty
    fits = [number for number in range(len(LAWS)) if misfits[number] <= noise]
    usable = fits or list(range(len(LAWS)))
    value = float(np.median([points[number] for number in usable]))
    replicates_by_law = [
        [LAWS[number].share(tops, np.cumsum(weights))[0] for weights in drawn]
        for number in usable
    ]
    low, high = np.quantile(replicates_by_law, ((1 - level) / 2, (1 + level) / 2), axis=1)
    return Share(
        value,
        min(float(low.min()), value),
        max(float(high.max()), value),
        min(misfits),
        valid=bool(fits) and value <= MOST,
    )


@dataclass(frozen=True, slots=True)
class _Law:
    """A law of clean logits: its family and the upper of the two quantiles it goes through."""

    normal: bool
    upper: float

    def quantile(self, share: float) -> float:
        """Quantile of the standard law."""
        return NormalDist().inv_cdf(share) if self.normal else _logit(share)

    def below(self, values: Floats) -> Floats:
        """Share of the standard law below values."""
        from scipy.special import expit, ndtr

        share: Floats = ndtr(values) if self.normal else expit(values)
        return share

    def share(self, logits: Floats, cumulated: Floats) -> tuple[float, tuple[float, float]]:
        """Share of problems, location and scale, from sorted values and their weights."""
        share, law = 0.0, (math.nan, math.nan)
        near, far = self.quantile(LOWER), self.quantile(self.upper)
        for _ in range(ITERATIONS):
            at = np.searchsorted(
                cumulated, [share + (1 - share) * u for u in (LOWER, self.upper)]
            )
            low, high = logits[np.minimum(at, len(logits) - 1)]
            if not (math.isfinite(low) and math.isfinite(high) and high > low):
                return share, (math.nan, math.nan)
            scale = float(high - low) / (far - near)
            law = (float(low) - scale * near, scale)
            place = int(np.searchsorted(logits, law[0] + scale * self.quantile(TAIL)))
            below = float(cumulated[place - 1]) if place else 0.0
            new = min(max((below - TAIL) / (1 - TAIL), 0.0), 0.5)
            if abs(new - share) < 1e-9:
                break
            share = new
        return share, law

    def estimate(self, logits: Floats, tops: Floats, weight: Floats) -> tuple[float, float]:
        """Share of problems, and the largest distance of the law from the bulk."""
        share, (location, scale) = self.share(tops, np.cumsum(weight))
        if not scale > 0:
            return share, math.inf
        clean = ((np.arange(len(logits)) + 0.5) / len(logits) - share) / (1 - share)
        expected = self.below((logits - location) / scale)
        most = 1.0 if self.upper > 0.5 else 0.5
        bulk = (expected > TAIL) & (expected < most)
        return share, float(np.abs(clean - expected)[bulk].max(initial=0.0))


LAWS = tuple(_Law(normal, upper) for normal in (False, True) for upper in (0.75, 0.5))


def _checked_scores(scores: Floats) -> Floats:
    values = np.asarray(scores, dtype=np.float64)
    if values.ndim != 1 or not ((values >= 0) & (values <= 1)).all():
        raise InputError(
            "automatic cut",
            f"shape {values.shape}" if values.ndim != 1 else "scores outside [0, 1]",
            "one score in [0, 1] per item or pair",
            "use a detector whose scores are bounded",
        )
    return values


def _logit(share: float) -> float:
    return math.log(share) - math.log1p(-share)


def _tail_law(values: Floats, alpha: float) -> tuple[float, float] | None:
    """Location and scale of the law through two lower quantiles; None where there is none."""
    inner = values[(values > 0) & (values < 1)]
    if len(inner) < LEAST:
        return None
    near, far = alpha, math.sqrt(alpha / 2)
    below, above = np.quantile(np.log1p(-inner) - np.log(inner), (near, far))
    if not above > below or far == near:
        return None
    scale = float((above - below) / (_logit(far) - _logit(near)))
    return (float(below) - scale * _logit(near), scale) if scale > 0 else None
