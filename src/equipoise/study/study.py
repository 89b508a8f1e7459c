"""Study: what competes, what it is compared with, and all that is worked out from both, once.

A study holds predictions, the truth that they are scored against (votes, or plausibilities of
every task), metrics and settings. It is checked when it is made by `Study.of`: models that
helped to make their truth are refused, scores get their thresholds, and items that thresholds
were chosen on are left out. What follows is worked out when somebody asks for it, and kept: the
truth of every task, the plan of resamples, the scores of all models item by item, and the
evaluation.

Views are studies again: with some of the votes or items, against another truth, with other
competitors or metrics. They keep what stays the same, so that nothing is made twice.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict, Unpack

import numpy as np

from equipoise.inference.looks import REPEATED, Look, look_at
from equipoise.inference.resampling import Resampling, resample, usual_replicates
from equipoise.metrics import Metric
from equipoise.read.options import SHARED, check_shared
from equipoise.study.alignment import Aligned, align, decided_anew
from equipoise.study.arguments import (
    Truths,
    as_annotations,
    as_metrics,
    as_study,
    deciders_apart,
    default_metrics,
    file_paths,
)
from equipoise.study.circularity import CHECKED, CIRCULAR, independent
from equipoise.study.per_reader_truth import PER_READER, TWO_WAY
from equipoise.study.result import Evaluation
from equipoise.study.thresholds import (
    Thresholds,
    UsedThreshold,
    require_cuts,
    with_thresholds,
)
from equipoise.study.truth import TaskTruth, task_truths
from equipoise.types import (
    Annotations,
    Bools,
    InputError,
    Ints,
    Names,
    Notice,
    Notices,
    Option,
    Plausibilities,
    Predictions,
    Progress,
    Votes,
    choice,
    collect_votes,
    hint,
    immutable,
    notice,
    positions,
    require_number,
    require_unique,
    require_whole,
    short_repr,
)

if TYPE_CHECKING:
    from equipoise.read.attributes import Attributes

MRMC = "mrmc"
MOST_RESAMPLES = 1000  # that a report makes when nobody says how many


def silent(done: int, whole: int) -> None:
    """Progress that nobody listens to."""


@immutable
class Settings:
    """How an evaluation is carried out and reported.

    Attributes
    ----------
    level
        Level of the intervals.
    items, annotators
        ``random``: the result speaks for others like these; ``fixed``: these are all there
        are. Not both can be fixed.
    inference
        ``two-way`` against soft and hard labels; ``mrmc``: against gold alone, with readers by
        Obuchowski and Rockette's analysis, with and without aid and next to models alone; or
        ``per_reader_truth``: that analysis of each annotator's own votes.
    margin
        How much worse a model may be and still count as no worse: differences are then judged
        superior, equivalent, non-inferior, inferior or undecided.
    matters
        The smallest difference that counts.
    annotator_group, item_group
        Which attribute of annotators, and of items, says in which groups they come; the
        result then speaks for other groups like these.
    on_missing
        ``error`` refuses items that only annotations or only predictions have; ``drop``
        scores all models on the items they share, and says what was dropped.
    circular
        ``error`` refuses a model that is also an annotator, and a truth made from a model's
        scores; ``drop`` leaves that annotator out of the truth, ``keep`` scores all the same,
        and says so; ``checked`` does not look, because somebody has. See
        `equipoise.study.circularity`.
    workers
        Number of threads where the engine in use is local (`scale.engine`); 0 means as
        many as it says, by default as there are cores. Never changes a result.
    progress
        Called as ``progress(done, all)`` after each chunk.
    ties
        What an item tied in its hard label is: ``half`` (tied classes share it; a yes/no tie
        counts 1/2), ``negative`` (strict majority) or ``drop`` (left out for hard labels).
    thresholds
        From which score on an item is called positive, for metrics of decisions; see
        `equipoise.study.thresholds`. Without, scores are cut at .5, and a notice says so.
    labels
        ``soft`` or ``hard``: the labels that decide where a report needs one kind.
    replicates, seed
        How many resamples are drawn, by default what suits the number of items, and from
        which seed; a plan made by `resample` brings its own.
    most
        Size at which searches, such as that for flips, end.
    prevalence
        Share of positives where models will be used, or of every task by its name:
        predictive values at the stated cuts are those at that prevalence.
    look
        Which look at a growing study this is, of how many: ``2/4``. Intervals and verdicts
        then have the level that leaves all looks together the one that was asked for.
    looks
        Those that were made before; in a study, with this one.
    """

    level: float = SHARED["level"].default
    items: str = SHARED["items"].default
    annotators: str = SHARED["annotators"].default
    inference: str = SHARED["inference"].default
    margin: float | None = SHARED["margin"].default
    matters: float | None = SHARED["matters"].default
    annotator_group: str | None = SHARED["annotator_group"].default
    item_group: str | None = SHARED["item_group"].default
    on_missing: str = SHARED["on_missing"].default
    workers: int = 0
    progress: Progress | None = None
    ties: str = SHARED["ties"].default
    circular: str = SHARED["circular"].default
    thresholds: Thresholds | None = None
    labels: str = SHARED["labels"].default
    replicates: int | None = SHARED["replicates"].default
    seed: int = SHARED["seed"].default
    most: int = SHARED["most"].default
    prevalence: float | Mapping[str, float] | None = None
    look: str | None = SHARED["look"].default
    looks: tuple[Look, ...] = ()

    def __post_init__(self) -> None:
        check_shared("settings, ", self, but=("circular",))
        for share in self._prevalences():
            require_number("settings, prevalence", share, above=0, below=1, do="try 0.02")
        if self.items == self.annotators == "fixed":
            raise InputError(
                "settings",
                "items and annotators fixed",
                "at most one of them",
                "say which of them stand for others like them",
            )
        special = f"{self.fixed} fixed" if self.fixed else ""
        if self.annotator_group is not None:
            special = f"groups of annotators by {self.annotator_group!r}"
        if self.inference in (PER_READER, MRMC) and special:
            raise InputError(
                f"settings, inference {self.inference}",
                special,
                "items and annotators that stand for others like them",
                hint("choose {}", TWO_WAY),
            )
        choice("settings, circular", self.circular, (*CIRCULAR, CHECKED))
        require_number("settings, level", self.level, above=0, below=1, do="try 0.95")
        require_whole("settings, workers", self.workers)

    def _prevalences(self) -> tuple[float, ...]:
        """All shares of positives that were stated."""
        if isinstance(self.prevalence, Mapping):
            return tuple(self.prevalence.values())
        return () if self.prevalence is None else (self.prevalence,)

    @property
    def fixed(self) -> str | None:
        """What the result speaks for as it is: items, annotators, or neither."""
        if self.items == "fixed":
            return "items"
        return "annotators" if self.annotators == "fixed" else None


@immutable(eq=False, kw_only=True)
class Study:
    """Competitors and a truth, checked, with their thresholds; see the module.

    Attributes
    ----------
    predictions
        What models say, one object per model and task.
    truth
        Votes, or plausibilities of every task.
    metrics
        By what models are scored, the main one first.
    settings
        How; thresholds are applied already, and progress is told to `tell`.
    resampling
        A kind of resampling or a plan; None is what fits the truth.
    votes
        The annotations, also where the truth is a model of them; None where there are none.
    attributes, annotator_attributes
        What is known of the items beside their labels, for subgroups, and of annotators.
    thresholds
        Thresholds that were asked for, and that no metric needed.
    used
        The thresholds by which scores became decisions.
    deciders
        What models say that only decide, where the others are compared by their scores.
    notices
        What was done to the study when it was made.
    frame
        The caller's kind of dataframe, such as ``pandas``; empty where none was given.
    tell
        Called as ``tell(done, all)`` on the way.
    """

    predictions: tuple[Predictions, ...]
    truth: Annotations | tuple[Plausibilities, ...]
    metrics: tuple[Metric, ...]
    settings: Settings
    resampling: str | Resampling | None = None
    votes: Annotations | None = None
    attributes: "Attributes | None" = None
    annotator_attributes: "Attributes | None" = None
    thresholds: Thresholds | None = None
    used: tuple[UsedThreshold, ...] = ()
    deciders: tuple[Predictions, ...] = ()
    notices: Notices = ()
    frame: str = ""
    tell: Progress = silent

    __repr__ = short_repr

    def __post_init__(self) -> None:
        if self.by_standard:
            metrics = tuple(metric.by_standard() for metric in self.metrics)
            object.__setattr__(self, "metrics", metrics)

    @cached_property
    def by_standard(self) -> bool:
        """Whether the truth is a reference standard: every item has gold in its tasks."""
        truth = self.truth
        if not isinstance(truth, Annotations) or truth.is_gold is None:
            return False
        return bool(np.isin(truth.cells, truth.cells[truth.gold]).all())

    @property
    def rated(self) -> bool:
        """Whether votes are numbers on a scale."""
        return self.votes is not None and self.votes.scale is not None

    @property
    def judged(self) -> str:
        """What people say of systems' outputs: ratings, preferences; empty of any other."""
        return self.votes.judged if self.votes is not None else ""

    @classmethod
    def of(
        cls,
        predictions: Predictions | Iterable[Predictions] | Any,
        truth: Truths | Any = None,
        *,
        metrics: Sequence[str | Metric] | None = None,
        resampling: str | Resampling | None = None,
        settings: Settings | None = None,
        attributes: "Sequence[Attributes]" = (),
    ) -> "Study":
        """Check a study, and give its models their thresholds; parameters as in `evaluate`."""
        how = settings or Settings()
        models, truth, frame = as_study(predictions, truth)
        deciders: list[Predictions] = []
        if metrics is None:
            metrics = default_metrics(truth, models)
            models, deciders = deciders_apart(models, metrics)
        chosen = _metrics(metrics)
        _check_margin(how.margin, chosen[0])
        tables = {table.of: table for table in attributes}
        truth = _in_groups(_checked_truth(truth), how, tables)
        if isinstance(truth, Annotations) and how.circular != CHECKED:
            truth = independent(truth, [*models, *deciders], how.circular)
        how, notices = _at_look(how, truth)
        study = cls(
            predictions=tuple(models),
            truth=truth,
            metrics=chosen,
            settings=replace(how, thresholds=None, progress=None, circular=CHECKED),
            resampling=resampling,
            votes=truth if isinstance(truth, Annotations) else None,
            frame=frame,
            tell=how.progress or silent,
            attributes=tables.get("item"),
            annotator_attributes=tables.get("annotator"),
            deciders=tuple(deciders),
            notices=(*_about_deciders(deciders), *notices),
        )
        if isinstance(how.prevalence, Mapping):
            for task in how.prevalence:
                choice("prevalence, task", task, [truth.task for truth in study.truths])
        if how.inference == MRMC:
            study = study.by_gold_alone()
        return require_cuts(with_thresholds(study, how.thresholds))

    @classmethod
    def unchecked(
        cls,
        predictions: Iterable[Predictions],
        annotations: Annotations,
        settings: Settings,
        metrics: tuple[Metric, ...] = (),
    ) -> "Study":
        """A study as it is: nobody looks who made the truth, and scores get no thresholds."""
        return cls(
            predictions=tuple(predictions),
            truth=annotations,
            votes=annotations,
            metrics=metrics,
            settings=replace(settings, thresholds=None, progress=None, circular=CHECKED),
        )

    # ---- what is worked out, once ------------------------------------------------------------

    @property
    def annotations(self) -> Annotations:
        """The votes, where they are the truth; refuses a study whose truth is a model."""
        if isinstance(self.truth, Annotations):
            return self.truth
        raise InputError(
            "truth",
            "a model of the votes",
            "votes that are themselves the truth",
            hint("choose {}", Option("truth", "votes", "the annotations as truth")),
        )

    @property
    def voted(self) -> Annotations:
        """The votes, whatever the truth; refuses a study that has none."""
        if self.votes is not None:
            return self.votes
        raise InputError("truth", "plausibilities alone", "votes", "give the annotations")

    @cached_property
    def opinions(self) -> Annotations:
        """The votes without gold: what readers say, also where a standard is the truth."""
        gold = self.voted.gold
        if gold.all() or not gold.any():
            return self.voted
        return replace(self.voted.rows(~gold), is_gold=None)

    @property
    def parts(self) -> "tuple[Annotations | Plausibilities, ...]":
        """The truth of all tasks at once, or of one task after the other."""
        return (self.truth,) if isinstance(self.truth, Annotations) else self.truth

    @cached_property
    def items(self) -> Names:
        """Names of the items of all tasks."""
        if len(self.parts) == 1:
            return self.parts[0].items
        return tuple(dict.fromkeys(name for part in self.parts for name in part.items))

    @cached_property
    def plan(self) -> Resampling:
        """What is drawn anew: one plan over all items, in whole groups where known."""
        if isinstance(self.resampling, Resampling):
            self._check_plan(self.resampling)
            return self.resampling
        how = self.settings
        plan = resample(
            self.parts[0],
            self.resampling,
            replicates=how.replicates,
            seed=how.seed,
            fixed=how.fixed,
        )
        for part in self.parts[1:]:
            if plan.truth == "posterior":
                resample(part, plan.kind)  # refuses a single draw
        if isinstance(self.truth, Annotations):
            return plan
        return replace(plan, items=self.items, group=self._groups_of_votes())

    def _groups_of_votes(self) -> Ints | None:
        """Group of every item as its attributes or the votes know it, not the truth."""
        if self.settings.item_group is not None and self.attributes is not None:
            from equipoise.read.attributes import groups_of

            return groups_of(self.items, self.attributes, self.settings.item_group)[1]
        if self.votes is None or self.votes.group is None:
            return None
        return self.votes.group[positions(self.items, self.votes.items, where="votes")]

    def _check_plan(self, plan: Resampling) -> None:
        """Refuse a plan that was made for another truth."""
        first = self.parts[0]
        people = 0
        if isinstance(first, Annotations):
            people, draws = len(first.annotators or ()), 0
        else:
            draws = first.draws
        if (plan.items, plan.annotators, plan.draws) != (self.items, people, draws):
            raise InputError(
                "resampling",
                "a plan for another truth",
                "one for these items and annotators",
                "make it with resample(truth)",
            )
        for part in self.parts:
            resample(part, plan.kind, fixed=self.settings.fixed)  # refuses what cannot be drawn

    @property
    def replicates(self) -> int:
        """How many resamples there are."""
        return self.evaluation.plan.replicates

    @property
    def seed(self) -> int:
        """From which resamples are drawn."""
        plan = self.resampling
        return plan.seed if isinstance(plan, Resampling) else self.settings.seed

    @cached_property
    def truths(self) -> tuple[TaskTruth, ...]:
        """The truth of every task, with its votes; items have their places in the plan."""
        ties = self.settings.ties
        truths = [
            replace(truth, ties=ties) for part in self.parts for truth in task_truths(part)
        ]
        require_unique([truth.task for truth in truths], where="truth, tasks")
        if len(self.parts) == 1:
            return tuple(truths)
        return tuple(
            replace(truth, place=positions(truth.items, self.items, where="truth"))
            for truth in truths
        )

    @cached_property
    def task_votes(self) -> Mapping[str, Votes]:
        """The votes of every task, also where the truth is a model of them."""
        if isinstance(self.truth, Annotations):
            return {truth.task: truth.votes for truth in self.truths if truth.votes is not None}
        if self.votes is None:
            return {}
        return {task: collect_votes(self.votes, task) for task in self.votes.tasks}

    @property
    def aligned(self) -> tuple[Aligned, ...]:
        """Every task with the scores of all models, item by item."""
        return self._alignment[0]

    @property
    def dropped(self) -> Notices:
        """What was left out, so that all models are scored on the same items."""
        return self._alignment[1]

    @cached_property
    def _alignment(self) -> tuple[tuple[Aligned, ...], Notices]:
        how = self.settings.on_missing
        aligned, notices = align(self.predictions, list(self.truths), on_missing=how)
        return tuple(aligned), notices

    @cached_property
    def evaluation(self) -> Evaluation:
        """All models by all metrics, with intervals; what it says, every analysis says."""
        from equipoise.study.scoring import score_study

        return score_study(self)

    # ---- views -------------------------------------------------------------------------------

    def _view(self, same: Iterable[str], **changes: Any) -> "Study":
        """The same but for some fields, with what was worked out and stays as it is."""
        view = replace(self, **changes)
        cached = self.__dict__
        view.__dict__.update({name: cached[name] for name in same if name in cached})
        return view

    def telling(self, tell: Progress) -> "Study":
        """The same, for somebody who tells progress elsewhere."""
        return self._view(CACHED, tell=tell)

    def with_evaluation(self, evaluation: Evaluation) -> "Study":
        """The same with scores that were put together otherwise, such as over seeds."""
        view = self._view(CACHED - {"_alignment"}, predictions=evaluation.predictions)
        view.__dict__["evaluation"] = evaluation
        return view

    def with_metrics(self, metrics: Sequence[str | Metric]) -> "Study":
        """The same by other metrics."""
        return self._view(CACHED - {"evaluation"}, metrics=tuple(_metrics(metrics)))

    def with_votes(self, votes: Annotations) -> "Study":
        """The same truth, with the votes that a model made it of."""
        return self._view(CACHED - {"task_votes"}, votes=votes)

    def with_settings(self, settings: Settings) -> "Study":
        """The same carried out otherwise."""
        return replace(self, settings=replace(settings, thresholds=None, circular=CHECKED))

    def with_competitors(self, predictions: Iterable[Predictions], **fields: Any) -> "Study":
        """Other models against the same truth; other fields may change with them."""
        same = CACHED - {"evaluation", "_alignment"}
        return self._view(same, predictions=tuple(predictions), **fields)

    def with_cuts(self, predictions: Iterable[Predictions], **fields: Any) -> "Study":
        """The same scores cut at other thresholds; other fields may change with them."""
        view = self._view(CACHED - {"evaluation"}, predictions=tuple(predictions), **fields)
        if "_alignment" in view.__dict__:
            tasks, notices = view._alignment
            view.__dict__["_alignment"] = tuple(decided_anew(tasks, view.predictions)), notices
        return view

    @property
    def everybody(self) -> "Study":
        """The same with the models that only decide, for comparisons of decisions."""
        if not self.deciders:
            return self
        return self.with_competitors((*self.predictions, *self.deciders), deciders=())

    def of_models(self, names: Sequence[str]) -> "Study":
        """Some of the models, in their order, with the scores that they have."""
        models = [model for name in names for model in self.predictions if model.model == name]
        view = self.with_competitors(models)
        if "evaluation" in self.__dict__:
            view.__dict__["evaluation"] = self.evaluation.subset(names)
        if "_alignment" in self.__dict__:
            tasks = tuple(task.of_models(names) for task in self.aligned)
            view.__dict__["_alignment"] = tasks, self.dropped
        return view

    def with_truth(self, truth: Truths, resampling: str | None = None) -> "Study":
        """The same models against another truth of the same items, which stay in groups."""
        truth = _checked_truth(truth)
        votes = truth if isinstance(truth, Annotations) else self.votes
        return self._view((), truth=truth, votes=votes, resampling=resampling)

    def of_votes(self, keep: Bools) -> "Study":
        """Only some votes, shape (votes,), and in every task the items that still have any."""
        if not keep.any():
            raise InputError("votes", "none", "some", "choose others")
        votes = self.annotations.rows(keep)
        rated = np.bincount(votes.item, minlength=len(votes.items)) > 0
        votes = votes.of_items(rated).with_used_tasks()
        items = {task: _items_with_votes(votes, task) for task in votes.tasks}
        votes = replace(votes, notices=())
        return self._view(
            (),
            truth=votes,
            votes=votes,
            predictions=_of_rated_items(self.predictions, items),
            deciders=_of_rated_items(self.deciders, items),
            resampling=self._resampling_of(rated),
        )

    def by_gold_alone(self) -> "Study":
        """Only the items with gold, in every task."""
        votes = self.annotations
        gold, cells = votes.gold, votes.cells
        if not gold.any():
            raise InputError(
                f"settings, inference {MRMC}",
                "votes without a reference standard",
                "rows marked is_gold beside the votes of readers",
                hint("add them, or choose {}", TWO_WAY),
            )
        if self.by_standard:
            return self
        keep = np.isin(cells, cells[gold])
        text = "{left:count} items without gold are left out."
        left = len(votes.items) - len(np.unique(votes.item[gold]))
        note = notice("without_gold", text, left=left)
        return replace(self.of_votes(keep), notices=(*self.notices, note))

    def of_items(self, names: Iterable[str]) -> "Study":
        """Only some items, by name, of the truth and of the models."""
        wanted = frozenset(names)
        keep = np.array([name in wanted for name in self.items])
        if not keep.any():
            raise InputError("items", "none of the study", "some of them", "name others")
        parts = tuple(_part_of(part, wanted) for part in self.parts)
        parts = tuple(part for part in parts if len(part.items))
        truth: Any = parts[0] if isinstance(self.truth, Annotations) else parts
        votes = None if self.votes is None else _part_of(self.votes, wanted)
        return self._view(
            (),
            truth=truth,
            votes=truth if isinstance(truth, Annotations) else votes,
            predictions=tuple(_of_items(model, wanted) for model in self.predictions),
            deciders=tuple(_of_items(model, wanted) for model in self.deciders),
            resampling=self._resampling_of(keep),
        )

    def _resampling_of(self, keep: Bools) -> str | Resampling | None:
        """The plan of some of the items, shape (items,), where a plan was given."""
        plan = self.resampling
        return plan.of_items(keep) if isinstance(plan, Resampling) else plan


CACHED = frozenset({"items", "plan", "truths", "task_votes", "_alignment", "evaluation"})


class Question(TypedDict, total=False):
    """The question that models answer, as the options of the command line say it.

    Attributes
    ----------
    positive, at_least
        Ask about one class, or whether grades and ratings are at least this.
    threshold
        From which score on a model says yes: a number, or words as ``--threshold`` takes them.
    gold
        Who is the reference standard, as `Annotations.with_gold` takes it; or, beside paths of
        votes, the path of its file.
    """

    positive: str
    at_least: float
    threshold: float | str | Sequence[str] | Thresholds
    gold: str | PathLike[str]


def evaluate(
    predictions: Predictions | Iterable[Predictions] | Any,
    truth: Truths | Any = None,
    *,
    metrics: Sequence[str | Metric] | None = None,
    resampling: str | Resampling | None = None,
    settings: Settings | None = None,
    attributes: "Sequence[Attributes]" = (),
    **question: Unpack[Question],
) -> Evaluation:
    """Score models against a truth that experts disagree about.

    Parameters
    ----------
    predictions
        What each model says, one object per model and task; or a dataframe (pandas, polars,
        pyarrow, ...) with a column of items and one per model, or of any other layout that
        `Predictions.from_dataframe` knows; or a list of such. Or the path of a file or folder,
        or several, which are read as on the command line.
    truth
        Annotations (soft label: mean vote; hard label: the class with most votes), or
        plausibilities (one per task; soft label: their mean); or a dataframe with the columns
        item, annotator and label, or any other that `Annotations.from_dataframe` knows; or
        paths. Left out where the first paths hold both, as `write_study` makes them.
    metrics
        Names such as ``auroc``, ``auroc:form=strict``, ``precision_at_100``, or `Metric`; by
        default what fits the predictions, see `equipoise.study.arguments`.
    resampling
        A kind such as ``panel`` or ``items x panel``, or a plan made by `resample`; by
        default what fits the truth.
    settings
        Level, interval, missing items, thresholds, threads.
    attributes
        Tables of what is known of items, and of annotators, where settings name groups of them.
    **question
        ``positive``, ``at_least``, ``threshold`` and ``gold``, as on the command line.

    Examples
    --------
    >>> votes = Annotations(kind="binary", items=("a", "b", "c"), classes=("no", "yes"),
    ...     annotators=("ana", "bo"), item=np.array([0, 0, 1, 1, 2, 2]),
    ...     annotator=np.array([0, 1, 0, 1, 0, 1]), label=np.array([1, 1, 1, 0, 0, 0]))
    >>> model = Predictions("resnet", ("a", "b", "c"), np.array([0.9, 0.6, 0.1]))
    >>> evaluate(model, votes, metrics=["auroc"]).estimate("resnet", "auroc").value
    1.0
    >>> evaluate(model, votes, metrics=["sensitivity"], threshold=0.7).estimate(
    ...     "resnet", "sensitivity").value
    0.6666666666666666
    """
    truth, question = _with_gold_file(truth, question)
    predictions, truth, frame = as_study(predictions, truth)
    how = settings or Settings()
    predictions, truth, how = _with_question(predictions, truth, how, question)
    study = Study.of(
        predictions,
        truth,
        metrics=metrics,
        resampling=resampling,
        settings=how,
        attributes=attributes,
    )
    return replace(study, frame=frame).evaluation


def _with_gold_file(truth: Any, question: Question) -> tuple[Any, Question]:
    """Paths of votes with that of the reference standard, and the question with its name."""
    paths, gold = file_paths(truth), Path(question.get("gold", ""))
    if truth is None or not paths or not gold.is_file():
        return truth, question
    return [*paths, gold], {**question, "gold": gold.stem}


def _with_question(
    models: Sequence[Predictions], truth: Truths, how: Settings, question: Question
) -> tuple[list[Predictions], Truths, Settings]:
    """Models, truth and settings with what the keywords ask."""
    for name in question:
        choice("evaluate, keyword", name, tuple(Question.__annotations__))
    if not {"positive", "at_least", "gold"}.isdisjoint(question):
        truth = as_annotations(truth)
        truth = truth.with_gold(str(question.get("gold", "truth")))
        if "at_least" in question:
            truth = truth.at_least(question["at_least"])
        if "positive" in question:
            truth = truth.against(question["positive"])
            models = [_as_answer(model, question["positive"]) for model in models]
    if "threshold" in question:
        if how.thresholds is not None:
            got, do = "threshold, and settings with thresholds", "leave one out"
            raise InputError("evaluate", got, "one of them", do)
        how = replace(how, thresholds=_as_thresholds(question["threshold"]))
    return list(models), truth, how


def _as_answer(model: Predictions, positive: str) -> Predictions:
    """What a model that names one class an item says of one of them."""
    if not model.classes or not model.decides:
        return model
    codes = [place for place, name in enumerate(model.classes) if name == positive]
    return replace(model, values=model.values[:, codes].sum(axis=1), classes=())


def _as_thresholds(stated: "float | str | Sequence[str] | Thresholds") -> Thresholds:
    if isinstance(stated, Thresholds):
        return stated
    several = (
        [stated] if isinstance(stated, str) or not isinstance(stated, Sequence) else stated
    )
    return Thresholds.parse([str(word) for word in several])


def _in_groups(
    truth: "Annotations | tuple[Plausibilities, ...]",
    how: Settings,
    tables: "Mapping[str, Attributes]",
) -> "Annotations | tuple[Plausibilities, ...]":
    """The truth with the groups of items and annotators that settings name."""
    for of, keyword in (("item", "attributes"), ("annotator", "annotator_attributes")):
        setting, table = f"{of}_group", tables.get(of)
        column = getattr(how, setting)
        if column is None:
            continue
        if table is None:
            table_option = Option(keyword, python="attributes=[read_attributes(FILE, of=...)]")
            got, wanted = f"{column!r} without a table", "a table with that column"
            raise InputError(f"settings, {setting}", got, wanted, hint("give {}", table_option))
        if isinstance(truth, Annotations):
            from equipoise.read.attributes import grouped

            truth = grouped(truth, table, column)
        elif of == "annotator":
            got, do = "a truth by a model of the votes", "leave the groups of annotators out"
            raise InputError(f"settings, {setting}", got, "votes as the truth", do)
    return truth


def report_replicates(items: int) -> int:
    """How many resamples a report makes of so many items when nobody says."""
    return min(MOST_RESAMPLES, usual_replicates(items, "items"))


def _at_look(
    how: Settings, truth: Annotations | tuple[Plausibilities, ...]
) -> tuple[Settings, Notices]:
    """Settings with the level of a look, where one is named."""
    items = len((truth if isinstance(truth, Annotations) else truth[0]).items)
    if how.look is None:
        grown = any(before.items < items for before in how.looks)
        return how, (REPEATED,) * grown
    look, told = look_at(how.look, items, how.level, how.looks)
    before = tuple(other for other in how.looks if other.number < look.number)
    return replace(how, level=look.level, look=None, looks=(*before, look)), (told,)


def _check_margin(margin: float | None, metric: Metric) -> None:
    """Refuse a margin that no difference of the metric could exceed."""
    most = metric.bounds[1] - metric.bounds[0]
    if margin is not None and margin >= most:
        raise InputError(
            "margin",
            f"{margin:g} in {metric.title}, whose differences are at most {most:g}",
            f"a number below {most:g}",
            "say how much worse a model may be, for example 0.02",
        )


def _metrics(metrics: Sequence[str | Metric]) -> tuple[Metric, ...]:
    chosen = as_metrics(metrics)
    names = [metric.name for metric in chosen]
    if len(set(names)) < len(names):
        raise InputError("metrics", f"{names}", "at least one, each once", "correct the list")
    return chosen


def _checked_truth(truth: Any) -> "Annotations | tuple[Plausibilities, ...]":
    """Votes, or plausibilities of every task; refuses what is neither, and several tables."""
    if isinstance(truth, Annotations):
        return truth
    several = isinstance(truth, Sequence) and not isinstance(truth, str)
    parts: tuple[Any, ...] = tuple(truth) if several else (truth,)
    if not parts:
        raise InputError("truth", "nothing", "annotations or plausibilities", "give some")
    for part in parts:
        if not isinstance(part, Plausibilities):
            raise InputError(
                "truth",
                f"{type(part).__name__}" + (" in a list" if several else ""),
                "annotations (one table, with a task column for several questions), or "
                "plausibilities, one or one per task",
                "read them with read_annotations, or aggregate them",
            )
    return parts


def _part_of(part: Any, wanted: frozenset[str]) -> Any:
    """The truth of some items."""
    keep = np.array([name in wanted for name in part.items], dtype=bool)
    if isinstance(part, Annotations):
        return part.of_items(keep)
    return part.subset(np.flatnonzero(keep))


def _items_with_votes(votes: Annotations, task: str) -> frozenset[str]:
    """Names of the items with votes in a task."""
    return frozenset(votes.items[i] for i in np.unique(votes.item[votes.in_task(task)]))


def _about_deciders(deciders: Sequence[Predictions]) -> Iterator[Notice]:
    names = tuple(dict.fromkeys(model.model for model in deciders))
    if names:
        text = (
            "{names:listed} only say{verb} yes or no, which has no order: compared with the "
            "others as decisions, where as many items are called positive."
        )
        yield notice("deciders", text, names=names, verb="s" * (len(names) == 1))


def _of_rated_items(
    models: Iterable[Predictions], items: Mapping[str, frozenset[str]]
) -> tuple[Predictions, ...]:
    """What models say of the items that are left in every task, by its name."""
    return tuple(_of_items(model, items[model.task]) for model in models if model.task in items)


def _of_items(model: Predictions, wanted: frozenset[str]) -> Predictions:
    """What a model says of some items."""
    names = [name for name in model.items if name in wanted]
    return model if len(names) == len(model.items) else model.of_items(names)
