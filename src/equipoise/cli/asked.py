"""equipoise evaluate: the verb, and all that can be asked; `stability` is a former name."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from equipoise.cli._catalogue import EVERY_METRIC, list_metrics, metric_of
from equipoise.cli._groups import GroupOptions
from equipoise.cli._screen import say
from equipoise.cli.on_disk import DiskOptions, evaluate_on_disk
from equipoise.cli.options import (
    FILES,
    RESULT,
    UNCERTAINTY,
    Level,
    OutputOptions,
    ReadingOptions,
    Seed,
    StudyFiles,
    check_choice,
    checked,
    command,
    flag,
    misused,
    panel,
    words,
)
from equipoise.cli.truth import TruthOptions
from equipoise.inference.resampling import normalised
from equipoise.study.analyses.catalogue import ANALYSES
from equipoise.types.annotations import Annotations

if TYPE_CHECKING:
    from equipoise.metrics import Metric
    from equipoise.study import Settings, Thresholds
    from equipoise.study.analyses.subgroups import Attributes
    from equipoise.study.study import Progress

_file = panel(
    FILES,
    attributes="What is known of the items: a table with `item` and a column for each of "
    "sex, age, site, ...; adds subgroups.",
)
_result = panel(
    RESULT,
    metrics=EVERY_METRIC,
    listed="Print every metric with its definition, and stop.",
    full="Add every analysis there is.",
    analyses=f"Add some, comma-separated: {', '.join(f'`{name}`' for name in ANALYSES)}.",
    pair="Add a close look at two models: A B.",
    threshold="From which score on a model says yes, for metrics of decisions: `0.3`, by "
    "model, task or both (`resnet=0.4`, `Edema=0.3`, `resnet/Edema=0.4`), or a rule: "
    "`youden`, `f1`, `prevalence`, `sensitivity=0.9`, `specificity=0.9`. Repeatable.",
    tuning="Where rules look: a share of the items that is then not scored (`0.3`), "
    "`folds=5` for cross-fitting, `split=dev` of `--attributes`, or a file of names.",
    margin="How much worse a model may be and still count as no worse.",
    labels="`soft` (share of votes) or `hard` (majority): the labels that decide.",
    out="Folder for the page (report.html), the record (run.json), disputed.csv and "
    "replicates.npy; nothing is written without it.",
    overwrite="Replace an earlier run in that folder.",
    as_json="Print everything as JSON, full precision.",
    verbose="Print all that is said: every analysis, table and notice.",
)
_uncertainty = panel(
    UNCERTAINTY,
    most="Size at which searches end.",
    resample="What is resampled for shares: `items`, `votes`, `panel`, `items-x-panel`, "
    "`items-x-votes`, `influence` (instant, for very many items); under a model "
    "`posterior` or `items-x-posterior`. Default: what fits; the output says why.",
    replicates="Number of resamples; by default 1,000, fewer for more than 20,000 items.",
    items="`random`: these items stand for others like them; `fixed`: they are all that count.",
    annotators="`random`: these annotators stand for others like them; `fixed`: they are the "
    "standard.",
    inference="`two-way`: against hard and soft labels; `mrmc`: Obuchowski and Rockette's "
    "analysis of each annotator's own votes, with Hillis' degrees of freedom.",
    matters="The smallest difference that counts; by default half a unit of the last "
    "printed digit.",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class EvaluateOptions:
    """By which metrics models are scored, what else is looked at, and how sure that is."""

    metrics: Annotated[
        str | None,
        _result("metrics", "--metrics", "--metric", show_default="by what models predict"),
    ] = None
    listed: Annotated[
        bool, _result("listed", "--list-metrics", callback=list_metrics, is_eager=True)
    ] = False
    full: Annotated[bool, _result("full", "--full")] = False
    analyses: Annotated[str | None, _result("analyses", "--analyses", "--only")] = None
    pair: Annotated[tuple[str, str] | None, _result("pair")] = None
    threshold: Annotated[list[str] | None, _result("threshold")] = None
    tuning: Annotated[str | None, _result("tuning")] = None
    margin: Annotated[float | None, _result("margin")] = None
    attributes: Annotated[Path | None, _file("attributes")] = None
    labels: Annotated[str, _result("labels", hidden=True)] = "soft"
    most: Annotated[int, _uncertainty("most", min=1, hidden=True)] = 50
    resample: Annotated[str | None, _uncertainty("resample", hidden=True)] = None
    replicates: Annotated[int | None, _uncertainty("replicates", min=1, hidden=True)] = None
    seed: Seed = 0
    level: Level = 0.95
    items: Annotated[str, _uncertainty("items", hidden=True)] = "random"
    annotators: Annotated[str, _uncertainty("annotators", hidden=True)] = "random"
    inference: Annotated[str, _uncertainty("inference", hidden=True)] = "two-way"
    matters: Annotated[float | None, _uncertainty("matters", hidden=True)] = None

    def __post_init__(self) -> None:
        """Refuse unknown words, and options of analyses that are left out."""
        from equipoise.inference import check_margin
        from equipoise.study.result import INFERENCES

        check_choice("inference", self.inference, tuple(INFERENCES))
        check_choice("labels", self.labels, ("hard", "soft"))
        for name in ("items", "annotators"):
            check_choice(name, getattr(self, name), ("random", "fixed"))
        for name in ("margin", "matters"):
            checked(flag(name), partial(check_margin, flag(name)), getattr(self, name))
        if self.resample is not None:
            checked("--resample", normalised, self.resample)
        if self.metrics is not None and not self.chosen():
            message = "got nothing, expected at least one metric, for example auroc"
            raise misused(message, "metrics")
        self._check_analyses()

    def _check_analyses(self) -> None:
        asked = words(self.analyses)
        if self.analyses is not None and not asked:
            message = f"got {self.analyses!r}, expected analyses, for example ranking,flips"
            raise misused(message, "analyses")
        for name in asked:
            check_choice("analyses", name, tuple(ANALYSES))
        tuned = self.tuning is not None and "=" in self.tuning
        if self.attributes is not None and asked and "subgroups" not in asked and not tuned:
            why = "belongs to subgroups, which --analyses leaves out"
            raise misused(why, "attributes")

    def chosen(self) -> "list[Metric]":
        """The metrics that were asked for."""
        return [checked("--metrics", metric_of, word) for word in words(self.metrics)]

    def thresholds(self, attributes: "Attributes | None") -> "Thresholds | None":
        """From which score on models say yes, and where rules look."""
        from equipoise.study import Thresholds, Tuning

        if not self.threshold:
            if self.tuning is not None:
                message = "belongs to --threshold RULE; name a rule, or leave it out"
                raise misused(message, "tuning")
            return None
        where = None if attributes is None else attributes.where
        split = self.tuning is not None and "=" in self.tuning
        if split and where is None and not str(self.tuning).startswith("folds="):
            message = f"got {self.tuning!r}, which names a column of --attributes; give it"
            raise misused(message, "tuning")
        tuning = None if self.tuning is None else Tuning.parse(self.tuning, where, self.seed)
        return Thresholds.parse(self.threshold, tuning)

    def wanted(self, table: Annotations, metrics: "Sequence[Metric]") -> tuple[str, ...]:
        """Names of the analyses to run: those asked for, or those that cost next to nothing."""
        if self.full:
            left = {"experts"} | ({"subgroups"} if self.attributes is None else set())
            return tuple(name for name in ANALYSES if name not in left)
        asked = words(self.analyses)
        if not asked:
            asked = [name for name, one in ANALYSES.items() if one.quick]
            if table.is_gold is not None and table.is_gold.any():
                asked.append("gold")
            if metrics[0].decides and table.annotators is not None:
                asked.append("readers")
        if self.attributes is not None and "subgroups" not in asked and not self.analyses:
            asked.append("subgroups")
        return tuple(asked)

    def settings(self, reading: ReadingOptions, tell: "Progress") -> "Settings":
        """How scores become intervals and verdicts."""
        from equipoise.study import Settings

        return Settings(
            level=self.level,
            items=self.items,
            annotators=self.annotators,
            inference=self.inference,
            margin=self.margin,
            matters=self.matters,
            circular="checked",
            on_missing=reading.on_missing,
            ties=reading.ties,
            progress=tell,
            labels=self.labels,
            seed=self.seed,
            most=self.most,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class RunOutput(OutputOptions):
    """Where the run goes."""

    out: Annotated[Path | None, _result("out")] = None
    overwrite: Annotated[bool, _result("overwrite", "--overwrite")] = False
    as_json: Annotated[bool, _result("as_json", "--json")] = False
    verbose: Annotated[bool, _result("verbose", "--verbose", "-v")] = False


@dataclass(frozen=True, slots=True, kw_only=True)
class EvaluationRequest:
    """All that was asked of one evaluation."""

    files: StudyFiles
    scoring: EvaluateOptions
    truth: TruthOptions = field(default_factory=TruthOptions)
    groups: GroupOptions = field(default_factory=GroupOptions)
    reading: ReadingOptions
    results: RunOutput


@command(heavy="maps")
def evaluate(asked: EvaluationRequest, disk: DiskOptions) -> None:
    """Which model is better, how sure is that, and what would settle it?

    Reads who said what and what each model scored, and answers: which models may be the best,
    for items and annotators like these, all pairs of models at once; how far below the best
    every model may lie; whether models do better than the annotators; which items split them.
    `--full` adds every analysis, `--pair` a close look at two models. With `--margin` models
    are shown to be good enough. With `--truth` a model of the votes says what is plausibly
    true.

    Example: equipoise evaluate -a votes.csv -p scores.csv --out run

    Example: equipoise evaluate --dataset chexpert --margin 0.01 --full --out run

    Example: equipoise evaluate run --pair resnet vit

    Example: equipoise evaluate -a ddx.json -p probabilities --truth auto --metrics
    topk_accuracy:k=3
    """
    from equipoise.cli.evaluate import run_evaluation

    files = asked.files
    folders = [*(files.study or ()), *(files.annotations or ()), *(files.predictions or ())]
    if disk.chosen(folders):
        evaluate_on_disk(asked, folders)
        return
    run_evaluation(asked)


@command(heavy="maps")
def stability(asked: EvaluationRequest) -> None:
    """The former name of `equipoise evaluate --full`.

    Example: equipoise evaluate -a votes.csv -p scores.csv --full --out run
    """
    from equipoise.cli.evaluate import run_evaluation

    say("stability is now evaluate --full; the former name works for one more version.")
    full = asked.scoring.full or asked.scoring.analyses is None
    run_evaluation(replace(asked, scoring=replace(asked.scoring, full=full)))
