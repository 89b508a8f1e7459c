"""Obuchowski and Rockette's analysis: a published example, and agreement with two-way t."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from equipoise import Annotations, InputError, Predictions, evaluate
from equipoise.inference import obuchowski_rockette
from equipoise.inference.resampling import resample
from equipoise.study import Settings
from tests.strategies import names

# Van Dyke and others (1993), 2 treatments and 5 readers, as OR-DBM MRMC 2.51 prints it
THETA = np.array(
    [
        [0.91964573, 0.85877617, 0.90386473, 0.97310789, 0.82979066],
        [0.94782609, 0.90531401, 0.92173913, 0.99935588, 0.92995169],
    ]
)
ERROR, COV1, COV2, COV3 = 0.00080229, 0.00034661, (0.00048396, 0.00020419), 0.00023903
# how far values may be apart, mean standard errors (as a ratio), and t
METRICS = {"brier_score": (1e-12, 0.01, 0.2), "auroc": (0.025, 0.1, 0.6)}


def van_dyke():
    covariance = np.empty((2, 5, 2, 5))
    same = np.eye(5, dtype=bool)
    for a in range(2):
        for b in range(2):
            own, others = (ERROR, COV2[a]) if a == b else (COV1, COV3)
            covariance[a, :, b, :] = np.where(same, own, others)
    return covariance


def test_the_published_example():
    from scipy.stats import t

    made = obuchowski_rockette(THETA, van_dyke())
    gap, error, df = made.values[0] - made.values[1], made.variance[0, 1] ** 0.5, made.df[0, 1]
    assert gap == pytest.approx(-0.04380, abs=5e-6)
    assert error == pytest.approx(0.02075, abs=5e-6)
    assert df == pytest.approx(15.26, abs=0.005)
    ends = gap + np.array([-1, 1]) * t.ppf(0.975, df) * error
    assert_allclose(ends, [-0.08796, 0.00036], atol=6e-6)
    assert_allclose(np.diag(made.variance) ** 0.5, [0.03317360, 0.02156637], atol=1e-7)
    assert_allclose(np.diag(made.df), [12.74, 12.71], atol=0.005)
    assert_allclose(made.variance, made.variance.T)
    assert_allclose(made.df, made.df.T)


# Zanca and others, Medical Physics 36 (2009): 5 treatments and 4 readers, 200 cases, AUC by the
# trapezoidal rule, as OR-DBM MRMC 2.51 prints them (RJafroc, inst/Iowa/FedRoc.txt)
ZANCA = np.array(
    [
        [0.90425, 0.79820, 0.81175, 0.86645],
        [0.86425, 0.84470, 0.82050, 0.87160],
        [0.81295, 0.81635, 0.75275, 0.85730],
        [0.90235, 0.83150, 0.78865, 0.87980],
        [0.84140, 0.77300, 0.77115, 0.84800],
    ]
)
ZANCA_COV2 = (0.00021119, 0.00026649, 0.00024646, 0.00022043, 0.00022200)


def test_a_second_published_study_of_five_treatments():
    from scipy.stats import t

    same, covariance = np.eye(4, dtype=bool), np.empty((5, 4, 5, 4))
    for a in range(5):
        for b in range(5):
            own, others = (0.00078912, ZANCA_COV2[a]) if a == b else (0.00029480, 0.00021213)
            covariance[a, :, b, :] = np.where(same, own, others)
    made = obuchowski_rockette(ZANCA, covariance)
    assert_allclose(made.values, [0.8451625, 0.8502625, 0.8098375, 0.850575, 0.8083875])
    assert_allclose(
        np.diag(made.variance) ** 0.5,
        [0.02857824, 0.01992816, 0.02664789, 0.02940870, 0.02575835],
        atol=2e-7,
    )
    assert_allclose(np.diag(made.df), [5.46, 27.72, 7.04, 5.40, 6.78], atol=0.006)
    pairs = np.triu_indices(5, 1)
    gaps = (made.values[:, None] - made.values)[pairs]
    published = [-510, 3533, -541, 3678, 4042, -31, 4187, -4074, 145, 4219]
    assert_allclose(gaps, np.array(published) / 1e5, atol=6e-6)
    error = made.variance[pairs].mean() ** 0.5  # published: of all pairs together
    assert error == pytest.approx(0.01654, abs=6e-6)
    square = np.mean(
        [(ZANCA[a] - ZANCA[b]).var(ddof=1) / 2 for a, b in zip(*pairs, strict=True)]
    )
    assert square == pytest.approx(0.00046221, abs=6e-9)
    df = (2 * error**2) ** 2 / square**2 * 12  # error term: readers / 2 times the variance
    assert df == pytest.approx(16.80, abs=0.02)
    half = t.ppf(0.975, df) * error
    assert_allclose([gaps[0] - half, gaps[0] + half], [-0.04002, 0.02982], atol=2e-5)
    assert 2 * t.sf(gaps[9] / error, df) == pytest.approx(0.0208, abs=1e-4)


def test_readers_that_share_less_than_nothing_share_nothing():
    covariance = van_dyke()
    covariance[0, :, 1, :] = covariance[1, :, 0, :] = 1.0  # Cov3 above Cov2
    made = obuchowski_rockette(THETA, covariance)
    assert made.variance[0, 1] == pytest.approx((THETA[0] - THETA[1]).var(ddof=1) / 5)
    assert made.df[0, 1] == pytest.approx(4)


def study(seed, items=150, people=6):
    """Items and annotators with leanings and tastes; two models that see different things."""
    random = np.random.default_rng(seed)
    z, w = random.standard_normal((2, items))
    lean, taste = 0.5 * random.standard_normal(people), 0.4 * random.standard_normal(people)
    noise = 0.8 * random.standard_normal((items, people))
    yes = z[:, None] + w[:, None] * taste + lean + noise > 0.4
    item, annotator = (axis.ravel() for axis in np.indices(yes.shape))
    votes = Annotations(
        kind="binary", items=names(items), classes=("no", "yes"), label=yes.ravel().astype(int),
        annotators=names(people, "p"), item=item, annotator=annotator,
    )  # fmt: skip
    seen = [z + sign * w + 0.6 * random.standard_normal(items) for sign in (0.5, -0.5)]
    scores = [1 / (1 + np.exp(0.4 - one)) for one in seen]
    made = [Predictions(f"m{k}", names(items), s) for k, s in enumerate(scores)]
    return votes, made


def test_differences_agree_with_two_way_t():
    """Exactly where a metric is linear in votes; AUROC by each reader is another scale."""
    found = {(how, name): [] for how in ("two-way", "per_reader_truth") for name in METRICS}
    for seed in range(30):
        votes, models = study(seed)
        plan = resample(votes, "items", replicates=1)
        for how in ("two-way", "per_reader_truth"):
            settings = Settings(inference=how)
            done = evaluate(
                models, votes, metrics=list(METRICS), resampling=plan, settings=settings
            )
            for name in METRICS:
                (one,) = done.differences(name, labels="soft")
                found[how, name].append((one.value, one.standard_error, one.p))
    for name, (values, errors, t) in METRICS.items():
        two, reader = (np.array(found[how, name]) for how in ("two-way", "per_reader_truth"))
        assert_allclose(reader[:, 0], two[:, 0], atol=values)
        ratio = reader[:, 1] / two[:, 1]
        assert np.exp(np.log(ratio).mean()) == pytest.approx(1, abs=errors)
        assert_allclose(reader[:, 0] / reader[:, 1], two[:, 0] / two[:, 1], atol=t)
        assert ((two[:, 2] < 0.05) == (reader[:, 2] < 0.05)).mean() >= 0.95


def test_what_it_cannot_take_is_refused():
    votes, models = study(0, items=20)
    how = Settings(inference="per_reader_truth")
    nobody = Annotations(
        kind="binary", items=votes.items, classes=votes.classes, item=votes.item,
        label=votes.label,
    )  # fmt: skip
    with pytest.raises(InputError, match="named annotators"):
        evaluate(models, nobody, metrics=["auroc"], settings=how)
    one = votes.annotator == 0
    alone = Annotations(
        kind="binary", items=votes.items, classes=votes.classes, item=votes.item[one],
        label=votes.label[one], annotators=("p0",), annotator=votes.annotator[one],
    )  # fmt: skip
    with pytest.raises(InputError, match="annotators"):
        evaluate(models, alone, metrics=["auroc"], settings=how)


def test_two_annotators_allow_no_verdict():
    random = np.random.default_rng(5)
    items = tuple(f"item-{i}" for i in range(60))
    evidence = random.standard_normal(60)
    said = (evidence[:, None] + random.normal(0, 0.7, (60, 2)) > 0.2).astype(int)
    votes = Annotations(
        kind="binary", items=items, classes=("no", "yes"), annotators=("ana", "bo"),
        item=np.repeat(np.arange(60), 2), annotator=np.tile([0, 1], 60), label=said.ravel(),
    )  # fmt: skip
    models = [
        Predictions(f"net-{m}", items, evidence + random.normal(0, 0.5 + m, 60))
        for m in range(4)
    ]
    for how in (Settings(inference="per_reader_truth"), Settings(items="fixed"), Settings()):
        done = evaluate(models, votes, metrics=["auroc"], settings=how)
        assert not done.population.decides
        assert not any(one.separated for one in done.differences("auroc"))
