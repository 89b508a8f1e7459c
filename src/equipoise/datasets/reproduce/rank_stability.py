"""Table 1 of Lionetti et al., as published and as it should be: how stable rankings are.

Every vote of an item is drawn anew from its votes, all models are scored and ranked again, and
the rank correlation (Spearman) with the ranks of the original votes is compared between
ordinary and soft metrics. The paper counts over 1,000 replicates which of both correlations is
larger, and applies a binomial test: replicates are made by a computer, so its p-value shrinks
with their number, and says nothing about tasks or readers. Here are its p-values for 100 and
for 1,000 replicates, and what can be said instead: the share of replicates in which soft ranks
are the closer, mean correlations of both, and their difference over panels of other
radiologists, with the interval of the panels.

The paper's models are not public (its Table 1 is of four backbones): these are the ten models
of the CheXpert leaderboard, so nothing is compared with what was published. Identical models
share a rank.
"""

from collections.abc import Iterator

import numpy as np

from equipoise.datasets import load_chexpert
from equipoise.datasets.reproduce import Reproduction, sign_test, silent
from equipoise.metrics import named
from equipoise.metrics._metric import Block, Metric, Truth
from equipoise.study.truth import task_truths
from equipoise.types import Dot, Dots, Floats, Progress

METRICS = ("auroc", "average_precision")
REPLICATES, FEW = 1000, 100
PANELS = 400
WIDTH = 50
_TIED = 9  # decimals to which values must differ for ranks to differ


def reproduce(tell: Progress = silent) -> Reproduction:
    """Both tests and both resamplings for five findings and two metrics."""
    study = load_chexpert()
    truths = task_truths(study.annotations)
    rows: list[dict[str, str | float]] = []
    for number, truth in enumerate(truths):
        tell(number, len(truths))
        models = [one for one in study.predictions if one.task == truth.task]
        scores = np.stack([model.aligned(truth.items) for model in models])
        votes = _votes(truth.task)
        for name in METRICS:
            row: dict[str, str | float] = {"finding": truth.task, "metric": name}
            rows.append(row | _compared(named(name), scores, votes))
    return Reproduction(
        title="Stability of rankings under other votes, ordinary against soft metrics",
        source="Lionetti et al., Clinical Uncertainty Impacts Machine Learning Evaluations, "
        "Table 1, on four backbones; here on the ten models of the CheXpert leaderboard",
        keys=("finding", "metric"),
        columns=(
            *("p_of_100", "p_of_1000", "share_closer", "ordinary", "soft"),
            *("panel_difference", "panel_low", "panel_high"),
        ),
        rows=rows,
        published={},
        tolerance=0.0,
        notes=(
            "p_of_100 and p_of_1000: the binomial test of the paper, on 100 and on 1,000 "
            "replicates of the same votes. It takes replicates for data; more of them make any "
            "difference significant, in either direction.",
            "share_closer: replicates in which soft ranks correlate more with those of the "
            "original votes, ties half. ordinary, soft: mean correlations.",
            "panel_difference: soft less ordinary where eight radiologists are drawn and not "
            "votes, with the middle 95 % of panels. Where that holds 0, eight radiologists do "
            "not tell which of the two is the more stable.",
        ),
        charts=(_chart(rows),),
    )


def _votes(task: str) -> Floats:
    """Votes of a finding, (items, radiologists)."""
    votes = load_chexpert().annotations
    rows = votes.in_task(task)
    assert votes.annotator is not None and votes.label is not None
    table = np.full((len(votes.items), len(votes.annotators or ())), np.nan)
    table[votes.item[rows], votes.annotator[rows]] = votes.label[rows]
    return table


def _compared(metric: Metric, scores: Floats, votes: Floats) -> dict[str, str | float]:
    """Correlations under redrawn votes and panels, and what tests make of them."""
    both = np.concatenate(list(_correlations(metric, scores, votes, panels=False)), axis=1)
    panels = np.concatenate(list(_correlations(metric, scores, votes, panels=True)), axis=1)
    gain = both[1] - both[0]
    of_panels = panels[1] - panels[0]
    low, high = np.quantile(of_panels, [0.025, 0.975])
    tests: dict[str, str | float] = {
        name: sign_test(*(int((side * gain[:number] > 0).sum()) for side in (1, -1)))
        for name, number in (("p_of_100", FEW), ("p_of_1000", REPLICATES))
    }
    return tests | {
        "share_closer": float((gain > 0).mean() + (gain == 0).mean() / 2),
        "ordinary": float(both[0].mean()),
        "soft": float(both[1].mean()),
        "panel_difference": float(of_panels.mean()),
        "panel_low": float(low),
        "panel_high": float(high),
    }


def _correlations(
    metric: Metric, scores: Floats, votes: Floats, *, panels: bool
) -> Iterator[Floats]:
    """Rank correlations with the original ranks, by hard and soft labels: (2, replicates)."""
    random = np.random.default_rng(0)
    people = votes.shape[1]
    prepared = [metric.prepare(row) for row in scores]
    original = [_ranks(values) for values in _values(metric, prepared, votes[:, None])]
    for _ in range(0, PANELS if panels else REPLICATES, WIDTH):
        if panels:
            who = random.integers(0, people, (WIDTH, people))
            drawn = votes[:, who]
        else:
            who = random.integers(0, people, (len(votes), WIDTH, people))
            drawn = np.take_along_axis(votes[:, None], who, axis=2)
        found = _values(metric, prepared, drawn)
        yield np.stack(
            [
                [_correlation(_ranks(column[:, None]), ranks) for column in values.T]
                for values, ranks in zip(found, original, strict=True)
            ]
        )


def _values(metric: Metric, prepared: list[object], drawn: Floats) -> list[Floats]:
    """Hard and soft values, (models, replicates), for votes (items, replicates, people)."""
    soft = np.ascontiguousarray(drawn.mean(axis=2))
    counts = np.ones(soft.shape, dtype=np.uint8)
    labels = (np.ascontiguousarray(soft > 0.5, dtype=np.float64), soft)
    return [
        np.stack(
            [
                metric.finish(metric.reduce(one, Block((Truth(label),), counts)))
                for one in prepared
            ]
        )
        for label in labels
    ]


def _ranks(values: Floats) -> Floats:
    """Average ranks of models, (models,), by the first of their values."""
    from scipy.stats import rankdata

    return np.asarray(rankdata(-np.round(values[:, 0], _TIED)))


def _correlation(one: Floats, other: Floats) -> float:
    """Spearman's, of ranks; 0 where all are tied."""
    spread = one.std() * other.std()
    return (
        float(((one - one.mean()) * (other - other.mean())).mean() / spread) if spread else 0.0
    )


def _chart(rows: list[dict[str, str | float]]) -> Dots:
    """Mean correlations of ordinary and soft ranks, as in Figure 5."""
    return Dots(
        name="rank-stability",
        caption="Mean rank correlation with the original votes, when votes are drawn anew",
        axis="rank correlation",
        rows=[
            Dot(
                f"{row['finding']}, {named(str(row['metric'])).title}",
                float(row[kind]),
                series=kind,
            )
            for row in rows
            for kind in ("ordinary", "soft")
        ],
    )
