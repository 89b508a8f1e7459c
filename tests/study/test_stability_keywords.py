"""What analyses refuse, and how their sentences read."""

import numpy as np
import pytest

from equipoise.types import InputError, Predictions
from tests.analysed import panel_size, rank_stability, variance_components
from tests.oracles import bootstrap
from tests.strategies import names

RANDOM = np.random.default_rng(2)
VOTES = (RANDOM.random((30, 4)) < 0.5) * 1.0
MODEL = Predictions("one", names(30), RANDOM.random(30))
TRUTH = bootstrap.annotations(VOTES)
OTHER = Predictions("two", names(30), 1 - MODEL.values)
WRONG = {
    "metric": ("nope", "topk_accuracy"),
    "labels": (3, "x", ["soft"]),
    "replicates": (-1, 0),
    "level": (0, 1, 2, -0.5),
    "task": (3, "nope"),
    "on_missing": (3, "x", None),
}


@pytest.mark.parametrize("analysis", [panel_size, rank_stability])
def test_wrong_keywords_are_refused_in_four_parts(analysis):
    for name, value in ((name, value) for name, values in WRONG.items() for value in values):
        with pytest.raises(InputError, match=r".+: .+, expected .+; .+") as error:
            analysis([MODEL, OTHER], TRUTH, **{name: value})
        assert all((error.value.where, error.value.got, error.value.expected, error.value.do))


def test_components_refuse_what_they_can_not_use():
    for name in ("metric", "labels"):
        for value in WRONG[name]:
            with pytest.raises(InputError, match=r".+: .+, expected .+; .+"):
                variance_components([MODEL, OTHER], TRUTH, **{name: value})


def test_truths_of_something_else_are_refused():
    with pytest.raises(InputError, match=r"truth: .+, expected .+; .+"):
        rank_stability([MODEL, OTHER], [3])


def test_sentences_for_users_have_no_code_in_them():
    done = panel_size(MODEL, TRUTH, replicates=4)
    for sentence in (done.finding, *map(str, done.report().notices)):
        assert not any(mark in sentence for mark in ("='", "()", "=None", "_", "nan"))
        assert sentence.endswith(".")
        nouns = ("model", "annotator", "expert", "item")
        assert not any(f" 1 {noun}s" in sentence for noun in nouns)


def test_a_single_annotator_is_no_panel():
    alone = VOTES.copy()
    alone[:, 1:] = np.nan
    with pytest.raises(InputError, match="panel size: 1 annotator, expected"):
        panel_size(MODEL, bootstrap.annotations(alone))
