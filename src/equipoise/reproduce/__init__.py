"""Reproductions: published numbers recomputed from raw data. One file each."""

from collections.abc import Callable, Mapping

from equipoise.reproduce import (
    chexpert_leaderboard,
    cifar10h_certainty,
    cifar10n_label_errors,
    dermatology_ddx,
)
from equipoise.reproduce._reproduction import Reproduction, Tell

CATALOGUE: Mapping[str, Callable[[Tell], Reproduction]] = {
    "chexpert-leaderboard": chexpert_leaderboard.reproduce,
    "cifar10h-certainty": cifar10h_certainty.reproduce,
    "cifar10n-label-errors": cifar10n_label_errors.reproduce,
    "dermatology-ddx": dermatology_ddx.reproduce,
}

__all__ = ["CATALOGUE", "Reproduction", "Tell"]
