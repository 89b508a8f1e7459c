"""Studies with known problems, for comparing detectors; one file each, one line per study."""

from collections.abc import Callable, Mapping

from equipoise.clean.studies.cleanpatrick import cleanpatrick
from equipoise.clean.studies.demo import demo
from equipoise.clean.study import CleanStudy

Loader = Callable[[], CleanStudy]
STUDIES: Mapping[str, Loader] = {
    "demo": demo,
    "cleanpatrick": cleanpatrick,
}

__all__ = ["STUDIES", "Loader"]
