r"""Cut: from which score on an item is called a problem.

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

>>> import numpy as np
>>> clean = 1 / (1 + np.exp(-np.random.default_rng(0).logistic(2, 0.5, 1000)))
>>> automatic_cut(1 - np.append(clean, [0, 1e-6, 1e-5]), items=1003).flagged
3
"""

import math
from dataclasses import field
from itertools import count

import numpy as np

from equipoise.types import MAYBE, Floats, InputError, immutable, require_number, require_whole

LEAST = 10  # scores


@immutable
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
    mistakes
        How many of clean data to expect beyond it, by that law.
    """

    threshold: float
    flagged: int
    location: float
    scale: float
    mistakes: float = field(default=0.0, metadata=MAYBE)

    def most_mistakes(self, level: float) -> int:
        """How many are called by mistake at most, with such a probability (Poisson).

        Examples
        --------
        >>> Cut(0.9, 12, 2.0, 0.5, mistakes=0.5).most_mistakes(0.95)
        2
        """
        from scipy.special import pdtr

        return next(k for k in count() if not self.mistakes or pdtr(k, self.mistakes) >= level)


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
    flagged = int((values >= threshold).sum())
    return Cut(threshold, flagged, location, scale, share * total)


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
