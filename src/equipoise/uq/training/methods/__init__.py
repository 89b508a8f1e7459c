"""The methods of uncertainty: a file for each kind, one catalogue.

Examples
--------
>>> from equipoise.uq.training.methods import METHODS
>>> METHODS["deep_ensemble"].members
5
"""

from dataclasses import fields, replace

from equipoise.types import InputError, nearest
from equipoise.uq.training.methods.attention import GumbelAttention, MaskedAttention
from equipoise.uq.training.methods.heads import (
    BetaEdl,
    CorrectnessPrediction,
    DeepEnsemble,
    LossPrediction,
    ShallowEnsemble,
)
from equipoise.uq.training.methods.method import Method
from equipoise.uq.training.methods.noise import HetNn, HetXl, McDropout
from equipoise.uq.training.methods.post_hoc import Ddu, Swag, TemperatureScaling

__all__ = ["METHODS", "method_of", "quick"]

METHODS: dict[str, Method] = {
    "baseline": Method(),
    "het_xl": HetXl(),
    "swag": Swag(),
    "mc_dropout": McDropout(),
    "het_nn": HetNn(),
    "deep_ensemble": DeepEnsemble(),
    "shallow_ensemble": ShallowEnsemble(),
    "beta_edl": BetaEdl(),
    "masked_attention": MaskedAttention(),
    "gumbel_attention": GumbelAttention(),
    "loss_prediction": LossPrediction(),
    "correctness_prediction": CorrectnessPrediction(),
    "temperature_scaling": TemperatureScaling(),
    "ddu": Ddu(),
}


def method_of(name: str) -> Method:
    """A method by its name in the catalogue."""
    if name not in METHODS:
        raise InputError(
            "method", repr(name), f"one of {', '.join(METHODS)}", nearest(name, METHODS)
        )
    return METHODS[name]


def quick(method: Method) -> Method:
    """The same method for tiny networks: fewer noise samples, a narrow side head.

    Examples
    --------
    >>> quick(METHODS["het_xl"]).samples, quick(METHODS["loss_prediction"]).width
    (50, 64)
    """
    small = {"samples": 50, "width": 64}
    names = {field.name for field in fields(method)}
    return replace(method, **{name: size for name, size in small.items() if name in names})
