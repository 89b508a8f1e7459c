"""Public data sets: find or fetch, verify, return the types. One file each.

Files are looked for in the folder that ``EQUIPOISE_DATA`` names, then in the user's cache, and
else downloaded from the public repository they come from; hashes are pinned.
"""

from collections.abc import Callable, Mapping

from equipoise.datasets import chexpert as _chexpert
from equipoise.datasets import cifar10h as _cifar10h
from equipoise.datasets._store import Source, Study, located
from equipoise.datasets.chexpert import chexpert
from equipoise.datasets.cifar10h import cifar10h

CATALOGUE: Mapping[str, Source] = {
    "chexpert": _chexpert.SOURCE,
    "cifar10h": _cifar10h.SOURCE,
}
LOADERS: Mapping[str, Callable[[], Study]] = {"chexpert": chexpert, "cifar10h": cifar10h}

__all__ = ["CATALOGUE", "LOADERS", "Source", "Study", "chexpert", "cifar10h", "located"]
