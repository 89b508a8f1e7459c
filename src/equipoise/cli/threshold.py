"""equipoise threshold: which items experts should see, and where they draw the line.

A plan for experts is blind: items in random order with an empty column. Beside ``plan.csv``
lies its key, ``plan.key.json``, with the options, the seed, and the bin and probability of
every item, kept where experts do not look; from it `equipoise threshold set` makes the plan
again, and refuses when that gives other items.
"""

import json
import math
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from equipoise.cli.command import verb
from equipoise.cli.help import metric_names
from equipoise.cli.options import (
    DEFAULTS,
    OF_FOLDER,
    OF_SCORES,
    Options,
    column_map,
    misused,
    refuse_unused,
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
from equipoise.read import codec
from equipoise.read.files import content, read_json
from equipoise.read.writing import replaced
from equipoise.study import Settings
from equipoise.study.analyses.threshold_in_use import ModelsBeside, threshold_report
from equipoise.study.analyses.thresholds import ExpertSample, Rule, sampling_plan
from equipoise.truth import MODELS
from equipoise.types import (
    Annotations,
    InputError,
    Report,
    as_notices,
    count,
    immutable,
    listed,
)

MARK = "threshold.json"
REPLICATES = 1000
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


@verb(
    *OF_SOURCE,
    *("bins", "per_bin", "seed", "out", "overwrite", "as_json"),
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
    with progress("reading"):
        read = read_probabilities(options)
        probabilities = read.probabilities
        sample = sampling_plan(probabilities.values, probabilities.items, *size)
    report = Report(
        title="Which items should experts see?",
        scope=f"Probabilities: {probabilities.source}.",
        findings=(replace(sample.report(), title="Items for the experts"),),
        settings=tuple((name, str(value)) for name, value in size._asdict().items()),
        notices=read.notices,
    )
    if options.out is not None:
        key = _key_text(sample, options, size, read.task)
        _check_key(options.out, key, options)
        _write_plan(options.out, sample, read.task, key)
        items = count(len(sample.items))
        about = "bins and probabilities, for threshold --plan; keep it from the experts"
        say(
            f"Wrote {options.out}: {items} items; experts fill in the column label",
            f"Wrote {key_of(options.out)}: {about}",
        )
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


def _report(options: Options, key: "PlanKey | None") -> Report:
    """Read everything and set the threshold, under a bar."""
    with progress("reading"):
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
    paths = options.experts or []
    stems = [path.stem for path in paths]
    if len(set(stems)) < len(stems):
        twice = next(stem for stem in stems if stems.count(stem) > 1)
        do = "name files by their experts"
        raise InputError("--experts", f"a second file of {twice!r}", "one file per expert", do)
    columns = column_map(options.expert_columns, "expert_columns")
    names = ("kind", "classes", "positive", "at_least", "repeats")
    reading = Options(**{name: getattr(options, name) for name in names})
    votes = read_question(paths, reading, columns)
    votes = answers_to(votes, options.task, paths[0])
    if votes.kind != "binary":
        got = f"answers {listed(votes.classes)}, kind {votes.kind}"
        expected = "one yes or no per item, in the same words in every file"
        do = "ask about one answer with --positive CLASS, or correct the files"
        raise InputError(", ".join(path.name for path in paths), got, expected, do)
    if votes.annotators is None and len(votes) == len(votes.items):
        nobody = np.zeros(len(votes), dtype=np.int64)
        votes = replace(votes, annotators=tuple(stems), annotator=nobody)
    outside = set(votes.items) - set(sample.items)
    # where a key shows that it is the plan, it may be answered in part
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


# ---- the key -------------------------------------------------------------------------------


@immutable
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


def _write_plan(out: Path, sample: ExpertSample, task: str | None, key: str) -> None:
    """Write the plan, which is blind, and the key that lies beside it, both or none."""
    with ExitStack() as both:
        if not key_of(out).exists():
            both.push(lambda kind, *_: key_of(out).unlink(missing_ok=True) if kind else None)
        plan = both.enter_context(replaced(out))
        plan.write(sample.text(task=task).encode("utf-8"))
        plan.flush()  # a full disk is met before the key has its name
        both.enter_context(replaced(key_of(out))).write(key.encode("utf-8"))


def _key_text(
    sample: ExpertSample, options: Options, size: SampleSize, task: str | None
) -> str:
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
