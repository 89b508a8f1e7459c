r"""Disentanglement: whether the epistemic and the aleatoric part mean what they are called.

By their names the epistemic part should find images unlike those a model was trained on, the
aleatoric part findings that readers disagree about. Both are asked on every task, paired: EU
less AU of the same runs on the same images. Their rank correlation stands beside that of
constant noise, which is what to expect of two parts that are made of the same members.

Correlation of aleatoric and epistemic uncertainty, next to what it would be by itself.

Spearman's rank correlation with mid-ranks. That the two parts are told apart does not make them
uncorrelated: noise of one size on every logit moves probabilities near one half the most, where
the aleatoric part is largest, too. The *null* is the correlation of such a model: members
:math:`\sigma(\mathrm{logit}\,\bar p + s \epsilon_m)` with the method's own mean and the
constant s that gives its mean epistemic uncertainty. What goes beyond the null says something
about the method; what the null has, too, does not.

The influence of an item on a rank correlation :math:`C / \sqrt{V_x V_y}` of
:math:`F, G` (mid-ranks over n, less one half) is that of

.. math:: dC_a = \tfrac1n (F_a G_a + A_a + B_a - 3 C), \quad
    A_a = \tfrac1n \sum_i k(x_a, x_i) G_i, \quad B_a = \tfrac1n \sum_i k(y_a, y_i) F_i

and of both variances in the same way; k is 1 where the first is smaller, one half where equal.

Examples
--------
>>> rank_correlation(np.array([1.0, 2.0, 2.0, 3.0]), np.array([2.0, 1.0, 3.0, 4.0])).value
0.632
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from equipoise.inference import (
    Population,
    Reason,
    TwoWay,
    mid_ranks,
    seed_means,
    two_way,
    unit_design,
)
from equipoise.types import (
    Column,
    Dot,
    Dots,
    Finding,
    Floats,
    PerItem,
    Table,
    change,
    count,
    joined,
    number,
    spanned,
)
from equipoise.uq.curves import WHO, by_architecture
from equipoise.uq.decomposition import Decomposition, decompose, image_level
from equipoise.uq.predictions import MethodRuns, Run
from equipoise.uq.tasks import LabelQuestion, Question, UncertaintyTask

if TYPE_CHECKING:
    from equipoise.uq.evaluate import Contests, Scoring

_EQUAL = 12  # decimals to which values must differ to stand apart
_LEAST = 1e-7  # distance of a mean from 0 and 1
_SMALL, _LARGE, _HALVINGS = 1e-4, 30.0, 30  # of the size of the noise
_LOOKED_AT = 1000  # items that the size of the noise is found on
_CHUNK = 2000  # items that are drawn together
USUAL_MEMBERS = 20  # where a method has none


class RankCorrelation(NamedTuple):
    """Spearman's correlation, and the influence of every item on it."""

    value: float
    influence: PerItem


def rank_correlation(x: PerItem, y: PerItem) -> RankCorrelation:
    """Rank correlation with mid-ranks; nan where one of them does not vary."""
    number = len(x)
    x, y = np.round(x, _EQUAL), np.round(y, _EQUAL)
    ranks = np.stack([(mid_ranks(values) - 0.5) / number - 0.5 for values in (x, y)])
    first, second = ranks
    a, b = float((first**2).mean()), float((second**2).mean())
    if not (a > 0 and b > 0):
        return RankCorrelation(math.nan, np.full(number, np.nan))
    both = float((first * second).mean())
    (first_first, first_second), (second_first, second_second) = (
        _above(values, ranks) for values in (x, y)
    )
    shared = first * second + first_second + second_first
    of_first = first**2 + 2 * first_first - 3 * a
    of_second = second**2 + 2 * second_second - 3 * b
    value = both / np.sqrt(a * b)
    moved = (shared - 3 * both) / np.sqrt(a * b) - value / 2 * (of_first / a + of_second / b)
    return RankCorrelation(float(value), moved / number)


def _above(values: PerItem, others: Floats) -> Floats:
    """Means over items of what larger values have, and half of what equal ones have.

    Of several numbers of the items, (numbers, items).
    """
    order = np.argsort(values, kind="stable")
    placed = values[order]
    start = np.flatnonzero(np.append(True, placed[1:] != placed[:-1]))
    sums = np.add.reduceat(others[:, order], start, axis=1)
    later = np.pad(np.cumsum(sums[:, :0:-1], axis=1)[:, ::-1], ((0, 0), (0, 1)))
    out = np.empty_like(others)
    sizes = np.diff(np.append(start, len(values)))
    out[:, order] = np.repeat(later + sums / 2, sizes, axis=1)
    return out / len(values)


def constant_noise(
    mean: Floats,
    epistemic: Floats,
    *,
    members: int,
    seed: int,
    decomposition: str = "information",
) -> Decomposition:
    """The parts of a model with noise of one size on every logit.

    Parameters
    ----------
    mean, epistemic
        The method's probabilities and epistemic uncertainties, (items, classes).
    members
        How many members the method has.
    decomposition
        The one that made `epistemic`.
    """

    def split(logits_of_members: Floats) -> Decomposition:
        return decompose(logits_of_members, decomposition=decomposition, logits=True)

    held = np.clip(mean, _LEAST, 1 - _LEAST)
    logits = np.log(held) - np.log1p(-held)
    number = members if members > 1 else USUAL_MEMBERS
    size = _noise_size(split, logits, epistemic, number, seed)
    parts = np.empty((3, *mean.shape))
    for first in range(0, len(mean), _CHUNK):
        rows = slice(first, first + _CHUNK)
        noise = _noise((number, *logits[rows].shape), seed, first + 1)
        parts[:, rows] = split(logits[rows] + size * noise)
    return Decomposition(*parts)


def _noise(shape: tuple[int, ...], seed: int, place: int) -> Floats:
    return np.random.default_rng([seed, place]).standard_normal(shape)


def _noise_size(
    split: Callable[[Floats], Decomposition],
    logits: Floats,
    epistemic: Floats,
    members: int,
    seed: int,
) -> float:
    """The size that gives the same mean epistemic uncertainty, by halving."""
    rows = np.unique(np.linspace(0, len(logits) - 1, _LOOKED_AT).astype(int))
    goal, some = float(epistemic[rows].mean()), logits[rows]
    noise = _noise((members, *some.shape), seed, 0)
    low, high = np.log(_SMALL), np.log(_LARGE)
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        epistemic_mean = split(some + np.exp(middle) * noise).EU.mean()
        low, high = (middle, high) if epistemic_mean < goal else (low, middle)
        if high - low < 1e-3:
            break
    return float(np.exp((low + high) / 2))


MOST = 4  # methods that a sentence names
SEEN = ("test", "ood")  # parts that correlations are taken on


class Contrast(NamedTuple):
    """A value of a method on a task beside another, and their paired difference.

    The metric of EU beside that of AU, or the rank correlation of both beside that of constant
    noise (its null).
    """

    task: str
    method: str
    architecture: str
    value: float
    low: float
    high: float
    reference: float
    gap: float
    gap_low: float
    gap_high: float


def parts_rows(
    tasks: Sequence[UncertaintyTask],
    contests: "Contests",
    how: "Scoring",
) -> Iterable[Contrast]:
    """EU less AU on every task, of methods that have both."""
    for task in tasks:
        for (architecture, question), contest in contests.items():
            if question != task.question or not task.scored:
                continue
            done, metric = contest.evaluation, task.metrics[0]
            for method in dict.fromkeys(method for method, _ in contest.names):
                if (method, "EU") not in contest.names:
                    continue
                epistemic, aleatoric = (
                    done.estimate(contest.names[method, score], metric)
                    for score in ("EU", "AU")
                )
                gap = epistemic - aleatoric
                interval = (epistemic.value, *epistemic.interval(how.level))
                values = (aleatoric.value, gap.value, *gap.interval(how.level))
                yield Contrast(task.key, method, architecture, *interval, *values)


def correlations(
    study: MethodRuns,
    tasks: Sequence[UncertaintyTask],
    questions: Mapping[str, Question],
    how: "Scoring",
) -> list[Contrast]:
    """Of the images of task 1 and of the labels of task 2; without either, of test images."""
    looked_at = [(task.key, questions[task.question]) for task in tasks[:2]]
    looked_at = [pair for pair in looked_at if pair[1].labels] or [("test", _all_images(study))]
    rows: dict[str, list[Contrast]] = {key: [] for key, _ in looked_at}
    for architecture, method, runs in study.competitors():
        if "EU" not in runs[0].parts["test"].scores:
            continue
        nulls = [_null(run, how) for run in runs]
        for key, question in looked_at:
            cell = _correlation_cell(question, runs, nulls)
            values = _beyond_null(cell, how.level)
            rows[key].append(Contrast(key, method, architecture, *values))
    return [row for of_task in rows.values() for row in of_task]


def _null(run: Run, how: "Scoring") -> dict[str, dict[str, Floats]]:
    """Parts of constant noise: one size on test images and others, fitted on all of them.

    Empty where the epistemic part is a score of its own, which noise of members cannot match.
    """
    outputs = {part: run.parts[part] for part in SEEN if part in run.parts}
    if outputs["test"].own_epistemic:
        return {}
    noise_parts = constant_noise(
        np.concatenate([output.mean for output in outputs.values()]),
        np.concatenate([output.scores["EU"] for output in outputs.values()]),
        members=outputs["test"].members,
        seed=how.seed,
        decomposition=how.decomposition,
    )._asdict()
    ends = np.cumsum([len(output.mean) for output in outputs.values()])[:-1]
    split = {name: np.split(whole, ends) for name, whole in noise_parts.items()}
    return {
        part: {name: pieces[k] for name, pieces in split.items()}
        for k, part in enumerate(outputs)
    }


def _all_images(study: MethodRuns) -> Question:
    test = study.labels["test"]
    rows = np.arange(len(test.items))
    label = LabelQuestion("image", 0, rows, np.zeros(len(rows)))
    return Question("test", "test", test.items, test.groups, (label,), study.image)


def _correlation_cell(
    question: Question,
    runs: Sequence[Run],
    nulls: Sequence[Mapping[str, Mapping[str, Floats]]],
) -> TwoWay:
    """Correlations of the runs and of their nulls, first all of the one kind."""
    observed = [
        _label_correlation(question, {p: o.scores for p, o in run.parts.items()})
        for run in runs
    ]
    unknown = math.nan, np.full(len(question.items), np.nan)
    null = [_label_correlation(question, scores) if scores else unknown for scores in nulls]
    values = np.array([value for value, _ in observed + null])
    influence = np.stack([moved for _, moved in observed + null])
    codes = question.groups if question.groups is not None else question.items
    unit = np.unique(np.array(codes), return_inverse=True)[1]
    units = "items" if question.groups is None else "groups of items"
    whom = Population(annotators=False, reason=Reason.GOLD, units=units)
    cell = two_way(values, influence, unit, design=unit_design(unit), population=whom)
    number = len(runs)
    both = [list(range(number)), list(range(number, 2 * number))]
    return seed_means(cell, both, shared=True)


def _label_correlation(
    question: Question, scores: Mapping[str, Mapping[str, Floats]]
) -> tuple[float, Floats]:
    """Mean correlation over the labels where it is defined, and the influence of items."""
    by_label = []
    for label in question.labels:
        x, y = (_scores_of_label(question, label, scores, part) for part in ("AU", "EU"))
        value, moved = rank_correlation(x, y)
        if not math.isnan(value):
            wide = np.zeros(len(question.items))
            wide[label.rows] = moved
            by_label.append((value, wide))
    if not by_label:
        return math.nan, np.full(len(question.items), np.nan)
    value = float(np.mean([value for value, _ in by_label]))
    return value, np.asarray(np.mean([wide for _, wide in by_label], axis=0))


def _scores_of_label(
    question: Question,
    label: LabelQuestion,
    scores: Mapping[str, Mapping[str, Floats]],
    name: str,
) -> Floats:
    if question.name == "uncertain":
        return np.asarray(scores["test"][name][label.rows, label.place])
    parts = SEEN if question.name == "images" else SEEN[:1]
    return np.concatenate([image_level(scores[part][name], question.image) for part in parts])


def _beyond_null(cell: TwoWay, level: float) -> tuple[float, ...]:
    """Value with its interval, null, and what is beyond it with its interval."""
    value, null = (float(estimate) for estimate in cell.values)
    if math.isnan(value):
        return (math.nan,) * 7
    interval = cell.of(0).interval(value, level, (-1.0, 1.0))
    gap = value - null
    ends = (math.nan, math.nan)
    if not math.isnan(gap):
        half = cell.between(0, 1).half_width(level)
        ends = gap - half, gap + half
    return value, *interval, null, gap, *ends


# ---- findings ----------------------------------------------------------------------------


def parts_findings(
    tasks: Sequence[UncertaintyTask], contrasts: Sequence[Contrast]
) -> Iterable[Finding]:
    """EU against AU, task by task."""
    for task in tasks:
        rows = [row for row in contrasts if row.task == task.key]
        if not rows:
            continue
        title = task.metric.title
        chart = Dots(
            name=f"parts-{task.key}",
            caption=f"{title} of EU less {title} of AU{{}}, paired",
            axis=f"{title}, EU less AU",
            rows=(),
            zero=True,
            zero_title="no difference",
        )
        yield Finding(
            key="parts",
            title="Is the epistemic part the better one?",
            sentence=_gap_sentence(task, rows),
            charts=by_architecture(chart, rows, lambda _, some: {"rows": _gap_dots(some)}),
            tables=(_table(chart.name, rows, f"{title} of the epistemic and of the aleatoric "
                           "part", "EU", "AU", "EU less AU"),),
            note="Right of 0 the epistemic part does better, left of it the aleatoric part. By "
            "their names EU should win on bad images (task 1), AU on ambiguous findings (2).",
            brief=False,
            nav="EU and AU",
        ).under(task=f"{task.number} {task.title}")  # fmt: skip


def correlation_findings(
    tasks: Sequence[UncertaintyTask], contrasts: Sequence[Contrast]
) -> Iterable[Finding]:
    """Rank correlations beside their null, by task."""
    titles = {task.key: f"{task.number} {task.title}" for task in tasks}
    for key in dict.fromkeys(row.task for row in contrasts):
        rows = [row for row in contrasts if row.task == key]
        chart = Dots(
            name=f"correlation-{key}",
            caption="Rank correlation of AU and EU{}, and the null",
            axis="Spearman's correlation",
            rows=(),
            zero=True,
            zero_title="unrelated",
        )
        yield Finding(
            key="correlation",
            title="Do the epistemic and the aleatoric part say different things?",
            sentence=correlation_sentence(rows),
            charts=by_architecture(chart, rows, lambda _, some: {"rows": _null_dots(some)}),
            tables=(_table(chart.name, rows, "Rank correlation of AU and EU", "correlation",
                           "null", "beyond the null"),),
            note="The null is what noise of one size on every logit gives, with the method's "
            "own mean and the same mean EU over test images and others. A correlation at the "
            "null is no sign that the parts are confused; 0 is not what to expect.",
            references=("baur2025",),
            brief=False,
            nav="Correlation",
        ).under(task=titles.get(key, "test images"))  # fmt: skip


def _gap_dots(rows: Sequence[Contrast]) -> list[Dot]:
    return [
        Dot(row.method, row.gap, row.gap_low, row.gap_high, model=row.method,
            remark=change(row.gap), hollow=not (row.gap_low > 0 or row.gap_high < 0))
        for row in sorted(rows, key=lambda row: -row.gap)
    ]  # fmt: skip


def _null_dots(rows: Sequence[Contrast]) -> list[Dot]:
    dots = []
    for row in sorted(rows, key=lambda row: -row.value):
        dots.append(Dot(row.method, row.value, row.low, row.high, remark=number(row.value)))
        remark = number(row.reference)
        dots.append(Dot(row.method, row.reference, series="null", remark=remark))
    return dots


def _table(
    name: str, rows: Sequence[Contrast], caption: str, value: str, reference: str, gap: str
) -> Table:
    return Table(
        name=name,
        caption=caption,
        columns=(
            *WHO,
            Column("value", value, "number", ("low", "high")),
            Column("reference", reference, "number"),
            spanned("gap", gap, "change"),
        ),
        rows=[row._asdict() for row in rows],
    )


def _signs(rows: Sequence[Contrast]) -> tuple[list[str], list[str], int]:
    """Methods whose difference is surely above 0, surely below, and how many are open."""
    ahead = [_with_arch(row) for row in rows if row.gap_low > 0]
    behind = [_with_arch(row) for row in rows if row.gap_high < 0]
    return ahead, behind, len(rows) - len(ahead) - len(behind)


def _with_arch(row: Contrast) -> str:
    return f"{row.method} ({row.architecture})" if row.architecture else row.method


def _gap_sentence(task: UncertaintyTask, rows: Sequence[Contrast]) -> str:
    ahead, behind, left = _signs(rows)
    clauses = []
    if ahead:
        clauses.append(f"EU does better than AU for {joined(ahead, most=MOST)}")
    if behind:
        clauses.append(f"AU does better than EU for {joined(behind, most=MOST)}")
    if left and clauses:
        clauses.append(f"{count(left)} cannot be told apart")
    elif left:
        clauses.append("EU and AU cannot be told apart for any method")
    return f"On {task.title}: {'; '.join(clauses)}."


def parts_sentence(rows: Sequence[Contrast]) -> str:
    """How often EU is the better score on bad images, for the card."""
    bad_images = [row for row in rows if row.task == "ood"]
    if not bad_images:
        return ""
    ahead, behind, left = _signs(bad_images)
    return (
        f"On bad images the epistemic part does better than the aleatoric one for "
        f"{len(ahead)} of {count(len(bad_images), 'model')}, worse for {len(behind)}; {left} "
        "are open."
    )


def correlation_sentence(rows: Sequence[Contrast]) -> str:
    """Which methods are surely apart from the null."""
    defined = [row for row in rows if not math.isnan(row.gap_low)]
    if not defined:
        return ""
    above, below, _ = _signs(defined)
    nulls = [row.reference for row in defined]
    sentence = (
        f"Constant noise alone would correlate AU and EU by {number(min(nulls), 2)} to "
        f"{number(max(nulls), 2)}"
    )
    for names, where in ((above, "above that"), (below, "below it")):
        if names:
            verb = "is" if len(names) == 1 else "are"
            sentence += f"; {joined(names, most=MOST)} {verb} surely {where}"
    return sentence + ("." if above or below else "; no method is surely apart from that.")
