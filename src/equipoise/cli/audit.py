"""equipoise audit: how many positives lie where nobody looked."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from equipoise.cli._results import input_facts, present
from equipoise.cli._screen import progress
from equipoise.cli.options import (
    RESULT,
    UNCERTAINTY,
    Level,
    OutputOptions,
    ScorePaths,
    Seed,
    StudyReading,
    VotesPath,
    check_choice,
    command,
    flag,
    metric_names,
    misused,
    panel,
    refuse_unused,
    words,
)
from equipoise.cli.probabilities import (
    NO_MODELS,
    answers_to,
    read_models,
    read_question,
    votes_on,
)
from equipoise.types.annotations import Annotations
from equipoise.types.arrays import InputError
from equipoise.types.notices import Notice, as_notices
from equipoise.types.numbers import count, exact_percent
from equipoise.types.predictions import Predictions

if TYPE_CHECKING:
    from equipoise.study.analyses.audits import Pool
    from equipoise.types.findings import Finding, Report

MARK = "audit.json"
TEXT = (".csv", ".tsv")
SINGLE = ("audited", "positives", "unaudited")
OF_FILES = ("kind", "classes", "positive", "at_least", "columns", "layout", "repeats")
FILE = (
    "Labels of the audited items: item, label, and perhaps annotator and pool; a pair is an "
    "item with an id of its own. Or give numbers."
)
_number = panel(
    "What was audited",
    found="Positives that the retrieval found. Default with `-a`: those by majority.",
    size="With FILE: how many items were left out, audited or not; `POOL=NUMBER` for each "
    "pool, or one number for every pool.",
    audited="Items that were audited.",
    positives="Positives among them.",
    unaudited="Items that were left out and not audited.",
    pool="One of several pools: `NAME,AUDITED,POSITIVES,SIZE`, where SIZE counts the audited "
    "ones too; repeat.",
    task="Which question, where there are several.",
)
_uncertainty = panel(
    UNCERTAINTY,
    infinite="Do not narrow intervals because pools are finite.",
    replicates="Resamples of the models. Default: 500.",
)
_result = panel(
    RESULT,
    metric="Metrics of the models, comma-separated. Default: auroc.",
    labels="Labels to score models against: `hard` (strict majority) or `soft` (mean vote). "
    "Default: hard.",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class _AuditedItems:
    """What was audited: a file, or numbers."""

    file: Annotated[Path | None, typer.Argument(show_default=False, help=FILE)] = None
    found: Annotated[int | None, _number("found", min=0)] = None
    size: Annotated[list[str] | None, _number("size")] = None
    audited: Annotated[int | None, _number("audited", min=1)] = None
    positives: Annotated[int | None, _number("positives", min=0)] = None
    unaudited: Annotated[int | None, _number("unaudited", min=0)] = None
    pool: Annotated[list[str] | None, _number("pool")] = None
    infinite: Annotated[bool, _uncertainty("infinite", "--infinite")] = False
    task: Annotated[str | None, _number("task")] = None

    def pools(self) -> "list[Pool]":
        """Pools that were given as numbers, in the one way in which they were."""
        from equipoise.study.analyses.audits import Pool

        if self.size:
            raise misused("got a size without FILE", "size")
        pools = []
        for text in self.pool or ():
            name, *numbers = (part.strip() for part in text.rsplit(",", 3))
            if len(numbers) != 3 or not name or not all(map(str.isdecimal, numbers)):
                expected = "NAME,AUDITED,POSITIVES,SIZE: pHash,150,0,5000"
                raise misused(f"got {text!r}, expected {expected}", "pool")
            pools.append(Pool(name, *map(int, numbers)))
        if self.pool:
            return pools
        if self.audited is None or self.positives is None or self.unaudited is None:
            lost = [flag(name) for name in SINGLE if getattr(self, name) is None]
            got = f"no {' and no '.join(lost)}"
            expected = "--audited, --positives and --unaudited together"
            raise InputError("audit", got, expected, f"add {' '.join(lost)}")
        return [Pool("pool", self.audited, self.positives, self.audited + self.unaudited)]

    def check(self) -> None:
        """Refuse an audit that is given in no way, or in several."""
        ways = [
            *(["FILE"] if self.file is not None else []),
            *(["--audited"] if any(getattr(self, name) is not None for name in SINGLE) else []),
            *(["--pool"] if self.pool else []),
        ]
        if len(ways) != 1:
            got = " and ".join(ways) or "nothing"
            do = "give FILE with --size, or --audited, --positives and --unaudited, or --pool"
            raise InputError("audit", got, "one of FILE, --audited and --pool", do)

    def sizes(self, votes: Annotations) -> dict[str, int]:
        """How many items each pool has."""
        sizes: dict[str, int] = {}
        for text in [word for one in self.size or [] for word in words(one)]:
            name, sign, number = text.rpartition("=")
            if not number.strip().isdecimal():
                raise misused(f"got {text!r}, expected POOL=NUMBER, or one number", "size")
            if sign:
                sizes[name] = int(number)
            else:
                sizes |= dict.fromkeys(votes.groups or ("pool",), int(number))
        return sizes


@dataclass(frozen=True, slots=True, kw_only=True)
class _Rescoring:
    """The benchmark, and models to score again with the audited items."""

    annotations: VotesPath = None
    predictions: ScorePaths = None
    metric: Annotated[str | None, _result("metric")] = None
    labels: Annotated[str | None, _result("labels")] = None
    replicates: Annotated[int | None, _uncertainty("replicates", min=1)] = None
    seed: Seed = 0
    level: Level = 0.95

    def __post_init__(self) -> None:
        """Refuse unknown words, and options about models where there are none."""
        check_choice("labels", self.labels, ("hard", "soft"))
        metric_names(self.metric)
        if not self.predictions:
            refuse_unused(self, ("metric", "labels", "replicates"), NO_MODELS)


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


@command(heavy="maps")
def audit(
    items: _AuditedItems, models: _Rescoring, reading: StudyReading, output: OutputOptions
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
    _check(items, models, reading)
    output.check_folder(MARK, "report.html")
    with progress("reading") as tell:
        read = _read(items, models, reading)
        tell(1, 1)
    report = _report(read, items, models)
    inputs = {
        "audited": items.file,
        "annotations": models.annotations,
        "predictions": models.predictions,
    }
    present(report, output, MARK, input_facts(inputs))


def _check(items: _AuditedItems, models: _Rescoring, reading: StudyReading) -> None:
    """Refuse options that would do nothing, before anything is read."""
    if not models.predictions:
        refuse_unused(reading, reading.OF_SCORES, NO_MODELS)
    if items.file is None and models.annotations is None:
        why = "belongs to files; add FILE or -a, or leave it out"
        if items.task:
            raise misused(why, "task")
        refuse_unused(reading, OF_FILES, why)
    if models.predictions and (items.file is None or models.annotations is None):
        got = "models, but not both FILE and -a"
        expected = "the audited items and the benchmark that the models were scored on"
        raise InputError("--predictions", got, expected, "add them, or leave the models out")
    if models.annotations and items.found is not None and not models.predictions:
        why = "got both --found and -a, expected one, because -a is only counted; or add -p"
        raise misused(why, "found")
    items.check()


def _read(items: _AuditedItems, models: _Rescoring, reading: StudyReading) -> _ReadAudit:
    """Read the audit from the numbers or from the file, and what the retrieval found."""
    from equipoise.study.analyses.audits import audited_pools

    votes, sizes, pool = None, dict[str, int](), dict[str, str]()
    if items.file is None:
        pools = items.pools()
    else:
        columns = _audit_columns(items.file, reading)
        votes = answers_to(read_question(items.file, reading, columns), items.task, items.file)
        sizes = items.sizes(votes)
        pools, pool = audited_pools(votes, sizes)
    found, notices = items.found, () if votes is None else as_notices(votes.notices)
    table, path = None, models.annotations
    if path is not None:
        columns = reading.column_names()
        columns.pop("pool", None)
        table = votes_on(read_question(path, reading, columns), items.task, path)
        counted, tied = _positives(table, path)
        found = counted if found is None else found
        notices = (*as_notices(table.notices), *tied, *notices)
    if found is None:
        do = "add --found NUMBER, or -a with the votes on what was retrieved"
        raise InputError("audit", "no --found", "how many positives the retrieval found", do)
    scored = read_models(models.predictions, reading, items.task)
    if votes is not None:
        votes = replace(votes, group=None, groups=None)  # which are the pools
    return _ReadAudit(pools, found, notices, table, votes, pool, sizes, scored)


def _positives(table: Annotations, path: Path) -> tuple[int, tuple[Notice, ...]]:
    """Items that more than half of the votes call positive, and a notice of ties."""
    from equipoise.study.blocks import majority
    from equipoise.study.truth import task_truths

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


def _report(read: _ReadAudit, items: _AuditedItems, models: _Rescoring) -> "Report":
    """Count what was missed and score the models again, under a bar."""
    from equipoise.metrics import named
    from equipoise.study.analyses.audits import TERMS
    from equipoise.study.analyses.audits import audit as count_missed
    from equipoise.types.findings import Report

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


def _again(read: _ReadAudit, models: _Rescoring, metrics: Sequence[str]) -> "list[Finding]":
    """Every metric before and after."""
    from equipoise.study.analyses.audits import Audited, reevaluate

    assert read.benchmark is not None and read.votes is not None
    findings = []
    with progress("audit") as tell:
        for place, metric in enumerate(metrics):

            def within(done: int, whole: int, place: int = place) -> None:
                tell(place * whole + done, len(metrics) * whole)

            how = (models.labels or "hard", models.replicates or 500, models.seed, models.level)
            audited = Audited(read.votes, read.pool, read.sizes, *how, within)
            done = reevaluate(read.models, read.benchmark, audited, metric=metric)
            findings.append(done.report())
    return findings
