"""Public data sets: find or fetch, verify, return the types. One file each.

Files are looked for in the folder that ``EQUIPOISE_DATA`` names, then in the user's cache, and
else downloaded from the public repository they come from, where there is one; hashes are
pinned.
"""

from collections.abc import Callable, Mapping

from equipoise.datasets import chexpert, cifar10h, dermatology_ddx, enhance, sleep_dodh, vindr
from equipoise.datasets._store import Dataset, File, Source, fetched, located
from equipoise.datasets.chexpert import load_chexpert
from equipoise.datasets.cifar10h import load_cifar10h
from equipoise.datasets.dermatology_ddx import DermatologyDataset, load_dermatology_ddx
from equipoise.datasets.enhance import load_enhance
from equipoise.datasets.sleep_dodh import load_sleep_dodh
from equipoise.datasets.vindr import load_vindr

CATALOGUE: Mapping[str, Source] = {
    source.name: source
    for source in (
        chexpert.SOURCE,
        cifar10h.SOURCE,
        dermatology_ddx.SOURCE,
        enhance.SOURCE,
        sleep_dodh.SOURCE,
        vindr.SOURCE,
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
    "fetched",
    "load_chexpert",
    "load_cifar10h",
    "load_dermatology_ddx",
    "load_enhance",
    "load_sleep_dodh",
    "load_vindr",
    "located",
]
