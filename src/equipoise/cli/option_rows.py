"""Rows of the table of options: what stands for an option, and the panels of the help."""

from collections.abc import Callable
from dataclasses import field
from functools import partial
from typing import Any, NamedTuple

from equipoise.read.options import SHARED
from equipoise.types import Names


class Row(NamedTuple):
    """What the table says of an option beside its name, type and default.

    Attributes
    ----------
    panel, text
        Where the help shows it, and what it says.
    flags
        Flags, where there are others than the name.
    least, most
        Bounds of a number.
    choices
        Words that it knows, or the catalogue that holds them, as ``module:NAME``.
    rare
        Whether only ``--help-all`` shows it.
    metavar
        What stands for its value in the help.
    any_size
        Whether a number may be as large as the data are; others are drawn or trained so often.
    positive
        Whether a number must lie above 0.
    """

    panel: str
    text: str
    flags: Names = ()
    least: float | None = None
    most: float | None = None
    choices: Names | str = ()
    rare: bool = False
    metavar: str | None = None
    any_size: bool = False
    positive: bool = False


def row(panel: str, text: str, *flags: str, default: Any = None, **more: Any) -> Any:
    """A field of the table: its default, and what the table says of it."""
    return field(default=default, metadata={"row": Row(panel, text, flags, **more)})


def shared(name: str, panel: Callable[..., Any], **more: Any) -> Any:
    """The same of an option that is a keyword of Python, too."""
    facts = {**SHARED[name]._asdict(), **more}
    return panel(facts.pop("text"), **facts)


# panels of the help
FILES = partial(row, "Files")
ASKED = partial(row, "What is looked at")
MEANING = partial(row, "What the labels mean")
TRUTH = partial(row, "What the truth is")
GROUPS = partial(row, "Groups of classes")
MODEL = partial(row, "Model")
ITEMS = partial(row, "Where the probabilities come from")
RULE = partial(row, "How the threshold is set")
AUDIT = partial(row, "What was audited")
GOAL = partial(row, "What to plan for")
SEEN = partial(row, "How images are seen")
JUDGED = partial(row, "How votes become answers")
GRID = partial(row, "Grid")
SCORES = partial(row, "Scores")
UNCERTAINTY = partial(row, "Uncertainty")
RESULT = partial(row, "Result")
ENGINE = partial(row, "Engine")
