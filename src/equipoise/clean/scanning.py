"""Scan: what to look at in a collection before training on it, kind of problem by kind.

One detector ranks the items (or pairs) of each task; what the collection lacks for a task is
said and the task left out. Those that tie share the smallest of their ranks and stand in the
order of the scores. A wrong label comes with the commonest label among the nearest
neighbours. Pairs beyond the automatic cut, or without one those that are the same to the
detector, are joined into groups, and those between parts of the data are leakage.

Would the rankings find what is known to be wrong? A sample of the collection gets foreign
images, altered copies and changed labels from `equipoise.clean.planting`; the same detectors
rank it, and the shared evaluation scores the rankings against what was planted. Planted
problems are often easier than real ones and of other kinds, and what was wrong before and was
not left out counts against a ranking, so this says whether a ranking works on such data, not
how many real problems it finds.
"""

import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from typing import TYPE_CHECKING

import numpy as np

from equipoise.clean.collection import (
    MISSING,
    TASKS,
    TITLES,
    Collection,
    Leak,
    Task,
    duplicate_groups,
    leakage,
    pair_name,
    split_pair,
)
from equipoise.clean.cut import Cut, automatic_cut
from equipoise.clean.detector import (
    CatalogueDetector,
    Detector,
    LeftOut,
    choose,
    scores_of,
)
from equipoise.clean.detectors import DETECTORS
from equipoise.clean.planting import Copies, Flips, OffTopic, contaminate
from equipoise.clean.similarity import neighbours
from equipoise.metrics import precision_at_k
from equipoise.study import Row, evaluate
from equipoise.types import (
    Floats,
    InputError,
    Ints,
    Names,
    Notices,
    Predictions,
    Progress,
    immutable,
    notice,
    require_unique,
)

if TYPE_CHECKING:
    from equipoise.clean.collection import JudgedCollection
    from equipoise.clean.encoders import Encoder


Stage = Callable[[str], Progress]  # names a step, gives what is told how far it is
Cells = dict[str, str | float | int | bool | None]  # of a line, as files have it
USUAL = ("selfclean_off_topic", "embedding_distance", "selfclean_label_errors")
SCHEMA = 5  # of a scan that is kept
MOST = 1000  # suspects of a list; all beyond the cut are in it
NEIGHBOURS = 10  # whose labels suggest one
SAME = 1 - 1e-6  # the score from which on the two of a pair are the same to a detector
LEAST = 2  # items without which there is nothing to compare
LEAST_TO_PLANT = 20  # items below which nothing is planted
SAMPLE = 2_000  # items of which a copy is made
SHARE, FEWEST, MOST_PLANTED = 0.05, 5, 100  # planted of a kind: share of the items, ends
REACH = 1.2  # how far down the list is looked, in numbers of planted problems
METRICS = ("auroc", "average_precision")


@immutable(kw_only=True)
class Planted:
    """How a detector ranked planted problems.

    Attributes
    ----------
    planted, found, within
        How many there were, and how many of them are among the first `within` of the list.
    metrics
        What the shared evaluation says.
    """

    task: Task
    detector: str
    planted: int
    found: int
    within: int
    metrics: tuple[Row, ...]


@immutable(kw_only=True)
class ScanPlan:
    """How a collection is looked through.

    Attributes
    ----------
    detectors
        At most one per task; empty chooses the usual ones.
    most
        Suspects of a list; all beyond the cut are in it.
    cut, alpha, q
        Whether to cut each list automatically, and the share of the scores that are taken for
        problems and the rate of false alarms of `equipoise.clean.cut`.
    check
        Whether to plant problems and see how the rankings do.
    encoder
        What makes embeddings of planted images; None where only embeddings are known.
    """

    detectors: tuple[Detector, ...] = ()
    most: int = MOST
    cut: bool = False
    alpha: float = 0.01
    q: float = 0.05
    check: bool = True
    seed: int = 0
    encoder: "Encoder | None" = None


@immutable(kw_only=True)
class Suspicion:
    """A line of a list.

    Attributes
    ----------
    rank, score
        Its place, those that tie share the smallest; higher is more suspicious.
    items
        One item, or the two of a pair.
    flagged
        Whether it lies beyond the cut; None where there is none.
    labels
        The label of each item; empty where labels are not known.
    suggested
        The commonest label among the nearest neighbours, of a suspected label.
    group
        Which group of duplicates a pair belongs to, from 1; 0 for none.
    parts
        The part of the data that each item belongs to, empty text for none; empty where parts
        are not known.
    """

    rank: int
    items: Names
    score: float
    flagged: bool | None = None
    labels: Names = ()
    suggested: str = ""
    group: int = 0
    parts: Names = ()

    @property
    def name(self) -> str:
        """The name of the item, or of the pair."""
        return self.items[0] if len(self.items) == 1 else pair_name(*self.items)

    @property
    def in_words(self) -> str:
        """The item, or both of the pair."""
        return " and ".join(self.items)

    @property
    def leaks(self) -> bool:
        """Whether the two lie in different parts of the data."""
        return len(set(self.parts) - {""}) > 1

    @property
    def is_duplicate(self) -> bool:
        """Whether a pair counts as duplicates: beyond the cut, or without one the same."""
        return self.score >= SAME if self.flagged is None else self.flagged

    def cells(self) -> Cells:
        """The line as files and programs see it."""
        pair = len(self.items) == 2
        which = ("first", "second") if pair else ("item",)
        cells: Cells = {"rank": self.rank, **dict(zip(which, self.items, strict=True))}
        cells |= {"score": self.score, "cut": self.flagged}
        if self.labels:
            heads = ("first_label", "second_label") if pair else ("label",)
            cells |= dict(zip(heads, self.labels, strict=True))
        if self.suggested:
            cells["suggested"] = self.suggested
        if pair:
            cells["group"] = self.group or None
        if self.parts:
            heads = ("first_part", "second_part") if pair else ("part",)
            cells |= dict(zip(heads, self.parts, strict=True))
        return cells


@immutable(kw_only=True)
class TaskScan:
    """What was found of one kind.

    Attributes
    ----------
    detector, title, references
        Which one looked, and its sources.
    scored
        How many items or pairs have a score.
    suspects
        The list, most suspicious first; as long as was asked for.
    tied
        How many of all that have a score share the first place.
    duplicates
        How many of all pairs that have a score count as duplicates.
    cut
        Where suspicion begins; None without a cut.
    groups
        Groups of duplicates, by their items; only of near duplicates.
    leaks
        Duplicates between two parts of the data; None where parts are not known.
    """

    task: Task
    detector: str
    title: str
    references: Names
    scored: int
    suspects: tuple[Suspicion, ...]
    tied: int = 0
    duplicates: int = 0
    cut: Cut | None = None
    groups: tuple[Names, ...] = ()
    leaks: tuple[Leak, ...] | None = None


@immutable(kw_only=True)
class Scan:
    """Ranked lists by task, what was left out, how planted problems were found, and where from.

    Attributes
    ----------
    name
        What was looked through, as it was typed.
    rejected
        Files that could not be used, and why.
    pictures
        A picture of each item that is shown, as an address that holds it.
    settings
        What was asked: name and value.
    command
        What was typed.
    equipoise, schema
        The version that wrote it, and the form in which.
    """

    items: int
    labelled: int
    classes: Names
    parts: Names
    tasks: tuple[TaskScan, ...]
    left_out: tuple[LeftOut, ...]
    planted: tuple[Planted, ...]
    unchecked: str
    seed: int
    notices: Notices = ()
    name: str = "the data"
    rejected: tuple[tuple[str, str], ...] = ()
    pictures: Mapping[str, str] = field(default_factory=dict)
    settings: tuple[tuple[str, str], ...] = ()
    command: str = ""
    equipoise: str = ""
    schema: int = SCHEMA

    def of(self, task: Task) -> TaskScan | None:
        """What was found of one kind; None where it was left out."""
        return next((task_scan for task_scan in self.tasks if task_scan.task == task), None)


def scan(data: Collection, plan: ScanPlan | None = None, stage: Stage | None = None) -> Scan:
    """Rank what is suspicious in a collection, kind by kind.

    Parameters
    ----------
    stage
        Called with the name of each step, gives what is told how far the step is.
    """
    how, tell = plan or ScanPlan(), stage or (lambda _: lambda *__: None)
    chosen, left_out = _runnable_detectors(
        data, how.detectors or choose(USUAL, DETECTORS), named=bool(how.detectors)
    )
    scans: list[TaskScan] = []
    ran: list[Detector] = []
    doubtful: set[str] = set()
    for detector in chosen:
        try:
            scores = scores_of(detector, data, how.seed, tell(detector.title))
        except InputError as error:
            left_out.append(LeftOut(detector.task, _reason(error)))
            continue
        cut = _cut(detector, data, scores, how)
        doubtful |= _items_beyond_cut(detector, data, scores, cut)
        ran.append(detector)
        scans.append(_task_scan(detector, data, scores, cut if how.cut else None, how))
    checked: tuple[Planted, ...] = ()
    unchecked = "" if how.check else "It was not asked for."
    if how.check and scans:
        sound = np.flatnonzero([name not in doubtful for name in data.items])
        copy = data.subset(sound)
        checked, unchecked = planted_check(copy, ran, how.encoder, how.seed, tell)
    return Scan(
        items=len(data),
        labelled=len(data.labelled),
        classes=data.classes,
        parts=tuple(part for part in dict.fromkeys(data.split) if part),
        tasks=tuple(scans),
        left_out=tuple(sorted(left_out, key=lambda missing: TASKS.index(missing.task))),
        planted=checked,
        unchecked=unchecked,
        seed=how.seed,
        notices=_notices_without_cut(scans) if how.cut else (),
    )


def _notices_without_cut(scans: Sequence[TaskScan]) -> Notices:
    """Say which lists have no cut though one was asked for."""
    return tuple(
        notice(
            "list_uncut",
            "This list has no cut: scores of {detector} have no bounds; it ranks only.",
            detector=task_scan.title,
        ).of(TITLES[task_scan.task])
        for task_scan in scans
        if task_scan.cut is None
    )


def _reason(error: InputError) -> str:
    return f"{error.where}: {error.got}; it takes {error.expected}: {error.do}"


def _runnable_detectors(
    data: Collection, detectors: Sequence[Detector], *, named: bool
) -> tuple[list[Detector], list[LeftOut]]:
    """Detectors that can run, and the tasks for which none can, with the reason."""
    kinds = [TITLES[detector.task].lower() for detector in detectors]
    do = "name one per kind here; equipoise clean benchmark compares several"
    require_unique(kinds, where="detectors", do=do)
    if len(data) < LEAST:
        why = f"{len(data) or 'no'} image{'s' * (len(data) != 1)}; it takes two to compare"
        return [], [LeftOut(task, why) for task in TASKS]
    possible, left_out = [], []
    by_task = {detector.task: detector for detector in detectors}
    for task in TASKS:
        if task not in by_task:
            left_out.append(LeftOut(task, "no detector was named"))
            continue
        try:
            by_task[task].check(data)
        except InputError as error:
            if named:
                raise
            left_out.append(LeftOut(task, _reason(error)))
        else:
            possible.append(by_task[task])
    return possible, left_out


# ---- lists ---------------------------------------------------------------------------------


def _task_scan(
    detector: Detector, data: Collection, scores: Predictions, cut: Cut | None, how: ScanPlan
) -> TaskScan:
    """The list of one detector, with everything that is said of its lines.

    Groups of duplicates, and what leaks, are those of all pairs, listed or not.
    """
    values = np.asarray(scores.values, dtype=float)
    top = np.argsort(-values, kind="stable")[: max(how.most, cut.flagged if cut else 0)]
    sure: list[tuple[str, str]] = []
    if detector.task == "near_duplicates":
        same = np.flatnonzero(values >= (SAME if cut is None else cut.threshold))
        sure = [split_pair(scores.items[at]) for at in same.tolist()]
    groups = duplicate_groups(sure, data.items)
    split = dict(zip(data.items, data.split, strict=True)) if data.split else None
    return TaskScan(
        task=detector.task,
        detector=detector.name,
        title=detector.title,
        references=detector.references,
        scored=len(values),
        suspects=tuple(_suspects(detector.task, data, scores, top, cut, groups)),
        tied=int((values == values.max(initial=-np.inf)).sum()),
        duplicates=len(sure),
        cut=cut,
        groups=groups,
        leaks=leakage(sure, split) if split and detector.task == "near_duplicates" else None,
    )


def _suspects(
    task: Task,
    data: Collection,
    scores: Predictions,
    top: Ints,
    cut: Cut | None,
    groups: Sequence[Sequence[str]],
) -> Iterator[Suspicion]:
    """Lines with the labels of their items, the suggested one, their group and their parts."""
    named = [scores.items[at] for at in top.tolist()]
    items = [split_pair(name) if task == "near_duplicates" else (name,) for name in named]
    place = {name: number for number, name in enumerate(data.items)}
    number = {name: k for k, group in enumerate(groups, start=1) for name in group}
    looks = [""] * len(items)
    if task == "label_errors":
        looks = _suggested_labels([place[name] for name in named], data)
    ranks, values = _smallest_ranks(scores.values)[top].tolist(), scores.values[top].tolist()
    for rank, score, names, other in zip(ranks, values, items, looks, strict=True):
        rows = [place[name] for name in names]
        labels = tuple(_label(data, row) for row in rows)
        group = {number.get(name, 0) for name in names}
        yield Suspicion(
            rank=rank,
            items=names,
            score=score,
            flagged=None if cut is None else score >= cut.threshold,
            labels=labels if any(labels) else (),
            suggested=other,
            group=group.pop() if len(group) == 1 else 0,
            parts=tuple(data.split[row] for row in rows) if data.split else (),
        )


def _smallest_ranks(values: Floats) -> Ints:
    """Rank 1 is the highest value; those that tie share the smallest of their ranks.

    Examples
    --------
    >>> _smallest_ranks(np.array([0.5, 0.9, 0.5, 0.1]))
    array([2, 1, 2, 4])
    """
    rising = np.sort(values)
    return len(values) - np.searchsorted(rising, values, side="right") + 1


def _cut(
    detector: Detector, data: Collection, scores: Predictions, how: ScanPlan
) -> Cut | None:
    """The automatic cut, where scores allow it."""
    if not detector.bounded:
        return None
    background = None
    if isinstance(detector, CatalogueDetector) and detector.background is not None:
        background = detector.background(data, how.seed)
    return automatic_cut(
        scores.values, items=len(data), alpha=how.alpha, q=how.q, background=background,
        copies=detector.task != "off_topic",
    )  # fmt: skip


def _items_beyond_cut(
    detector: Detector, data: Collection, scores: Predictions, cut: Cut | None
) -> set[str]:
    """Items beyond the cut, of every group of duplicates all but the first."""
    if cut is None:
        return set()
    names = [scores.items[at] for at in np.flatnonzero(scores.values >= cut.threshold)]
    if detector.task != "near_duplicates":
        return set(names)
    groups = duplicate_groups([split_pair(name) for name in names], data.items)
    return {name for group in groups for name in group[1:]}


def _label(data: Collection, place: int) -> str:
    code = MISSING if data.labels is None else int(data.labels[place])
    return "" if code == MISSING else data.classes[code]


def _suggested_labels(places: Sequence[int], data: Collection) -> list[str]:
    """The commonest label among the nearest labelled neighbours; ties go to the nearer."""
    if data.embeddings is None or data.labels is None or not places:
        return [""] * len(places)
    rows = data.labelled
    if len(rows) < LEAST:
        return [""] * len(places)
    queries = np.searchsorted(rows, places)
    _, near = neighbours(data.embeddings[rows], NEIGHBOURS, queries=queries)
    codes = data.labels[rows][near]
    return [
        data.classes[Counter(near_codes).most_common(1)[0][0]] for near_codes in codes.tolist()
    ]


def planted_check(
    data: Collection,
    detectors: Sequence[Detector],
    encoder: "Encoder | None",
    seed: int,
    stage: Callable[[str], Progress],
) -> tuple[tuple[Planted, ...], str]:
    """Plant problems into a copy and rank it; the reason where nothing was planted.

    Parameters
    ----------
    data
        A collection without what is in doubt.
    """
    size = len(data)
    if size < LEAST_TO_PLANT:
        return (), f"problems are planted into {LEAST_TO_PLANT} images or more; got {size}"
    try:
        stage("planting problems")
        study = _with_planted_problems(
            data, {detector.task for detector in detectors}, encoder, seed
        )
    except InputError as error:
        return (), f"{error.got}; it takes {error.expected}"
    checks, reason = [], "nothing could be planted"
    for detector in detectors:
        if detector.task in study.truths:
            tell = stage(f"checking {detector.title}")
            try:
                checks.append(_check_detector(detector, study, seed, tell))
            except InputError as error:  # of a copy that does not suit the detector
                reason = f"{error.got}; it takes {error.expected}"
    return tuple(checks), "" if checks else reason


def _with_planted_problems(
    data: Collection, tasks: set[Task], encoder: "Encoder | None", seed: int
) -> "JudgedCollection":
    """A sample of the collection with problems in it."""
    data = replace(data, pairs=None, split=())
    if len(data) > SAMPLE:
        random = np.random.default_rng(seed)
        data = data.subset(np.sort(random.choice(len(data), SAMPLE, replace=False)))
    if encoder is None and data.embeddings is not None:
        data = replace(data, images=None)
    share = min(max(FEWEST, round(SHARE * len(data))), MOST_PLANTED) / len(data)
    return contaminate(
        data,
        off_topic=OffTopic(share=share) if "off_topic" in tasks else None,
        copies=Copies(share=share, largest=2) if "near_duplicates" in tasks else None,
        flips=Flips(share=share) if "label_errors" in tasks else None,
        encoder=encoder,
        seed=seed,
    )


def _check_detector(
    detector: Detector, study: "JudgedCollection", seed: int, tell: Progress
) -> Planted:
    """What one detector makes of the planted problems."""
    truth = study.truths[detector.task]
    judged = scores_of(detector, study.collection_for(detector.task), seed, tell)
    assert truth.label is not None
    bad = {truth.items[i] for i in truth.item[truth.label == 1]}
    within = math.ceil(REACH * len(bad))
    names = [*METRICS, f"precision_at_{len(bad)}"]
    scored = evaluate(replace(judged, task=truth.tasks[0]), truth, metrics=names)
    whole = judged
    if detector.task == "near_duplicates":  # among all pairs, not only those that were judged
        whole = scores_of(detector, study.collection, seed, tell)
    is_bad = np.array([float(name in bad) for name in whole.items])
    depth = min(within, len(is_bad))
    return Planted(
        task=detector.task,
        detector=detector.name,
        planted=len(bad),
        found=round(depth * precision_at_k(is_bad, whole.values, k=depth)),
        within=within,
        metrics=tuple(row for row in scored.table() if row.labels == "hard"),
    )
