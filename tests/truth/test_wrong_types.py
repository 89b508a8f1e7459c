"""A value of a wrong type is refused by the name of its argument, in every function."""

import inspect

import numpy as np
import pytest

import equipoise.truth
from equipoise.truth import plackett_luce
from equipoise.types import Annotations, InputError, refusing_wrong_types

FUNCTIONS = [
    name for name in equipoise.truth.__all__
    if inspect.isfunction(getattr(equipoise.truth, name))
]  # fmt: skip
VOTES = Annotations(
    kind="binary", items=("a", "b"), classes=("no", "yes"), annotators=("r", "s"),
    item=np.array([0, 0, 1, 1]), annotator=np.array([0, 1, 0, 1]), label=np.array([1, 0, 1, 1]),
)  # fmt: skip
RANKED = Annotations.from_rankings([[[["x"], ["y"]], [["y"]]]], classes=["x", "y", "z"])


@pytest.mark.parametrize("wrong", [None, 3, [1, 2], object(), {"a": 1, "b": 2}],
                         ids=["none", "number", "list", "object", "dict"])  # fmt: skip
@pytest.mark.parametrize("name", FUNCTIONS)
def test_whatever_is_wrong_is_refused_by_name(name, wrong):
    function = getattr(equipoise.truth, name)
    parameters = inspect.signature(function).parameters.values()
    needed = {p.name: wrong for p in parameters
              if p.default is p.empty and p.kind is not p.VAR_KEYWORD}  # fmt: skip
    with pytest.raises(InputError):
        function(**needed)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_settings_of_a_wrong_type_are_refused_by_name(name):
    function = getattr(equipoise.truth, name)
    first, *rest = inspect.signature(function).parameters.values()
    if first.name != "annotations" or any(p.default is p.empty for p in rest):
        return
    for parameter in rest:
        for wrong in (object(), [object()]):
            with pytest.raises(InputError) as refused:
                function(VOTES, **{parameter.name: wrong})
            assert refused.value.where


def test_draws_and_burn_in_are_said_without_a_chain():
    truth = plackett_luce(RANKED, draws=20, burn_in=5, seed=1)
    assert truth.draws == 20 and truth.parameters["burn_in"] == 5
    same = plackett_luce(RANKED, chain=equipoise.truth.Chain(draws=20, burn_in=5, seed=1))
    assert np.array_equal(truth.mass, same.mass)
    with pytest.raises(InputError, match="burnin"):
        plackett_luce(RANKED, burnin=3)


def test_errors_that_no_argument_explains_stay_what_they_are():
    @refusing_wrong_types
    def broken(number: int) -> int:
        return number + None

    with pytest.raises(TypeError, match="unsupported operand"):
        broken(3)
    with pytest.raises(
        InputError, match=r"broken, number: 'x' \(str\), expected a whole number"
    ):
        broken("x")
