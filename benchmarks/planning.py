"""Does a plan of 80 % have a power of 80 %? Readers with tastes, models that cater for them.

Readers have a leaning and a taste of their own, and two models differ in how they serve that
taste (the interaction of readers and models that a plan without annotators does not see).
Several pilots plan for the true difference; studies of the planned size are drawn anew and
evaluated. Shown: the mean power over pilots, the range, and what the plan itself simulated.
Then the time of a plan.
"""

from functools import cache

import numpy as np

from benchmarks import _reader_panels as panels
from benchmarks._clock import heading, once
from equipoise import resample
from equipoise.metrics import auroc
from equipoise.study import Study, evaluate
from equipoise.study.competitors import reader_tables
from equipoise.study.planning import plan_size
from equipoise.types import Annotations, Predictions, Whom

PILOTS, STUDIES = 12, 60
TASTES = {"slight": (0.1, (5, 8, 12)), "some": (0.2, (12, 20))}


def drawn(random, items, people, taste):
    """Votes (items, people), and the scores of two models."""
    z, w = random.standard_normal((2, items))
    lean, own = 0.5 * random.standard_normal(people), taste * random.standard_normal(people)
    noise = 0.8 * random.standard_normal((items, people))
    votes = (z[:, None] + w[:, None] * own + lean + noise > 0.55).astype(np.intp)
    shared, *each = np.sqrt(0.5) * random.standard_normal((3, items))
    scores = [
        z + sign * 0.5 * w + size * (shared + one)
        for sign, size, one in zip((1, -1), (0.6, 1.1), each, strict=True)
    ]
    return votes, scores


def study(random, items, people, taste):
    """The same as annotations and predictions."""
    votes, scores = drawn(random, items, people, taste)
    item, who = (one.ravel() for one in np.mgrid[0:items, 0:people])
    table = annotated(item, who, votes.ravel())
    return [Predictions(n, table.items, s) for n, s in zip("ab", scores, strict=True)], table


def annotated(item, who, label):
    """Votes of people with names."""
    items, people = (tuple(map(str, range(1 + codes.max()))) for codes in (item, who))
    return Annotations(
        kind="binary", classes=("no", "yes"), items=items, annotators=people, item=item,
        annotator=who, label=label,
    )  # fmt: skip


def resolved(random, design, taste):
    """Share of new studies of a design that find the difference."""
    found = 0
    for _ in range(STUDIES):
        given, table = study(random, design.items, design.annotators, taste)
        done = evaluate(given, table, metrics=["auroc"], resampling="influence")
        found += done.differences("auroc")[0].low > 0
    return found / STUDIES


def powers(pilots, taste, people, studies=40):
    """Power of studies of the size that a pilot of 150 items and 6 readers plans; nan: none."""
    random = np.random.default_rng(1)
    large = (drawn(random, 4000, 40, taste) for _ in range(60))
    true = np.mean(
        [auroc(v.mean(axis=1), s[0]) - auroc(v.mean(axis=1), s[1]) for v, s in large]
    )
    for seed in range(pilots):
        random = np.random.default_rng([5, seed])
        pilot = study(random, 150, 6, taste)
        how = {"difference": true, "annotators": (people,), "simulations": 0}
        plan = plan_size(*pilot, models=("a", "b"), **how)
        hits = [
            found_in(*study(random, design.items, people, taste))
            for design in plan.designs
            for _ in range(studies)
        ]
        yield np.mean(hits) if hits else np.nan


def found_in(scores, table):
    """Whether a study finds the first model better."""
    plan = resample(table, "influence", replicates=2)
    done = evaluate(scores, table, metrics=["auroc"], resampling=plan)
    return done.differences("auroc")[0].low > 0


def decider(random, items, people):
    """A model that decides, and complete votes of readers like those of `_reader_panels`."""
    panel = panels.Panel("", items, people)
    readings, scores = panels.draw(random, panel, panels.readers_of(random, panel), 1)
    order = np.lexsort((readings.reader, readings.item))
    table = annotated(
        readings.item[order], readings.reader[order], readings.answer[order, 0].astype(int)
    )
    return [Predictions("a", table.items, (scores[0] > panels.CUT) * 1.0)], table


@cache
def gain_of_decider(people):
    """What it gains over the mean reader."""
    return panels.mean_gain(panels.Panel("", 0, people), "balanced")


def goal_powers(pilots, people, studies=40, **goal):
    """The same for a margin to readers, or a width of the interval of sensitivity.

    The model is not as good as the mean reader: as a plan takes them as equal, the bound that
    studies must lie above is moved by what it truly gains.
    """
    for seed in range(pilots):
        pilot = decider(np.random.default_rng([6, seed]), 200, 10)
        how = {"annotators": (people,), "simulations": 0, "metric": "sensitivity"}
        if "margin" in goal:
            how |= {"readers": True, "metric": "balanced_accuracy"}
        for design in plan_size(*pilot, **how, **goal).designs:
            random = np.random.default_rng([7, seed])
            new = (decider(random, design.items, people) for _ in range(studies))
            yield np.array([half_or_bound(*one, **goal) for one in new])


def half_or_bound(models, table, margin=None, width=None):
    """How far the lower end lies above the margin, or the width below the one planned for."""
    if width is not None:
        done = evaluate(models, table, metrics=["sensitivity"], resampling="influence")
        low, high = done.estimate("a", "sensitivity").interval()
        return width - (high - low) / 2
    study = Study.of(models, table, metrics=["balanced_accuracy"])
    claim = reader_tables(study)[-1].claims(("a",))["a", Whom.LIKE_THESE]
    people = len(table.annotators)
    return claim.low + margin - gain_of_decider(people)


def main() -> None:
    """Show the power of plans."""
    heading(__doc__.splitlines()[0])
    for name, (taste, people) in TASTES.items():
        random = np.random.default_rng(1)
        large = (drawn(random, 4000, 40, taste) for _ in range(100))
        true = np.mean(
            [auroc(v.mean(axis=1), s[0]) - auroc(v.mean(axis=1), s[1]) for v, s in large]
        )
        powers = {one: [] for one in people}
        for _ in range(PILOTS):
            pilot = study(random, 600, 24, taste)
            plan = plan_size(
                *pilot, models=("a", "b"), difference=true, annotators=people, simulations=0
            )
            for one in plan.designs:
                powers[one.annotators].append((one.items, resolved(random, one, taste)))
        for one, every in powers.items():
            items, share = np.transpose(every) if every else (np.zeros(1), np.full(1, np.nan))
            print(
                f"   {name} taste, {one} annotators, {np.median(items):.0f} items: power "
                f"{share.mean():.2f} ({share.min():.2f} to {share.max():.2f}); {len(every)} of "
                f"{PILOTS} pilots plan it"
            )
    pilot = study(np.random.default_rng(2), 600, 24, 0.2)
    seconds = once(lambda: plan_size(*pilot, difference=0.1))
    print(f"   a plan with 400 simulated studies of each design: {seconds:.2g} s")
