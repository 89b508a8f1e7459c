"""equipoise threshold: which items experts should see, and where they draw the line."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from equipoise.cli.command import verb
from equipoise.cli.help import metric_names
from equipoise.cli.options import (
    OF_FOLDER,
    OF_SCORES,
    Options,
    column_map,
    misused,
    refuse_unused,
)
from equipoise.cli.plan_key import (
    BINS,
    PER_BIN,
    PlanKey,
    SampleSize,
    key_of,
    key_text,
    read_key,
    write_plan,
)
from equipoise.cli.probabilities import (
    NO_MODELS,
    OF_SOURCE,
    SOURCE_TEXTS,
    answers_to,
    check_source,
    read_models,
    read_probabilities,
    read_question,
)
from equipoise.cli.results import check_report_folder, check_target, input_facts, present
from equipoise.cli.screen import progress, say
from equipoise.read.delimited import read_delimited
from equipoise.read.files import content
from equipoise.read.tables import words_of
from equipoise.study import Settings
from equipoise.study.analyses.threshold_in_use import ModelsBeside, threshold_report
from equipoise.study.analyses.thresholds import ExpertSample, Rule, sampling_plan
from equipoise.truth import MODELS
from equipoise.types import Annotations, InputError, Ints, Report, as_notices, count, listed

MARK = "threshold.json"
TEXT = (".csv", ".tsv")
REPLICATES = 1000


@verb(
    *OF_SOURCE,
    *("bins", "per_bin", "seed", "out", "shown", "overwrite", "as_json"),
    arguments=("file",),
    required=("file",),
    texts={
        **SOURCE_TEXTS,
        "seed": "Same seed, same items.",
        "out": "File for the items, ending in .csv: items in random order, and an empty column "
        "`label` for the expert. Bins, probabilities and options go into a second file beside "
        "it, the key, which experts should not see: plan.csv, plan.key.json.",
        "overwrite": "Replace these files.",
    },
)
def threshold_plan(options: Options) -> None:
    """Which items should experts see, so that they can set a threshold?

    Orders items by probability, cuts them into bins of equal size and draws as many from
    each, so that all probabilities are seen. Each expert fills the empty column of a copy of
    the plan, which is blind; `equipoise threshold set FILE --plan plan.key.json` takes the
    copies back in and knows the options from the key.

    Example: equipoise threshold plan votes.csv --truth dawid_skene --out plan.csv

    Example: equipoise threshold plan scores.csv --model resnet --bins 10 --out plan.csv
    """
    check_source(options)
    check_target("--out", options.out, (".csv",))
    if options.out is not None:
        _refuse_present(options.out, options)
    size = SampleSize(options.bins or BINS, options.per_bin or PER_BIN, options.seed)
    with progress("reading") as tell:
        read = read_probabilities(options)
        probabilities = read.probabilities
        sample = sampling_plan(probabilities.values, probabilities.items, *size)
        tell(1, 1)
    report = Report(
        title="Which items should experts see?",
        scope=f"Probabilities: {probabilities.source}.",
        findings=(replace(sample.report(), title="Items for the experts"),),
        settings=tuple((name, str(value)) for name, value in size._asdict().items()),
        notices=read.notices,
    )
    if options.out is not None:
        key = None if options.shown else key_text(sample, options, size, read.task)
        if key is not None:
            _check_key(options.out, key, options)
        write_plan(options.out, sample, read.task, key)
        items = count(len(sample.items))
        say(f"Wrote {options.out}: {items} items; experts fill in the column label")
        if key is not None:
            about = "bins and probabilities, for threshold --plan; keep it from the experts"
            say(f"Wrote {key_of(options.out)}: {about}")
    present(report, Options(as_json=options.as_json), "")


def _check_key(plan: Path, key: str, options: Options) -> None:
    """Refuse to write over the key of another plan; of this one it is a stopped writing."""
    path = key_of(plan)
    if not (path.is_file() and path.read_bytes() == key.encode("utf-8")):
        _refuse_present(path, options)


def _refuse_present(path: Path, options: Options) -> None:
    if path.exists() and not options.overwrite:
        do = "name another file, or allow overwriting (--overwrite)"
        raise InputError(f"--out {path}", "is there already", "a new file", do)


@verb(
    *OF_SOURCE,
    *("experts", "plan", "bins", "per_bin", "expert_columns"),
    *("rule", "share", "rise_margin", "reach", "replicates", "seed", "level"),
    *("predictions", "metrics", *OF_SCORES, "on_missing"),
    *OF_FOLDER,
    arguments=("file",),
    required=("file", "experts"),
    texts={
        **SOURCE_TEXTS,
        "predictions": "Models to score against the labels of each threshold.",
        "metrics": "Metrics of the models, comma-separated, the most important first. Default: "
        "auroc.",
        "replicates": "Number of resamples. Default: 1,000.",
    },
    heavy="maps",
)
def threshold(options: Options) -> None:
    """From which probability on do experts call an item positive, and how sure is that?

    Takes the items of `equipoise threshold plan` back in, labels each by the majority of the
    experts, sets the threshold, and resamples experts and items for its interval. Says how many
    items become positive and, with `-p`, how models score as the threshold moves. Give
    FILE as for the plan, and the key of the plan, or repeat its options (`--truth`, `--bins`,
    `--per-bin`, `--seed`).

    Example: equipoise threshold set votes.csv --plan plan.key.json --experts a.csv --experts
    b.csv --experts c.csv --out threshold

    Example: equipoise threshold set scores.csv --model resnet --experts panel.csv --share 0.3
    -p detectors
    """
    key = None if options.plan is None else read_key(options.plan)
    options = options if key is None else key.applied(options)
    _check(options)
    check_report_folder(options, MARK)
    report = _report(options, key)
    facts = input_facts(
        {
            "items": options.file,
            "experts": options.experts,
            "plan": None if key is None else key.path,
            "predictions": options.predictions,
        }
    )
    present(report, options, MARK, facts)


def _check(options: Options) -> None:
    """Refuse unknown words, the parameter of the other rule, and options about no models."""
    check_source(options, ("reliability", "exchangeable"))
    other = "share" if options.rule == "rise" else "rise_margin"
    if getattr(options, other) is not None:
        raise misused(f"does not belong to --rule {options.rule}; leave it out", other)
    metric_names(options.metrics)
    column_map(options.prediction_columns, "prediction_columns")
    if not options.predictions:
        refuse_unused(options, ("metrics", *OF_SCORES, "on_missing"), NO_MODELS)


def _rule(options: Options) -> Rule:
    """The rule of the library."""
    share = 0.5 if options.share is None else options.share
    margin = 0.1 if options.rise_margin is None else options.rise_margin
    replicates = options.replicates or REPLICATES
    return Rule(options.rule, share, margin, replicates, options.seed, options.level)


def _report(options: Options, key: PlanKey | None) -> Report:
    """Read everything and set the threshold, under a bar."""
    with progress("reading") as tell:
        read = read_probabilities(options)
        probabilities = read.probabilities
        usual = SampleSize(options.bins or BINS, options.per_bin or PER_BIN, options.seed)
        sample = sampling_plan(
            probabilities.values, probabilities.items, *(usual if key is None else key.size)
        )
        assert options.file is not None
        if key is not None:
            key.check(options.file, sample)
        task = options.task or read.task
        votes = _read_experts(replace(options, task=task), sample, sure=key is not None)
        scored = read_models(options, task)
        tell(1, 1)
    with progress("threshold") as tell:
        metrics = metric_names(options.metrics) or ["auroc"]
        settings = Settings(on_missing=options.on_missing, progress=tell)
        beside = ModelsBeside(scored, metrics, options.reach, settings)
        report = threshold_report(probabilities, sample, votes, _rule(options), beside)
    model = MODELS.get(probabilities.model)
    sources = model.references if model else ()
    return replace(
        report,
        title=f"{options.file.stem}: from where on is an item positive?",
        notices=(*read.notices, *as_notices(votes.notices), *report.notices),
        references=(*report.references, *sources),
    )


def _read_experts(options: Options, sample: ExpertSample, *, sure: bool) -> Annotations:
    """Votes of all experts; a file without annotators is that of one expert, by its name."""
    columns = column_map(options.expert_columns, "expert_columns")
    names = ("kind", "classes", "positive", "at_least", "repeats")
    reading = Options(**{name: getattr(options, name) for name in names})
    tables = []
    for path in options.experts or ():
        sure |= _has_bins(path, sample)
        table = answers_to(read_question([path], reading, columns), options.task, path)
        tables.append((path, table))
    votes = tables[0][1]
    named = votes.annotators is not None or len(votes) > len(votes.items)
    if len(tables) > 1 or not named:  # not the one file of all votes
        votes = _one_table(tables)
    outside = set(votes.items) - set(sample.items)
    # where a key or columns of bins show that it is the plan, it may be answered in part
    if set(sample.items) - set(votes.items) and (outside or not sure):
        raise InputError(
            "--experts",
            f"answers on {len(votes.items) - len(outside):,} of the {len(sample.items):,} "
            f"items of the plan made now, and on {len(outside):,} others",
            "answers on the items of the plan",
            "give the key of the plan (--plan plan.key.json), or repeat --truth, --bins, "
            "--per-bin and --seed of threshold plan",
        )
    return votes


def _one_table(tables: Sequence[tuple[Path, Annotations]]) -> Annotations:
    """One table of all files."""
    first = tables[0][1]
    items = {name: None for _, table in tables for name in table.items}
    place = {name: number for number, name in enumerate(items)}
    people: dict[str, int] = {}
    rows: list[tuple[Ints, Ints, Ints]] = []
    for path, table in tables:
        if table.kind != "binary" or table.classes != first.classes or table.count is not None:
            got = f"answers {listed(table.classes)}, kind {table.kind}"
            expected = "one yes or no per item, in the same words in every file"
            do = "ask about one answer with --positive CLASS, or correct the file"
            raise InputError(f"{path.name}", got, expected, do)
        who = _annotator_codes(path, table, people)
        item = np.array([place[name] for name in table.items])[table.item]
        assert table.label is not None
        rows.append((item, who, table.label))
    notices = dict.fromkeys(notice for _, table in tables for notice in table.notices)
    item, annotator, label = (np.concatenate(part) for part in zip(*rows, strict=True))
    return Annotations(
        kind="binary",
        items=tuple(items),
        classes=first.classes,
        annotators=tuple(people),
        item=item,
        annotator=annotator,
        label=label,
        notices=tuple(notices),
    )


def _annotator_codes(path: Path, table: Annotations, people: dict[str, int]) -> Ints:
    """Codes of the annotators of one file among all."""
    if table.annotators is not None and table.annotator is not None:
        codes = [people.setdefault(name, len(people)) for name in table.annotators]
        return np.array(codes)[table.annotator]
    if path.stem in people:
        where, do = f"{path}", "name files by their experts, or add a column annotator"
        raise InputError(where, f"a second file of {path.stem!r}", "one file per expert", do)
    if len(table) > len(table.items):
        got, do = "several votes on one item, and no annotator", "say who voted"
        raise InputError(f"{path.name}", got, "one answer per item, or a column annotator", do)
    return np.full(len(table.item), people.setdefault(path.stem, len(people)))


def _has_bins(path: Path, sample: ExpertSample) -> bool:
    """Refuse a filled-in plan whose bins are others than those made now; whether it has any."""
    if path.suffix.lower() not in TEXT or not path.is_file():
        return False
    table = read_delimited(content(path))
    if not {"item", "bin"} <= set(table.columns):
        return False
    bin_of = {row["item"]: str(row["bin"]) for row in sample.rows()}
    columns = []
    for name in ("item", "bin"):
        codes, spelt = words_of(table, name)
        columns.append([spelt[code] if code >= 0 else "" for code in codes])
    for item, number in zip(*columns, strict=True):
        if bin_of.get(item) != number:
            other = f"bin {bin_of[item]}" if item in bin_of else "an item of the plan made now"
            do = "repeat the file, --truth, --bins, --per-bin and --seed of threshold plan"
            raise InputError(path.name, f"item {item!r} in bin {number}", other, do)
    return True
