r"""Swapped columns: annotators where the items should be, and the other way round.

Three signs, each of which refuses the table. The names: what should be items is called
``reader 1``, ``rater_2``, and no annotator is. The predictions: they are about the annotators,
and about no item. The votes: there are at least ten times as many annotators as items, and the
labels hang on the annotator, not on the item. With :math:`o` the share of equal labels among
pairs of votes that have something in common, and :math:`e` that among all pairs of votes,
:math:`(o - e) / (1 - e)` is how far that something settles the label; for the annotator it must
exceed that for the item by .15. Experts agree about items, so that the reverse needs people
with strong habits who look at cases that all are alike.

Ten times as many annotators as items without the rest, a poll or a slip, is only said, and so
are labels that hang on the annotator where there are fewer. A caller who names both columns
himself has the last word on the votes and names.
"""

import re
from itertools import islice
from math import ceil

import numpy as np

from equipoise.read.headers import is_named_like
from equipoise.read.tables import CodedNames
from equipoise.types.annotations import Annotations
from equipoise.types.arrays import InputError, Ints, listed
from equipoise.types.notices import Notice, notice
from equipoise.types.predictions import Predictions
from equipoise.types.words import Option, hint

_MANY = 10  # annotators per item from which a table is odd
_LEAST = 100  # annotators of an odd table
_MORE = 0.15  # by which annotators must settle the label better than items
_SHARE = 0.9  # of the names that must look alike
_COLUMNS = Option("columns", {"item": "...", "annotator": "..."})


def swapped_notices(
    item: CodedNames, annotator: CodedNames, label: Ints | None, task: Ints | None, name: str
) -> tuple[Notice, ...]:
    """Refuse a table whose items are annotators; say where that may be so.

    Parameters
    ----------
    item, annotator
        Of every vote.
    label, task
        Codes of every vote; None for ratings, and for a single task.
    """
    people, things = len(annotator.names), len(item.names)
    odd = people >= max(_LEAST, _MANY * things)
    backwards = people > things and _settled_by_annotator(item, annotator, label, task)
    if (odd and backwards) or _named_like_people(item.names, annotator.names):
        why = f"{things:,} items such as {listed(item.names[:2])} and {people:,} annotators"
        raise InputError(
            name,
            f"{why}: the columns look swapped",
            "what was judged in column 'item', and who judged it in 'annotator'",
            hint("swap the two names, or confirm them: {}", _COLUMNS),
        )
    if not odd and not backwards:
        return ()
    text = (
        "{annotators:count} annotators and only {items:count} items{more}: if the columns are "
        "swapped, say {columns}"
    )
    more = ", and labels that hang on the annotator rather than on the item" * backwards
    said = notice(
        "many_annotators", text, annotators=people, items=things, more=more, columns=_COLUMNS
    )
    return (said,)


def refuse_swapped_items(annotations: Annotations, predictions: "list[Predictions]") -> None:
    """Refuse annotations whose annotators are what the models predict for."""
    predicted = {name for one in predictions for name in one.items}
    if annotations.annotators is None or predicted & set(annotations.items):
        return
    both = predicted & set(annotations.annotators)
    if len(both) > 1 and len(both) >= _SHARE * len(predicted):
        raise InputError(
            "annotations",
            f"annotators {listed(sorted(both))}, which the models predict for",
            "what is predicted in column 'item'",
            "swap the names of the columns 'item' and 'annotator'",
        )


def _settled_by_annotator(
    item: CodedNames, annotator: CodedNames, label: Ints | None, task: Ints | None
) -> bool:
    """Whether annotators tell the label better than items do; not known of ratings."""
    if label is None:
        return False
    question = np.zeros(len(label), dtype=np.int64) if task is None else task
    by_item = _equal_share(question * len(item.names) + item.codes, label)
    by_annotator = _equal_share(question * len(annotator.names) + annotator.codes, label)
    chance = _equal_share(question, label)
    if np.isnan([by_item, by_annotator, chance]).any() or chance == 1:
        return False
    return bool((by_annotator - by_item) / (1 - chance) > _MORE)


def _equal_share(key: Ints, label: Ints) -> float:
    """Share of equal labels among pairs of rows with one key; nan where there is no pair.

    Examples
    --------
    >>> round(_equal_share(np.array([0, 0, 0, 1]), np.array([2, 2, 1, 1])), 3)
    0.333
    """
    width = int(label.max()) + 1
    equal = np.unique(key.astype(np.int64) * width + label, return_counts=True)[1]
    every = np.unique(key, return_counts=True)[1]
    pairs = float((every * (every - 1)).sum())
    return float((equal * (equal - 1)).sum()) / pairs if pairs else np.nan


def _named_like_people(items: tuple[str, ...], annotators: tuple[str, ...]) -> bool:
    """Whether items have names such as ``reader 1``, and annotators have not."""
    if len(items) < 2 or any(map(_is_person, annotators)):
        return False
    others = (name for name in items if not _is_person(name))
    too_many = islice(others, len(items) - ceil(_SHARE * len(items)), None)
    return next(too_many, None) is None


def _is_person(name: str) -> bool:
    word = re.sub(r"\d+", "", name)
    return bool(word) and is_named_like(word, "annotator")
