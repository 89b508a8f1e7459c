"""Nested rankings: case > reading > block of tied classes, best first > class.

A list over cases has exchangeable readers. An object ``{case: {annotator: blocks}}`` names
both; ``{case: [reading, ...]}`` names the cases only. Classes are numbers (every number up
to the highest is a class, or `classes` names them in order) or names.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from equipoise.read.options import VoteFormat
from equipoise.read.tables import Table, code_names, repeated_rows
from equipoise.read.values import class_codes, scale_of
from equipoise.types import Annotations, InputError, Ints, Names, immutable

_SHAPE = "lists of case > reading > block > class, such as [[[[3], [1, 4]]]]"
_MOST_CLASSES = 1_000_000


@immutable(eq=False)
class _Cases:
    """Nested rankings and the names that came with them.

    Attributes
    ----------
    name
        What messages call the source.
    items
        Names of the cases.
    nested
        Per case its readings, each a list of blocks.
    annotators
        Names of the readers in the order of all readings; None if exchangeable.
    """

    name: str
    items: Names
    nested: Sequence[Any]
    annotators: Names | None = None

    def where(self, case: int) -> str:
        """Name a case for a message."""
        return f"{self.name}, case {self.items[int(case)]!r}"


def ranking_annotations(
    cases: Any, options: VoteFormat, *, items: Sequence[str] | None = None, name: str
) -> Annotations:
    """Turn nested rankings into annotations.

    Examples
    --------
    >>> two = ranking_annotations([[[[3], [1, 4]], [[1]]]], VoteFormat(), name="cases")
    >>> two.label, two.rank, two.reading
    (array([3, 1, 4, 1]), array([0, 1, 1, 0]), array([0, 0, 0, 1]))
    """
    options.refuse("columns", "repeats", "phases", where=name)
    if options.kind not in (None, "ranking"):
        raise InputError(
            name, f"rankings, but kind {options.kind!r}", "kind 'ranking'", "leave kind out"
        )
    source = _named_cases(cases, items, name)
    (readings, blocks, sizes), values = _flatten(source)
    case_of_block = np.repeat(np.repeat(np.arange(len(readings)), readings), blocks)
    item = np.repeat(case_of_block, sizes)
    reading_of_block = np.repeat(np.arange(len(blocks)), blocks)
    first = (np.cumsum(blocks) - blocks)[reading_of_block]
    reading = np.repeat(reading_of_block, sizes)
    classes, label = _classes(values, item, replace(options, kind="ranking"), source)
    twice = repeated_rows(reading * len(classes) + label)
    if len(twice):
        raise InputError(
            source.where(item[twice[0]]),
            f"class {classes[label[twice[0]]]!r} twice in one ranking",
            "each class at most once",
            "remove the later mention",
        )
    annotators, annotator = None, None
    if source.annotators is not None and not options.exchangeable:
        annotators = tuple(dict.fromkeys(source.annotators))
        code = {reader: number for number, reader in enumerate(annotators)}
        annotator = np.array([code[reader] for reader in source.annotators])[reading]
    return Annotations(
        kind="ranking",
        items=source.items,
        classes=classes,
        annotators=annotators,
        item=item,
        annotator=annotator,
        label=label,
        rank=np.repeat(np.arange(len(sizes)) - first, sizes),
        reading=reading,
    ).by_name()


def _named_cases(cases: Any, items: Sequence[str] | None, name: str) -> _Cases:
    """Separate names from rankings."""
    if not isinstance(cases, Mapping | list | tuple) or not cases:
        raise InputError(name, f"{type(cases).__name__} or nothing", _SHAPE, "check the file")
    if isinstance(cases, Mapping):
        names = tuple(str(case).strip() for case in cases)
        nested = list(cases.values())
    else:
        names = tuple(str(case) for case in range(len(cases)))
        nested = list(cases)
    if items is not None:
        names = tuple(str(item).strip() for item in items)
    if len(names) != len(nested) or len(set(names)) != len(names) or "" in names:
        raise InputError(
            f"{name}, cases",
            f"{len(set(names))} distinct names for {len(nested)} cases",
            "one name per case",
            "name every case once",
        )
    named = [isinstance(case, Mapping) for case in nested]
    if not any(named):
        return _Cases(name, names, nested)
    if not all(named):
        raise InputError(
            f"{name}, case {names[named.index(False)]!r}",
            "readings without annotators",
            "annotators in all cases or in none",
            "write {annotator: blocks} for every case",
        )
    annotators = tuple(str(who).strip() for case in nested for who in case)
    return _Cases(name, names, [list(case.values()) for case in nested], annotators)


def _flatten(source: _Cases) -> tuple[list[Ints], Any]:
    """Return readings per case, blocks per reading, classes per block; and all classes."""
    import pyarrow as pa

    try:
        values = pa.array(source.nested)
    except (pa.ArrowException, TypeError, ValueError, OverflowError) as error:
        raise _misshapen(source) from error
    sizes: list[Ints] = []
    case = np.arange(len(source.nested))
    for fault in ("no readings", "an empty ranking", "an empty block"):
        if not (pa.types.is_list(values.type)) or values.null_count:
            raise _misshapen(source)
        size = np.asarray(values.value_lengths(), dtype=np.int64)
        if not size.all():
            raise InputError(
                source.where(case[np.flatnonzero(size == 0)[0]]),
                fault,
                _SHAPE,
                "fill it in or remove it",
            )
        sizes.append(size)
        case, values = np.repeat(case, size), values.flatten()
    if values.null_count or not (
        pa.types.is_integer(values.type) or pa.types.is_string(values.type)
    ):
        raise _misshapen(source)
    return sizes, values


def _misshapen(source: _Cases) -> InputError:
    """Name the first case that is not blocks of whole numbers or of names."""
    kinds: set[type] = set()
    for case, readings in enumerate(source.nested):
        try:
            ids = [label for blocks in readings for block in blocks for label in block]
            flat = any(isinstance(block, str) for blocks in readings for block in blocks)
        except TypeError:
            ids, flat = [], True
        kinds |= {type(label) for label in ids}
        if flat or len(kinds) > 1 or not kinds <= {int, str}:
            return InputError(
                source.where(case),
                "not blocks of classes, all numbers or all names",
                _SHAPE,
                "put each class into a block, even alone",
            )
    return InputError(source.name, "lists that cannot be read", _SHAPE, "check the nesting")


def _classes(
    values: Any, item: Ints, options: VoteFormat, source: _Cases
) -> tuple[Names, Ints]:
    """Return the classes and the code of every mention."""
    import pyarrow as pa

    if pa.types.is_string(values.type):
        words = code_names(Table(name=source.name, columns={"class": values}), "class")
        blank = np.flatnonzero(words.codes < 0)
        if len(blank):
            raise InputError(
                source.where(item[blank[0]]), "a class without a name", "a name", "fill it in"
            )
        scale = scale_of(words.names, options, name=source.name)
        return scale.classes, class_codes(
            words, scale, where=lambda row: source.where(item[row]), kind="ranking"
        )
    ids = np.asarray(values, dtype=np.int64)
    classes = options.classes
    limit = _MOST_CLASSES if classes is None else len(classes)
    bad = np.flatnonzero((ids < 0) | (ids >= limit))
    if len(bad):
        raise InputError(
            source.where(item[bad[0]]),
            f"class {ids[bad[0]]}",
            f"a number from 0 to {limit - 1}",
            "correct it, or name more classes",
        )
    return classes or tuple(str(code) for code in range(int(ids.max()) + 1)), ids
