"""CleanPatrick: what medical crowd workers said of the problems of Fitzpatrick17k.

The release (huggingface.co/datasets/Digital-Dermatology/CleanPatrick) has per kind of problem a
file of labels and one of raw votes, ``*_meta.csv``. Images are the user's own copy of
Fitzpatrick17k, files named by their md5hash, or a file of embeddings whose ids are that;
``fitzpatrick17k.csv`` with the diagnoses lies with the images, above them or with the release.

Columns are found by `COLUMNS`; where a file has none of the names, its columns are listed and
nothing is guessed. Votes are one per row (annotator and vote) or packed, ``{'annotator': 1}``,
one row per question. Without votes the released labels are the truth, with the transitive
closure of duplicates.

A question about duplicates names two images or more, and is one about all their pairs. A pair
that stands in several questions counts in the smallest of them, and there first where the
answer is yes. Pairs of no question are not there: they are no negatives. Images that are not
there are left out, which is said.
"""

import os
from ast import literal_eval
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from pathlib import Path, PurePosixPath

import numpy as np

from equipoise.clean.collection import (
    Collection,
    JudgedCollection,
    Task,
    duplicate_groups,
    pair_name,
)
from equipoise.clean.detector import silent
from equipoise.clean.encoders import Encoder
from equipoise.clean.reading import ids, read_collection, read_table, with_labels, words
from equipoise.datasets import Source
from equipoise.read.files import AnyPath
from equipoise.read.tables import Table
from equipoise.types import (
    Annotations,
    InputError,
    Names,
    Nouns,
    Progress,
    listed,
    notice,
    positions,
)

FILES: Mapping[Task, str] = {
    "off_topic": "off_topic_samples",
    "near_duplicates": "near_duplicates",
    "label_errors": "label_errors",
}
COLUMNS: Mapping[str, Names] = {
    "item": ("md5hash",),
    "pair": ("md5hash_list",),
    "label": ("label",),
    "annotator": ("annotator", "annotator_id", "user", "user_id", "worker", "worker_id"),
    "vote": ("vote", "answer", "annotation", "response", "label"),
    "votes": ("votes", "annotations", "answers", "responses"),
    "diagnosis": ("label", "granular_partition_label"),
}
SOURCE = Source(
    name="cleanpatrick",
    title="16,577 dermatological images with votes on three kinds of problems",
    files={},
    licence="CC BY-NC 4.0",
    citation="Gröger et al. (2025), CleanPatrick: A benchmark for image data cleaning",
    references=("groger2025",),
    nouns=Nouns("image", "crowd worker"),
)
_DIAGNOSES = "fitzpatrick17k.csv"
_YES, _NO = ("1", "1.0", "true", "yes"), ("0", "0.0", "false", "no")


_Answers = tuple[tuple[str, bool], ...]  # annotator and answer; without name, the label
_Question = tuple[Names, _Answers]  # one image, or two and more, and what was said


def load_cleanpatrick(
    *,
    release: AnyPath | None = None,
    images: AnyPath | None = None,
    votes: bool = True,
    encoder: Encoder | str | None = "default",
    cache: AnyPath | None = None,
    progress: Progress = silent,
) -> JudgedCollection:
    """Read the release and the images.

    Parameters
    ----------
    release
        Folder of the release; None is ``cleanpatrick`` in the folder ``EQUIPOISE_DATA``.
    images
        Folder of the images, or a file of embeddings; None is ``fitzpatrick17k`` there.
    votes
        Whether to read raw votes; otherwise the released labels are the truth.
    encoder, cache, progress
        As `equipoise.clean.reading.read_collection` takes them.
    """
    home = _locate(release, "cleanpatrick", "the release")
    seen = _locate(images, "fitzpatrick17k", "the images of Fitzpatrick17k")
    questions = {
        task: list(_questions(home, stem, votes=votes, pairs=task == "near_duplicates"))
        for task, stem in FILES.items()
    }
    diagnoses = _diagnoses(home, seen)
    images_read = read_collection(seen, encoder=encoder, cache=cache, progress=progress)
    data = _named_by_hash(images_read, diagnoses)
    return JudgedCollection(
        name=SOURCE.name,
        title="CleanPatrick",
        collection=data,
        truths={
            task: _truth(rows, data.items, pairs=task == "near_duplicates")
            for task, rows in questions.items()
        },
        source=SOURCE,
        nouns=SOURCE.nouns,
    )


def _locate(named: AnyPath | None, name: str, what: str) -> Path:
    root = os.environ.get("EQUIPOISE_DATA")
    path = Path(named) if named is not None else Path(root or ".") / name
    unset = named is None and not root
    if unset or not path.exists():
        raise InputError(
            "study cleanpatrick",
            f"{what} not here ({'no EQUIPOISE_DATA is set' if unset else path})",
            f"{what} in $EQUIPOISE_DATA/{name}, or in a folder that is named",
            "fetch huggingface.co/datasets/Digital-Dermatology/CleanPatrick and Fitzpatrick17k",
        )
    return path


def _column(table: Table, ours: str) -> str:
    """The name in a file of one of our columns."""
    for name in COLUMNS[ours]:
        if name in table.columns:
            return name
    raise InputError(
        f"{table.name}, columns",
        f"{listed(table.columns, most=20)}",
        f"one named {' or '.join(COLUMNS[ours])}",
        f"rename the column of the {ours}"
        + ("" if ours in ("item", "pair", "label", "diagnosis") else ", or read no votes"),
    )


def _questions(release: Path, stem: str, *, votes: bool, pairs: bool) -> Iterator[_Question]:
    table = read_table(release / f"{stem}{'_meta' if votes else ''}.csv")
    subject = ids(table, _column(table, "pair" if pairs else "item"))
    images = [tuple(dict.fromkeys(_hashes(text))) for text in subject]
    if pairs:
        short = next((row for row, some in enumerate(images) if len(some) < 2), None)
        if short is not None:
            raise InputError(
                table.where(short), f"{subject[short]!r}", "two images or more", "mend the row"
            )
    if not votes:
        column = _column(table, "label")
        for row, (some, word) in enumerate(zip(images, words(table, column), strict=True)):
            yield some, (("", _answer(word, table, row)),)
        return
    answers: dict[Names, list[tuple[str, bool]]] = {}
    for some, of_row in zip(images, _answers(table), strict=True):
        answers.setdefault(some, []).extend(of_row)
    for some, of_question in answers.items():
        yield some, tuple(of_question)


def _hashes(text: str) -> list[str]:
    """Names of images in a list such as ``a, b`` or ``['a', 'b']``."""
    parts = (part.strip(" '\"") for part in text.strip("[]() ").split(","))
    return [PurePosixPath(part).stem for part in parts if part]


def _answer(word: str, table: Table, row: int) -> bool:
    if word.lower() in _YES:
        return True
    if word.lower() in _NO:
        return False
    raise InputError(table.where(row), f"{word!r}", "0 or 1", "mend the row")


def _answers(table: Table) -> Iterator[list[tuple[str, bool]]]:
    """Who said what in every row: one vote, or several packed into one cell."""
    packed = next((name for name in COLUMNS["votes"] if name in table.columns), None)
    if packed is not None:
        for row, text in enumerate(words(table, packed)):
            yield _unpack(text, table, row)
        return
    people = ids(table, _column(table, "annotator"))
    answers = words(table, _column(table, "vote"))
    for row, (person, word) in enumerate(zip(people, answers, strict=True)):
        yield [(person, _answer(word, table, row))]


def _unpack(text: str, table: Table, row: int) -> list[tuple[str, bool]]:
    """Votes in a cell: ``{'annotator': 1}`` or ``[('annotator', 1)]``."""
    try:
        value = literal_eval(text)
        pairs = list(value.items()) if isinstance(value, dict) else [(a, b) for a, b in value]
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError) as error:
        raise InputError(
            table.where(row),
            f"{text[:40]!r}",
            "votes such as {'annotator': 1}",
            "write one vote per row, or read no votes",
        ) from error
    return [(str(name), _answer(str(answer), table, row)) for name, answer in pairs]


def _diagnoses(release: Path, images: Path) -> dict[str, str]:
    folders = (images if images.is_dir() else images.parent, images.parent, release)
    paths = [folder / _DIAGNOSES for folder in folders if (folder / _DIAGNOSES).is_file()]
    if not paths:
        raise InputError(
            "study cleanpatrick",
            f"no {_DIAGNOSES}",
            "it with the images, above them, or with the release",
            "fetch it from github.com/mattgroh/fitzpatrick17k",
        )
    table = read_table(paths[0])
    names = ids(table, _column(table, "item"))
    return dict(zip(names, words(table, _column(table, "diagnosis")), strict=True))


def _named_by_hash(seen: Collection, diagnoses: Mapping[str, str]) -> Collection:
    """The images of the data set, called by their hashes, with their diagnoses."""
    names = [PurePosixPath(item).stem for item in seen.items]
    place = {name: row for row, name in enumerate(names) if name in diagnoses}
    if not place:
        raise InputError(
            "study cleanpatrick, images",
            f"none named like {next(iter(diagnoses), '')!r}, for example {seen.items[0]!r}",
            "files named by their md5hash",
            "check the folder of images",
        )
    items = tuple(sorted(place))
    part = seen.subset(np.array([place[name] for name in items]))
    return with_labels(replace(part, items=items), tuple(diagnoses[name] for name in items))


def _truth(questions: Sequence[_Question], items: Sequence[str], *, pairs: bool) -> Annotations:
    """Votes on the images, or pairs of images, that are there."""
    present = set(items)
    if pairs:
        answers = _of_pairs(questions, present)
        left = sum(len(present.intersection(images)) < 2 for images, _ in questions)
    else:
        here = [(image, votes) for (image,), votes in questions if image in present]
        answers = dict(here)
        left = len(questions) - len(here)
    rows = [(name, *vote) for name, votes in answers.items() for vote in votes]
    if not rows:
        raise InputError(
            "study cleanpatrick", "no question about these images", "some", "check the folder"
        )
    names = tuple(answers)
    people = tuple(dict.fromkeys(person for _, person, _ in rows))
    gold = people == ("",)
    text = "{questions:count} questions are left out, because an image is not there."
    return Annotations(
        kind="binary",
        items=names,
        classes=("no", "yes"),
        annotators=None if gold else people,
        item=positions([name for name, _, _ in rows], names, where="questions"),
        annotator=None
        if gold
        else positions([person for _, person, _ in rows], people, where="votes"),
        label=np.array([answer for _, _, answer in rows], dtype=np.int64),
        is_gold=np.ones(len(rows), dtype=bool) if gold else None,
        notices=(notice("images_missing", text, questions=left),) if left else (),
    )


def _of_pairs(questions: Sequence[_Question], items: set[str]) -> dict[str, _Answers]:
    """Answers by pair, from the smallest question that has it; labels are closed."""

    def smallest_then_yes(question: _Question) -> tuple[int, bool]:
        images, votes = question
        return len(images), not any(answer for _, answer in votes)

    answers: dict[str, _Answers] = {}
    same: list[tuple[str, str]] = []
    for images, votes in sorted(questions, key=smallest_then_yes):
        for pair in combinations(images, 2):
            if items.issuperset(pair):
                counted = answers.setdefault(pair_name(*pair), votes)
                same += [pair] if counted == (("", True),) else []
    closed = duplicate_groups(same, sorted({name for two in same for name in two}))
    for group in closed:
        for two in combinations(group, 2):
            answers[pair_name(*two)] = (("", True),)
    return answers
