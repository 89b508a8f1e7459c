"""No result depends on the order of rows, items, annotators, classes or models.

The worlds are full of ties: tied votes, tied probabilities, tied models. Values are compared
for every metric of the catalogue, and so are intervals. Resamples belong to the names of items
and annotators, so that they are the same, too. `test_order_of_files` holds every verb to it,
and `test_aggregate_laws` the values of aggregation models.
"""

import re
from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose

from equipoise import Annotations, Predictions, evaluate, resample
from equipoise import truth as aggregate
from equipoise.inference.resampling import Resampling
from equipoise.metrics import CATALOGUE, named
from equipoise.metrics._metric import Topic
from equipoise.study import Settings
from equipoise.truth.agreement import agreement_table
from tests.strategies import names

CLOSE = {"rtol": 0, "atol": 1e-12}
ITEMS, PEOPLE, CLASSES = 12, 4, 3
ALIEN = (Topic.JUDGED, Topic.RATINGS)  # of no labels
NAMES = [
    name.replace("_at_k", "_at_7")
    for name, make in CATALOGUE.items()
    if make().topic not in ALIEN
]
PARAMETERS = [
    "expected_cost:decision=least_cost",
    "normalised_expected_cost:decision=least_cost",
    "expected_calibration_error:bins=4:binning=mass",
    "maximum_calibration_error:bins=4:which=classwise",
    "auroc:multiclass=ovo",
    "auroc:average=weighted",
    "topk_accuracy:k=2",
    "f1:average=macro",
    "f1:average=weighted",
    "ppv:positive=class-1",
    "net_benefit:threshold=0.4",
]
METRICS = [named(name) for name in [*NAMES, *PARAMETERS]]
OF_DRAWS = [one.name for one in METRICS if one.labels == "draws"]
OF_ONE = [
    one.name for one in METRICS if re.search(r"_at_\d", one.name)
]  # need a yes/no question
UNORDERED = [
    one.name
    for one in METRICS
    if not one.ordered and one.labels != "draws" and one.name not in OF_ONE
]
ORDERED = [one.name for one in METRICS if one.ordered]
CHANGES = ("rows", "items", "annotators", "classes", "models")


class World:
    """Votes (items, annotators) and class probabilities of models (models, items, classes)."""

    def __init__(self, seed, kind="nominal", classes=CLASSES):
        random = np.random.default_rng(seed)
        self.kind, self.classes = kind, names(classes, "class")
        self.items, self.people = names(ITEMS), names(PEOPLE, "reader")
        self.votes = random.integers(0, classes, (ITEMS, PEOPLE))
        self.votes[: ITEMS // 2, 2:] = self.votes[: ITEMS // 2, :2]  # tied in pairs
        self.votes[:classes] = np.arange(classes)[:, None]  # every class is somebody's
        shares = random.integers(1, 4, (3, ITEMS, classes)).astype(float)
        shares[0, ::3] = 1.0  # all classes tied
        self.scores = shares / shares.sum(axis=2, keepdims=True)
        self.models = ["net", "tree", "rule"]
        self.rows = np.arange(ITEMS * PEOPLE)

    def changed(self, what, seed=5):
        """The same world in another order."""
        other, random = World.__new__(World), np.random.default_rng(seed)
        other.__dict__.update(self.__dict__)
        if what == "rows":
            other.rows = random.permutation(self.rows)
        elif what == "items":
            order = random.permutation(ITEMS)
            other.items = tuple(self.items[i] for i in order)
            other.votes, other.scores = self.votes[order], self.scores[:, order]
        elif what == "annotators":
            order = random.permutation(PEOPLE)
            other.people = tuple(self.people[a] for a in order)
            other.votes = self.votes[:, order]
        elif what == "classes":
            order = np.roll(np.arange(len(self.classes)), 1)
            other.classes = tuple(self.classes[k] for k in order)
            other.votes, other.scores = np.argsort(order)[self.votes], self.scores[..., order]
        elif what == "models":
            other.models, other.scores = self.models[::-1], self.scores[::-1]
        return other

    @property
    def annotations(self):
        item, annotator = (axis.ravel()[self.rows] for axis in np.indices(self.votes.shape))
        return Annotations(
            kind=self.kind, items=self.items, classes=self.classes, annotators=self.people,
            item=item, annotator=annotator, label=self.votes.ravel()[self.rows],
        )  # fmt: skip

    @property
    def predictions(self):
        pairs = zip(self.models, self.scores, strict=True)
        return [Predictions(m, self.items, s, classes=self.classes) for m, s in pairs]


def found(world, metrics, kind=None, truth=None, ties="half"):
    """Value and interval of every metric, kind of labels and model, by name."""
    truth = world.annotations if truth is None else truth
    plan = None if kind is None else resample(truth, kind, replicates=20)
    if kind is None:
        plan = replace(resample(truth, "items"), replicates=2)
    done = evaluate(
        world.predictions,
        truth,
        metrics=metrics,
        resampling=plan,
        settings=Settings(ties=ties, workers=1),
    )
    return {
        (name, labels, model): (
            one.value,
            *(one.interval() if kind else ()),
            one.replicates,
        )
        for name in metrics
        for labels in ("hard", "soft")
        for model in sorted(world.models)
        for one in [done.estimate(model, name, labels=labels)]
    }


def same(one, other, near=1e-12):
    """Values are the same, to rounding; the ends of intervals to the steps of slopes."""
    assert one.keys() == other.keys()
    for key, (value, *ends, _) in one.items():
        assert_allclose(other[key][0], value, err_msg=str(key), rtol=0, atol=near)
        assert_allclose(other[key][1:-1], ends, err_msg=str(key), rtol=0, atol=1e-9)


@pytest.mark.parametrize("ties", ["half", "negative", "drop"])
@pytest.mark.parametrize("what", CHANGES)
@pytest.mark.parametrize("classes", [2, CLASSES])
def test_values_of_every_metric_of_labels(classes, what, ties):
    world = World(1, classes=classes)
    metrics = [one for one in UNORDERED if classes > 2 or "ovo" not in one]
    values = found(world, metrics, ties=ties)
    same(values, found(world.changed(what), metrics, ties=ties))
    assert np.isfinite([value for value, _ in values.values()]).any()


@pytest.mark.parametrize("ties", ["half", "negative", "drop"])
@pytest.mark.parametrize("what", ["rows", "items", "annotators", "models"])
def test_values_of_every_metric_of_a_yes_no_question(what, ties):
    world = World(7, kind="binary", classes=2)
    metrics = [one for one in [*UNORDERED, *OF_ONE] if "ovo" not in one]
    values = found(world, metrics, ties=ties)
    same(values, found(world.changed(what), metrics, ties=ties))


@pytest.mark.parametrize("what", ["rows", "items", "annotators", "models"])
def test_values_of_every_metric_of_grades(what):
    world = World(2, kind="ordinal")
    same(found(world, ORDERED), found(world.changed(what), ORDERED))


@pytest.mark.parametrize("name", ["mean_vote", "majority_vote", "dirichlet", "inverse_rank"])
@pytest.mark.parametrize("what", CHANGES)
def test_values_of_every_metric_of_draws(what, name):
    def by_model(world):
        made = aggregate.CATALOGUE[name](world.annotations)
        if name == "dirichlet":
            # exact probabilities stand; means of draws (hard labels) have a stream of their own
            every = found(world, OF_DRAWS[:1], truth=made.drawn(3, seed=0))
            return {key: value for key, value in every.items() if key[1] == "soft"}
        return found(world, OF_DRAWS, truth=replace(made, law=None))

    world = World(3)
    near = 1e-9 if name == "dirichlet" else 1e-12  # its prior is fitted, its top by quadrature
    same(by_model(world), by_model(world.changed(what)), near)


@pytest.mark.parametrize("kind", ["items", "panel", "items x panel", "influence"])
@pytest.mark.parametrize("what", CHANGES)
def test_resamples_belong_to_names(what, kind):
    world = World(4)
    one, other = (found(w, UNORDERED[:8], kind) for w in (world, world.changed(what)))
    near = 1e-12 if kind != "influence" else 1e-7  # normal by the root of a covariance
    for key, (*_, replicates) in one.items():
        assert_allclose(other[key][-1], replicates, err_msg=str(key), rtol=0, atol=near)


@pytest.mark.parametrize("what", ["items", "annotators"])
def test_the_name_of_a_plan_is_that_of_its_draws(what):
    world = World(4)
    one, other = (resample(w.annotations, seed=3) for w in (world, world.changed(what)))
    assert one.fingerprint == other.fingerprint
    assert one.fingerprint != resample(world.annotations, seed=4).fingerprint
    assert one.fingerprint != replace(one, items=(*one.items[:-1], "another")).fingerprint


@pytest.mark.parametrize("people", [5, 9])
def test_voters_beside_gold_are_drawn_by_their_names(people):
    """Two people gave nothing but gold; the others stand in any order, few or many."""
    called, random = names(people, "reader"), np.random.default_rng(people)
    drawn = []
    for order in (np.arange(people), random.permutation(people), random.permutation(people)):
        plan = Resampling(
            kind="panel", items=("a", "b"), replicates=40, annotators=people,
            voters=np.flatnonzero(order >= 2), ranks=order,
        )  # fmt: skip
        counts = plan.annotator_counts(0, 40)
        drawn.append({called[rank]: counts[place].tolist() for place, rank in enumerate(order)})
    assert drawn[0] == drawn[1] == drawn[2]
    assert not any(drawn[0][called[0]]) and any(drawn[0][called[2]])


def test_groups_are_drawn_by_the_items_they_hold():
    names, group = ("d", "b", "a", "c"), np.array([5, 1, 5, 2])
    order = np.array([2, 0, 3, 1])
    one = Resampling(kind="items", items=names, replicates=50, group=group)
    moved = tuple(names[i] for i in order)
    other = Resampling(kind="items", items=moved, replicates=50, group=np.array([3, 3, 8, 4]))
    assert one.fingerprint == other.fingerprint
    assert np.array_equal(one.item_counts(0, 50)[order], other.item_counts(0, 50))


@pytest.mark.parametrize("what", CHANGES)
def test_intervals(what):
    world = World(5)
    one, other = (found(w, UNORDERED, "items") for w in (world, world.changed(what)))
    same(one, other)


@pytest.mark.parametrize("what", ["rows", "items", "annotators", "classes"])
def test_agreement(what):
    world = World(6)

    def values(annotations):
        table = agreement_table(annotations, replicates=20)
        return {row.name: row.value for row in table.coefficients}

    one, other = values(world.annotations), values(world.changed(what).annotations)
    assert one and one.keys() == other.keys()
    for key, value in one.items():
        assert_allclose(other[key], value, err_msg=key, **CLOSE)
