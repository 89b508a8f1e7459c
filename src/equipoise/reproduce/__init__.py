"""Reproductions: published numbers recomputed from raw data. One file each."""

from collections.abc import Callable, Mapping

from equipoise.reproduce import chexpert_leaderboard
from equipoise.reproduce._reproduction import Reproduction

CATALOGUE: Mapping[str, Callable[[], Reproduction]] = {
    "chexpert-leaderboard": chexpert_leaderboard.reproduce,
}

__all__ = ["CATALOGUE", "Reproduction"]
