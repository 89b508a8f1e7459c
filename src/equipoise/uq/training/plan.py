"""The plan of a grid: which methods, architectures and seeds, on what, trained how.

A cell is a (method, architecture, seed). Its file is ``METHOD.ARCHITECTURE.SEED.npz`` in the
folder of the grid, beside ``labels.npz`` (labels and names of the images of every part),
``corruptions.json`` (the severities) and ``grid.json`` (the configuration). A folder belongs to
one configuration: another is refused, so that its cells can be compared.

Settings of a method are given by name, as METHOD.FIELD=VALUE. A value is read as the type of
the field: a word of a few, yes or no (true, false), a whole number or a number, or none where a
field may have none. It is refused before anything is trained where no method, no field, or no
such value is known.

A folder travels: a grid goes on from the cells that lie there, and baselines whose weights did
not travel are trained again only if a cell that is still missing needs them.
"""

import hashlib
import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, field, fields, replace
from functools import partial
from pathlib import Path
from types import NoneType
from typing import Any, Literal, NamedTuple, get_args, get_origin, get_type_hints

from equipoise.read import codec
from equipoise.types import (
    InputError,
    Names,
    choice,
    count,
    immutable,
    nearest,
    require_number,
    require_whole,
)
from equipoise.uq.training.data import ImageData, Recipe, read_images
from equipoise.uq.training.methods import METHODS, method_of, quick
from equipoise.uq.training.methods.method import Method
from equipoise.uq.training.networks import Timm, architecture_of

SCHEMA = 1
_SHARES = ("p", "p_block", "p_head", "p_token", "renew")
_MAY_BE_ZERO = ("centroids", "scale", "start_epoch", "shrink", "weight", *_SHARES)
_FORM = "METHOD.FIELD=VALUE"


_DEMO = Recipe(lr=3e-3, weight_decay=0.01, epochs=8, patience=3, batch=64, shift=2)


def default_architectures(source: str) -> Names:
    """The two networks of a grid; tiny ones for the demo."""
    return ("resnet_demo", "vit_demo") if source == "demo" else ("resnet18", "vit_tiny")


def default_recipe(source: str, **changes: Any) -> Recipe:
    """The recipe for a data set, with what is not None in its place; the demo has its own.

    Examples
    --------
    >>> default_recipe("images.npz", epochs=10, batch=None).epochs
    10
    """
    start = _DEMO if source == "demo" else Recipe()
    return replace(
        start, **{name: value for name, value in changes.items() if value is not None}
    )


Setting = tuple[str, str, bool | int | float | str | None]  # method, field and value


def settings_of(texts: Iterable[str]) -> tuple[Setting, ...]:
    """Settings of methods from texts METHOD.FIELD=VALUE.

    Examples
    --------
    >>> settings_of(["beta_edl.kl=full"])
    (('beta_edl', 'kl', 'full'),)
    """
    return tuple(map(_setting, texts))


def _setting(text: str) -> Setting:
    name, _, value = text.partition("=")
    method, _, field = name.strip().partition(".")
    if not (method and field and value.strip()):
        raise InputError("with", repr(text), _FORM, "for example beta_edl.kl=full")
    record = type(method_of(method))
    kinds = get_type_hints(record)
    kinds_of = {entry.name: kinds[entry.name] for entry in fields(record)}
    if field not in kinds_of:
        there = ", ".join(kinds_of) or "no fields: it has nothing to set"
        do = nearest(field, kinds_of) if kinds_of else "leave it out"
        raise InputError(f"with {method}", repr(field), f"one of {there}", do)
    return method, field, _value(f"with {method}.{field}", value.strip(), kinds_of[field])


def _value(where: str, text: str, kind: Any) -> Any:
    """A text as the type of a field."""
    kinds = [option for option in get_args(kind) if option is not NoneType]
    if get_origin(kind) is Literal:
        return choice(where, text, get_args(kind))
    if NoneType in get_args(kind):
        return None if text.lower() == "none" else _value(where, text, kinds[0])
    if kind is bool:
        return choice(where, text.lower(), ("true", "false")) == "true"
    try:
        number = kind(text)
    except ValueError:
        word = "a whole number" if kind is int else "a number"
        raise InputError(where, repr(text), word, "correct it") from None
    return _checked_number(where, number)


def _checked_number(where: str, number: int | float) -> int | float:
    """A number that its field can have."""
    field = where.rpartition(".")[2]
    zero = field in _MAY_BE_ZERO
    if isinstance(number, int):
        return require_whole(where, number, least=0 if zero else 1)
    most = math.inf if field not in _SHARES else 1.0 if field == "p" else 1 + 1e-12
    return require_number(where, number, above=-1e-300 if zero else 0, below=most)


class Cell(NamedTuple):
    """One training of a method."""

    method: str
    architecture: str
    seed: int

    @property
    def name(self) -> str:
        """The name of its file, without the ending."""
        return f"{self.method}.{self.architecture.replace(':', '_')}.{self.seed}"


@immutable(kw_only=True)
class Setup:
    """What all cells of a folder have in common.

    Attributes
    ----------
    source, ood
        Where images come from, as `read_images` takes it; without ``ood`` test images are
        corrupted until the validation AUROC has fallen by ``drop``.
    small
        Fewer noise samples and narrow side heads, for tiny networks.
    settings
        Fields of methods that are not the defaults.
    """

    source: str
    ood: str | None = None
    size: int = 64
    drop: float = 0.2
    small: bool = False
    recipe: Recipe = field(default_factory=Recipe)
    settings: tuple[Setting, ...] = ()

    def __post_init__(self) -> None:
        """Refuse a drop that is no share."""
        require_number("drop", self.drop, above=0, below=1, do="try 0.2")

    def method(self, name: str) -> Method:
        """A method of the catalogue with this setup's settings."""
        plain = quick(method_of(name)) if self.small else method_of(name)
        changed: dict[str, Any] = {
            field: value for method, field, value in self.settings if method == name
        }
        return replace(plain, **changed)

    def stands_on(self, cell: Cell) -> list[Cell]:
        """The trained baselines that a cell needs; of a baseline that is itself."""
        architecture = architecture_of(cell.architecture)
        seeds = self.method(cell.method).baselines(architecture, cell.seed)
        if cell.method == "baseline":  # which is trained as a step of its own
            seeds = (cell.seed,)
        return [Cell("baseline", cell.architecture, seed) for seed in seeds]

    def read(self, stored: "Folder | None" = None) -> list[ImageData]:
        """The images, and those of a second data set where there is one; both fit together.

        From the copies of a folder where it has some.
        """
        paths = [self.source] if self.ood is None else [self.source, self.ood]
        copies = stored.copies if stored else []
        for place, copy in enumerate(copies[: len(paths)]):
            paths[place] = str(copy) if copy.exists() else paths[place]
        sources = [read_images(path, size=self.size) for path in paths]
        data, other = sources[0], sources[-1]
        if other.shape != data.shape:
            raise InputError(
                f"ood, {self.ood}", f"images of {_shape(other)}",
                f"images of {_shape(data)}, as the networks are trained on",
                "bring them to the same size and number of channels",
            )  # fmt: skip
        return sources

    def configuration(self, sources: Sequence[ImageData]) -> dict[str, Any]:
        """What must be equal for cells to be compared: contents, not where they lie."""
        facts = asdict(self)
        for name in ("source", "size"):
            del facts[name]
        data, facts["ood"] = ([data.fingerprint() for data in sources] + [None])[:2]
        return {"schema": SCHEMA, "data": data, "name": sources[0].name, **facts}

    def fingerprint(self, cell: Cell, configuration: Mapping[str, Any]) -> str:
        """Sixteen digits of everything that decides a cell's result."""
        facts = {
            **configuration,
            "cell": list(cell),
            "settings": repr(self.method(cell.method)),
            "network": repr(architecture_of(cell.architecture)),
        }
        text = json.dumps(facts, sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:16]


@immutable(kw_only=True)
class Plan:
    """The cells that are wanted."""

    methods: Names = tuple(METHODS)
    architectures: Names = ("resnet18", "vit_tiny")
    seeds: tuple[int, ...] = (0, 1, 2)

    def __post_init__(self) -> None:
        """Refuse what is not in a catalogue, and methods that fit no architecture."""
        for name in self.methods:
            method_of(name)
        kinds = [architecture_of(name).transformer for name in self.architectures]
        if not self.methods or not self.seeds or not kinds:
            raise InputError(
                "grid", "nothing", "a method, an architecture and a seed", "name some"
            )
        for name in self.methods:
            if method_of(name).transformer_only and not any(kinds):
                raise InputError(
                    f"method {name}", f"architectures {', '.join(self.architectures)}",
                    "our own ViT: the method changes its attention", "add vit_tiny",
                )  # fmt: skip

    def cells(self) -> list[Cell]:
        """Every cell that fits; methods of attention only for transformers."""
        return [
            Cell(method, architecture, seed)
            for method in sorted(self.methods, key=list(METHODS).index)
            for seed in self.seeds
            for architecture in self.architectures
            if architecture_of(architecture).transformer
            or not method_of(method).transformer_only
        ]

    def references(self) -> list[Cell]:
        """Baselines by which corruptions are calibrated: the first of each architecture."""
        return [
            Cell("baseline", architecture, self.seeds[0]) for architecture in self.architectures
        ]

    def check(self, data: ImageData) -> None:
        """Refuse images that an architecture cannot take, and methods that do not fit it."""
        for name in self.architectures:
            architecture = architecture_of(name)
            architecture.check(data.shape)
            if isinstance(architecture, Timm):  # of our own it is known that they fit
                bare = replace(architecture, pretrained=False)
                for cell in self.cells():
                    if cell.architecture == name and cell.seed == self.seeds[0]:
                        method_of(cell.method).build(partial(bare.network, data.shape), 1)


@immutable(kw_only=True)
class Machine:
    """Where and how long a grid runs.

    Attributes
    ----------
    device
        ``"cpu"``, ``"cuda"`` or ``"auto"``.
    workers
        Processes that share the device; 0 is 8 on a GPU and 1 on a CPU.
    minutes
        After which to stop at the next epoch; what is done is kept.
    deadline
        The time (of ``time.time``) at which they are over, once a grid began.
    """

    device: str = "auto"
    workers: int = 0
    minutes: float = math.inf
    deadline: float = math.inf

    def __post_init__(self) -> None:
        """Refuse what is no time and no number of processes."""
        require_whole("workers", self.workers)
        if self.minutes != math.inf:
            require_number("minutes", self.minutes, above=0, do="leave it out for no limit")


class Folder(NamedTuple):
    """Where things lie in the folder of a grid."""

    root: Path

    def run(self, cell: Cell) -> Path:
        """Predictions of a cell."""
        return self.root / f"{cell.name}.npz"

    def weights(self, cell: Cell) -> Path:
        """Weights of a trained baseline."""
        return self.root / "weights" / f"{cell.name}.npz"

    def checkpoint(self, cell: Cell) -> Path:
        """State of a training under way."""
        return self.root / "checkpoints" / f"{cell.name}.npz"

    @property
    def copies(self) -> list[Path]:
        """Copies of images that took long to read, and of those of a second data set."""
        return [self.root / "data" / name for name in ("images.npz", "ood.npz")]

    @property
    def labels(self) -> Path:
        """Labels of every part."""
        return self.root / "labels.npz"

    @property
    def corruptions(self) -> Path:
        """Severities of the corruptions."""
        return self.root / "corruptions.json"

    @property
    def configuration(self) -> Path:
        """What all cells of the folder have in common."""
        return self.root / "grid.json"

    def claim(self, configuration: dict[str, Any]) -> None:
        """Make the folder, or refuse one of another configuration."""
        if not self.configuration.exists():
            self.root.mkdir(parents=True, exist_ok=True)
            codec.write_facts(self.configuration, configuration)
            return
        do = "remove the file: every finished cell knows its own configuration"
        saved = codec.read_facts(self.configuration, do)
        now = json.loads(json.dumps(configuration))
        differences = "; ".join(
            f"{name:.40} was {saved.get(name)!s:.80}, is {now.get(name)!s:.80}"
            for name in sorted({*saved, *now} - {"seal"})
            if saved.get(name) != now.get(name)
        )
        if differences:
            raise InputError(
                f"{self.root}", f"a grid of another configuration ({differences})",
                "a new folder, or the same configuration", "name another folder",
            )  # fmt: skip


def _shape(data: ImageData) -> str:
    """Size of images, in words."""
    channels, height, width = data.shape
    return f"{height} x {width} pixels, {count(channels, 'channel')}"
