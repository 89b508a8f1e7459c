"""What decides the scores of a detector, so that scores that are kept are never stale.

Beside the data these are the settings by their content, the code (every file of
`equipoise.clean`, the files of the classes that a detector is made of, and those of the modules
that they use), and the versions of packages. Code that lies in no file (a notebook, standard
input) and settings that have no lasting form (a function) are refused, and their scores are not
kept.
"""

import inspect
import site
import sys
import sysconfig
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass
from enum import Enum
from functools import cache
from importlib.metadata import PackageNotFoundError, packages_distributions, version
from pathlib import Path
from types import ModuleType

import numpy as np

from equipoise.clean.collection import Collection
from equipoise.clean.detector import Detector
from equipoise.read.files import file_sha256
from equipoise.scale.cells import digest
from equipoise.types.arrays import InputError

OURS = Path(__file__).parent
DISTRIBUTIONS = {
    "PIL": "pillow",
    "faiss": "faiss-cpu",
    "skimage": "scikit-image",
    "sklearn": "scikit-learn",
}  # packages that are not called as their modules


def collection_digest(data: Collection) -> str:
    """Hash of everything that detectors see of a collection, pairs apart."""
    images = None
    if data.images is not None:
        images = [data.images.digest(place) for place in range(len(data))]
    return digest(
        [data.items, data.embeddings, images, data.labels, data.classes, data.known, data.split]
    )


def detector_facts(detector: Detector) -> dict[str, object]:
    """What decides the scores of a detector beside the data, as JSON can hold it.

    A detector of which that cannot be known is refused.
    """
    where = f"detector {detector.name}"
    return {
        "detector": detector.name,
        "task": detector.task,
        "settings": {
            name: lasting(value, f"{where}, {name}")
            for name, value in detector.settings.items()
        },
        "code": _code(detector, where),
        "versions": versions(("equipoise", "numpy", "scipy", *detector.packages)),
    }


# ---- settings ------------------------------------------------------------------------------


def lasting(value: object, where: str) -> object:
    """A value by its kind and content, the same in every process.

    Examples
    --------
    >>> lasting((1, 0.5), "a setting")
    ['tuple', ['int', '1'], ['float', '0.5']]
    """
    kind = type(value).__qualname__
    if value is None or isinstance(value, bool | int | float | complex | str | bytes):
        return [kind, str(value) if isinstance(value, Enum) else repr(value)]
    if isinstance(value, np.ndarray | np.generic):
        return [kind, _array(np.asarray(value), where)]
    if isinstance(value, Mapping):
        pairs = [[lasting(name, where), lasting(one, where)] for name, one in value.items()]
        return [kind, *sorted(pairs, key=repr)]
    if isinstance(value, set | frozenset):
        return [kind, *sorted((lasting(one, where) for one in value), key=repr)]
    if isinstance(value, Sequence):
        return [kind, *(lasting(one, where) for one in value)]
    if isinstance(value, Path | Enum):
        return [kind, str(value)]
    if is_dataclass(value) and not isinstance(value, type):
        return [
            kind,
            *([f.name, lasting(getattr(value, f.name), where)] for f in fields(value)),
        ]
    raise InputError(
        where, f"a {kind}", "numbers, words, arrays, or lists of them", "choose it by its name"
    )


def _array(values: "np.ndarray[tuple[int, ...], np.dtype[np.generic]]", where: str) -> str:
    if values.dtype.hasobject:
        raise InputError(where, "an array of objects", "numbers or words", "give it a dtype")
    return digest([values])


# ---- code ----------------------------------------------------------------------------------


def _code(detector: Detector, where: str) -> str:
    """Hash of all the code that a detector runs, apart from packages that are installed."""
    files = {_file(one, where) for one in _classes(detector)}
    score = getattr(inspect.unwrap(type(detector).score), "__code__", None)
    files.add(_written(None if score is None else score.co_filename, where))
    for name in dict.fromkeys(one.__module__ for one in _classes(detector)):
        files.update(_used(sys.modules.get(name)))
    outside = sorted(file_sha256(one) for one in files if not one.is_relative_to(OURS))
    return digest([_package(), outside])


def _classes(detector: Detector) -> list[type]:
    return [
        one
        for one in type(detector).__mro__
        if one.__module__.partition(".")[0] not in sys.stdlib_module_names
    ]


def _file(one: type, where: str) -> Path:
    try:
        return _written(inspect.getsourcefile(one), where)
    except (OSError, TypeError):
        return _written(None, where)


def _written(path: str | None, where: str) -> Path:
    if path is None or not Path(path).is_file():
        raise InputError(
            where, "code that lies in no file", "a class in a file", "write it to a file"
        )
    return Path(path).resolve()


def _used(module: ModuleType | None) -> Iterator[Path]:
    """Files of a user's modules that a module uses, and that these use in turn."""
    waiting, seen = [module], set[str]()
    while waiting:
        one = waiting.pop()
        if one is None or one.__name__ in seen:
            continue
        seen.add(one.__name__)
        path = getattr(one, "__file__", None)
        if path is None or not _own(Path(path)):
            continue
        yield Path(path).resolve()
        for value in list(vars(one).values()):
            name = getattr(value, "__module__", None)
            named = sys.modules.get(name) if isinstance(name, str) else None
            waiting.append(value if isinstance(value, ModuleType) else named)


def _own(path: Path) -> bool:
    """Whether a file is neither of Python, nor of an installed package, nor of equipoise."""
    known = [*site.getsitepackages(), site.getusersitepackages()]
    known += [sysconfig.get_path("stdlib"), str(OURS.parent)]
    return path.suffix == ".py" and not any(
        path.resolve().is_relative_to(Path(one).resolve()) for one in known
    )


@cache
def _package() -> list[str]:
    """Hashes of all files of `equipoise.clean`."""
    return [
        f"{one.relative_to(OURS).as_posix()} {file_sha256(one)}"
        for one in sorted(OURS.rglob("*.py"))
    ]


# ---- packages ------------------------------------------------------------------------------


def versions(modules: Sequence[str]) -> dict[str, str]:
    """Versions of the packages that modules come from; empty where nobody knows."""
    found = {}
    for module in modules:
        name = DISTRIBUTIONS.get(module, module)
        try:
            found[module] = version(name)
        except PackageNotFoundError:
            every = _distributions().get(module, ())
            found[module] = " ".join(version(one) for one in every)
    return found


_distributions = cache(packages_distributions)  # looks at every file that is installed
