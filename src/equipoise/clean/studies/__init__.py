"""Studies with known problems, for comparing detectors; one file each, one line per study."""

from collections.abc import Callable, Mapping

from equipoise.clean.collection import JudgedCollection
from equipoise.clean.studies.cifar10n_label_errors import disagreement, wrong_labels
from equipoise.clean.studies.cleanpatrick import load_cleanpatrick
from equipoise.clean.studies.demo import load_demo

Loader = Callable[..., JudgedCollection]  # without arguments; it may take where its files are
STUDIES: Mapping[str, Loader] = {
    "demo": load_demo,
    "cleanpatrick": load_cleanpatrick,
    "cifar10n-wrong-labels": wrong_labels,
    "cifar10n-disagreement": disagreement,
}

__all__ = ["STUDIES", "Loader"]
