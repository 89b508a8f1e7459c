r"""Headers: which column of a table is which, without case and by the words people use.

A column that the caller named counts first, then our own name, then our name in other letters
(``ITEM``, ``Item ID``), then a known synonym (``Case``, ``Rater``, ``Diagnosis``). Words that
may mean something else (``patient``, ``score``) count only where no better one is there. Two
columns that could both be meant are refused, because choosing one would be a guess that changes
numbers. Whatever was not spelt our way is said in a notice.

A label by synonym needs a column of annotators beside it, or no unknown column at all: the
column ``rating`` of a wide table may as well be a person's.

The first line of a file without header is data. It is taken for that where no name in it is
known and the names stand among the values of their own columns.

Swapped columns: annotators where the items should be, and the other way round.

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
from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from itertools import chain
from math import ceil
from typing import NamedTuple

import numpy as np

from equipoise.read.options import ScoreFormat, VoteFormat
from equipoise.read.tables import CodedNames, Table, code_names
from equipoise.types import (
    Annotations,
    InputError,
    Ints,
    Names,
    Notice,
    Notices,
    Option,
    Predictions,
    hint,
    joined,
    listed,
    notice,
)

_Synonyms = tuple[frozenset[str], frozenset[str]]  # sure ones, and those of last resort


def _words(sure: str, unsure: str = "") -> _Synonyms:
    """Words for one column, and words that count only where none of those is there."""
    return frozenset(sure.split()), frozenset(unsure.split())


_ANNOTATIONS: Mapping[str, _Synonyms] = {
    "item": _words(
        "item case image img picture photo study scan slide exam examination epoch sample "
        "specimen example instance document doc file filename imagename imagefile record "
        "recording ecg trace tile patch lesion nodule clip video sentence object unit stimulus "
        "film radiograph xray mammogram biopsy volume frame dialogue prompt passage comment "
        "tweet "
        "itemname accession accessionnumber uid key",
        "id index subject patient participant text night",
    ),
    "annotator": _words(
        "annotator rater reader expert scorer worker grader labeler labeller reviewer observer "
        "coder judge assessor radiologist pathologist cardiologist dermatologist clinician "
        "physician doctor technician technologist annotatedby ratedby readby labeledby "
        "labelledby crowdworker turker",
        "user username evaluator respondent who by",
    ),
    "label": _words(
        "label labels labelname diagnosis vote grade severity class classname category stage "
        "rating answer response annotation judgement judgment decision verdict opinion "
        "assessment choice",
        "score value result finding reading outcome",
    ),
    "task": _words("task question taskname", "finding attribute criterion"),
    **{
        name: _words(name.replace("_", ""))
        for name in (
            *("rank", "confidence", "weight", "timestamp", "duration_ms", "is_gold"),
            *("arm", "phase", "group", "count"),
        )
    },
}
_PREDICTIONS: Mapping[str, _Synonyms] = {
    "item": _ANNOTATIONS["item"],
    "task": _ANNOTATIONS["task"],
    "model": _words("model method algorithm classifier network system", "detector approach"),
    "score": _words(
        "score probability prob proba prediction predicted pred yscore yprob ypred",
        "logit output confidence label class decision answer value",
    ),
}
_JUDGED: Mapping[str, _Synonyms] = {
    "item": (
        _ANNOTATIONS["item"][0] | frozenset({"doc", "segment", "seg", "question"}),
        _ANNOTATIONS["item"][1] | frozenset({"source", "input", "turn"}),
    ),
    "annotator": _ANNOTATIONS["annotator"],
    "system": _words("system model generator summarizer summariser mt llm", "method output"),
    "rating": _words("rating score grade mos stars", "value points label"),
    "system_a": _words("systema modela system1 model1 systemleft", "optiona"),
    "system_b": _words("systemb modelb system2 model2 systemright", "optionb"),
    "preference": _words("preference preferred winner", "choice better vote label verdict"),
    "task": _words("task taskname dimension scale aspect", "criterion attribute quality"),
}
_PREFERRED = {"system_a", "system_b", "preference"}
WHO = ("item", "annotator")
_OF_VOTES = ("label", "task", "rank", "count")  # of tables with a row per vote
_ENDINGS = ("id", "name", "no", "number", "code")
_ALL_WORDS = frozenset().union(
    *(
        tier
        for words in (_ANNOTATIONS, _PREDICTIONS)
        for tiers in words.values()
        for tier in tiers
    )
)
_SIGNS = (  # of a side: a word for one of its columns, and how that is said
    ("predictions", _PREDICTIONS["model"][0], "names models"),
    ("annotations", _ANNOTATIONS["annotator"][0], "names annotators"),
    ("predictions", _PREDICTIONS["score"][0], "holds scores"),
    ("annotations", _ANNOTATIONS["label"][0], "holds labels"),
)
_PEOPLE = frozenset().union(*_ANNOTATIONS["annotator"])
_GROUPS = frozenset({"patient", "subject", "participant", "person", "night", "site"})
UNNAMED = ("", "unnamed: 0")  # the index of a frame, as written and as read again
_LAST_WORD = re.compile(r"[^\W_]+(?=[\W_]*$)")
_IDENTIFIERS = frozenset({"id", "ids", "uid", "uuid", "index", "number", "no", "nr"})
_OF_ITEMS = _GROUPS | frozenset(
    {"age", "sex", "gender", "ethnicity", "race", "hospital", "view", "split", "fold", "date"}
)
_NUMBER = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?", re.IGNORECASE)


class _Headers(NamedTuple):
    """The columns of a table by our names, and what to say of them."""

    columns: Mapping[str, str]
    notices: Notices = ()


def plain(header: str) -> str:
    """A header without case, spaces and signs.

    Examples
    --------
    >>> plain("Case ID"), plain("annotated_by")
    ('caseid', 'annotatedby')
    """
    return re.sub(r"[\W_]+", "", header).casefold()


def annotation_headers(table: Table, options: VoteFormat) -> _Headers:
    """Our columns in a table of annotations; those that the caller named stay.

    Examples
    --------
    >>> table = Table(name="votes.csv", columns={"Case": (), "Rater": (), "Diagnosis": ()})
    >>> dict(annotation_headers(table, VoteFormat()).columns)
    {'item': 'Case', 'annotator': 'Rater', 'label': 'Diagnosis'}
    """
    named, there = options.columns, {*table.columns, *options.columns}
    if {"task", "worker", "label"} <= set(table.columns) and there.isdisjoint(WHO):
        return _Headers(named)  # as crowd-kit has them
    synonyms = _columns_by_synonym(table.columns, named, _ANNOTATIONS)
    if there.isdisjoint(("annotator", "label")) and not {"annotator", "label"} & set(synonyms):
        synonyms |= _index_as_item([*table.columns, *options.columns], synonyms)
    if options.layout == "tasks":
        for ours in _OF_VOTES:
            synonyms.pop(ours, None)
    elif synonyms and not _label_is_sure(table, synonyms, named):
        synonyms = {
            ours: names for ours, names in synonyms.items() if ours in ("item", "task", "group")
        }
    return _headers(table, named, synonyms, Option("columns")) if synonyms else _Headers(named)


def prediction_headers(table: Table, options: ScoreFormat) -> _Headers:
    """Our columns in a table of predictions; columns named like tasks are theirs."""
    columns = dict.fromkeys(table.columns)
    for task in options.tasks or ():
        columns.pop(task, None)
    named = options.columns
    synonyms = _columns_by_synonym(columns, named, _PREDICTIONS)
    if "model" not in {*columns, *named, *synonyms}:
        synonyms |= _index_as_item({**columns, **named}, synonyms)
    for ours in ("model", "task"):
        if ours in synonyms and any(
            all(map(_NUMBER.fullmatch, code_names(table, name).names))
            for name in synonyms[ours]
        ):
            del synonyms[ours]  # a wide table whose model has such a name
    scores = synonyms.get("score", [])
    if scores and plain(scores[0]) != "score":
        used = {*named.values(), *_PREDICTIONS}.union(*synonyms.values())
        if len(scores) > 1 or not columns.keys() <= used:
            del synonyms["score"]  # a wide table whose models have such names
    option = Option("columns", flag="prediction_columns")
    return _headers(table, named, synonyms, option) if synonyms else _Headers(named)


def is_judged(table: Table, named: Mapping[str, str]) -> bool:
    """Whether a table says who rated, or preferred, which system's output.

    Examples
    --------
    >>> columns = dict.fromkeys(("doc", "system", "rater", "score"), ())
    >>> is_judged(Table(name="x", columns=columns), {})
    True
    >>> is_judged(Table(name="x", columns={"item": (), "model": (), "score": ()}), {})
    False
    """
    there = {*_columns_by_synonym(table.columns, named, _JUDGED), *named, *table.columns}
    return {"system", "annotator", "rating"} <= there or there >= _PREFERRED


def judged_headers(table: Table, named: Mapping[str, str]) -> _Headers:
    """Our columns in a table of what people say of systems' outputs.

    Examples
    --------
    >>> columns = ("dialogue", "system", "rater", "dimension", "rating")
    >>> table = Table(name="scores.csv", columns=dict.fromkeys(columns, ()))
    >>> sorted(judged_headers(table, {}).columns)
    ['annotator', 'item', 'rating', 'system', 'task']
    """
    synonyms = _columns_by_synonym(table.columns, named, _JUDGED)
    pairs = {*synonyms, *named, *table.columns} >= _PREFERRED
    for name in ("system", "rating") if pairs else ("system_a", "system_b", "preference"):
        synonyms.pop(name, None)
    found = _headers(table, named, synonyms, Option("columns")) if synonyms else _Headers(named)
    there = {name: name for name in _JUDGED if name in table.columns}
    return found._replace(columns={**there, **found.columns})


def ids_column(table: Table, ours: str) -> str:
    """The column of items, or of annotators, of a table that says more of them.

    Examples
    --------
    >>> ids_column(Table(name="films.csv", columns={"Image ID": (), "Age": ()}), "item")
    'Image ID'
    """
    synonyms = _columns_by_synonym(table.columns, {}, {ours: _ANNOTATIONS[ours]})
    if ours == "item":
        synonyms |= _index_as_item(table.columns, synonyms)
    if ours in synonyms:
        return _headers(table, {}, synonyms, Option("columns")).columns[ours]
    return table.required(ours, {}, otherwise="")


def is_named_like(header: str, ours: str) -> bool:
    """Whether a header is a word for one of our columns.

    Examples
    --------
    >>> is_named_like("Reader ID", "annotator"), is_named_like("resnet", "item")
    (True, False)
    """
    sure, unsure = _ANNOTATIONS.get(ours) or _PREDICTIONS[ours]
    return not (sure | unsure).isdisjoint(_keys([header])[header])


def no_tasks(table: Table, names: Sequence[str]) -> Names:
    """Columns that name or describe items or votes, among those that may be tasks.

    An identifier (``Set ID``) is no question, and neither is what people note of items
    (``Age``, ``Patient``) where it shares no word with the other columns.

    Examples
    --------
    >>> import pyarrow
    >>> cells = {"Set ID": ["1", "2"], "Age": ["40", "51"], "edema": ["0", "1"]}
    >>> columns = {name: pyarrow.array(column) for name, column in cells.items()}
    >>> no_tasks(Table(name="reads.csv", columns=columns), tuple(cells))
    ('Set ID', 'Age')
    """
    last = {name: _LAST_WORD.findall(name.casefold()) for name in names}
    sure = [name for name in names if len(plain(name)) > 2 and {*last[name]} & _IDENTIFIERS]
    maybe = [name for name in names if {*last[name]} & _OF_ITEMS and name not in sure]
    rest = [name for name in names if name not in (*sure, *maybe)]
    labels = {word for name in rest for word in code_names(table, name).names}
    odd = [name for name in maybe if labels.isdisjoint(code_names(table, name).names)]
    return tuple(name for name in names if name in (*sure, *odd)) if rest else ()


def side_of(table: Table) -> tuple[str, str] | None:
    """Whether the names of the columns are of annotations or predictions, and by which sign.

    Examples
    --------
    >>> side_of(Table(name="x", columns={"case": (), "rater": (), "grade": ()}))
    ('annotations', "column 'rater' names annotators")
    """
    keys = _keys(table.columns)
    for side, words, what in _SIGNS:
        for name in table.columns:
            if not words.isdisjoint(keys[name]):
                return side, f"column {name!r} {what}"
    return None


def unused_note(unused: Names) -> Notice:
    """Say which columns nothing is read from; a cut is stated in a command, not in a column."""
    text = "columns {columns:names} are not used"
    if len(unused) == 1:
        text = "column {columns:names} is not used"
    if get_close_matches("threshold", [name.casefold() for name in unused], cutoff=0.8):
        text += "; cuts are stated with {option}"
        return notice("unused_columns", text, columns=unused, option=Option("threshold"))
    return notice("unused_columns", text, columns=unused)


def group_hint(unused: Iterable[str]) -> Notices:
    """Say that a column such as ``patient`` could be the group of its items."""
    near = [name for name, keys in _keys(unused).items() if not _GROUPS.isdisjoint(keys)]
    if not near:
        return ()
    text = "if items of one {column} belong together, say {columns}: whole groups are resampled"
    option = Option("columns", {"group": near[0]})
    return (notice("possible_group", text, column=near[0], columns=option),)


def require_header(table: Table, named: Mapping[str, str]) -> None:
    """Refuse a table whose names of columns are a row of data."""
    names = list(table.columns)
    if named or not _ALL_WORDS.isdisjoint(chain.from_iterable(_keys(names).values())):
        return
    inside = [name in code_names(table, name).names for name in names]
    words = [
        among and not _NUMBER.fullmatch(name) for name, among in zip(names, inside, strict=True)
    ]
    numbers = len(names) > 1 and inside[0] and sum(inside[1:]) * 2 >= len(names) - 1
    if any(words) or numbers:
        shown = [name for name, among in zip(names, inside, strict=True) if among]
        raise InputError(
            f"{table.name}, first line",
            f"{listed(shown)}, which are values of their own columns",
            "the names of the columns",
            "add a first line such as item,annotator,label",
        )


def _keys(headers: Iterable[str]) -> dict[str, list[str]]:
    """Headers as words are looked up: whole, and without an ending such as ``id``."""
    keys: dict[str, list[str]] = {}
    for header in headers:
        whole = plain(header)
        keys[header] = [whole]
        for ending in _ENDINGS:
            if whole.endswith(ending):
                keys[header].append(whole.removesuffix(ending))
    return keys


def _columns_by_synonym(
    columns: Iterable[str], named: Mapping[str, str], vocabulary: Mapping[str, _Synonyms]
) -> dict[str, list[str]]:
    """Columns that go by another name than ours, by ours; several where all could be meant."""
    exact = vocabulary.keys() & set(columns) - named.keys()
    free = _keys(columns)
    for name in (*exact, *named.values()):
        free.pop(name, None)
    synonyms: dict[str, list[str]] = {}
    for ours, (sure, unsure) in vocabulary.items():
        if ours in named or ours in exact or not free:
            continue
        for tier in ({plain(ours)}, sure, unsure):
            for name, keys in tuple(free.items()):
                if not tier.isdisjoint(keys):
                    synonyms.setdefault(ours, []).append(name)
                    del free[name]
            if ours in synonyms:
                break
    return synonyms


def _index_as_item(
    names: Iterable[str], synonyms: Mapping[str, Sequence[str]]
) -> dict[str, list[str]]:
    """The first column where it has no name, as pandas writes an index, and no other is it."""
    columns = [*names]
    if "item" in {*columns, *synonyms} or not columns or columns[0].casefold() not in UNNAMED:
        return {}
    return {"item": columns[:1]}


def _label_is_sure(
    table: Table, synonyms: Mapping[str, Sequence[str]], named: Mapping[str, str]
) -> bool:
    """Whether a label that goes by a synonym is one, and no annotator of a wide table."""
    if "label" not in synonyms:
        return "label" in table.columns or "label" in named
    if plain(synonyms["label"][0]) == "label" or "annotator" in {
        *synonyms,
        *named,
        *table.columns,
    }:
        return True
    used = {*named.values(), *_ANNOTATIONS}.union(*synonyms.values())
    return len(synonyms["label"]) == 1 and table.columns.keys() <= used


def _headers(
    table: Table,
    named: Mapping[str, str],
    synonyms: Mapping[str, Sequence[str]],
    option: Option,
) -> _Headers:
    """The columns that the caller named, and one for each synonym."""
    for ours, alike in synonyms.items():
        if len(alike) > 1:
            raise InputError(
                f"{table.name}, columns {listed(alike)}",
                f"both could be the {ours}" if len(alike) == 2 else f"each could be the {ours}",
                f"one column of the {ours}",
                hint("say which: {}", Option("columns", {ours: alike[0]})),
            )
    single = {ours: alike[0] for ours, alike in synonyms.items()}
    side = "predictions are " if option.flag else ""
    text = f"{side}read by their headers: {{pairs}}; {{columns}} says otherwise"
    shown = {
        ours: f"{theirs!r}" if theirs else "the first column, which has no name,"
        for ours, theirs in single.items()
    }
    pairs = joined([f"{theirs} as {ours}" for ours, theirs in shown.items()])
    note = notice("columns_by_synonym", text, pairs=pairs, columns=option)
    return _Headers({**named, **single}, (note,))


_MANY = 10  # annotators per item from which a table is odd
_LEAST = 100  # annotators of an odd table
_MORE = 0.15  # by which annotators must settle the label better than items
_SHARE = 0.9  # of the names that must look alike
_COLUMNS = Option("columns", {"item": "...", "annotator": "..."})


def swapped_notices(
    item: CodedNames, annotator: CodedNames, label: Ints | None, task: Ints | None, name: str
) -> Notices:
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
    backwards = people > things and _annotators_tell_labels(item, annotator, label, task)
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
    note = notice(
        "many_annotators", text, annotators=people, items=things, more=more, columns=_COLUMNS
    )
    return (note,)


def refuse_swapped_items(annotations: Annotations, predictions: Sequence[Predictions]) -> None:
    """Refuse annotations whose annotators are what the models predict for."""
    if annotations.annotators is None:
        return
    items, predicted = set(annotations.items), set[str]()
    for prediction in predictions:
        if prediction.items == annotations.items or not items.isdisjoint(prediction.items):
            return
        predicted.update(prediction.items)
    both = predicted & set(annotations.annotators)
    if len(both) > 1 and len(both) >= _SHARE * len(predicted):
        raise InputError(
            "annotations",
            f"annotators {listed(sorted(both))}, which the models predict for",
            "what is predicted in column 'item'",
            "swap the names of the columns 'item' and 'annotator'",
        )


def _annotators_tell_labels(
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
    sizes = np.unique(key, return_counts=True)[1]
    pairs = float((sizes * (sizes - 1)).sum())
    return float((equal * (equal - 1)).sum()) / pairs if pairs else np.nan


def _named_like_people(items: Sequence[str], annotators: Sequence[str]) -> bool:
    """Whether items have names such as ``reader 1``, and annotators have not."""
    if len(items) < 2 or any(map(_is_person, annotators)):
        return False
    others = len(items) - ceil(_SHARE * len(items))  # that may have other names
    for name in items:
        others -= not _is_person(name)
        if others < 0:
            return False
    return True


def _is_person(name: str) -> bool:
    word = re.sub(r"\d+", "", name)
    return bool(word) and not _PEOPLE.isdisjoint(_keys([word])[word])
