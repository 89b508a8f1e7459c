"""Reproductions: published numbers recomputed from raw data. One file each.

A reproduction is a module with a function ``reproduce(tell)``. `CATALOGUE` names its module,
which is loaded when it is needed, because an annex of the product may be its home.
"""

from collections.abc import Mapping
from importlib import import_module

from equipoise.datasets.reproduce._reproduction import Reproduction, Tell, silent

CATALOGUE: Mapping[str, str] = {
    "chexpert-leaderboard": "equipoise.datasets.reproduce.chexpert_leaderboard",
    "cifar10h-certainty": "equipoise.datasets.reproduce.cifar10h_certainty",
    "cifar10n-label-errors": "equipoise.clean.cifar10n_label_errors",
    "dermatology-ddx": "equipoise.datasets.reproduce.dermatology_ddx",
}


def recompute(name: str, tell: Tell = silent) -> Reproduction:
    """Recompute a published result of the catalogue."""
    reproduction: Reproduction = import_module(CATALOGUE[name]).reproduce(tell)
    return reproduction


def describe(name: str) -> str:
    """The first line about a result of the catalogue."""
    return (import_module(CATALOGUE[name]).__doc__ or "").partition("\n")[0]


__all__ = ["CATALOGUE", "Reproduction", "Tell", "describe", "recompute"]
