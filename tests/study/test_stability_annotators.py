"""Leaving annotators and votes out: golden folds, loops written by hand, known truths."""

import os
from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose

from equipoise.metrics import auroc
from equipoise.study import Settings
from equipoise.study.questions import ask
from equipoise.types import InputError, Predictions
from tests.oracles import bootstrap
from tests.strategies import names

RANDOM = np.random.default_rng(3)
ITEMS = 40
TRUTH = RANDOM.random(ITEMS) < 0.4
VOTES = np.where(RANDOM.random((ITEMS, 5)) < 0.8, TRUTH[:, None], ~TRUTH[:, None]).astype(float)
GAPS = np.where(RANDOM.random(VOTES.shape) < 0.5, np.nan, VOTES)
GAPS[np.isnan(GAPS).all(axis=1), 0] = 1
SCORES = [TRUTH + RANDOM.normal(0, s, ITEMS) for s in (0.5, 0.8, 1.5)]


def models(scores=SCORES, items=ITEMS):
    return [Predictions(f"model-{m}", names(items), s) for m, s in enumerate(scores)]


def test_halves_share_nobody_and_are_scored_by_their_votes_alone():
    truth = bootstrap.annotations(VOTES)
    found = ask("half_panels", models(), truth, metrics=["auroc"])
    assert len(found.outcomes) == 10
    for first, second in zip(found.outcomes[::2], found.outcomes[1::2], strict=True):
        halves = []
        for outcome in (first, second):
            people = outcome.facts["annotators"].split(" and ")
            codes = [truth.annotators.index(name) for name in people]
            halves.append(set(codes))
            assert len(codes) == 2 and outcome.facts["votes"] == 2 * ITEMS
            values = {line.competitor: line.value for line in outcome.lines}
            share = VOTES[:, codes].mean(axis=1)
            for model, score in zip(models(), SCORES, strict=True):
                assert_allclose(values[model.model], auroc(share, score), atol=1e-12)
        assert not halves[0] & halves[1]
    assert len({outcome.facts["annotators"] for outcome in found.outcomes}) > 4


def test_halves_do_not_depend_on_the_order_of_annotators():
    truth = bootstrap.annotations(VOTES)
    turned = replace(truth, annotators=truth.annotators[::-1], annotator=4 - truth.annotator)
    found, again = (
        ask("half_panels", models(), votes, metrics=["auroc"]) for votes in (truth, turned)
    )
    assert [one.facts for one in found.outcomes] == [one.facts for one in again.outcomes]


def test_too_few_to_be_halved_is_said():
    for votes in (
        bootstrap.annotations(VOTES[:, :3]),
        bootstrap.annotations(VOTES).anonymous(),
    ):
        with pytest.raises(InputError, match="expected at least 4 annotators with ids"):
            ask("half_panels", models(), votes, metrics=["auroc"])


@pytest.mark.skipif("EQUIPOISE_DATA" not in os.environ, reason="needs EQUIPOISE_DATA")
def test_chexpert_hangs_on_no_single_radiologist():
    from equipoise.datasets import load_chexpert

    study = load_chexpert()
    edema = [one for one in study.predictions if one.task == "Edema"]
    how = Settings(on_missing="drop")
    found = ask("leave_one_out", edema, study.annotations, metrics=["auroc"], settings=how)
    assert len(found.lines) == 8 * 10 and found.verdict.startswith("No")
    assert min(line.spearman for line in found.lines) > 0.8
    assert max(abs(line.change) for line in found.lines) < 0.02
    kappa = [outcome.facts["kappa"] for outcome in found.outcomes]
    assert min(kappa) > 0.7 and max(kappa) < 1
