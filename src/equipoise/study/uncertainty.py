"""Uncertainty: the two-way parts of every task, metric and kind of label, all models at once.

Metrics with derivatives give the influence of items and of votes in one pass. The others are
left without blocks of items and without an annotator's votes in them, a jackknife whose blocks
stand in for groups; its cost is linear in items. Where the truth is a model of it, the spread
over its draws is added to that of items.
"""

import math
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from equipoise.inference import (
    Ballots,
    Design,
    Layout,
    Population,
    Reason,
    TwoWay,
    floor_of,
    joint_design,
    population_of,
    two_way,
    unit_design,
)
from equipoise.inference.ballots import FEW_UNITS
from equipoise.inference.proportions import Trials
from equipoise.inference.resampling import Resampling
from equipoise.metrics import Influence, Metric, Prepared
from equipoise.scale.engine import threads
from equipoise.study.alignment import Aligned
from equipoise.study.blocks import LABELS, chunk_width, hard_labels, pair
from equipoise.study.sums import Sums, indicator
from equipoise.types import Floats, Ints

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

BLOCKS = 200  # of items that a jackknife leaves out, one after another
FEWEST_EVENTS = 2  # items of a class, below which they do not vary
CELLS = 600  # blocks times annotators that it leaves out
PEOPLE = 40  # annotators, or groups of them, that it leaves out
DRAWS = 200  # of possible truths that are scored
FEWEST = 20
SCORED = 20_000_000  # items times draws


class TargetPopulation(NamedTuple):
    """Whom the result should speak for.

    `named` says whether annotators are people who rated many items; `reason` why not.
    """

    items: bool = True
    annotators: bool = True
    named: bool = True
    reason: Reason = Reason.NONE


class Uncertainty:
    """Everything that metrics share about the tasks of one evaluation.

    Parameters
    ----------
    aligned
        The tasks, with the scores of all models.
    prepared
        By task and model, what every way to prepare a prediction made of it.
    plan
        Knows the groups of items.
    target
        Whom the result should speak for.
    """

    def __init__(
        self,
        aligned: Sequence[Aligned],
        prepared: Sequence[Sequence[Mapping[Any, Prepared]]],
        plan: Resampling,
        target: TargetPopulation,
        workers: int,
    ) -> None:
        self.aligned, self.prepared, self.plan, self.target = aligned, prepared, plan, target
        self.workers = workers
        group = plan.group if target.items else None  # items that are fixed need no groups
        codes = np.arange(len(plan.items)) if group is None else group
        places = [codes[entry.question.place] for entry in aligned]
        used = np.flatnonzero(np.bincount(np.concatenate(places)))
        number = np.zeros(int(codes.max()) + 1, dtype=np.int64)
        number[used] = np.arange(len(used))
        self.unit = [number[place] for place in places]
        self._blocks: dict[int, list[Ints]] = {}
        self._designs: dict[tuple[tuple[int, ...], bool], Design] = {}
        self._layouts: dict[tuple[int, ...], Layout] = {}

    @property
    def most_blocks(self) -> int:
        """How many blocks of items a jackknife has at most."""
        return min(BLOCKS, 1 + max(int(unit.max()) for unit in self.unit))

    @cached_property
    def ballots(self) -> list[Ballots | None]:
        """Votes of every task; None where the truth is not made of votes."""
        return [
            None
            if (votes := entry.question.votes) is None
            else Ballots.of(
                votes,
                entry.question.masses,
                unit,
                labels=entry.question.shares.T,
                harden=_hard_without_votes,
                named=self.target.named,
            )
            .of_groups(self.plan.annotator_group)
            .of_outputs(judged=entry.question.judged)
            .with_scores(list(entry.scores.values()))
            for entry, unit in zip(self.aligned, self.unit, strict=True)
        ]

    @cached_property
    def crowds(self) -> list[Ballots | None]:
        """The same for a jackknife: more than forty annotators are left out in forty groups.

        Who is in which group follows from the items they rated, not from anyone's order.
        """
        voted = [
            ballots for ballots in self.ballots if ballots is not None and len(ballots.item)
        ]
        number = 1 + max((int(ballots.annotator.max()) for ballots in voted), default=-1)
        if number <= PEOPLE:
            return self.ballots
        key = np.zeros(number)
        for aligned, ballots in zip(self.aligned, self.ballots, strict=True):
            if ballots is not None:
                hashes = np.array(
                    [zlib.crc32(name.encode()) for name in aligned.question.items]
                )
                key += np.bincount(ballots.annotator, hashes[ballots.item] / 2**32, number)
        group = np.argsort(np.argsort(key, kind="stable"), kind="stable") % PEOPLE
        return [
            None if ballots is None else replace(ballots, annotator=group[ballots.annotator])
            for ballots in self.ballots
        ]

    def _layout(self, tasks: tuple[int, ...]) -> Layout | None:
        held = [self.ballots[t] for t in tasks]
        voted = [ballots for ballots in held if ballots is not None]
        if len(voted) < len(held) or not any(len(ballots.item) for ballots in voted):
            return None
        if tasks not in self._layouts:
            self._layouts[tasks] = Layout(voted)
        return self._layouts[tasks]

    def _population(self, tasks: tuple[int, ...], design: Design) -> Population:
        reason = self.target.reason
        if any(self.aligned[t].question.plausible is not None for t in tasks):
            reason = Reason.MODEL
        elif all(
            (ballots := self.ballots[t]) is not None and not len(ballots.item) for t in tasks
        ):
            rated = self.aligned[tasks[0]].question.rated
            reason = Reason.RESULTS if rated else Reason.GOLD
        whom = population_of(
            design,
            named=self.target.named,
            reason=reason,
            units="items"
            if self.plan.group is None or not self.target.items
            else "groups of items",
            items=self.target.items,
            annotators=self.target.annotators,
        )
        if self.plan.annotator_group is None:
            return whom
        return replace(whom, people="groups of annotators")

    def _design(self, tasks: tuple[int, ...], *, ranks: bool = False) -> Design:
        """What units and annotators of some tasks allow; a metric may rank items."""
        if (tasks, ranks) in self._designs:
            return self._designs[tasks, ranks]
        unit = np.concatenate([self.unit[t] for t in tasks])
        if len(tasks) > 1:  # an item counts once, however many tasks it has
            place = np.concatenate([self.aligned[t].question.place for t in tasks])
            wide = int(place.max(initial=0)) + 1
            unit = np.unique(unit * wide + place) // wide
        design, held = unit_design(unit), [self.ballots[t] for t in tasks]
        designs = [
            ballots.ranking_design if ranks and len(tasks) == 1 else ballots.design
            for ballots in held
            if ballots is not None
        ]
        if len(designs) == len(held):
            design = joint_design(designs, design)
        self._designs[tasks, ranks] = design
        return design

    def leverage(
        self, parts: "Mapping[int, Part]", metric: Metric, label: int, unit: Sequence[Ints]
    ) -> Floats | None:
        """Share of the metric's mass in each of few units, shape (units,); None of many.

        Parameters
        ----------
        unit
            Unit of every item, by task.
        """
        number = 1 + max(int(unit[t].max()) for t in parts)
        grouped = self.plan.group is not None and number < FEW_UNITS
        counted = metric.decides and self._rests_on_classes(parts, metric)
        if not self.target.items or not (grouped or counted):
            return None
        shares = []
        for t, part in parts.items():
            sides = self._masses(t, part, metric, label, decided=not grouped)
            mass = sides / np.maximum(sides.sum(axis=1, keepdims=True), 1e-12)
            if not grouped:  # few items of a class are all that counts
                size = 1 / np.maximum((mass**2).sum(axis=1), 1e-12)
                several = len(self.aligned[t].question.classes) > 1
                if several or not FEWEST_EVENTS <= size.min() < FEW_UNITS:
                    return None
                mass = mass[[size.argmin()]]
            shares.append(np.bincount(unit[t], mass.mean(axis=0), number))
        return np.asarray(np.mean(shares, axis=0))

    def _rests_on_classes(self, tasks: Iterable[int], metric: Metric) -> bool:
        """Whether few items of a class are all that counts: also where chance is taken off."""
        yes_no = all(len(self.aligned[t].question.classes) == 1 for t in tasks)
        return metric.of_class or (yes_no and metric.bounds[0] < 0)

    def _masses(
        self, t: int, part: "Part", metric: Metric, label: int, *, decided: bool
    ) -> Floats:
        """What every item counts in a metric, by model or class, shape (sides, items)."""
        question = self.aligned[t].question
        if part.denominators is not None:
            return part.denominators
        if metric.labels != "classes" and not metric.of_class and not decided:
            return np.ones((1, len(question.items)))
        truth = question.hard if label == 0 else np.asarray(question.shares)
        return np.concatenate([truth, 1 - truth])

    def cells(self, metric: Metric, label: int, values: Floats) -> list[TwoWay]:
        """One per task; and of their average, when there are several.

        Parameters
        ----------
        values
            Value of every task and model, the average last, shape (tasks, models).
        """
        tasks = range(len(self.aligned))
        parts = [self._part(t, metric, label, values[t]) for t in tasks]
        cells = [self._cell((t,), [parts[t]], metric, label, values[t]) for t in tasks]
        if len(parts) > 1:
            whole = tuple(t for t in tasks if not np.isnan(values[t]).any())
            chosen = [parts[t] for t in whole]
            if whole:
                cells.append(self._cell(whole, chosen, metric, label, values[-1]))
            else:
                cells.append(replace(cells[0], values=values[-1]))
        return cells

    def _cell(
        self,
        tasks: tuple[int, ...],
        parts: "list[Part]",
        metric: Metric,
        label: int,
        values: Floats,
    ) -> TwoWay:
        ranks = metric.labels == "classes" and LABELS[label] == "soft"
        ranks &= not self.aligned[tasks[0]].question.rated  # of which none is rare
        design, share = self._design(tasks, ranks=ranks), 1 / len(tasks)
        if any(part.slopes is None for part in parts):
            population = self._population(tasks, design)
            cell = self._cell_by_jackknife(tasks, parts, values, design, population)
        else:
            by_task = dict(zip(tasks, parts, strict=True))
            leverage = self.leverage(by_task, metric, label, self.unit)
            design = replace(design, leverage=leverage)
            cell = self._cell_by_derivatives(tasks, parts, LABELS[label], values, design)
        units = self._units(tasks, metric, label, design)
        floor = floor_of(units, value_width(metric, values))
        draws = share**2 * np.sum([part.draws for part in parts], axis=0)
        return replace(cell, floor=floor, draws=draws)

    def _cell_by_derivatives(
        self,
        tasks: tuple[int, ...],
        parts: "list[Part]",
        labels: str,
        values: Floats,
        design: Design,
    ) -> TwoWay:
        """Parts by derivatives of every task's items and votes."""
        share, votes = 1 / len(tasks), None
        layout, population = self._layout(tasks), self._population(tasks, design)
        if layout is not None:
            slopes = [share * part.slopes for part in parts if part.slopes is not None]
            votes = layout.annotator_and_cell_covariances(slopes, labels)
        unit = np.concatenate([self.unit[t] for t in tasks])
        influence = np.concatenate([share * part.items for part in parts], axis=1)
        cell = two_way(
            values,
            influence,
            unit,
            design=design,
            population=population,
            votes=votes,
        )
        denominators = parts[0].denominators
        if denominators is None or len(parts) > 1:  # a mean of shares is none
            return cell
        rows = zip(values.tolist(), influence, denominators, strict=True)
        return replace(cell, trials=tuple(Trials.of_influence(*row, unit) for row in rows))

    def population(self, t: int) -> Population:
        """Whom a number about a task speaks for."""
        return self._population((t,), self._design((t,)))

    def sums_of(
        self, t: int, items: "csr_matrix", slopes: "csr_matrix", labels: str = "soft"
    ) -> "Sums":
        """What units, annotators and cells add to many numbers about a task's labels.

        Parameters
        ----------
        items, slopes
            Derivatives by the weight of items, (numbers, items), and by the shares of scored
            classes, (numbers, items times classes), classes running fastest.
        labels
            ``soft`` or ``hard``.
        """
        from scipy.sparse import csr_matrix

        design, population = self._design((t,)), self.population(t)
        units = items @ indicator(self.unit[t])
        ballots = self.ballots[t]
        if ballots is None or not len(ballots.item) or not population.annotators:
            return Sums(units, None, None, design, population)
        deviation = csr_matrix(ballots.deviations(labels))
        votes, classes = deviation.shape
        moved = csr_matrix(
            (
                deviation.data,
                ballots.item.repeat(np.diff(deviation.indptr)) * classes + deviation.indices,
                deviation.indptr,
            ),
            shape=(votes, slopes.shape[1]),
        )
        psi = slopes @ moved.T.tocsr()
        people = 1 + int(ballots.annotator.max())
        cell = np.unique(
            ballots.vote_unit.astype(np.int64) * people + ballots.annotator,
            return_inverse=True,
        )[1]
        return Sums(
            units,
            psi @ indicator(ballots.annotator),
            psi @ indicator(cell),
            design,
            population,
        )

    def of_values(self, t: int, values: Floats, items: Floats, slopes: Floats) -> TwoWay:
        """Parts of any numbers about a task's soft labels, given their derivatives.

        Parameters
        ----------
        values
            The numbers, shape (numbers,).
        items, slopes
            Their derivatives by the weight of items, (numbers, items), and by the shares of
            scored classes, (numbers, items, classes).
        """
        none = np.zeros((len(values), len(values)))
        return self._cell_by_derivatives(
            (t,), [Part(items, slopes, none, None)], "soft", values, self._design((t,))
        )

    def _units(
        self, tasks: tuple[int, ...], metric: Metric, label: int, design: Design
    ) -> float:
        """How many units a value that did not vary rests on."""
        if metric.trials is not None:
            return float(metric.trials)
        if metric.labels != "classes" and not self._rests_on_classes(tasks, metric):
            return float(design.units)
        questions = (self.aligned[t].question for t in tasks)
        rare = [
            min(float(mass.sum()), float(len(mass) - mass.sum()))
            for question in questions
            for mass in (question.hard if label == 0 else question.shares)
        ]
        return min(float(design.units), max(min(rare), 1.0))

    def cells_of_draws(
        self, metric: Metric, values: Floats, without: Floats, drawn: Floats
    ) -> list[TwoWay]:
        """The same of a metric that meets every draw of the possible truths.

        Parameters
        ----------
        without
            Values without each block of items, shape (tasks, models, blocks).
        drawn
            Values in each draw, shape (tasks, models, draws).
        """
        tasks = range(len(self.aligned))
        blocks = self.block_of(without.shape[-1])
        task_sets: list[tuple[int, ...]] = [(t,) for t in tasks]
        if len(values) > len(self.aligned):
            defined = tuple(t for t in tasks if not np.isnan(values[t]).any())
            task_sets.append(defined or tuple(tasks))
        cells = []
        for chosen, task_values in zip(task_sets, values, strict=True):
            sums: Floats = np.zeros(without.shape[1:])
            for t in chosen:
                weight = np.bincount(blocks[t], minlength=sums.shape[1]) / len(blocks[t])
                moved = (1 - weight) * (values[t][:, None] - without[t])
                sums += (moved - weight * moved.sum(axis=1, keepdims=True)) / len(chosen)
            design = unit_design(np.concatenate([blocks[t] for t in chosen]))
            population = self._population(chosen, design)
            cell = two_way(
                task_values,
                sums,
                np.arange(sums.shape[1]),
                design=design,
                population=population,
            )
            spread: Floats = np.zeros((len(task_values), len(task_values)))
            if drawn.shape[-1] > 1:
                spread = np.atleast_2d(np.cov(drawn[list(chosen)].mean(axis=0)))
            floor = floor_of(design.units, value_width(metric, task_values))
            cells.append(replace(cell, draws=spread, floor=floor))
        return cells

    # ---- derivatives -----------------------------------------------------------------------

    def _part(self, t: int, metric: Metric, label: int, values: Floats) -> "Part":
        question, models = self.aligned[t].question, self.prepared[t]
        number = len(values)
        draws: Floats = np.zeros((number, number))
        if question.plausible is not None and question.plausible.draws > 1:
            draws = self._over_draws(t, metric, label)
        if metric.influence is None:
            values_without = _Jackknife(self, t, metric, label)
            return Part(np.empty((0, 0)), None, draws, values_without)
        block = question.once([metric.labels])[metric.labels][label]
        truth = np.stack([part.positive for part in block.classes])
        rows = np.flatnonzero(block.counts[:, 0])
        names = list(self.aligned[t].scores)

        def influence_of_model(m: int) -> Influence:
            if len(rows) == len(question.items):
                return influence_of(metric, models[m][metric.prepare], truth)
            if not len(rows):  # every item is tied: undefined
                none = np.full(truth.T.shape, np.nan)
                return Influence(math.nan, none[:, 0], none)
            scores = self.aligned[t].seen(names[m], metric)[rows]  # ties are left out
            partial = influence_of(metric, metric.prepare(scores), truth[:, rows])
            return _spread_out(partial, rows, len(question.items))

        influences = threads(self.workers).map(influence_of_model, range(number))
        items = np.stack([influence.items for influence in influences])
        slopes = np.stack(
            [
                scored_class_slopes(influence.shares, len(question.classes))
                for influence in influences
            ]
        )
        ballots = self.ballots[t]
        if ballots is not None and metric.labels == "distribution":
            slopes = ballots.relative_slopes(slopes)
        denominators = None
        if metric.denominator is not None:
            denominators = np.stack(
                [metric.denominator(model[metric.prepare], truth.T) for model in models]
            )
            denominators[:, block.counts[:, 0] == 0] = 0.0  # ties are left out
        return Part(items, slopes, draws, None, denominators)

    def _over_draws(self, t: int, metric: Metric, label: int) -> Floats:
        """Covariance of the values over draws of possible truths."""
        question = self.aligned[t].question
        assert question.plausible is not None
        most = max(FEWEST, min(DRAWS, SCORED // max(len(question.items), 1)))
        number = min(question.plausible.draws, most)
        values = np.concatenate(list(self._values_of_draws(t, metric, label, number)), axis=1)
        defined = values[:, ~np.isnan(values).any(axis=0)]
        if defined.shape[1] < 2 or not np.isfinite(defined).all():
            return np.zeros((len(values), len(values)))
        return np.atleast_2d(np.cov(defined))

    def _values_of_draws(
        self, t: int, metric: Metric, label: int, number: int
    ) -> Iterator[Floats]:
        question = self.aligned[t].question
        plausible, classes = question.plausible, len(question.classes)
        assert plausible is not None
        first = len(plausible.classes) - classes
        width = chunk_width(len(question.items), classes)
        picked = np.linspace(0, plausible.draws - 1, number).astype(int)
        for start in range(0, number, width):
            draws = [plausible.draw(int(d))[:, first:] for d in picked[start : start + width]]
            shares = [np.stack([draw[:, k] for draw in draws], axis=1) for k in range(classes)]
            counts = np.ones((len(question.items), len(draws)), dtype=np.uint8)
            yield self.values_with(t, metric, label, shares, counts)

    def values_with(
        self, t: int, metric: Metric, label: int, shares: Sequence[Floats] | Floats, counts: Any
    ) -> Floats:
        """Every model's value with these soft labels and counts, (models, replicates)."""
        ties = self.aligned[t].question.ties
        block = pair(shares, counts, whole=metric.labels == "distribution", ties=ties)[label]
        models = self.prepared[t]
        return np.stack(
            [
                metric.finish(metric.reduce(prepared[metric.prepare], block))
                for prepared in models
            ]
        )

    # ---- without derivatives ---------------------------------------------------------------

    def block_of(self, number: int) -> list[Ints]:
        """Which of so many blocks every item of every task is in; units stay whole.

        Blocks follow from the names of items, not from their order.
        """
        if number not in self._blocks:
            units = 1 + max(int(unit.max()) for unit in self.unit)
            key = np.full(units, 2**32, dtype=np.int64)
            for entry, unit in zip(self.aligned, self.unit, strict=True):
                hashes = [zlib.crc32(name.encode()) for name in entry.question.items]
                np.minimum.at(key, unit, hashes)
            place = np.argsort(np.argsort(key, kind="stable"), kind="stable")
            block = place % number
            self._blocks[number] = [block[unit] for unit in self.unit]
        return self._blocks[number]

    def _cell_by_jackknife(
        self,
        tasks: tuple[int, ...],
        parts: "list[Part]",
        values: Floats,
        design: Design,
        population: Population,
    ) -> TwoWay:
        """Parts by leaving out blocks of items, and annotators in them."""
        share = 1 / len(tasks)
        units = np.concatenate([self.unit[t] for t in tasks])
        people = max((part.jackknife.people for part in parts if part.jackknife), default=0)
        counted = population.annotators or not population.items
        number = min(self.most_blocks, len(np.unique(units)))
        if counted and people:
            number = min(number, max(FEWEST, CELLS // people))
        blocks = self.block_of(number)
        sums = np.zeros((len(values), number))
        for t, part in zip(tasks, parts, strict=True):
            assert part.jackknife is not None
            sums += share * part.jackknife.blocks(blocks[t], number)
        votes, whole = None, unit_design(np.concatenate([blocks[t] for t in tasks]))
        crowds = [self.crowds[t] for t in tasks]
        if counted and people and all(ballots is not None for ballots in crowds):
            crowd = 1 + max(
                int(ballots.annotator.max()) for ballots in crowds if ballots is not None
            )
            by_cell = np.zeros((len(values), number, crowd))
            for t, part in zip(tasks, parts, strict=True):
                assert part.jackknife is not None
                by_cell += share * part.jackknife.cells(blocks[t], number, crowd)
            alone = by_cell.sum(axis=1)
            flat = by_cell.reshape(len(values), -1)
            votes = alone @ alone.T, flat @ flat.T
            blocked = [
                replace(ballots, unit=blocks[t], expected=None).design
                for t, ballots in zip(tasks, crowds, strict=True)
                if ballots is not None
            ]
            whole = joint_design(blocked, whole)
        df = design.df_annotators
        whole = replace(whole, df_annotators=min(df, whole.df_annotators) if votes else df)
        jackknife, by_task = parts[0].jackknife, dict(zip(tasks, parts, strict=True))
        assert jackknife is not None
        leverage = self.leverage(by_task, jackknife.metric, jackknife.label, blocks)
        whole = replace(whole, leverage=leverage)
        return two_way(
            values,
            sums,
            np.arange(number),
            design=whole,
            population=population,
            votes=votes,
        )


class Part(NamedTuple):
    """One task: derivatives by items and by shares of classes, or a jackknife instead."""

    items: Floats
    slopes: Floats | None
    draws: Floats
    jackknife: "_Jackknife | None"
    denominators: Floats | None = None


class _Jackknife:
    """Values of one task without blocks of items, and without annotators in them."""

    def __init__(self, shared: Uncertainty, task: int, metric: Metric, label: int) -> None:
        self.shared, self.task, self.metric, self.label = shared, task, metric, label
        self.question = shared.aligned[task].question
        self.ballots = shared.crowds[task]
        votes = self.ballots
        self.people = 0 if votes is None else int((np.bincount(votes.annotator) > 0).sum())
        once = np.ones((len(self.question.items), 1), dtype=np.uint8)
        self.whole = self._values_with(self.question.shares, once)[:, 0]

    def _values_with(self, shares: Sequence[Floats] | Floats, counts: Any) -> Floats:
        return self.shared.values_with(self.task, self.metric, self.label, shares, counts)

    def blocks(self, block: Ints, number: int) -> Floats:
        """Influence of every block, shape (models, blocks)."""
        items = len(self.question.items)
        width = chunk_width(items, len(self.question.classes))
        weight = np.bincount(block, minlength=number) / items
        out = np.empty((len(self.whole), number))
        for first in range(0, number, width):
            these = np.arange(first, min(first + width, number))
            counts = (block[:, None] != these).astype(np.uint8)
            without = self._values_with(self.question.shares, counts)
            out[:, these] = (1 - weight[these]) * (self.whole[:, None] - without)
        out = np.where(np.isfinite(out), out, 0.0)
        return np.asarray(out - weight * out.sum(axis=1, keepdims=True))

    def cells(self, block: Ints, number: int, crowd: int) -> Floats:
        """Influence of an annotator's votes in a block, (models, blocks, annotators)."""
        ballots, classes = self.ballots, len(self.question.classes)
        assert ballots is not None
        out = np.zeros((len(self.whole), number, crowd))
        code = block[ballots.item].astype(np.int64) * crowd + ballots.annotator
        order = np.argsort(code, kind="stable")
        cells, start = np.unique(code[order], return_index=True)
        ends = np.append(start, len(order))
        items = len(self.question.items)
        width = chunk_width(items, classes)
        once = np.ones((items, width), dtype=np.uint8)
        for first in range(0, len(cells), width):
            where = cells[first : first + width]
            votes = order[ends[first] : ends[first + len(where)]]
            column = np.repeat(np.arange(len(where)), np.diff(ends)[first : first + width])
            shares, rest = _shares_without(ballots, votes, column, len(where))
            without = self._values_with(shares, once[:, : len(where)])
            moved = rest * (self.whole[:, None] - without)
            out[:, where // crowd, where % crowd] = np.where(np.isfinite(moved), moved, 0.0)
        return out


def _shares_without(
    ballots: Ballots, votes: Ints, column: Ints, columns: int
) -> tuple[list[Floats], Floats]:
    """Soft labels of each class, without some votes in every column (items, columns).

    Also what part of the items is left on average, where something is.
    """
    shape = (len(ballots.labels), columns)
    cell, gone = ballots.item[votes] * columns + column, ballots.share[votes]
    left = 1 - np.bincount(cell, gone, shape[0] * columns)[cell]
    voted = left > 1e-12
    votes, column, cell, gone, left = (x[voted] for x in (votes, column, cell, gone, left))
    number = np.bincount(column, minlength=columns)
    rest = np.bincount(column, left, columns) / np.maximum(number, 1)
    shares = []
    for k, labels in enumerate(ballots.labels.T):
        share = np.repeat(labels[:, None], columns, axis=1)
        taken = np.bincount(cell, gone * ballots.mass[votes, k], share.size)[cell]
        share.flat[cell] = np.clip((labels[cell // columns] - taken) / left, 0.0, 1.0)
        shares.append(share)
    return shares, rest


def _hard_without_votes(shares: Floats) -> Floats:
    """Hard labels of scored classes without a vote, shape (rows, classes).

    Tied classes share them, whatever becomes of ties in the labels themselves: without one
    vote of three, two are left, and to call their ties negative would take all influence from
    items with one yes and give twice as much to those with two.
    """
    return np.stack(hard_labels(list(shares.T)), axis=1)


def _spread_out(influence: Influence, rows: Ints, items: int) -> Influence:
    """Derivatives of some items among all: the others have none."""
    moved = np.zeros(items)
    moved[rows] = influence.items
    shares = np.zeros((items, *influence.shares.shape[1:]))
    shares[rows] = influence.shares
    return Influence(influence.value, moved, shares)


def influence_of(metric: Metric, prepared: Prepared, truth: Floats) -> Influence:
    """Value and derivatives of a task; one class against the rest is averaged over classes."""
    assert metric.influence is not None
    if metric.labels == "distribution":
        return metric.influence(prepared, truth.T)
    parts = [metric.influence(o, p) for o, p in zip(prepared, truth, strict=True)]
    return class_average(parts, truth, metric.average)


def class_average(parts: Sequence[Influence], truth: Floats, average: str) -> Influence:
    """Value and derivatives of an average over classes; slopes become (items, classes)."""
    values = np.array([part.value for part in parts])
    items = np.stack([part.items for part in parts])
    shares = np.stack([part.shares for part in parts], axis=1)
    if average == "macro":
        return Influence(float(values.mean()), items.mean(axis=0), shares / len(parts))
    mass = truth.sum(axis=1)
    value = float(mass @ values / mass.sum())
    moved = np.asarray((mass @ items + (values - value) @ truth) / mass.sum())
    return Influence(value, moved, (shares * mass + (values - value)[None, :]) / mass.sum())


def scored_class_slopes(shares: Floats, classes: int) -> Floats:
    """Derivatives by the shares of scored classes: of a yes/no question, the positive one."""
    wide = shares[:, None] if shares.ndim == 1 else shares
    return wide[:, 1:] - wide[:, :1] if classes == 1 and wide.shape[1] == 2 else wide


def value_width(metric: Metric, values: Floats) -> float:
    """How far values can be apart; without bounds, how far they are from 0."""
    width = metric.bounds[1] - metric.bounds[0]
    sizes = np.abs(values[np.isfinite(values)])
    return width if np.isfinite(width) else float(sizes.max()) if len(sizes) else 0.0
