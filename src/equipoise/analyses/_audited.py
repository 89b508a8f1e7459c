"""What an audit of items found: votes, the pools they are from, and how large these are."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from equipoise.annotations import Annotations
from equipoise.arrays import choice, require_number, require_whole, wrong_type


@dataclass(frozen=True, slots=True)
class Audited:
    """Labels of audited items, and how the metric is taken.

    Attributes
    ----------
    votes
        Votes on the audited items, none of them in the benchmark. Where they have groups
        (patients, nights), these are redrawn as a whole, pool by pool.
    pool
        Which pool each audited item is from.
    sizes
        How many items each pool has.
    labels
        ``hard`` (strict majority) or ``soft`` (mean vote).
    replicates, seed, level
        Of the redrawn items.
    progress
        Called as ``progress(done, all)``.
    """

    votes: Annotations
    pool: Mapping[str, str]
    sizes: Mapping[str, int]
    labels: str = "hard"
    replicates: int = 500
    seed: int = 0
    level: float = 0.95
    progress: Callable[[int, int], None] | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.votes, Annotations):
            do = "read them with read_annotations"
            raise wrong_type("audit, votes", self.votes, "annotations with their votes", do)
        self._check_pools()
        choice("audit, labels", self.labels, ("hard", "soft"))
        require_whole("audit, replicates", self.replicates, least=1, do="500 are usual")
        require_whole("audit, seed", self.seed, do="try 0")
        require_number("audit, level", self.level, above=0, below=1, do="try 0.95")
        if self.progress is not None and not callable(self.progress):
            raise wrong_type("progress", self.progress, "a function, or None", "leave it out")

    def _check_pools(self) -> None:
        """Refuse pools and sizes that are not named by words."""
        item, size = "the name of its pool for every audited item", "the size of every pool"
        for where, given, expected, do in (
            ("audit, pool", self.pool, item, "give {item: pool}"),
            ("audit, sizes", self.sizes, size, "give {pool: number of items}"),
        ):
            if not isinstance(given, Mapping) or not all(isinstance(x, str) for x in given):
                raise wrong_type(where, given, expected, do)
        for name, pool in self.pool.items():
            if not isinstance(pool, str):
                raise wrong_type(f"audit, pool of {name!r}", pool, "a name", "give a text")
        for name, number in self.sizes.items():
            require_whole(
                f"audit, size of pool {name!r}", number, least=1, do="count its items"
            )
