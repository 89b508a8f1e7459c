"""Keywords of wrong types and ranges: every analysis refuses them in four parts."""

import math

import numpy as np
import pytest

from equipoise.study.analyses.ranking import rank_stability
from equipoise.types.arrays import InputError
from equipoise.types.predictions import Predictions
from tests.analysed import panel_size, variance_components
from tests.oracles import bootstrap
from tests.strategies import names

RANDOM = np.random.default_rng(2)
VOTES = (RANDOM.random((30, 4)) < 0.5) * 1.0
MODEL = Predictions("one", names(30), RANDOM.random(30))
TRUTH = bootstrap.annotations(VOTES)
OTHER = Predictions("two", names(30), 1 - MODEL.values)
WRONG = {
    "metric": (3, None, ["auroc"], "nope", True, "topk_accuracy"),
    "labels": (3, "x", ["soft"]),
    "replicates": ("9", 2.5, True, None, -1, 0, math.nan),
    "seed": ("1", 2.5, True, None, -1, math.nan),
    "level": ("x", None, True, 0, 1, 2, math.nan, -0.5),
    "task": (3, "nope"),
    "on_missing": (3, "x", None),
    "progress": (3,),
    "settings": (3, {"level": 0.9}),
    "k": (3,),
}
OWN = {
    rank_stability: {"kind": ("nope",), "metrics": ("auroc", [3], 3)},
}


SINGLE = (panel_size,)
EVERY = (*SINGLE, *OWN)


@pytest.mark.parametrize("analysis", EVERY)
def test_wrong_keywords_are_refused_in_four_parts(analysis):
    own = OWN.get(analysis, {}) | ({"replicates": (1,)} if analysis in SINGLE else {})
    wrong = [(k, v) for table in (WRONG, own) for k, values in table.items() for v in values]
    for name, value in wrong:
        with pytest.raises(InputError, match=r".+: .+, expected .+; .+") as error:
            analysis([MODEL, OTHER], TRUTH, **{name: value})
        assert all((error.value.where, error.value.got, error.value.expected, error.value.do))


@pytest.mark.parametrize("analysis", EVERY)
def test_what_is_no_prediction_or_annotation_is_refused(analysis):
    for predictions in (3, None, [3], [], "x", ["x"]):
        with pytest.raises(InputError, match=r".+: .+, expected .+; .+"):
            analysis(predictions, TRUTH)
    said = "truth"
    for annotations in (3, None, "votes.csv", VOTES):
        with pytest.raises(InputError, match=rf"(?s){said}.*: .+, expected .+; .+"):
            analysis([MODEL, OTHER], annotations)


def test_components_refuse_what_they_can_not_use():
    for name, values in (WRONG | {"settings": (3, {"level": 0.9})}).items():
        if name in ("metric", "labels", "settings"):
            for value in values:
                with pytest.raises(InputError, match=r".+: .+, expected .+; .+"):
                    variance_components([MODEL, OTHER], TRUTH, **{name: value})


def test_truths_of_something_else_are_refused():
    with pytest.raises(InputError, match=r"truth: .+, expected .+; .+"):
        rank_stability([MODEL, OTHER], [3])


@pytest.mark.parametrize("analysis", [panel_size])
def test_sentences_for_users_have_no_code_in_them(analysis):
    done = analysis(MODEL, TRUTH, replicates=4)
    for said in (done.finding, *map(str, done.notices)):
        assert not any(mark in said for mark in ("='", "()", "=None", "_", "nan"))
        assert said.endswith(".")


def test_findings_count_in_the_right_number():
    said = panel_size(MODEL, TRUTH, replicates=4).finding
    assert not any(f" 1 {noun}s" in said for noun in ("model", "annotator", "expert", "item"))
    alone = VOTES.copy()
    alone[:, 1:] = np.nan
    with pytest.raises(InputError, match="panel size: 1 annotator, expected"):
        panel_size(MODEL, bootstrap.annotations(alone))
