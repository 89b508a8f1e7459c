"""Skills: what a model of annotators found out about each of them."""

from dataclasses import dataclass

from equipoise.arrays import Floats


@dataclass(frozen=True, slots=True, eq=False)
class Skills:
    """What a model found out about annotators.

    Attributes
    ----------
    annotators
        Their names.
    meaning
        What `value` is, as words: accuracy, ability, and so on.
    value, low, high
        Shape (annotators,); `low` and `high` are None when the model has no honest interval.
    confusion
        Chance of each answer given each true class, (annotators, classes, classes), or None.
    """

    annotators: tuple[str, ...]
    meaning: str
    value: Floats
    low: Floats | None = None
    high: Floats | None = None
    confusion: Floats | None = None
