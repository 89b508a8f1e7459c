"""The key of a plan for experts: what its items were drawn by, kept where experts do not look.

The plan itself is blind: items in random order with an empty column. Beside ``plan.csv`` lies
``plan.key.json`` with the options, the seed, and the bin and probability of every item; from it
`equipoise threshold set` makes the plan again, and refuses when that gives other items.
"""

import json
import math
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

from equipoise.cli.options import DEFAULTS, Options, misused
from equipoise.read import codec
from equipoise.read.files import content, read_json
from equipoise.read.writing import replaced
from equipoise.study.analyses.thresholds import ExpertSample
from equipoise.types import InputError

Word = str | float | int | bool | None
ROW_OF = {
    "truth": "votes_as",
    "reliability": "reliability",
    "model": "score_model",
    **{name: name for name in ("task", "kind", "classes", "positive", "at_least")},
    **{name: name for name in ("exchangeable", "columns", "layout", "repeats", "phases")},
}  # options that a key stores, and their rows of the table
BINS = PER_BIN = 20
NUMBERS = ("bins", "per_bin", "seed")
SAME = 1e-9  # probabilities that a model of votes gives again


class SampleSize(NamedTuple):
    """How a sample is drawn: bins, items of each, and the seed."""

    bins: int
    per_bin: int
    seed: int


@dataclass(frozen=True)
class PlanKey:
    """What a key says: where it lies, options of the plan, its sample, and bin and probability.

    Attributes
    ----------
    path
        The file.
    options
        Options of the plan, by name.
    size
        How its items were drawn.
    items
        Bin and probability of each.
    """

    path: Path
    options: Mapping[str, Word]
    size: SampleSize
    items: Mapping[str, tuple[int, float]]

    def refuse_other(self, name: str, value: Word, usual: Word, stored: Word) -> None:
        """Refuse an option that was given and is not that of the key."""
        if value not in (usual, stored):
            why = f"got {value!r}, but {self.path.name} has {stored!r}; leave it out"
            raise misused(why, name)

    def applied(self, options: Options) -> Options:
        """What was asked with the options of the key; those that were given must not differ."""
        self.refuse_other("bins", options.bins, None, self.size.bins)
        self.refuse_other("per_bin", options.per_bin, None, self.size.per_bin)
        stored: dict[str, Any] = {}
        for name, row in ROW_OF.items():
            stored[row] = self.options[name]
            self.refuse_other(row, getattr(options, row), DEFAULTS[row], stored[row])
        return replace(options, **stored)

    def check(self, file: Path, sample: ExpertSample) -> None:
        """Refuse a plan that is not made again from the file and the options."""
        again = _bins_and_probabilities(sample.rows())
        both = {**self.items, **again}
        other = [name for name in both if not _same(self.items.get(name), again.get(name))]
        if other:
            raise InputError(
                f"{file.name}, made into the plan again",
                f"{len(other):,} of {len(self.items):,} items in another bin or of another "
                f"probability, first {other[0]!r}",
                f"what {self.path.name} says of them",
                "give the file that the plan was made from, unchanged",
            )


def _bins_and_probabilities(
    rows: Sequence[Mapping[str, Any]],
) -> dict[str, tuple[int, float]]:
    return {row["item"]: (row["bin"], float(row["probability"])) for row in rows}


def _same(one: tuple[int, float] | None, other: tuple[int, float] | None) -> bool:
    if one is None or other is None:
        return False
    return one[0] == other[0] and math.isclose(one[1], other[1], rel_tol=0, abs_tol=SAME)


def key_of(plan: Path) -> Path:
    """Where the key of a plan lies.

    Examples
    --------
    >>> key_of(Path("study/plan.csv")).name
    'plan.key.json'
    """
    return plan.with_name(f"{plan.stem}.key.json")


def write_plan(out: Path, sample: ExpertSample, task: str | None, key: str | None) -> None:
    """Write the plan, blind where there is a key to lie beside it, both or none."""
    with ExitStack() as both:
        if key is not None and not key_of(out).exists():
            both.push(lambda kind, *_: key_of(out).unlink(missing_ok=True) if kind else None)
        plan = both.enter_context(replaced(out))
        plan.write(sample.text(blind=key is not None, task=task).encode("utf-8"))
        plan.flush()  # a full disk is met before the key has its name
        if key is not None:
            both.enter_context(replaced(key_of(out))).write(key.encode("utf-8"))


def key_text(sample: ExpertSample, options: Options, size: SampleSize, task: str | None) -> str:
    """Everything that the plan does not show."""
    stored = {name: getattr(options, row) for name, row in ROW_OF.items()}
    assert options.file is not None
    record = {
        "schema": 1,
        "equipoise": version("equipoise"),
        "file": options.file.name,
        "options": stored | size._asdict() | {"task": task},
        "items": sample.rows(),
    }
    return json.dumps(codec.sealed(record), indent=1, ensure_ascii=False) + "\n"


def read_key(plan: Path) -> PlanKey:
    """Read the key of a plan, given by its own name or by that of the plan beside it."""
    path = key_of(plan) if plan.suffix.lower() == ".csv" else plan
    file = content(path)
    try:
        record = read_json(file)
        options = {name: record["options"][name] for name in (*ROW_OF, *NUMBERS)}
        items = _bins_and_probabilities(record["items"])
        if not all(_fits(name, value) for name, value in options.items()):
            raise TypeError
    except (ValueError, LookupError, TypeError, OverflowError):
        expected = "what threshold plan wrote beside it"
        do = "give plan.csv or plan.key.json as threshold plan --out wrote them"
        raise InputError(f"--plan {path.name}", "no key of a plan", expected, do) from None
    codec.check_sealed(record, None, f"--plan {path.name}", "make the plan again")
    size = SampleSize(*(options.pop(name) for name in NUMBERS))
    return PlanKey(path, options, size, items)


def _fits(name: str, value: object) -> bool:
    """Whether an option of a key is of the type that the option has."""
    if name in NUMBERS:
        return type(value) is int
    if name == "exchangeable":
        return isinstance(value, bool)
    if value is None:
        return DEFAULTS[ROW_OF[name]] is None
    return isinstance(value, float if name == "reliability" else str)
