"""equipoise audit: how many positives lie where nobody looked."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from equipoise.arrays import InputError
from equipoise.cli._results import present
from equipoise.cli._screen import progress
from equipoise.cli.options import (
    FILES,
    RESULT,
    UNCERTAINTY,
    Level,
    OutputOptions,
    Seed,
    StudyReading,
    check_choice,
    command,
    flag,
    metric_names,
    words,
)
from equipoise.cli.probabilities import answers_to, read_models, read_question, votes_on
from equipoise.notices import Notice, as_notices
from equipoise.numbers import count, exact_percent

if TYPE_CHECKING:
    from equipoise.analyses.audit import Pool
    from equipoise.annotations import Annotations
    from equipoise.findings import Finding, Report
    from equipoise.predictions import Predictions

MARK = "audit.json"
NUMBERS = "What was audited"
TEXT = (".csv", ".tsv")
SINGLE = ("audited", "positives", "unaudited")
OF_FILES = ("kind", "classes", "positive", "at_least", "columns", "layout", "repeats")


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditedItems:
    """What was audited: a file, or numbers."""

    file: Annotated[
        Path | None,
        typer.Argument(
            show_default=False,
            help="Labels of the audited items: item, label, and perhaps annotator and pool; a "
            "pair is an item with an id of its own. Or give numbers.",
        ),
    ] = None
    found: Annotated[
        int | None,
        typer.Option(
            min=0,
            rich_help_panel=NUMBERS,
            help="Positives that the retrieval found. Default with `-a`: those by majority.",
        ),
    ] = None
    size: Annotated[
        list[str] | None,
        typer.Option(
            rich_help_panel=NUMBERS,
            help="With FILE: how many items were left out, audited or not; `POOL=NUMBER` for "
            "each pool, or one number for every pool.",
        ),
    ] = None
    audited: Annotated[
        int | None,
        typer.Option(min=1, rich_help_panel=NUMBERS, help="Items that were audited."),
    ] = None
    positives: Annotated[
        int | None,
        typer.Option(min=0, rich_help_panel=NUMBERS, help="Positives among them."),
    ] = None
    unaudited: Annotated[
        int | None,
        typer.Option(
            min=0, rich_help_panel=NUMBERS, help="Items that were left out and not audited."
        ),
    ] = None
    pool: Annotated[
        list[str] | None,
        typer.Option(
            rich_help_panel=NUMBERS,
            help="One of several pools: `NAME,AUDITED,POSITIVES,SIZE`, where SIZE counts the "
            "audited ones too; repeat.",
        ),
    ] = None
    infinite: Annotated[
        bool,
        typer.Option(
            "--infinite",
            rich_help_panel=UNCERTAINTY,
            help="Do not narrow intervals because pools are finite.",
        ),
    ] = False
    task: Annotated[
        str | None,
        typer.Option(rich_help_panel=NUMBERS, help="Which question, where there are several."),
    ] = None

    def pools(self) -> "list[Pool]":
        """Pools that were given as numbers, in the one way in which they were."""
        if self.size:
            raise typer.BadParameter("got a size without FILE", param_hint="--size")
        return self._several() if self.pool else [self._single()]

    def check(self) -> None:
        """Refuse an audit that is given in no way, or in several."""
        ways = [
            *(["FILE"] if self.file is not None else []),
            *(["--audited"] if any(getattr(self, name) is not None for name in SINGLE) else []),
            *(["--pool"] if self.pool else []),
        ]
        if len(ways) != 1:
            raise InputError(
                "audit",
                " and ".join(ways) or "nothing",
                "one of FILE, --audited and --pool",
                "give FILE with --size, or --audited, --positives and --unaudited, or --pool",
            )

    def _single(self) -> "Pool":
        """One pool of numbers."""
        from equipoise.analyses.audit import Pool

        if self.audited is None or self.positives is None or self.unaudited is None:
            lost = [flag(name) for name in SINGLE if getattr(self, name) is None]
            raise InputError(
                "audit",
                f"no {' and no '.join(lost)}",
                "--audited, --positives and --unaudited together",
                f"add {' '.join(lost)}",
            )
        return Pool("pool", self.audited, self.positives, self.audited + self.unaudited)

    def _several(self) -> "list[Pool]":
        """Several pools of numbers."""
        from equipoise.analyses.audit import Pool

        pools = []
        for text in self.pool or ():
            name, *numbers = text.rsplit(",", 3)
            if len(numbers) != 3 or not name.strip() or not all(map(_is_whole, numbers)):
                expected = "NAME,AUDITED,POSITIVES,SIZE: pHash,150,0,5000"
                message = f"got {text!r}, expected {expected}"
                raise typer.BadParameter(message, param_hint="--pool")
            pools.append(Pool(name.strip(), *(int(one) for one in numbers)))
        return pools

    def sizes(self, votes: "Annotations") -> dict[str, int]:
        """How many items each pool has."""
        sizes: dict[str, int] = {}
        for text in [word for one in self.size or [] for word in words(one)]:
            name, sign, number = text.rpartition("=")
            if not _is_whole(number):
                message = f"got {text!r}, expected POOL=NUMBER, or one number"
                raise typer.BadParameter(message, param_hint="--size")
            if sign:
                sizes[name] = int(number)
            else:
                sizes |= dict.fromkeys(votes.groups or ("pool",), int(number))
        return sizes


def _is_whole(text: str) -> bool:
    return text.strip().isdecimal()


@dataclass(frozen=True, slots=True, kw_only=True)
class Rescoring:
    """The benchmark, and models to score again with the audited items."""

    annotations: Annotated[
        Path | None,
        typer.Option("--annotations", "-a", rich_help_panel=FILES, help="Who said what."),
    ] = None
    predictions: Annotated[
        list[Path] | None,
        typer.Option(
            "--predictions", "-p", rich_help_panel=FILES, help="What each model scored."
        ),
    ] = None
    metric: Annotated[
        str | None,
        typer.Option(
            rich_help_panel=RESULT,
            help="Metrics of the models, comma-separated. Default: auroc.",
        ),
    ] = None
    labels: Annotated[
        str | None,
        typer.Option(
            rich_help_panel=RESULT,
            help="Labels to score models against: `hard` (strict majority) or `soft` (mean "
            "vote). Default: hard.",
        ),
    ] = None
    replicates: Annotated[
        int | None,
        typer.Option(
            min=1, rich_help_panel=UNCERTAINTY, help="Resamples of the models. Default: 500."
        ),
    ] = None
    seed: Seed = 0
    level: Level = 0.95

    def __post_init__(self) -> None:
        """Refuse unknown words, and options about models where there are none."""
        check_choice("labels", self.labels, ("hard", "soft"))
        metric_names(self.metric)
        for name in ("metric", "labels", "replicates"):
            if not self.predictions and getattr(self, name) is not None:
                raise typer.BadParameter(NO_MODELS, param_hint=flag(name))


NO_MODELS = "belongs to models; add -p, or leave it out"


@dataclass(frozen=True, slots=True)
class _ReadAudit:
    """Pools, positives found, what models are scored on again, and what to know."""

    pools: "Sequence[Pool]"
    found: int
    notices: tuple[Notice, ...] = ()
    benchmark: "Annotations | None" = None
    votes: "Annotations | None" = None
    pool: dict[str, str] = field(default_factory=dict)
    sizes: dict[str, int] = field(default_factory=dict)
    models: "tuple[Predictions, ...]" = ()


@command
def audit(
    items: AuditedItems, models: Rescoring, reading: StudyReading, output: OutputOptions
) -> None:
    """How many positives did the retrieval of candidates miss?

    Some of the items that were left out are drawn at random and labelled: the share of
    positives among them, with Wilson's interval, says how many were missed. With `-a` and
    `-p` the models are scored again with the audited items, before and after, paired.

    Example: equipoise audit --found 120 --audited 150 --positives 3 --unaudited 4850

    Example: equipoise audit --found 4000 --pool pHash,150,0,5000 --pool ViT,150,26,5000

    Example: equipoise audit audited.csv --size pHash=5000 --size ViT=5000 -a votes.csv -p
    scores.csv --out audit
    """
    from equipoise.cli.study import file_facts, table_files
    from equipoise.run import hashed

    _check(items, models, reading)
    output.check_folder(MARK, "report.html")
    with progress("reading") as tell:
        read = _read(items, models, reading)
        tell(1, 1)
    report = _report(read, items, models)
    inputs = [
        row
        for role, paths in (
            ("audited", [items.file] if items.file else []),
            ("annotations", [models.annotations] if models.annotations else []),
            ("predictions", table_files(models.predictions)),
        )
        for row in hashed(role, paths)
    ]
    present(report, output, MARK, {"inputs": file_facts(inputs)})


def _check(items: AuditedItems, models: Rescoring, reading: StudyReading) -> None:
    """Refuse options that would do nothing, before anything is read."""
    if not models.predictions:
        for name in reading.changed(reading.OF_SCORES):
            raise typer.BadParameter(NO_MODELS, param_hint=flag(name))
    if items.file is None and models.annotations is None:
        given = [*(["task"] if items.task else []), *reading.changed(OF_FILES)]
        for name in given:
            why = "belongs to files; add FILE or -a, or leave it out"
            raise typer.BadParameter(why, param_hint=flag(name))
    if models.predictions and (items.file is None or models.annotations is None):
        raise InputError(
            "--predictions",
            "models, but not both FILE and -a",
            "the audited items and the benchmark that the models were scored on",
            "add them, or leave the models out",
        )
    if models.annotations and items.found is not None and not models.predictions:
        raise typer.BadParameter(
            "got both --found and -a, expected one, because -a is only counted; or add -p",
            param_hint="--found",
        )
    items.check()


def _read(items: AuditedItems, models: Rescoring, reading: StudyReading) -> _ReadAudit:
    """Read the audit from the numbers, or from the file."""
    from equipoise.analyses.audit import audited_pools

    if items.file is None:
        pools = items.pools()
        found, notices = _retrieved(items, models, reading)
        return _ReadAudit(pools, found, notices)
    columns = _audit_columns(items.file, reading)
    votes = answers_to(read_question(items.file, reading, columns), items.task, items.file)
    sizes = items.sizes(votes)
    pools, pool = audited_pools(votes, sizes)
    own = as_notices(votes.notices)
    if not models.predictions or models.annotations is None:
        found, notices = _retrieved(items, models, reading)
        return _ReadAudit(pools, found, (*notices, *own))
    table = _benchmark(models.annotations, items.task, reading)
    scored = read_models(models.predictions, reading, items.task)
    found, tied = _positives(table, models.annotations)
    return _ReadAudit(
        pools,
        found if items.found is None else items.found,
        (*as_notices(table.notices), *tied, *own),
        table,
        replace(votes, group=None, groups=None),  # which are the pools
        pool,
        sizes,
        scored,
    )


def _retrieved(
    items: AuditedItems, models: Rescoring, reading: StudyReading
) -> tuple[int, tuple[Notice, ...]]:
    """Positives that the retrieval found, as said or by the votes."""
    if items.found is not None:
        return items.found, ()
    if models.annotations is None:
        raise InputError(
            "audit",
            "no --found",
            "how many positives the retrieval found",
            "add --found NUMBER, or -a with the votes on what was retrieved",
        )
    table = _benchmark(models.annotations, items.task, reading)
    found, tied = _positives(table, models.annotations)
    return found, (*as_notices(table.notices), *tied)


def _positives(table: "Annotations", path: Path) -> tuple[int, tuple[Notice, ...]]:
    """Items that more than half of the votes call positive, and a notice of ties."""
    from equipoise.evaluation.questions import questions

    question = questions(table)[0]
    if len(question.classes) > 1:
        raise InputError(
            f"{path.name}",
            f"classes {table.classes}",
            "a yes/no question",
            "ask about one class with --positive CLASS",
        )
    tied = Notice(
        "tied_benchmark",
        "{ties:count} of {items:count} items of {file} have no strict majority of votes: they "
        "count as negative, so not as found.",
        values={"ties": question.undecided, "items": len(question.items), "file": path.name},
    )
    return int((question.hard[0] > 0).sum()), (tied,) if question.undecided else ()


def _benchmark(path: Path, task: str | None, reading: StudyReading) -> "Annotations":
    columns = reading.column_names()
    columns.pop("pool", None)
    return votes_on(read_question(path, reading, columns), task, path)


def _audit_columns(path: Path, reading: StudyReading) -> dict[str, str]:
    """Columns of the audited items; the pool is the group of an item."""
    columns = reading.column_names()
    theirs = columns.pop("pool", None)
    if theirs is None and "pool" in _header(path):
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


def _report(read: _ReadAudit, items: AuditedItems, models: Rescoring) -> "Report":
    """Count what was missed and score the models again, under a bar."""
    from equipoise.analyses.audit import TERMS
    from equipoise.analyses.audit import audit as count_missed
    from equipoise.findings import Report
    from equipoise.metrics import named

    done = count_missed(read.pools, read.found, level=models.level, finite=not items.infinite)
    metrics = metric_names(models.metric) or ["auroc"]
    again = _again(read, models, metrics) if read.models else []
    settings = [
        ("Positives retrieved", count(done.found)),
        ("Level of the intervals", exact_percent(models.level)),
    ]
    if again:
        settings += [
            ("Labels", models.labels or "hard"),
            ("Resamples", count(models.replicates or 500)),
            ("Seed", str(models.seed)),
        ]
    scored = [named(one) for one in metrics if again]
    audited = sum(one.audited for one in done.pools)
    return Report(
        title="What did the retrieval miss?",
        findings=(done.report(), *again),
        models=tuple(one.model for one in read.models),
        known=(
            count(len(done.pools), "pool"),
            f"{count(audited, 'item')} audited",
            f"{count(done.found, 'positive')} retrieved",
            *([count(len(read.models), "model")] if again else []),
        ),
        terms=(*TERMS, *((one.title, one.definition) for one in scored)),
        settings=tuple(settings),
        notices=read.notices,
    )


def _again(read: _ReadAudit, models: Rescoring, metrics: Sequence[str]) -> "list[Finding]":
    """Every metric before and after."""
    from equipoise.analyses.audit import Audited, reevaluate

    assert read.benchmark is not None and read.votes is not None
    findings = []
    with progress("audit") as tell:
        for place, metric in enumerate(metrics):

            def within(done: int, whole: int, place: int = place) -> None:
                tell(place * whole + done, len(metrics) * whole)

            audited = Audited(
                read.votes,
                read.pool,
                read.sizes,
                models.labels or "hard",
                models.replicates or 500,
                models.seed,
                models.level,
                within,
            )
            done = reevaluate(read.models, read.benchmark, audited, metric=metric)
            findings.append(done.report())
    return findings
