"""Keywords of wrong types and ranges: every analysis refuses them in four parts."""

import math

import numpy as np
import pytest

from equipoise.analyses.experts import experts
from equipoise.analyses.panel_size import panel_size
from equipoise.analyses.ranking import rank_stability
from equipoise.analyses.subgroups import Attributes, subgroups
from equipoise.arrays import InputError
from equipoise.predictions import Predictions
from tests.oracles import bootstrap
from tests.strategies import names

RANDOM = np.random.default_rng(2)
VOTES = (RANDOM.random((30, 4)) < 0.5) * 1.0
MODEL = Predictions("one", names(30), RANDOM.random(30))
TRUTH = bootstrap.annotations(VOTES)
KNOWN = Attributes(items=names(30), columns=("side",), levels=(("a", "b"),),
                   codes=np.arange(30)[None] % 2)  # fmt: skip
WRONG = {
    "metric": (3, None, ["auroc"], "nope", True, "topk_accuracy"),
    "labels": (3, None, "x", ["soft"]),
    "replicates": ("9", 2.5, True, None, -1, 0, 1, math.nan),
    "seed": ("1", 2.5, True, None, -1, math.nan),
    "level": ("x", None, True, 0, 1, 2, math.nan, -0.5),
    "task": (3, "nope"),
    "on_missing": (3, "x"),
    "progress": (3,),
    "k": (3,),
}


def by_side(predictions, annotations, **how):
    return subgroups(predictions, annotations, KNOWN, **how)


@pytest.mark.parametrize("analysis", [experts, panel_size, by_side])
@pytest.mark.parametrize(("name", "value"), [(k, v) for k, all_ in WRONG.items() for v in all_])
def test_wrong_keywords_are_refused(analysis, name, value):
    with pytest.raises(InputError) as error:
        analysis(MODEL, TRUTH, **{name: value})
    assert all((error.value.where, error.value.got, error.value.expected, error.value.do))


@pytest.mark.parametrize("analysis", [experts, panel_size, by_side])
def test_what_is_no_prediction_or_annotation_is_refused(analysis):
    for predictions in (3, None, [3], [], "x"):
        with pytest.raises(InputError):
            analysis(predictions, TRUTH)
    for annotations in (3, None, "votes.csv", VOTES):
        with pytest.raises(InputError, match="annotations"):
            analysis(MODEL, annotations)


@pytest.mark.parametrize("analysis", [experts, panel_size, by_side])
def test_sentences_for_users_have_no_code_in_them(analysis):
    done = analysis(MODEL, TRUTH, replicates=4)
    for said in (done.finding, *map(str, done.notices)):
        assert not any(mark in said for mark in ("='", "()", "=None", "_", "nan"))
        assert said.endswith(".")


def test_findings_count_in_the_right_number():
    for analysis in (experts, panel_size, by_side):
        said = analysis(MODEL, TRUTH, replicates=4).finding
        assert not any(
            f" 1 {noun}s" in said for noun in ("model", "annotator", "expert", "item")
        )
    alone = VOTES.copy()
    alone[:, 1:] = np.nan
    with pytest.raises(InputError, match="1 annotator with votes"):
        experts(MODEL, bootstrap.annotations(alone))
    with pytest.raises(InputError, match="panel size: 1 annotator, expected"):
        panel_size(MODEL, bootstrap.annotations(alone))


@pytest.mark.parametrize("kinds", [3, 0, True, 2.5, "items", [3], [None], ["nope"], []])
def test_kinds_of_redrawing_of_a_wrong_type_are_refused(kinds):
    other = Predictions("two", names(30), 1 - MODEL.values)
    with pytest.raises(InputError, match=r"kind.*: .*, expected .*; "):
        rank_stability([MODEL, other], TRUTH, kinds=kinds, replicates=3)
