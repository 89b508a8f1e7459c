"""Shifts in words: the largest that is finite, and what is infinite or undefined beside it."""

from collections.abc import Sequence

import numpy as np

from equipoise.arrays import Floats
from equipoise.wording import joined

MOST = 3  # names in a clause


def largest_finite(shifts: Floats) -> tuple[int, int] | None:
    """Position of the largest finite shift; None when there is none.

    Examples
    --------
    >>> largest_finite(np.array([[0.1, np.nan], [-0.3, np.inf]]))
    (1, 0)
    """
    size = np.where(np.isfinite(shifts), np.abs(shifts), -1.0)
    if not size.size or size.max() < 0:
        return None
    row, column = np.unravel_index(int(size.argmax()), size.shape)
    return int(row), int(column)


def not_finite(
    full: Floats, values: Floats, models: Sequence[str], where: tuple[str, str]
) -> list[str]:
    """What is infinite or undefined, in clauses; none when all is finite.

    Parameters
    ----------
    full, values
        Value of each model on everything, (models,), and on each part, (parts, models).
    where
        What everything is, such as ``with all annotators``, and its parts, ``without some``.

    Examples
    --------
    >>> full, values = np.array([0.5, np.inf]), np.array([[0.4, np.inf]])
    >>> not_finite(full, values, ["a", "b"], ("in all", "in some"))
    ['that of b is infinite in all and stays so']
    """
    said = []
    whole, part = where
    with np.errstate(invalid="ignore"):
        never, ever = np.isinf(values).all(axis=0), np.isinf(values).any(axis=0)
    infinite = np.isinf(full)
    cases = (
        (infinite & never, f"infinite {whole} and stays so"),
        (infinite & ~never, f"infinite {whole} but finite {part}"),
        (~infinite & ever, f"finite {whole} but infinite {part}"),
        (np.isnan(full), f"undefined {whole}"),
        (~np.isnan(full) & np.isnan(values).any(axis=0), f"undefined {part}"),
    )
    for which, words in cases:
        names = [name for name, here in zip(models, which, strict=True) if here]
        if names:
            said.append(f"that of {joined(names, most=MOST)} is {words}")
    return said


def odd_words(values: Floats, models: Sequence[str]) -> str:
    """Whether values (sizes, models) are infinite, and whose, or undefined, for some panels.

    Examples
    --------
    >>> odd_words(np.array([[0.5, np.inf]]), ["a", "b"])
    'infinite for b with some of the panels'
    """
    infinite = np.flatnonzero(np.isinf(values).any(axis=0))
    whose = joined([models[int(m)] for m in infinite], most=MOST)
    return f"{f'infinite for {whose}' if whose else 'undefined'} with some of the panels"
