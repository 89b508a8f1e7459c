"""Truths that do not bias: prior from the data, votes that were planned, models apart."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import minimize
from scipy.special import gammaln
from scipy.stats import norm

from equipoise import Annotations, InputError, Predictions, evaluate, resample
from equipoise.metrics import auroc, auroc_across_readers
from equipoise.study import Settings
from equipoise.study.analyses.truth_items import certainty_findings
from equipoise.truth import GladFit, dawid_skene, dirichlet, glad
from equipoise.truth.certainty import annotation_certainty
from equipoise.types import Plausibilities, added_votes, number


def codes(said):
    return {one.code for one in said}


def of_votes(table, **more):
    """Yes/no votes (items, annotators) as annotations."""
    items, people = table.shape
    return Annotations(
        kind="binary", items=tuple(f"i{i}" for i in range(items)), classes=("no", "yes"),
        annotators=tuple(f"reader {a}" for a in range(people)),
        item=np.repeat(np.arange(items), people), annotator=np.tile(np.arange(people), items),
        label=table.astype(int).ravel(), **more,
    )  # fmt: skip


def reading_study(random, items, readers):
    """Items and readers both at random: votes, scores and the shares of all readers."""
    z, w = random.standard_normal((2, items))
    lean, taste = 0.5 * random.standard_normal(readers), 0.4 * random.standard_normal(readers)
    noise = 0.8 * random.standard_normal((items, readers))
    votes = z[:, None] + w[:, None] * taste + lean + noise > 0.55
    score = z + 0.5 * w + 0.8 * random.standard_normal(items)
    share = norm.cdf((z - 0.55) / np.sqrt(0.16 * w**2 + 0.25 + 0.64))
    return votes, score, share


# ---- the prior ------------------------------------------------------------------------------


def test_the_prior_maximises_the_likelihood_of_all_votes():
    random = np.random.default_rng(0)
    shares = random.dirichlet([0.3, 0.6, 1.1], 400)
    counts = np.array([random.multinomial(3 + i % 3, row) for i, row in enumerate(shares)])

    def depth(log):
        shape = np.exp(log)
        whole, total = shape.sum(), counts.sum(axis=1)
        inside = gammaln(shape + counts) - gammaln(shape)
        height = (gammaln(whole) - gammaln(whole + total)).sum() + inside.sum()
        return 0.5 * np.log(whole) ** 2 - height

    best = np.exp(minimize(depth, np.zeros(3), method="BFGS").x)
    made = dirichlet(Annotations.from_counts(counts))
    assert made.parameters["concentration"] == pytest.approx(best.sum(), rel=1e-4)
    every = counts.sum()
    rate = (every * best / best.sum() + 1 / 3) / (every + 1)
    assert_allclose(made.parameters["base_rate"], rate, atol=1e-5)
    shape = made.parameters["concentration"] * np.array(made.parameters["base_rate"])
    expected = (counts + shape) / (counts + shape).sum(axis=1, keepdims=True)
    assert_allclose(made.mean, expected)
    assert "empirical prior: base rates 0.1" in made.method


@pytest.mark.parametrize("seed", range(8))
def test_nothing_near_the_prior_is_better(seed):
    """The height from its definition, item by item: flat where the prior is."""
    random = np.random.default_rng(seed)
    strength = np.exp(random.normal(0.7, 1))
    shares = random.dirichlet(np.full(3, strength / 3), 6 + 3 * seed)
    counts = np.array([random.multinomial(random.integers(1, 9), row) for row in shares])
    counts = np.concatenate([counts, np.eye(3, dtype=int)])

    def height(log):
        shape = np.exp(log)
        whole, found = shape.sum(), -0.5 * np.log(shape.sum()) ** 2
        for row in counts:
            found += gammaln(whole) - gammaln(whole + row.sum())
            found += (gammaln(shape + row) - gammaln(shape)).sum()
        return found

    made, every = dirichlet(Annotations.from_counts(counts)).parameters, counts.sum()
    rate = (np.array(made["base_rate"]) * (every + 1) - 1 / 3) / every  # before smoothing
    log = np.log(made["concentration"] * rate)
    slope = [(height(log + step) - height(log - step)) / 2e-4 for step in 1e-4 * np.eye(3)]
    assert_allclose(slope, 0, atol=1e-5)


def test_the_prior_is_found_again():
    random = np.random.default_rng(1)
    yes = random.binomial(5, random.beta(0.3, 1.5, 4000))
    table = Annotations.from_counts(np.stack([5 - yes, yes], axis=1)).against("1")
    found = dirichlet(table).parameters
    assert found["concentration"] == pytest.approx(1.8, rel=0.1)
    assert found["base_rate"][1] == pytest.approx(1 / 6, abs=0.015)


@pytest.mark.parametrize(
    ("counts", "low", "high"),
    [
        ([[1, 0], [0, 1], [1, 0]], 1.0, 1.0),  # nothing is seen of it
        ([[4, 0]] * 30, 1.0, 1.0),  # one class alone
        ([[4, 0], [0, 4]] * 30, 0.0, 0.2),  # all unanimous: items differ as far as they can
        ([[3, 2]], 0.5, 3.0),  # one item says little
        ([[2, 2]] * 200, 20.0, 1e4),  # items do not differ
    ],
)
def test_degenerate_votes_have_a_stated_prior(counts, low, high):
    made = dirichlet(Annotations.from_counts(np.array(counts)))
    assert low - 1e-9 <= made.parameters["concentration"] <= high + 1e-9
    assert ((made.certainty > 0.49) & (made.certainty <= 1)).all()
    assert (made.mean > 0).all()


def test_many_classes_share_an_even_base_rate():
    counts = np.eye(40, dtype=int)[:, ::-1] * 2 + np.eye(40, dtype=int)
    made = dirichlet(Annotations.from_counts(counts))
    assert "even over 40 classes" in made.method
    assert np.diff(made.start).max() == 2


def test_two_votes_can_make_an_item_certain():
    votes = np.repeat(
        np.array([[1, 1], [0, 0], [0, 0], [0, 0], [1, 0]]), [20, 20, 20, 20, 2], 0
    )
    table = of_votes(votes)
    assert dirichlet(table, prior="uniform").certainty.max() == pytest.approx(0.875)
    assert dirichlet(table).certainty.max() > 0.97
    found, _ = certainty_findings(table, dirichlet(table))
    assert "empirical prior: base rate" in dirichlet(table).method
    mean = dirichlet(table).certainty.mean()
    assert mean > 0.9 and number(mean) in found.sentence


def test_a_prior_does_not_pull_scores_to_chance():
    """Five votes: the uniform prior covers the truth never, the empirical one as votes do."""
    random = np.random.default_rng(2)
    _, score, share = reading_study(random, 200_000, 1)
    truth = auroc(share, score)
    covered, values = np.zeros(2), []
    for _ in range(40):
        votes, score, share = reading_study(random, 400, 5)
        votes = random.random(votes.shape) < share[:, None]  # exchangeable votes
        table = of_votes(votes)
        model = Predictions("cnn", table.items, score)
        value = []
        for k, prior in enumerate(("empirical", "uniform")):
            made = dirichlet(table, prior=prior)
            plan = resample(made, "items", replicates=100)
            done = evaluate(model, made, metrics=["auroc"], resampling=plan)
            estimate = done.estimate("cnn", "auroc")
            low, high = estimate.interval()
            covered[k] += low <= truth <= high
            value.append(estimate.value)
        assert value[0] == pytest.approx(auroc(votes.mean(axis=1), score))
        values.append(value)
    empirical, uniform = np.mean(values, axis=0)
    assert empirical == pytest.approx(truth, abs=0.01)
    assert uniform < truth - 0.06
    assert covered[0] >= 33 and covered[1] <= 2


def test_draws_that_models_are_scored_against_have_the_votes_as_their_mean():
    votes = np.random.default_rng(3).random((30, 4)) < 0.3
    made = dirichlet(of_votes(votes))
    assert_allclose(made.soft[:, 1], votes.mean(axis=1))
    drawn = made.centred().drawn(3000, seed=1)
    yes = np.mean([drawn.draw(number)[:, 1] for number in range(3000)], axis=0)
    assert_allclose(yes, votes.mean(axis=1), atol=0.03)
    asked = dirichlet(of_votes(votes), prior="uniform")
    assert_allclose(asked.soft, asked.mean)


def test_draws_on_demand_are_those_that_are_stored(monkeypatch):
    table = of_votes(np.random.default_rng(4).random((20, 3)) < 0.4)
    model = Predictions("cnn", table.items, np.linspace(0, 1, 20))
    stored = dirichlet(table).drawn(30, seed=2)
    before = evaluate(model, stored, metrics=["auroc"])
    monkeypatch.setattr("equipoise.types.plausibilities.STORED", 0)
    monkeypatch.setattr("equipoise.study.truth.KEPT_BYTES", 0)
    lazy = dirichlet(table).drawn(30, seed=2)
    assert (lazy.draws, len(lazy.mass)) == (30, 1)
    for place in range(30):
        assert_allclose(lazy.draw(place), stored.draw(place), atol=1e-15)
    assert_allclose(lazy.stored().mass, stored.mass, atol=1e-15)
    assert_allclose(annotation_certainty(lazy, 2).value, annotation_certainty(stored, 2).value)
    after = evaluate(model, lazy, metrics=["auroc"])
    assert_allclose(after.replicates[:, :, 1], before.replicates[:, :, 1], atol=1e-12)
    monkeypatch.setattr("equipoise.types.plausibilities.MOST_BYTES", 100)
    with pytest.raises(InputError, match="ask for at most"):
        lazy.stored()


# ---- models of annotators -------------------------------------------------------------------


def expected_unanimity(made: Plausibilities, people: int) -> float:
    """Share of items on which all agree, by summing over all answers."""
    confusion, posterior = made.skills.confusion, made.mean
    total = 0.0
    for k, answer in product(range(2), range(2)):
        same = np.prod([confusion[a, k, answer] for a in range(people)])
        total += posterior[:, k].mean() * same
    return total


def test_dawid_skene_expects_the_agreement_of_annotators_who_err_alone():
    random = np.random.default_rng(5)
    truth = random.random(800) < 0.3
    votes = random.random((800, 4)) < np.where(truth, 0.85, 0.1)[:, None]
    made = dawid_skene(of_votes(votes))
    found = made.unanimity
    assert found.expected == pytest.approx(expected_unanimity(made, 4), rel=1e-9)
    same = (votes == votes[:, :1]).all(axis=1).mean()
    assert found.observed == pytest.approx(same) and found.items == 800
    assert found.low <= found.observed <= found.high
    assert "unanimity" not in codes(made.notices)


def test_shared_difficulty_is_more_agreement_than_a_model_expects():
    random = np.random.default_rng(6)
    truth, hard = random.random(1500) < 0.5, random.random(1500) < 0.25
    chance = np.where(hard, 0.5, np.where(truth, 0.97, 0.03))
    table = of_votes(random.random((1500, 5)) < chance[:, None])
    made = dawid_skene(table)
    assert made.unanimity.observed > made.unanimity.high
    assert "unanimity" in codes(made.notices)
    assert made.unanimity == dawid_skene(table).unanimity


def test_rare_positives_decided_otherwise_are_told():
    random = np.random.default_rng(7)
    truth = np.arange(600) < 12
    careful = random.random((600, 2)) < np.where(truth, 0.95, 0.005)[:, None]
    careless = random.random((600, 3)) < np.where(truth, 0.35, 0.01)[:, None]
    votes = np.concatenate([careful, careless], axis=1)
    made = dawid_skene(of_votes(votes))
    by_vote = votes.mean(axis=1) > 0.5
    apart = (made.mean[:, 1] > 0.5) != by_vote
    assert apart.mean() < 0.02 and apart.sum() / by_vote.sum() > 0.05
    (said,) = [one for one in made.notices if one.code == "decided_otherwise"]
    assert said.values["lost"] + said.values["gained"] == apart.sum()
    assert said.values["many"] == by_vote.sum()


def test_glad_says_that_small_panels_put_it_off():
    random = np.random.default_rng(8)
    truth = random.random(60) < 0.5
    votes = random.random((60, 9)) < np.where(truth, 0.8, 0.2)[:, None]
    small, large = of_votes(votes[:, :4]), of_votes(votes)
    assert "cavi_off" in codes(glad(small).notices)
    assert not codes(glad(large).notices) & {"cavi_off", "few_draws"}
    few = glad(small, inference="gibbs", fit=GladFit(draws=200))
    more = glad(small, inference="gibbs", fit=GladFit(draws=1500))
    assert "few_draws" in codes(few.notices) and "few_draws" not in codes(more.notices)
    assert 0 < few.unanimity.expected < 1


# ---- readers --------------------------------------------------------------------------------


def across_readers(votes, score):
    """Every pair of items and of different readers, one by one."""
    above = every = 0.0
    items, readers = votes.shape
    number = (~np.isnan(votes)).sum(axis=1)
    for i, j in product(range(items), repeat=2):
        for r, s in product(range(readers), repeat=2):
            if i != j and r != s and votes[i, r] == 1 and votes[j, s] == 0:
                weight = 1 / number[i] / number[j]
                above += weight * ((score[i] > score[j]) + 0.5 * (score[i] == score[j]))
                every += weight
    return above / every


def test_pairs_of_one_reader_are_left_out():
    random = np.random.default_rng(9)
    votes, score, _ = reading_study(random, 30, 4)
    table, score = votes.astype(float), score.round(1)
    table[random.random(table.shape) < 0.2] = np.nan
    assert auroc_across_readers(table, score) == pytest.approx(across_readers(table, score))
    assert np.isnan(auroc_across_readers(np.ones((3, 2)), [1, 2, 3]))
    with pytest.raises(InputError, match="votes of 0, 1 or nan"):
        auroc_across_readers([[0.5, 1], [0, 1]], [1, 2])


def test_soft_auroc_across_readers_does_not_depend_on_their_number():
    random = np.random.default_rng(10)
    _, score, share = reading_study(random, 200_000, 1)
    truth = auroc(share, score)
    found = []
    for _ in range(150):
        votes, score, _ = reading_study(random, 300, 2)
        found.append((auroc(votes.mean(axis=1), score), auroc_across_readers(votes, score)))
    pairs, across = np.mean(found, axis=0)
    error = np.std(found, axis=0)[1] / np.sqrt(150)
    assert abs(across - truth) < 3 * error < pairs - across + 3 * error
    assert pairs > across


# ---- circularity ----------------------------------------------------------------------------


def test_a_model_that_is_an_annotator_is_refused_or_left_out():
    random = np.random.default_rng(11)
    votes = random.random((80, 3)) < 0.5
    table = replace(of_votes(votes), annotators=("ana", "bo", "ResNet"))
    named = Predictions("resnet", table.items, random.random(80))
    copied = Predictions("copy", table.items, votes[:, 1].astype(float))
    for model, who in ((named, "ResNet"), (copied, "bo")):
        with pytest.raises(InputError, match=rf"annotators who are models: '{who} ") as error:
            evaluate(model, table, metrics=["auroc"])
        assert "circular='drop'" in str(error.value)
        done = evaluate(model, table, metrics=["auroc"], settings=Settings(circular="drop"))
        assert "circular" in codes(done.notices)
        left = [a for a, name in enumerate(table.annotators) if name != who]
        expected = auroc(votes[:, left].mean(axis=1), model.values)
        assert done.estimate(model.model, "auroc").value == pytest.approx(expected)
    kept = evaluate(copied, table, metrics=["auroc"], settings=Settings(circular="keep"))
    assert "circular" in codes(kept.notices)
    assert kept.questions[0].votes.annotator.max() == 2
    noisy = np.where(np.arange(80) == 7, 1 - votes[:, 1], votes[:, 1]) * 0.8 + 0.1
    other = Predictions("other", table.items, noisy)
    assert "circular" not in codes(evaluate(other, table, metrics=["auroc"]).notices)
    few = table.rows(table.item < 15)
    short = Predictions("copy", table.items[:15], votes[:15, 1].astype(float))
    how = Settings(on_missing="drop")
    assert evaluate(short, few, metrics=["auroc"], settings=how).values.size


# ---- votes added after disagreement ---------------------------------------------------------


def collected(random, *, adaptive, items=300):
    """Two votes, and two more where the first differ, or at random."""
    item, label, time = [], [], []
    for i in range(items):
        votes = random.random(4) < random.beta(0.8, 1.2)
        more = votes[0] != votes[1] if adaptive else random.random() < 0.3
        number = 4 if more else 2
        item += [i] * number
        label += votes[:number].astype(int).tolist()
        time += range(number)
    return Annotations(
        kind="binary", items=tuple(f"i{i}" for i in range(items)), classes=("no", "yes"),
        item=np.array(item), label=np.array(label), timestamp=np.array(time),
    )  # fmt: skip


def test_votes_added_after_disagreement_are_told_and_can_be_left_out():
    random = np.random.default_rng(12)
    table = collected(random, adaptive=True)
    (said,) = added_votes(table)
    assert said.values["k"] == 2 and (said.values["more"], said.values["others"]) == (1, 0)
    assert "timestamps" in str(said) and "annotations.first_votes(2)" in str(said)
    first = table.first_votes(2)
    assert (np.bincount(first.item) == 2).all() and not added_votes(first)
    model = Predictions("cnn", table.items, random.random(300))
    assert "added_votes" in codes(evaluate(model, table, metrics=["auroc"]).notices)
    assert "first_votes" in codes(evaluate(model, first, metrics=["auroc"]).notices)


def test_votes_added_at_random_are_not_told():
    random = np.random.default_rng(13)
    assert not any(added_votes(collected(random, adaptive=False)) for _ in range(60))


def test_timestamps_decide_what_comes_first_and_else_the_rows():
    table = Annotations(
        kind="binary", items=("a", "b"), classes=("no", "yes"), item=np.array([0, 1, 0, 0]),
        label=np.array([1, 1, 0, 1]), timestamp=np.array([9, 1, 3, 5]),
    )  # fmt: skip
    assert table.vote_places.tolist() == [2, 0, 0, 1]
    assert table.first_votes(1).label.tolist() == [1, 0]
    rows = replace(table, timestamp=None)
    assert rows.vote_places.tolist() == [0, 0, 1, 2]
    assert "the order of the rows" in str(rows.first_votes(1).notices[-1])
    ranked = Annotations.from_rankings([[[[0], [1]], [[2]]]], classes=["a", "b", "c"])
    assert ranked.first_votes(1).label.tolist() == [0, 1]
    with pytest.raises(InputError, match="which have no order"):
        Annotations.from_counts(np.array([[2, 1]])).first_votes(1)
