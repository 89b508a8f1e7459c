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
