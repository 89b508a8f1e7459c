"""Public data sets: find or fetch, verify, return the types. One file each.

Files are looked for in the folder that ``EQUIPOISE_DATA`` names, then in the user's cache, and
else downloaded from the public repository they come from, where there is one; hashes are
pinned.
"""

from collections.abc import Callable, Mapping

from equipoise.datasets import chexpert as _chexpert
from equipoise.datasets import cifar10h as _cifar10h
from equipoise.datasets import dermatology_ddx as _dermatology_ddx
from equipoise.datasets import sleep_dodh as _sleep_dodh
from equipoise.datasets._store import Dataset, File, Source, fetched, located
from equipoise.datasets.chexpert import chexpert
from equipoise.datasets.cifar10h import cifar10h
from equipoise.datasets.dermatology_ddx import DermatologyDataset, dermatology_ddx
from equipoise.datasets.sleep_dodh import sleep_dodh

CATALOGUE: Mapping[str, Source] = {
    source.name: source
    for source in (
        _chexpert.SOURCE,
        _cifar10h.SOURCE,
        _dermatology_ddx.SOURCE,
        _sleep_dodh.SOURCE,
    )
}
LOADERS: Mapping[str, Callable[[], Dataset]] = {
    name: source.load for name, source in CATALOGUE.items() if source.load is not None
}

__all__ = [
    "CATALOGUE",
    "LOADERS",
    "Dataset",
    "DermatologyDataset",
    "File",
    "Source",
    "chexpert",
    "cifar10h",
    "dermatology_ddx",
    "fetched",
    "located",
    "sleep_dodh",
]
