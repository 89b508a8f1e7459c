"""Plans: how many problems of each kind are planted, and of which sort."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from equipoise.clean.collection import Collection
from equipoise.clean.contaminate.pictures import MADE_UP, Alteration
from equipoise.types.arrays import InputError, choice, require_number, require_whole

FLIPS = ("symmetric", "asymmetric", "feature")


@dataclass(frozen=True, slots=True, kw_only=True)
class OffTopic:
    """What is put in that does not belong.

    Attributes
    ----------
    share
        Of the items.
    source
        A collection to draw from; None makes pictures up.
    kinds
        Of pictures that are made up, in turn.
    distance
        Of embeddings without pictures: how far out, 1 is as far as others.
    """

    share: float = 0.05
    source: Collection | None = None
    kinds: tuple[str, ...] = tuple(MADE_UP)
    distance: float = 1.5

    def __post_init__(self) -> None:
        _check_share("off-topic", self.share)
        for kind in self.kinds:
            choice("off-topic, kind", kind, tuple(MADE_UP))
        require_number("off-topic, distance", self.distance, above=0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Copies:
    """What is put in twice.

    Attributes
    ----------
    share
        Of the items that are copied.
    alterations
        In turn; empty takes all at strength 0.5, of embeddings noise of 0.1, 0.3 and 0.6.
    largest
        Most members of a group of duplicates, the item included; sizes from 2 are equally
        probable.
    hard
        Nearest items outside the group, per member, that are judged as no duplicates.
    random
        Pairs drawn at random that are judged as no duplicates, per pair of duplicates.
    """

    share: float = 0.1
    alterations: tuple[Alteration, ...] = ()
    largest: int = 3
    hard: int = 3
    random: float = 1.0

    def __post_init__(self) -> None:
        _check_share("copies", self.share)
        require_whole("copies, largest", self.largest, least=2, do="try 2")
        require_whole("copies, hard", self.hard, least=0)
        require_number("copies, random", self.random, above=-1e-9)


@dataclass(frozen=True, slots=True, kw_only=True)
class Flips:
    """Labels that are made wrong.

    Attributes
    ----------
    share
        Of the items that have a label.
    kind
        ``symmetric``, ``asymmetric`` or ``feature``.
    classes
        Of asymmetric flips, the wrong class by the right one; classes that are not named are
        not flipped. Empty takes the next class, and the first after the last.
    verified
        Share of the labels that are right and become known as such.
    """

    share: float = 0.1
    kind: str = "symmetric"
    classes: Mapping[str, str] = field(default_factory=dict)
    verified: float = 0.0

    def __post_init__(self) -> None:
        _check_share("flips", self.share)
        choice("flips, kind", self.kind, FLIPS)
        require_number("flips, verified", self.verified, above=-1e-9, below=1 + 1e-9)
        if self.classes and self.kind != "asymmetric":
            raise InputError(
                "flips, classes", f"{self.kind} flips", "asymmetric ones", "leave the map out"
            )


def _check_share(where: str, share: float) -> None:
    require_number(f"{where}, share", share, above=0, below=1 + 1e-9, do="try 0.1")
