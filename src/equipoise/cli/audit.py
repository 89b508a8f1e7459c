"""equipoise audit: how many positives lie where nobody looked."""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from equipoise.cli.command import verb
from equipoise.cli.options import (
    OF_FOLDER,
    OF_QUESTION,
    Options,
    column_map,
    flag,
    misused,
    refuse_unused,
    words,
)
from equipoise.cli.probabilities import (
    answers_to,
    read_question,
    votes_on,
)
from equipoise.cli.results import check_report_folder, input_facts, present
from equipoise.cli.screen import progress
from equipoise.cli.study import check_reading
from equipoise.read.sources import Source
from equipoise.study.analyses.audits import TERMS, Pool, audited_pools
from equipoise.study.analyses.audits import audit as count_missed
from equipoise.study.blocks import majority
from equipoise.study.truth import task_truths
from equipoise.types import (
    Annotations,
    InputError,
    Notice,
    Notices,
    Report,
    as_notices,
    count,
    exact_percent,
)

MARK = "audit.json"
SINGLE = ("audited", "positives", "unaudited")
OF_FILES = ("kind", "classes", "positive", "at_least", "columns", "layout", "repeats")
FILE = (
    "Labels of the audited items: item, label, and perhaps annotator and pool; a pair is an "
    "item with an id of its own. Or give numbers."
)


class _ReadAudit(NamedTuple):
    """Pools, positives found, and what to know."""

    pools: Sequence[Pool]
    found: int
    notices: Notices


@verb(
    *("file", "annotations", "found", "pool_sizes", "audited", "positives", "unaudited"),
    *("pool", "infinite", "task", "level"),
    *OF_QUESTION,
    *OF_FOLDER,
    arguments=("file",),
    texts={"file": FILE, "annotations": "Votes on the benchmark."},
    heavy="maps",
)
def audit(options: Options) -> None:
    """How many positives did the retrieval of candidates miss?

    Some of the items that were left out are drawn at random and labelled: the share of
    positives among them, with Wilson's interval, says how many were missed.

    Example: equipoise audit --found 120 --audited 150 --positives 3 --unaudited 4850

    Example: equipoise audit --found 4000 --pool pHash,150,0,5000 --pool ViT,150,26,5000

    Example: equipoise audit audited.csv --size pHash=5000 --size ViT=5000 -a votes.csv
    """
    _check(options)
    check_report_folder(options, MARK)
    with progress("reading"):
        read = _read(options)
    report = _report(read, options)
    inputs = {"audited": options.file, "annotations": options.annotations}
    present(report, options, MARK, input_facts(inputs))


def _check(options: Options) -> None:
    """Refuse options that would do nothing, and an audit that is given in no way or several."""
    check_reading(options)
    if options.file is None and options.annotations is None:
        why = "belongs to files; add FILE or -a, or leave it out"
        refuse_unused(options, ("task", *OF_FILES), why)
    if options.annotations and options.found is not None:
        why = "got both --found and -a, expected one, because -a is only counted"
        raise misused(why, "found")
    ways = [
        *(["FILE"] if options.file is not None else []),
        *(["--audited"] if any(getattr(options, name) is not None for name in SINGLE) else []),
        *(["--pool"] if options.pool else []),
    ]
    if len(ways) != 1:
        got = " and ".join(ways) or "nothing"
        do = "give FILE with --size, or --audited, --positives and --unaudited, or --pool"
        raise InputError("audit", got, "one of FILE, --audited and --pool", do)


def _pools(options: Options) -> list[Pool]:
    """Pools that were given as numbers, in the one way in which they were."""
    if options.pool_sizes:
        raise misused("got a size without FILE", "pool_sizes")
    pools = []
    for text in options.pool or ():
        name, *numbers = (part.strip() for part in text.rsplit(",", 3))
        if len(numbers) != 3 or not name or not all(map(str.isdecimal, numbers)):
            expected = "NAME,AUDITED,POSITIVES,SIZE: pHash,150,0,5000"
            raise misused(f"got {text!r}, expected {expected}", "pool")
        pools.append(Pool(name, *map(int, numbers)))
    if options.pool:
        return pools
    if options.audited is None or options.positives is None or options.unaudited is None:
        lost = [flag(name) for name in SINGLE if getattr(options, name) is None]
        got = f"no {' and no '.join(lost)}"
        expected = "--audited, --positives and --unaudited together"
        raise InputError("audit", got, expected, f"add {' '.join(lost)}")
    return [
        Pool("pool", options.audited, options.positives, options.audited + options.unaudited)
    ]


def _sizes(options: Options, votes: Annotations) -> dict[str, int]:
    """How many items each pool has."""
    sizes: dict[str, int] = {}
    for text in [word for size in options.pool_sizes or [] for word in words(size)]:
        name, sign, number = text.rpartition("=")
        if not number.strip().isdecimal():
            raise misused(f"got {text!r}, expected POOL=NUMBER, or one number", "pool_sizes")
        if sign:
            sizes[name] = int(number)
        else:
            sizes |= dict.fromkeys(votes.groups or ("pool",), int(number))
    return sizes


def _read(options: Options) -> _ReadAudit:
    """Read the audit from the numbers or from the file, and what the retrieval found."""
    notices: Notices = ()
    if options.file is None:
        pools = _pools(options)
    else:
        columns = _audit_columns(options.file, options)
        table = read_question([options.file], options, columns)
        votes = answers_to(table, options.task, options.file)
        pools = audited_pools(votes, _sizes(options, votes))
        notices = as_notices(votes.notices)
    found, paths = options.found, options.annotations
    if paths:
        columns = column_map(options.columns, "columns")
        columns.pop("pool", None)
        benchmark = votes_on(read_question(paths, options, columns), options.task, paths[0])
        counted, tied = _positives(benchmark, paths[0])
        found = counted if found is None else found
        notices = (*as_notices(benchmark.notices), *tied, *notices)
    if found is None:
        do = "add --found NUMBER, or -a with the votes on what was retrieved"
        raise InputError("audit", "no --found", "how many positives the retrieval found", do)
    return _ReadAudit(pools, found, notices)


def _positives(table: Annotations, path: Path) -> tuple[int, Notices]:
    """Items that more than half of the votes call positive, and a notice of ties."""
    question = task_truths(table)[0]
    if len(question.classes) > 1:
        do = "ask about one class with --positive CLASS"
        raise InputError(f"{path.name}", f"classes {table.classes}", "a yes/no question", do)
    ties = int(question.tied.sum())
    tied = Notice(
        "tied_benchmark",
        "{ties:count} of {items:count} items of {file} have no strict majority of votes: they "
        "count as negative, so not as found.",
        values={"ties": ties, "items": len(question.items), "file": path.name},
    )
    return int(majority(question.shares)[0].sum()), (tied,) if ties else ()


def _audit_columns(path: Path, options: Options) -> dict[str, str]:
    """Columns of the audited items; the pool is the group of an item."""
    columns = column_map(options.columns, "columns")
    theirs = columns.pop("pool", None)
    if theirs is None and path.is_file() and "pool" in Source(path).columns:
        theirs = "pool"
    return columns if theirs is None else {**columns, "group": theirs}


def _report(read: _ReadAudit, options: Options) -> Report:
    """Count what was missed."""
    result = count_missed(
        read.pools, read.found, level=options.level, finite=not options.infinite
    )
    return Report(
        title="What did the retrieval miss?",
        findings=(result.report(),),
        known=(
            count(len(result.pools), "pool"),
            f"{count(sum(pool.audited for pool in result.pools), 'item')} audited",
            f"{count(result.found, 'positive')} retrieved",
        ),
        terms=TERMS,
        settings=(
            ("Positives retrieved", count(result.found)),
            ("Level of the intervals", exact_percent(options.level)),
        ),
        notices=read.notices,
    )
