"""Votes added where a plan wants them, next to as many that are spread evenly: who is surer?

Annotators have leanings and tastes of their own, as in `benchmarks._readers`; two models suit
different tastes and are equally good. Every item has one vote by somebody, and more are added
in parts: on the items that `next_items` names, or on those with fewest votes.
"""

from typing import Any

import numpy as np

from equipoise import Annotations, Predictions, Settings, evaluate, resample
from equipoise.study.planning import next_items

LEANING, TASTE, NOISE, CUT, PART = 0.5, 0.3, 0.8, 0.4, 30
PER_ITEM = (1.5, 2.0, 3.0)
POLICIES = ("balanced", "planned")
COLUMNS = ("coverage of the difference", "half width", "error")


def world(random: Any, items: int, people: int) -> tuple[Any, Any]:
    """What everybody would say, (items, people), and the scores of both models."""
    z, taste = random.standard_normal((2, items))
    scores = np.stack([z + way * 0.45 * taste for way in (1, -1)])
    scores += 0.6 * random.standard_normal((2, items))
    liking = TASTE * random.standard_normal(people)
    seen = z[:, None] + np.outer(taste, liking)
    seen += NOISE * random.standard_normal((items, people))
    return (seen > CUT + LEANING * random.standard_normal(people)).astype(np.int64), scores


def of_votes(answers: Any, voted: Any) -> Annotations:
    """Some of the answers, as annotations."""
    item, who = np.nonzero(voted)
    return Annotations(
        kind="binary",
        items=tuple(f"i{i}" for i in range(len(answers))),
        classes=("no", "yes"),
        annotators=tuple(f"r{r}" for r in range(answers.shape[1])),
        item=item,
        annotator=who,
        label=answers[item, who],
    )


def with_votes(answers: Any, models: Any, per_item: float, policy: str, random: Any) -> Any:
    """Who votes on what in the end: one vote on each item, and more by the policy."""
    items, people = answers.shape
    voted = np.zeros(answers.shape, bool)
    voted[np.arange(items), random.integers(people, size=items)] = True
    left = round((per_item - 1) * items)
    while left > 0:
        order = np.lexsort((random.random(items), voted.sum(axis=1)))
        if policy == "planned":
            plan = next_items(models, of_votes(answers, voted), number=items)
            order = np.array([int(name[1:]) for name in plan.items])
        order = order[~voted[order].all(axis=1)][: min(PART, left)]
        for item in order:
            voted[item, random.choice(np.flatnonzero(~voted[item]))] = True
        left -= len(order)
    return voted


def row(seed: int, per_item: float, policy: str, items: int = 300, people: int = 8) -> Any:
    """Of a study: whether the interval of the difference covers 0, half its width, error."""
    random = np.random.default_rng([seed, 7])
    answers, scores = world(random, items, people)
    names = tuple(f"i{i}" for i in range(items))
    models = [Predictions(f"m{m}", names, score) for m, score in enumerate(scores)]
    voted = with_votes(answers, models, per_item, policy, random)
    annotations = of_votes(answers, voted)
    plan = resample(annotations, "influence", replicates=2)
    evaluation = evaluate(
        models, annotations, metrics=["auroc"], resampling=plan, settings=Settings(workers=1)
    )
    cell = evaluation.two_way("auroc")
    half, error = cell.between(0, 1).half_width(), float(cell.values[0] - cell.values[1])
    return abs(error) <= half, half, error


def study_rows(studies: int, per_item: float, policy: str, **size: int) -> Any:
    """The same of many studies, (studies, 3)."""
    return np.array([row(seed, per_item, policy, **size) for seed in range(studies)], float)
