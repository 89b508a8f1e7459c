"""Words for agreement: what a coefficient is commonly taken to mean.

The scale of Landis and Koch is a convention without a theory behind it; Krippendorff asks for
alpha of at least 0.8, and 0.667 where tentative conclusions are still acceptable.

References
----------
Landis and Koch (1977), *The measurement of observer agreement for categorical data*.
Krippendorff (2004), *Content analysis*, chapter 11.
"""

from equipoise.numbers import UNDEFINED

SCALE = (
    (0.8, "almost perfect"),
    (0.6, "substantial"),
    (0.4, "moderate"),
    (0.2, "fair"),
    (0.0, "slight"),
)
ENOUGH, TENTATIVE = 0.8, 0.667


def landis_koch(value: float) -> str:
    """Word of Landis and Koch for a kappa.

    Examples
    --------
    >>> landis_koch(0.61), landis_koch(-0.1), landis_koch(float("nan"))
    ('substantial', 'poor', 'undefined')
    """
    if value != value:
        return UNDEFINED
    return next(
        (word for least, word in SCALE if value > least), "poor" if value < 0 else "slight"
    )


def krippendorff_words(value: float) -> str:
    """What Krippendorff would conclude from an alpha.

    Examples
    --------
    >>> krippendorff_words(0.7)
    'enough for tentative conclusions (0.667 to 0.8)'
    """
    if value != value:
        return UNDEFINED
    if value >= ENOUGH:
        return "reliable (at least 0.8)"
    if value >= TENTATIVE:
        return "enough for tentative conclusions (0.667 to 0.8)"
    return "below 0.667: too low to treat one label as the truth"
