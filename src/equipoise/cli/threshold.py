"""equipoise threshold set: where experts draw the line between negative and positive."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, ClassVar

import numpy as np

from equipoise.cli._plan_key import BINS, PER_BIN, PlanKey, SampleSize, read_key
from equipoise.cli._results import input_facts, present
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
    column_map,
    command,
    metric_names,
    misused,
    panel,
    refuse_unused,
)
from equipoise.cli.probabilities import (
    ITEMS,
    NO_MODELS,
    ProbabilitySource,
    answers_to,
    read_models,
    read_probabilities,
    read_question,
)
from equipoise.cli.threshold_plan import BinCount, ItemsPerBin
from equipoise.types.annotations import Annotations
from equipoise.types.arrays import InputError, Ints, listed
from equipoise.types.notices import as_notices

if TYPE_CHECKING:
    from equipoise.study.analyses.thresholds import ExpertSample, Rule
    from equipoise.types.findings import Report

MARK = "threshold.json"
TEXT = (".csv", ".tsv")
_file = panel(
    FILES,
    experts="What the experts said: one file of votes (item, annotator, label), or a filled-in "
    "plan of each expert; repeat for several.",
    expert_columns="Other names in the experts' files.",
    predictions="Models to score against the labels of each threshold.",
    prediction_columns="Other names of columns in the predictions.",
    prediction_layout="`auto`, `long`, `wide`, `classes`, `tasks`.",
    on_missing="Items that only one side has: `error`, or `drop` and say so.",
)
_item = panel(
    ITEMS,
    plan="The key that `threshold plan` wrote (plan.key.json), or the plan beside it: supplies "
    "`--truth`, `--task`, `--bins` and all else that the plan was made with.",
)
_rule = panel(
    "How the threshold is set",
    rule="`isotonic`: where a rising fit reaches `--share`; `rise`: mean probability of the "
    "first bin from which on positives are more frequent than below, whose interval holds the "
    "truth too rarely (72 to 87 % instead of 95 %).",
    share="Share of positives to reach; of `isotonic`. Default: 0.5.",
    margin="By how much more than below; of `rise`. Default: 0.1.",
)
_result = panel(
    RESULT,
    reach="How far the threshold is moved.",
    metric="Metrics of the models, comma-separated, the most important first. Default: auroc.",
)
_uncertainty = panel(
    UNCERTAINTY,
    replicates="Number of resamples.",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class _ThresholdSource(ProbabilitySource):
    """The items of a plan, and what the experts said of them."""

    experts: Annotated[list[Path], _file("experts")]
    plan: Annotated[Path | None, _item("plan")] = None
    bins: BinCount = None
    per_bin: ItemsPerBin = None
    expert_columns: Annotated[str | None, _file("expert_columns")] = None

    NOT_OF_PROBABILITIES: ClassVar[tuple[str, ...]] = ("reliability", "exchangeable")

    def __post_init__(self) -> None:
        """Refuse unknown words; with a key, once its options are known."""
        if self.plan is None:
            super(_ThresholdSource, self).__post_init__()

    def with_key(self, key: PlanKey) -> "_ThresholdSource":
        """The same with the options of a key; those that were given must not differ."""
        key.refuse_other("bins", self.bins, None, key.size.bins)
        key.refuse_other("per_bin", self.per_bin, None, key.size.per_bin)
        return replace(self, plan=None, **key.options_for(self))


@dataclass(frozen=True, slots=True, kw_only=True)
class _RuleOptions:
    """How the threshold is set, and how its uncertainty is measured."""

    rule: Annotated[str, _rule("rule")] = "isotonic"
    share: Annotated[float | None, _rule("share", min=0, max=1)] = None
    margin: Annotated[float | None, _rule("margin", min=0, max=1)] = None
    reach: Annotated[float, _result("reach", min=0.001, max=0.999)] = 0.15
    replicates: Annotated[int, _uncertainty("replicates", min=1)] = 1000
    seed: Seed = 0
    level: Level = 0.95

    def __post_init__(self) -> None:
        """Refuse unknown words, and the parameter of the other rule."""
        from equipoise.study.analyses.thresholds import RULES

        check_choice("rule", self.rule, tuple(RULES))
        other = "share" if self.rule == "rise" else "margin"
        if getattr(self, other) is not None:
            raise misused(f"does not belong to --rule {self.rule}; leave it out", other)

    def made(self) -> "Rule":
        """The rule of the library."""
        from equipoise.study.analyses.thresholds import Rule

        margin = 0.1 if self.margin is None else self.margin
        share = 0.5 if self.share is None else self.share
        drawn = (self.replicates, self.seed, self.level)
        return Rule(self.rule, share, margin, *drawn)


@dataclass(frozen=True, slots=True, kw_only=True)
class _ScoredModels:
    """Models to score, and how their files are read."""

    predictions: Annotated[list[Path] | None, _file("predictions", "--predictions", "-p")] = (
        None
    )
    metric: Annotated[str | None, _result("metric")] = None
    prediction_columns: Annotated[str | None, _file("prediction_columns")] = None
    prediction_layout: Annotated[str, _file("prediction_layout")] = "auto"
    on_missing: Annotated[str, _file("on_missing")] = "error"

    def __post_init__(self) -> None:
        """Refuse unknown words, and options about models where there are none."""
        from equipoise.study.alignment import ON_MISSING

        check_choice("on_missing", self.on_missing, ON_MISSING)
        metric_names(self.metric)
        self.reading(None)
        if not self.predictions:
            own = ("metric", "prediction_columns", "prediction_layout", "on_missing")
            refuse_unused(self, own, NO_MODELS)

    def reading(self, positive: str | None) -> StudyReading:
        """How the files are read."""
        return StudyReading(
            positive=positive,
            prediction_columns=self.prediction_columns,
            prediction_layout=self.prediction_layout,
        )


@command(heavy="maps")
def threshold(
    source: _ThresholdSource, rule: _RuleOptions, models: _ScoredModels, output: OutputOptions
) -> None:
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
    key = None if source.plan is None else read_key(source.plan)
    source = source if key is None else source.with_key(key)
    output.check_folder(MARK, "report.html")
    report = _report(source, rule, models, key)
    facts = input_facts(
        {
            "items": source.file,
            "experts": source.experts,
            "plan": None if key is None else key.path,
            "predictions": models.predictions,
        }
    )
    present(report, output, MARK, facts)


def _report(
    source: _ThresholdSource, rule: _RuleOptions, models: _ScoredModels, key: PlanKey | None
) -> "Report":
    """Read everything and set the threshold, under a bar."""
    from equipoise.report.text import references
    from equipoise.study.analyses.moving_thresholds import Grid
    from equipoise.study.analyses.threshold_in_use import threshold_report
    from equipoise.study.analyses.thresholds import sampling_plan

    with progress("reading") as tell:
        read = read_probabilities(source)
        known = read.probabilities
        usual = SampleSize(source.bins or BINS, source.per_bin or PER_BIN, rule.seed)
        sample = sampling_plan(known.values, known.items, *(usual if key is None else key.size))
        if key is not None:
            key.check(source.file, sample)
        task = source.task or read.task
        votes = _read_experts(replace(source, task=task), sample, sure=key is not None)
        scored = read_models(models.predictions, models.reading(source.positive), task)
        tell(1, 1)
    with progress("threshold") as tell:
        grid = Grid(
            reach=rule.reach,
            metrics=metric_names(models.metric) or ["auroc"],
            on_missing=models.on_missing,
            progress=tell,
        )
        report = threshold_report(known, sample, votes, scored, rule.made(), grid)
    return replace(
        report,
        title=f"{source.file.stem}: from where on is an item positive?",
        notices=(*read.notices, *as_notices(votes.notices), *report.notices),
        references=(*report.references, *references([known.model])),
    )


def _read_experts(
    source: _ThresholdSource, sample: "ExpertSample", *, sure: bool
) -> Annotations:
    """Votes of all experts; a file without annotators is that of one expert, by its name."""
    columns = column_map(source.expert_columns, "expert_columns")
    names = ("kind", "classes", "positive", "at_least", "repeats")
    reading = StudyReading(**{name: getattr(source, name) for name in names})
    tables = []
    for path in source.experts:
        sure |= _has_bins(path, sample)
        table = answers_to(read_question(path, reading, columns), source.task, path)
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
    items = {name: None for _, one in tables for name in one.items}
    place = {name: number for number, name in enumerate(items)}
    people: dict[str, int] = {}
    rows: list[tuple[Ints, Ints, Ints]] = []
    for path, one in tables:
        if one.kind != "binary" or one.classes != first.classes or one.count is not None:
            got = f"answers {listed(one.classes)}, kind {one.kind}"
            expected = "one yes or no per item, in the same words in every file"
            do = "ask about one answer with --positive CLASS, or correct the file"
            raise InputError(f"{path.name}", got, expected, do)
        who = _annotator_codes(path, one, people)
        item = np.array([place[name] for name in one.items])[one.item]
        assert one.label is not None
        rows.append((item, who, one.label))
    notices = dict.fromkeys(notice for _, one in tables for notice in one.notices)
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


def _annotator_codes(path: Path, one: Annotations, people: dict[str, int]) -> Ints:
    """Codes of the annotators of one file among all."""
    if one.annotators is not None and one.annotator is not None:
        codes = [people.setdefault(name, len(people)) for name in one.annotators]
        return np.array(codes)[one.annotator]
    if path.stem in people:
        where, do = f"{path}", "name files by their experts, or add a column annotator"
        raise InputError(where, f"a second file of {path.stem!r}", "one file per expert", do)
    if len(one) > len(one.items):
        got, do = "several votes on one item, and no annotator", "say who voted"
        raise InputError(f"{path.name}", got, "one answer per item, or a column annotator", do)
    return np.full(len(one.item), people.setdefault(path.stem, len(people)))


def _has_bins(path: Path, sample: "ExpertSample") -> bool:
    """Refuse a filled-in plan whose bins are others than those made now; whether it has any."""
    from equipoise.read.delimited import read_delimited
    from equipoise.read.files import content
    from equipoise.read.tables import words_of

    if path.suffix.lower() not in TEXT or not path.is_file():
        return False
    table = read_delimited(content(path))
    if not {"item", "bin"} <= set(table.columns):
        return False
    known = {row["item"]: str(row["bin"]) for row in sample.rows()}
    columns = []
    for name in ("item", "bin"):
        codes, spelt = words_of(table, name)
        columns.append([spelt[code] if code >= 0 else "" for code in codes])
    for item, number in zip(*columns, strict=True):
        if known.get(item) != number:
            other = f"bin {known[item]}" if item in known else "an item of the plan made now"
            do = "repeat the file, --truth, --bins, --per-bin and --seed of threshold plan"
            raise InputError(path.name, f"item {item!r} in bin {number}", other, do)
    return True
