"""Words that findings share: shares in percent, lists of names, and what is drawn anew."""

from collections.abc import Mapping, Sequence
from math import isfinite
from typing import Any

REDRAWN = {
    "items": "items",
    "votes": "votes",
    "panel": "annotators",
    "posterior": "possible truths",
    "items x votes": "items and votes",
    "items x panel": "items and annotators",
    "items x posterior": "items and possible truths",
}


def percent(share: float) -> str:
    """A share in percent that is 0 or 100 only when it is exactly that.

    Examples
    --------
    >>> percent(0.9996), percent(0.5), percent(0.0), percent(0.004)
    ('over 99%', '50%', '0%', 'under 1%')
    """
    if 0 < share < 0.005:
        return "under 1%"
    return "over 99%" if 0.995 <= share < 1 else f"{share:.0%}"


def joined(names: Sequence[str], word: str = "and") -> str:
    """Names as one would say them.

    Examples
    --------
    >>> joined(["a", "b", "c"]), joined(["a"]), joined(["a", "b"], "or")
    ('a, b and c', 'a', 'a or b')
    """
    if len(names) < 2:
        return "".join(names)
    return f"{', '.join(names[:-1])} {word} {names[-1]}"


def few(names: Sequence[str], most: int = 3) -> str:
    """The first few names as one would say them, and how many more there are.

    Examples
    --------
    >>> few(["a", "b", "c"]), few(["a", "b", "c", "d", "e"])
    ('a, b and c', 'a, b, c and 2 more')
    """
    if len(names) <= most:
        return joined(names)
    return f"{', '.join(names[:most])} and {len(names) - most} more"


def middle(low: float, high: float) -> str:
    """The middle of redraws in brackets; nothing where too many of them are undefined.

    Examples
    --------
    >>> middle(0.5, 1.0), middle(float("nan"), 1.0)
    (' (0.50 to 1.00)', '')
    """
    return f" ({low:.2f} to {high:.2f})" if isfinite(low) and isfinite(high) else ""


def leaders(row: Mapping[str, Any]) -> str:
    """Who is best most often, and who comes next.

    Examples
    --------
    >>> leaders({"most_often_best": "a", "p_best": 0.4, "runner_up": "b", "p_runner_up": 0.4})
    'a and b are best equally often, in 40% of the redraws each'
    """
    first, second = row["most_often_best"], row["runner_up"]
    if row["p_best"] == 1:
        return f"{first} is best in every redraw"
    most, next_most = percent(row["p_best"]), percent(row["p_runner_up"])
    if round(row["p_best"] - row["p_runner_up"], 12) == 0:
        return f"{first} and {second} are best equally often, in {most} of the redraws each"
    return (
        f"{first} is best in {most} of the redraws, followed by {second} with {next_most} "
        "(ties for first are shared)"
    )


def capital(sentence: str) -> str:
    """A sentence with a large first letter; the rest stays as it is.

    Examples
    --------
    >>> capital("soft AUROC is undefined.")
    'Soft AUROC is undefined.'
    """
    return sentence[:1].upper() + sentence[1:]


def counted(number: int, noun: str) -> str:
    """A count with its noun; words after *per* stay as they are.

    Examples
    --------
    >>> counted(1, "annotator"), counted(1200, "annotator"), counted(3, "vote per item")
    ('1 annotator', '1,200 annotators', '3 votes per item')
    """
    head, *rest = noun.split(" ")
    whole = " ".join([head + "s" * (number != 1), *rest])
    return f"{number:,} {whole}"
