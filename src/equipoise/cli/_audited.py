"""What `equipoise audit` is told: numbers, or a file of audited items with their pools."""

from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import typer

from equipoise.arrays import InputError
from equipoise.cli._chances import answers_to, of_task, read_table
from equipoise.cli._options import column_map, words
from equipoise.cli._task_models import read_models

if TYPE_CHECKING:
    from equipoise.analyses.audit import Pool
    from equipoise.annotations import Annotations
    from equipoise.run.audit import Benchmark

TEXT = (".csv", ".tsv")
SINGLE = ("audited", "positives", "unaudited")


class Audited(NamedTuple):
    """Pools, positives found, what was evaluated before, and what the user should know."""

    pools: "list[Pool]"
    found: int
    benchmark: "Benchmark | None" = None
    notices: tuple[str, ...] = ()


def read_audit(options: dict[str, Any]) -> Audited:
    """Read the audit from the numbers, or from the file."""
    ways = _ways(options)
    if len(ways) != 1:
        raise InputError(
            "audit", " and ".join(ways) or "nothing", "one of FILE, --audited and --pool",
            "give FILE with --size, or --audited, --positives and --unaudited, or --pool",
        )  # fmt: skip
    if ways == ["FILE"]:
        return _from_file(options)
    if options["size"]:
        raise typer.BadParameter("got a size without FILE", param_hint="--size")
    pools = _numbers(options) if "--audited" in ways[0] else _pools(options["pool"])
    return Audited(pools, *_found(options))


def _ways(options: dict[str, Any]) -> list[str]:
    """In which ways the audit was given."""
    single = [f"--{name}" for name in SINGLE if options[name] is not None]
    return [
        *(["FILE"] if options["file"] is not None else []),
        *(["--audited"] if single else []),
        *(["--pool"] if options["pool"] else []),
    ]


def _numbers(options: dict[str, Any]) -> "list[Pool]":
    """One pool of numbers."""
    from equipoise.analyses.audit import Pool

    lost = [f"--{name}" for name in SINGLE if options[name] is None]
    if lost:
        raise InputError(
            "audit", f"no {' and no '.join(lost)}",
            "--audited, --positives and --unaudited together", f"add {' '.join(lost)}",
        )  # fmt: skip
    audited, positives, rest = (options[name] for name in SINGLE)
    return [Pool("pool", audited, positives, audited + rest)]


def _pools(texts: list[str]) -> "list[Pool]":
    """Several pools of numbers."""
    from equipoise.analyses.audit import Pool

    pools = []
    for text in texts:
        name, *numbers = text.rsplit(",", 3)
        if len(numbers) != 3 or not name.strip() or not all(_whole(one) for one in numbers):
            message = f"got {text!r}, expected NAME,AUDITED,POSITIVES,SIZE: pHash,150,0,5000"
            raise typer.BadParameter(message, param_hint="--pool")
        pools.append(Pool(name.strip(), *(int(one) for one in numbers)))
    return pools


def _whole(text: str) -> bool:
    return text.strip().isdecimal()


def _found(options: dict[str, Any]) -> tuple[int, None, tuple[str, ...]]:
    """Positives that the retrieval found, as said or by the votes."""
    if options["found"] is not None:
        return options["found"], None, ()
    if options["annotations"] is None:
        raise InputError(
            "audit", "no --found", "how many positives the retrieval found",
            "add --found NUMBER, or -a with the votes on what was retrieved",
        )  # fmt: skip
    table = _benchmark(options)
    number, tied = _positive(table, options["annotations"])
    return number, None, (*table.notices, *tied)


def _positive(table: "Annotations", path: Path) -> tuple[int, tuple[str, ...]]:
    """Items that more than half of the votes call positive, and a notice of ties."""
    from equipoise.evaluation.questions import questions

    asked = questions(table)
    if len(asked[0].classes) > 1:
        raise InputError(
            f"{path.name}", f"classes {table.classes}", "a yes/no question",
            "ask about one class with --positive CLASS",
        )  # fmt: skip
    ties, items = asked[0].undecided, len(asked[0].items)
    said = (
        f"{ties:,} of {items:,} items of {path.name} have no strict majority of votes: they "
        "count as negative, so not as found."
    )
    return int((asked[0].hard[0] > 0).sum()), (said,) if ties else ()


def _benchmark(options: dict[str, Any]) -> "Annotations":
    path = options["annotations"]
    columns = column_map(options["columns"], "--columns")
    columns.pop("pool", None)
    return of_task(read_table(path, options, columns), options["task"], path)


def _from_file(options: dict[str, Any]) -> Audited:
    """An audit of items, and models to score again where there are any."""
    from equipoise.run.audit import Benchmark, audited_pools

    path = options["file"]
    votes = answers_to(read_table(path, options, _columns(options)), options["task"], path)
    sizes = _sizes(options["size"], votes)
    pools, pool = audited_pools(votes, sizes)
    if options["predictions"]:
        table = _benchmark(options)
        models = read_models(options, options["task"])
        number, tied = _positive(table, options["annotations"])
        found = number if options["found"] is None else options["found"]
        benchmark = Benchmark(table, models, votes, pool, sizes)
        return Audited(pools, found, benchmark, (*table.notices, *tied, *votes.notices))
    found, _, said = _found(options)
    return Audited(pools, found, None, (*said, *votes.notices))


def _columns(options: dict[str, Any]) -> dict[str, str]:
    """Columns of the audited items; the pool is the group of an item."""
    columns = column_map(options["columns"], "--columns")
    theirs = columns.pop("pool", None)
    if theirs is None and "pool" in _header(options["file"]):
        theirs = "pool"
    return columns if theirs is None else {**columns, "group": theirs}


def _header(path: Path) -> list[str]:
    """Names of the columns of a table; none for other files."""
    from equipoise.read.delimited import read_delimited
    from equipoise.read.files import content
    from equipoise.read.parquet import read_arrow

    if not path.is_file():
        return []
    if path.suffix.lower() in TEXT:
        return list(read_delimited(content(path)).columns)
    return list(read_arrow(content(path)).column_names) if path.suffix == ".parquet" else []


def _sizes(texts: list[str] | None, votes: "Annotations") -> dict[str, int]:
    """How many items each pool has."""
    found: dict[str, int] = {}
    for text in [word for one in texts or [] for word in words(one)]:
        name, sign, number = text.rpartition("=")
        if not _whole(number):
            message = f"got {text!r}, expected POOL=NUMBER, or one number"
            raise typer.BadParameter(message, param_hint="--size")
        if sign:
            found[name] = int(number)
        else:
            found |= dict.fromkeys(votes.groups or ("pool",), int(number))
    return found
