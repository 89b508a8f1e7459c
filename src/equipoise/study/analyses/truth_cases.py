r"""Cases behind a truth: how certain each is, how often models are right on it, and its draws.

A *hit* of a case is the probability, over its possible truths, that a model is right: the
value of an uncertainty-adjusted metric on that case alone. A *simplex* shows the draws of a
case among its three most plausible classes, scaled to sum to 1; a corner is a class for
certain. The cases that are drawn are the least certain one, and of open ones that on which
models differ most.

References
----------
Stutz et al., *Evaluating medical AI systems in dermatology under uncertain ground truth*.
"""

from collections.abc import Iterator

import numpy as np

from equipoise.metrics import Metric
from equipoise.metrics.draws import topk_accuracy
from equipoise.study.alignment import Aligned
from equipoise.study.variants import Contest
from equipoise.truth import annotation_certainty, reading_agreement
from equipoise.types import (
    Annotations,
    Chart,
    Dot,
    Dots,
    Floats,
    Ints,
    Line,
    Lines,
    Plausibilities,
    Point,
    capital,
    joined,
    number,
)

SETS = (1, 2, 3)
DRAWN, BINS = 100, 16  # draws of a case in a simplex, and bars of a distribution
POINTS = 60  # of a curve over cases
READINGS = 3  # of a case, from which agreement is looked at
CORNERS = np.array([[0.0, 0.0], [1.0, 0.0], [0.5, 3**0.5 / 2]])
FEWEST = 20  # cases over which curves are drawn


def metric_of_cases(contest: Contest) -> Metric:
    """The first metric that meets draws; without any, how surely the first class is right."""
    of_draws = (metric for metric in contest.metrics if metric.labels == "draws")
    return next(of_draws, topk_accuracy.metric(1))


def hits(task: Aligned, metric: Metric) -> dict[str, Floats]:
    """Values of every case in every draw by model, (cases, draws); nan where undefined."""
    truth = task.question.scored
    assert truth is not None and metric.score_draws is not None
    truth = truth.stored()
    return {
        name: metric.score_draws(metric.prepare(task.distributions(name)), truth).value
        for name in task.scores
    }


def case_charts(contest: Contest) -> Iterator[Chart]:
    """The cases of a study with one task whose truth has draws."""
    if len(contest.tasks) > 1:
        return
    (task,) = contest.tasks
    truth = task.question.scored
    if truth is None or truth.draws < 2 or len(truth.items) < FEWEST:
        return
    metric = metric_of_cases(contest)
    values = hits(task, metric)
    with np.errstate(invalid="ignore"):
        by_case = {name: np.nanmean(value, axis=1) for name, value in values.items()}
        by_draw = {name: np.nanmean(value, axis=0) for name, value in values.items()}
    certainty = annotation_certainty(truth).value
    yield _certainty_curves(truth)
    yield _over_cases(metric, by_case)
    yield _over_draws(metric, by_draw)
    yield from _agreement(contest.votes, task.question.task, truth, certainty)
    least = int(certainty.argmin())
    spread = np.nan_to_num(np.ptp(np.stack(list(by_case.values())), axis=0))
    for case in dict.fromkeys([least, int((spread * (1 - certainty)).argmax())]):
        yield from _case(truth, case, metric, by_case, task)


def _curve(values: Floats) -> list[tuple[float, float]]:
    """Sorted values against the share of cases below them."""
    ordered = np.sort(values[~np.isnan(values)])
    places = np.unique(np.linspace(0, len(ordered) - 1, POINTS).round().astype(int))
    return [
        (float(place) / max(len(ordered) - 1, 1), float(ordered[place])) for place in places
    ]


def _certainty_curves(truth: Plausibilities) -> Lines:
    """Certainty of the first classes over sorted cases that name as many."""
    lines = []
    for size in SETS:
        if size < len(truth.classes):
            sure = annotation_certainty(truth, size)
            name = f"first {size}" if size > 1 else "first class"
            lines.append(Line(name, _curve(sure.value[sure.well_posed]), dots=False))
    return Lines(
        name="cases-certainty",
        caption="How certain the truth of every case is, from the least certain on",
        x="share of cases",
        y="certainty",
        lines=lines,
        y_range=(0.0, 1.0),
    )


def _over_cases(metric: Metric, by_case: dict[str, Floats]) -> Lines:
    return Lines(
        name="cases-hits",
        caption=f"{capital(metric.title)} case by case, over the possible truths of each, from "
        "the worst case of each model on",
        x="share of cases",
        y=metric.title,
        lines=[Line(name, _curve(hit), name, dots=False) for name, hit in by_case.items()],
    )


def _over_draws(metric: Metric, by_draw: dict[str, Floats]) -> Lines:
    """How values are distributed over possible truths."""
    moved = {name: values - np.nanmean(values) for name, values in by_draw.items()}
    drawn = np.concatenate(list(moved.values()))
    edges = np.linspace(np.nanmin(drawn), np.nanmax(drawn) + 1e-12, BINS + 1)
    middle = (edges[1:] + edges[:-1]) / 2
    lines = []
    for name, values in moved.items():
        share = np.histogram(values, edges)[0] / max(len(values), 1)
        inside = np.flatnonzero(share)
        span = slice(max(inside[0] - 1, 0), inside[-1] + 2) if len(inside) else slice(0, 0)
        points = list(zip(middle[span].tolist(), share[span].tolist(), strict=True))
        lines.append(Line(name, points, name, dots=False))
    number_of_draws = len(next(iter(by_draw.values())))
    return Lines(
        name="draws-values",
        caption=f"{capital(metric.title)} in each of {number_of_draws:,} possible truths of "
        "all cases, less its mean",
        x=f"{metric.title} less its mean",
        y="share of draws",
        lines=lines,
    )


def _agreement(
    votes: Annotations, task: str, truth: Plausibilities, certainty: Floats
) -> Iterator[Lines]:
    """Certainty by how far readings of a case agree, where there are readings."""
    if votes.kind != "ranking" or votes.gold.any():
        return
    agreed = reading_agreement(votes, task, ties="full")
    row = {name: place for place, name in enumerate(agreed.items)}
    places: Ints = np.array([row[name] for name in truth.items])
    agreement, enough = agreed.value[places], agreed.readings[places] >= READINGS
    if (
        enough.sum() < FEWEST
        or np.ptp(agreement[enough]) == 0
        or np.ptp(certainty[enough]) == 0
    ):
        return
    correlation = float(np.corrcoef(agreement[enough], certainty[enough])[0, 1])
    level = np.round(agreement * 10) / 10
    points, band = [], []
    for step in np.unique(level[enough]).tolist():
        sure = certainty[enough & (level == step)]
        points.append((step, float(sure.mean())))
        band.append((step, *np.quantile(sure, [0.25, 0.75]).tolist()))
    yield Lines(
        name="cases-agreement",
        caption="Certainty by agreement of readings (each with the first choice of the "
        f"others), cases with at least {READINGS}: mean and middle half. Correlation "
        f"{number(correlation)}",
        x="agreement",
        y="certainty",
        lines=[Line("", points, band=band)],
    )


# ---- one case --------------------------------------------------------------------------------


def _case(
    truth: Plausibilities,
    case: int,
    metric: Metric,
    by_case: dict[str, Floats],
    task: Aligned,
) -> Iterator[Chart]:
    """Draws of a case on a simplex, and how often models are right on it."""
    name, first = truth.items[case], np.argsort(-truth.mean[case], kind="stable")[:3]
    if len(first) == 3:
        yield _simplex(truth, case, first, task)
    yield Dots(
        name=f"case-{case}-hits",
        caption=f"{capital(metric.title)} on item {name}, over its possible truths",
        axis=metric.title,
        rows=[Dot(model, float(hit[case]), model=model) for model, hit in by_case.items()],
    )


def _simplex(truth: Plausibilities, case: int, first: Ints, task: Aligned) -> Lines:
    """Some draws of a case, and the models, among three classes."""
    one = truth.subset(np.array([case]))
    picked = np.unique(np.linspace(0, truth.draws - 1, DRAWN).round().astype(int))
    draws = np.stack([one.draw(int(place))[0, first] for place in picked])
    corners = [truth.classes[place] for place in first]
    points = [Point(corner, x, y) for corner, (x, y) in zip(corners, CORNERS, strict=True)]
    points += [Point("a possible truth", x, y, labelled=False) for x, y in _on_simplex(draws)]
    for model in task.scores:
        chance = task.distributions(model)[case, first]
        if chance.sum() > 0:
            ((x, y),) = _on_simplex(chance[None])
            points.append(Point(model, x, y, model=model))
    return Lines(
        name=f"case-{case}-simplex",
        caption=f"Possible truths of item {truth.items[case]} among its most plausible classes "
        f"({joined(corners)}), and what models say",
        x="",
        y="",
        lines=[Line("", [(x, y) for x, y in CORNERS[[0, 1, 2, 0]].tolist()], dots=False)],
        points=points,
        square=True,
    )


def _on_simplex(shares: Floats) -> list[tuple[float, float]]:
    """Places of shares of three classes, scaled to sum to 1."""
    total = np.maximum(shares.sum(axis=1, keepdims=True), 1e-300)
    spots = (shares / total) @ CORNERS
    return [(float(x), float(y)) for x, y in spots]
