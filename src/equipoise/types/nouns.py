"""Nouns: what items, annotators and tasks are called in the words of those who asked."""

from dataclasses import dataclass

from equipoise.types.numbers import count

SMALL = (
    "no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten",
    "eleven", "twelve",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Nouns:
    """Singular nouns; plurals follow.

    Examples
    --------
    >>> Nouns("study", "radiologist").items, Nouns().annotators
    ('studies', 'annotators')
    """

    item: str = "item"
    annotator: str = "annotator"
    task: str = "task"
    group: str = "group"

    @property
    def items(self) -> str:
        """Several items."""
        return plural(self.item)

    @property
    def annotators(self) -> str:
        """Several annotators."""
        return plural(self.annotator)

    @property
    def groups(self) -> str:
        """Several groups of items."""
        return plural(self.group)

    @property
    def tasks(self) -> str:
        """Several tasks."""
        return plural(self.task)


def plural(noun: str) -> str:
    """The plural of a regular noun.

    Examples
    --------
    >>> plural("study"), plural("epoch"), plural("image"), plural("day")
    ('studies', 'epochs', 'images', 'days')
    """
    if noun.endswith("y") and noun[-2:-1] not in "aeiou":
        return f"{noun[:-1]}ies"
    return (
        f"{noun}es"
        if noun.endswith(("s", "x", "z", "ch", "sh")) and noun != "epoch"
        else (f"{noun}s")
    )


def in_words(number: int) -> str:
    """A small number as a word.

    Examples
    --------
    >>> in_words(9), in_words(40)
    ('nine', '40')
    """
    return SMALL[number] if 0 <= number < len(SMALL) else f"{number:,}"


def counted(number: float, noun: str) -> str:
    """A number in digits with its noun.

    Examples
    --------
    >>> counted(500, "study"), counted(1, "study")
    ('500 studies', '1 study')
    """
    return f"{count(number)} {noun if number == 1 else plural(noun)}"


def some(number: int, noun: str) -> str:
    """A small number in words with its noun.

    Examples
    --------
    >>> some(1, "model"), some(3, "study")
    ('one model', 'three studies')
    """
    return f"{in_words(number)} {noun if number == 1 else plural(noun)}"
