"""Words for agreement: what a coefficient is commonly taken to mean.

The scale of Landis and Koch is a convention without a theory behind it; Krippendorff asks for
alpha of at least 0.8, and 0.667 where tentative conclusions are still acceptable.

References
----------
Landis and Koch (1977), *The measurement of observer agreement for categorical data*.
Krippendorff (2004), *Content analysis*, chapter 11.
"""

SCALE = (
    (0.8, "almost perfect"),
    (0.6, "substantial"),
    (0.4, "moderate"),
    (0.2, "fair"),
    (0.0, "slight"),
)
ENOUGH, TENTATIVE = 0.8, 0.667
OUTSIDE = "†"  # marks an interval that leaves out its own value


def landis_koch(value: float) -> str:
    """Word of Landis and Koch for a kappa.

    Examples
    --------
    >>> landis_koch(0.61), landis_koch(-0.1), landis_koch(float("nan"))
    ('substantial', 'poor', 'undefined')
    """
    if value != value:
        return "undefined"
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
        return "undefined"
    if value >= ENOUGH:
        return "reliable (at least 0.8)"
    if value >= TENTATIVE:
        return "enough for tentative conclusions (0.667 to 0.8)"
    return "below 0.667: too low to treat one label as the truth"


def outside(value: float | None, low: float | None, high: float | None) -> bool:
    """Whether an interval leaves out its own value; undefined ends (None, nan) do not.

    Examples
    --------
    >>> outside(0.207, 0.194, 0.206), outside(0.2, 0.1, 0.3), outside(0.2, None, None)
    (True, False, False)
    """
    if value is None:
        return False
    return (low is not None and value < low) or (high is not None and value > high)
