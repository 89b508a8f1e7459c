"""The key of a plan for experts: what its items were drawn by, kept where experts do not look.

The plan itself is blind: items in random order with an empty column. Beside ``plan.csv`` lies
``plan.key.json`` with the options, the seed, and the bin and probability of every item; from it
`equipoise threshold` makes the plan again, and refuses when that gives other items.
"""

import json
import math
from contextlib import ExitStack
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from equipoise.arrays import InputError
from equipoise.cli._options import flag

if TYPE_CHECKING:
    from equipoise.analyses.thresholds import ExpertSample

USUAL: dict[str, Any] = {
    "truth": None, "reliability": None, "model": None, "task": None, "kind": None,
    "classes": None, "positive": None, "at_least": None, "exchangeable": False,
    "columns": None, "layout": "auto", "repeats": "keep",
}  # fmt: skip
SIZE = {"bins": 20, "per_bin": 20}
SAME = 1e-9  # probabilities that a model of votes gives again


def key_of(plan: Path) -> Path:
    """Where the key of a plan lies.

    Examples
    --------
    >>> key_of(Path("study/plan.csv")).name
    'plan.key.json'
    """
    return plan.with_name(f"{plan.stem}.key.json")


def write_plan(out: Path, sample: "ExpertSample", task: str | None, key: str | None) -> None:
    """Write the plan, blind where there is a key to lie beside it, both or none."""
    from equipoise.read.files import replaced

    with ExitStack() as both:
        plan = both.enter_context(replaced(out))
        plan.write(sample.text(blind=key is not None, task=task).encode("utf-8"))
        if key is not None:
            both.enter_context(replaced(key_of(out))).write(key.encode("utf-8"))


def key_text(sample: "ExpertSample", options: dict[str, Any], task: str | None) -> str:
    """Everything that the plan does not show."""
    known = {name: options[name] for name in (*USUAL, *SIZE, "seed")}
    made = {
        "schema": 1, "equipoise": version("equipoise"), "file": options["file"].name,
        "options": known | {"task": task}, "items": sample.rows(),
    }  # fmt: skip
    return json.dumps(made, indent=1, ensure_ascii=False) + "\n"


def with_key(options: dict[str, Any]) -> dict[str, Any]:
    """Options with those of the key where there is one, and with the usual ones elsewhere.

    `sample_seed` is where the items were drawn from; `key_items` are what the key says of them.
    """
    sized = options | {name: options[name] or usual for name, usual in SIZE.items()}
    if options["plan"] is None:
        return sized | {"sample_seed": options["seed"], "key_items": None}
    path = options["plan"]
    path = key_of(path) if path.suffix.lower() == ".csv" else path
    told, items = _read(path)
    made = dict(options)
    for name, usual in (USUAL | dict.fromkeys(SIZE)).items():
        if options[name] not in (usual, told[name]):
            raise typer.BadParameter(
                f"got {options[name]!r}, but {path.name} has {told[name]!r}; leave it out",
                param_hint=flag(name),
            )
        made[name] = told[name]
    return made | {"plan": path, "sample_seed": told["seed"], "key_items": items}


def _read(path: Path) -> tuple[dict[str, Any], dict[str, tuple[int, float]]]:
    """Options of a key, and bin and probability of its items."""
    from equipoise.read.files import content

    data = content(path).data
    try:
        found = json.loads(data)
        told = {name: found["options"][name] for name in (*USUAL, *SIZE, "seed")}
        items = {row["item"]: (row["bin"], float(row["probability"])) for row in found["items"]}
        if not all(_fits(name, value) for name, value in told.items()):
            raise TypeError
    except (ValueError, KeyError, TypeError):
        raise InputError(
            f"--plan {path.name}", "no key of a plan", "what threshold-plan wrote beside it",
            "give plan.csv or plan.key.json as threshold-plan --out wrote them",
        ) from None  # fmt: skip
    return told, items


def _fits(name: str, value: Any) -> bool:
    """Whether an option of a key is of the type that the option has."""
    if name in (*SIZE, "seed"):
        return type(value) is int
    if name == "exchangeable":
        return isinstance(value, bool)
    if value is None:
        return USUAL[name] is None
    return isinstance(value, float if name == "reliability" else str)


def check_key(options: dict[str, Any], sample: "ExpertSample") -> None:
    """Refuse a plan that is not made again from the file and the options of its key."""
    known = options["key_items"]
    if known is None:
        return
    made = {row["item"]: (row["bin"], row["probability"]) for row in sample.rows()}
    other = [name for name in {**known, **made} if not _same(known.get(name), made.get(name))]
    if other:
        raise InputError(
            f"{options['file'].name}, made into the plan again",
            f"{len(other):,} of {len(known):,} items in another bin or of another probability, "
            f"first {other[0]!r}",
            f"what {options['plan'].name} says of them",
            "give the file that the plan was made from, unchanged",
        )


def _same(one: tuple[int, float] | None, other: tuple[int, float] | None) -> bool:
    if one is None or other is None:
        return False
    return one[0] == other[0] and math.isclose(one[1], other[1], rel_tol=0, abs_tol=SAME)
