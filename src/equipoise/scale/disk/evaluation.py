"""Models against votes on disk, with intervals for items and annotators like these.

The same numbers as `equipoise.evaluate` gives against soft labels: soft AUROC and average
precision by an external merge of sorted runs (`scale.disk.ranking`), and means over items.
Influences of items and of votes follow in a last pass over partitions, which adds up their
squares by item, annotator and cell (`equipoise.inference`).
"""

import math
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from equipoise.inference import (
    CROWD,
    DENSE,
    Crossing,
    Design,
    Population,
    Reason,
    TwoWay,
    crossed_design,
    crowd_square,
    dense_traces,
    family,
    floor_of,
    gap_sums,
    item_degrees,
    population_of,
    ranking_design,
    single_design,
)
from equipoise.inference.ballots import centred_alone, item_scale, predicted_shares
from equipoise.inference.proportions import Trials
from equipoise.metrics import Metric, named
from equipoise.scale.disk.coded import Codes
from equipoise.scale.disk.ranking import (
    MEANS,
    RANKED,
    Masses,
    Means,
    Moved,
    Ranking,
    ScoredVotes,
    ScoresOnDisk,
    join,
    rank_items,
)
from equipoise.scale.disk.votes import VotesOnDisk, map_partitions
from equipoise.study.uncertainty import value_width
from equipoise.truth.blocks import added
from equipoise.types import (
    ONE_CLASS,
    Bools,
    Floats,
    InputError,
    Names,
    Notice,
    Notices,
    choice,
    hint,
    immutable,
    require_number,
)

METRICS = (*RANKED, *MEANS)
_STRIPE = 32_000_000  # numbers of a stripe of annotators by annotators


class ScoredModel(NamedTuple):
    """A metric of one model, its interval and standard error, and ranks it may have."""

    metric: str
    model: str
    value: float
    low: float
    high: float
    standard_error: float
    best_rank: int
    worst_rank: int


class ModelGap(NamedTuple):
    """Model a minus model b with its interval; `p` is that among all pairs of models."""

    metric: str
    a: str
    b: str
    value: float
    low: float
    high: float
    p: float


@immutable(eq=False)
class EvaluationOnDisk:
    """Models against votes on disk.

    Attributes
    ----------
    positive
        The class whose share of votes is the soft label.
    models, gaps
        Every model, and every pair of them, metric by metric.
    population
        Whom the intervals speak for.
    items
        How many were scored.
    cells
        Values and covariances of every metric, for further inference.
    """

    positive: str
    models: tuple[ScoredModel, ...]
    gaps: tuple[ModelGap, ...]
    population: Population
    items: int
    cells: Mapping[str, TwoWay]
    notices: Notices = ()


def evaluate(
    votes: VotesOnDisk,
    scores: ScoresOnDisk,
    *,
    metrics: Sequence[str] = ("auroc",),
    positive: str | None = None,
    level: float = 0.95,
    work: Path | None = None,
) -> EvaluationOnDisk:
    """Soft metrics of every model, two-way intervals, and all pairs of models at once.

    Parameters
    ----------
    metrics
        Of `METRICS`; accuracy, brier_score and log_score take probabilities.
    positive
        The class that scores are for; by default the second of two.
    work
        A folder for runs and coded votes, which all workers see and which is emptied in the
        end; by default a temporary one. It takes about 36 bytes per item and model (60 with
        average precision), and 5 per vote.
    """
    require_number("evaluate, level", level, above=0, below=1, do="try 0.95")
    chosen = [_metric(name) for name in dict.fromkeys(metrics)]
    yes = _positive(votes, positive)
    if "group" in votes.columns:
        do = "leave the column out, or evaluate items that fit in memory"
        got = f"a column of groups {votes.columns['group']!r}"
        raise InputError(str(votes.folder), got, "items that stand for themselves", do)
    if work is not None:
        work.mkdir(parents=True, exist_ok=True)
    folder = Path(tempfile.mkdtemp(prefix="equipoise-", dir=work)).absolute()
    try:
        study = join(votes, scores, folder)
        means = Means(study, tuple(metric.name for metric in chosen if metric.name in MEANS))
        ranked = tuple(metric.name for metric in chosen if metric.name in RANKED)
        masses, ranking = rank_items(means, folder, yes, ranked)
        return _Evaluation(means, folder, yes, masses, ranking).made(chosen, level)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _metric(name: str) -> Metric:
    """A metric that votes on disk have."""
    metric = named(name)
    if metric.name not in METRICS:
        got, do = (
            "votes that stay on disk",
            "choose among these, or give files that fit in memory",
        )
        raise InputError(f"metric {name}", got, ", ".join(METRICS), do)
    return metric


def _positive(votes: VotesOnDisk, positive: str | None) -> int:
    """Code of the class that scores are for."""
    if positive is not None:
        return votes.classes.index(choice("positive", positive, votes.classes))
    if len(votes.classes) != 2:
        raise InputError(
            str(votes.folder),
            f"{len(votes.classes)} classes",
            "two, or the one that scores are for",
            hint("ask about one class with {}", ONE_CLASS),
        )
    return 1


# ---- sums over items and votes -------------------------------------------------------------


class _Sums(NamedTuple):
    """Sums over items and votes of some partitions, of all models by one metric.

    `design`, `weight` and `number` are those of the design, whatever the metric: cells, and
    weight (as it is, scaled, scaled where a vote is alone, and of the class) and items of every
    annotator.
    """

    influence: Floats
    total: Floats
    fourth: Floats
    cells: Floats
    people: Floats
    design: Floats
    weight: Floats
    number: Floats


@immutable(eq=False)
class _Influences:
    """Adds up influences of items and votes of a run of partitions."""

    reader: Codes
    people: int
    masses: Masses
    yes: int
    ranking: Ranking | None
    means: Means
    values: Mapping[str, Floats]

    def __call__(self, group: range) -> dict[str, _Sums]:
        return _added([self._sums(number) for number in group])

    def _sums(self, number: int) -> dict[str, _Sums]:
        from equipoise.kernels.blocks import vote_moves

        share = self.reader.shares(number, self.yes)
        centred = self._centred_votes(number, share)
        kind, rows = (self.reader.size, self.yes), self.reader.rows(number)
        sums = {}
        for name, (items, slopes) in self._moved(number, share).items():
            models, people = len(items), self.people
            cells, moved = np.zeros((models, models)), np.zeros((models, people))
            design, weight, load = np.zeros(2), np.zeros((4, people)), np.zeros(people)
            parts = (moved, cells, design, weight, load)
            vote_moves(rows, centred, kind, np.ascontiguousarray(slopes), parts)
            gaps = gap_sums(items)
            sums[name] = _Sums(items @ items.T, *gaps, cells, moved, design, weight, load)
        return sums

    def _centred_votes(self, number: int, share: Floats) -> tuple[Floats, Floats, Bools]:
        """What votes are compared with, what undoes that, and whether no vote is in it."""
        scale, alone = _scales(self.reader, number, self.masses)
        if not alone.any():
            return share, scale, alone
        scores = self.means.study.matched(number)[0]
        expected = predicted_shares(self.masses.moments, share, scores)
        return np.where(alone, expected, share), scale, alone

    def _moved(self, number: int, share: Floats) -> dict[str, Moved]:
        moved = {} if self.ranking is None else self.ranking.moved(number, share)
        if self.means.metrics:
            scores = self.means.study.matched(number)[0]
            for name, moves in self.means.of(number, scores, share).items():
                moved[name] = self._centred(moves, self.values[name][:, None])
        return {name: moved[name] for name in self.values}

    def _centred(self, of: Moved, value: Floats) -> Moved:
        """Influences on a mean; undefined where it is infinite."""
        finite = np.where(np.isfinite(value), value, np.nan)
        items = np.where(np.isfinite(of.items), of.items, np.nan) - finite
        number = self.masses.items
        return Moved(items / number, (of.slopes + 0.0 * finite) / number)


def _added(parts: Sequence[dict[str, _Sums]]) -> dict[str, _Sums]:
    """Add up the sums of every metric."""
    return {name: added([part[name] for part in parts]) for name in parts[0]}


def _scales(codes: Codes, number: int, masses: Masses) -> tuple[Floats, Bools]:
    """What undoes the centring of the items of a partition, and which have one vote."""
    start, _, weight = codes.rows(number)
    size, square = np.diff(start), 1 / np.diff(start)
    if len(weight):
        total = np.add.reduceat(weight, start[:-1])
        square = np.add.reduceat(np.square(weight), start[:-1]) / total**2
    alone = (size == 1) & (masses.single < masses.items)
    return item_scale(np.where(size == 1, 0.0, 1 - square)), alone


# ---- intervals -----------------------------------------------------------------------------


@immutable(eq=False)
class _Evaluation:
    """Votes and scores that were brought together and ranked."""

    means: Means
    folder: Path
    yes: int
    masses: Masses
    ranking: Ranking | None

    @property
    def study(self) -> ScoredVotes:
        """Votes and scores."""
        return self.means.study

    def made(self, metrics: Sequence[Metric], level: float) -> EvaluationOnDisk:
        """Intervals of all models and pairs."""
        values, sums = self._summed(metrics)
        votes, weighed = self.study.votes, next(iter(sums.values()))
        units = single_design(self.masses.items)
        identified = "annotator" in votes.votes.columns
        load = weighed.number
        rated = load[load > 1].sum() >= 0.5 * load.sum()  # people rated more than one item
        with_ids = bool(identified and (load > 0).sum() > 1 and rated)
        design = self._design(weighed, units) if with_ids else units
        reason = Reason.ALONE if identified and len(votes.annotators) == 1 else Reason.NONE
        whom = partial(population_of, named=with_ids, reason=reason)
        cells = {}
        for name, metric in zip(values, metrics, strict=True):
            allows = design
            if metric.labels == "classes":
                share = self.masses.up / self.masses.items
                allows = ranking_design(design, weighed.weight[0], weighed.weight[3], share)
            cells[name] = self._cell(metric, values[name], sums[name], allows, whom(allows))
        notices = votes.votes.notices
        if self.masses.unused:
            text = "{items:count} items have scores but no votes, and are not used"
            counts = {"items": self.masses.unused}
            notices = (*notices, Notice("items_without_votes", text, (), counts))
        names = self.study.scores.models
        rows = [_compared(metric, names, cells[metric.name], level) for metric in metrics]
        return EvaluationOnDisk(
            positive=votes.votes.classes[self.yes],
            models=tuple(row for models, _ in rows for row in models),
            gaps=tuple(row for _, gaps in rows for row in gaps),
            population=whom(design),
            items=self.masses.items,
            cells=MappingProxyType(cells),
            notices=notices,
        )

    def _summed(self, metrics: Sequence[Metric]) -> tuple[dict[str, Floats], dict[str, _Sums]]:
        """Values of every metric and model, and sums over one more pass."""
        votes, folders = self.study.votes, (self.study.scores.folder, self.folder)
        means = self.masses.scores / self.masses.items
        by_name = dict(zip(self.means.metrics, means, strict=True))
        if self.ranking is not None:
            by_name |= {name: self.ranking.values(name) for name in self.ranking.metrics}
        values = {metric.name: by_name[metric.name] for metric in metrics}
        people, models = len(votes.annotators), len(self.study.scores.models)
        add = _Influences(
            reader=votes.reader,
            people=people,
            masses=self.masses,
            yes=self.yes,
            ranking=self.ranking,
            means=self.means,
            values=values,
        )
        size = (models * len(metrics) + 2) * people
        return values, _added(votes.map_groups(add, size, *folders))

    def _cell(
        self, metric: Metric, values: Floats, sums: _Sums, design: Design, whom: Population
    ) -> TwoWay:
        factor = 1.0 if whom.reason is Reason.ANONYMOUS else design.annotator_factor
        units, masses = float(self.masses.items), self.masses
        if metric.labels == "classes":
            units = min(units, max(min(masses.up, masses.items - masses.up), 1.0))
        return TwoWay(
            values=values,
            items=design.unit_factor * sums.influence,
            annotators=factor * (sums.people @ sums.people.T),
            cells=factor * sums.cells,
            draws=np.zeros((len(values), len(values))),
            df_items=item_degrees(sums.total, sums.fourth, masses.items, design, values),
            df_annotators=design.df_annotators,
            floor=floor_of(units, value_width(metric, values)),
            population=whom,
            trials=None
            if metric.denominator is None
            else _trials_of_items(values, sums, masses),
        )

    def _design(self, sums: _Sums, units: Design) -> Design:
        """What the design of items and annotators allows."""
        people = np.flatnonzero(sums.weight[0])
        trace, square = self._traces(sums.weight)
        cells, within = sums.design.tolist()
        crossing = Crossing(sums.weight[0, people], trace, square, cells, within)
        return crossed_design(units, crossing, 1 / self.masses.items)

    def _traces(self, weight: Floats) -> tuple[float, float]:
        """Traces of the annotators' weights centred at items, in stripes of annotators."""
        from scipy.sparse import vstack

        votes, people = self.study.votes, weight.shape[1]
        few = people <= DENSE
        height = people if few else max(1, _STRIPE // people)
        reader, numbers = votes.reader, votes.partitions
        make_stripe = partial(_stripe, reader, numbers, self.masses, weight[1], height)
        tasks = range(0, people, height)
        stripes = map_partitions(make_stripe, tasks, votes.votes.workers, (votes.folder,))
        if few:
            return dense_traces(stripes[0].kept - centred_alone(weight[2]))
        trace = math.fsum(stripe.trace for stripe in stripes)
        if sum(stripe.entries for stripe in stripes) > CROWD // 100:
            return trace, crowd_square(
                np.concatenate([stripe.diagonal for stripe in stripes]), trace
            )
        whole = vstack([stripe.kept for stripe in stripes]).tocsr()
        square = whole @ whole
        return trace, float(square.multiply(square).sum())


class _Striped(NamedTuple):
    """A stripe of the centred matrix where it is kept, its trace, entries and diagonal."""

    kept: Any
    trace: float
    entries: int
    diagonal: Floats


def _trials_of_items(values: Floats, sums: _Sums, masses: Masses) -> tuple[Trials, ...]:
    """What shares of all items rest on, items that stand for themselves."""
    number = float(masses.items)
    return tuple(
        Trials(value, number, number, square, square, number * min(value, 1 - value))
        for value, square in zip(values.tolist(), np.diag(sums.influence).tolist(), strict=True)
    )


def _stripe(
    codes: Codes, partitions: int, masses: Masses, weight: Floats, height: int, low: int
) -> _Striped:
    """Make a stripe of annotators by annotators, from one of them on."""
    from scipy.sparse import csr_matrix

    from equipoise.kernels.blocks import rated_together

    people = len(weight)
    left = np.zeros((min(height, people - low), people))
    for number in range(partitions):
        scale, alone = _scales(codes, number, masses)
        rated_together(codes.rows(number), codes.size, np.where(alone, 0.0, scale), low, left)
    np.negative(left, out=left)
    diagonal_places = np.arange(len(left))
    left[diagonal_places, low + diagonal_places] += weight[low : low + len(left)]
    diagonal, trace = (
        left[diagonal_places, low + diagonal_places].copy(),
        float(np.vdot(left, left)),
    )
    entries = int(np.count_nonzero(left))
    kept = left if people <= DENSE else csr_matrix(left) if entries <= CROWD // 100 else None
    return _Striped(kept, trace, entries, diagonal)


def _compared(
    metric: Metric, names: Names, cell: TwoWay, level: float
) -> tuple[list[ScoredModel], list[ModelGap]]:
    """Every model, and every pair of them, by one metric."""
    together = family(cell, higher=metric.better == "higher", level=level)
    models, gaps = list[ScoredModel](), list[ModelGap]()
    far = metric.bounds[1] - metric.bounds[0]
    for m, name in enumerate(names):
        spread, value = cell.of(m), float(cell.values[m])
        low, high = spread.interval(value, level, metric.bounds)
        ranks, error = (int(rank) for rank in together.ranks[m]), spread.standard_error
        models.append(ScoredModel(metric.name, name, value, low, high, error, *ranks))
        for b in range(m + 1, len(names)):
            with np.errstate(invalid="ignore"):
                value = float(cell.values[m] - cell.values[b])
            low, high = cell.between(m, b).interval(value, level, (-far, far))
            p = float(together.p[m, b])
            gaps.append(ModelGap(metric.name, name, names[b], value, low, high, p))
    return models, gaps
