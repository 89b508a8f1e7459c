"""What analyses refuse, and how their sentences read."""

import numpy as np
import pytest

from equipoise.types import InputError, Predictions
from tests.analysed import rank_stability, variance_components
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


def test_wrong_keywords_are_refused_in_four_parts():
    for name, value in ((name, value) for name, values in WRONG.items() for value in values):
        with pytest.raises(InputError, match=r".+: .+, expected .+; .+") as error:
            rank_stability([MODEL, OTHER], TRUTH, **{name: value})
        assert all((error.value.where, error.value.got, error.value.expected, error.value.do))


def test_components_refuse_what_they_can_not_use():
    for name in ("metric", "labels"):
        for value in WRONG[name]:
            with pytest.raises(InputError, match=r".+: .+, expected .+; .+"):
                variance_components([MODEL, OTHER], TRUTH, **{name: value})


def test_truths_of_something_else_are_refused():
    with pytest.raises(InputError, match=r"truth: .+, expected .+; .+"):
        rank_stability([MODEL, OTHER], [3])
