"""What is asked of an analysis: which metric, labels and task, and how it is resampled."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any, ClassVar, TypedDict, TypeVar

from equipoise.inference.resampling import Resampling, resample
from equipoise.metrics import Metric, named
from equipoise.study import LABELS, Settings
from equipoise.study.alignment import ON_MISSING
from equipoise.study.arguments import Truths
from equipoise.study.blocks import TIES
from equipoise.types.annotations import Annotations
from equipoise.types.arrays import (
    InputError,
    choice,
    require_drawn,
    require_keywords,
    require_number,
    require_whole,
)
from equipoise.types.arrays import wrong_type as wrong
from equipoise.types.plausibilities import Plausibilities

Progress = Callable[[int, int], None]
USUAL = "1,000 is usual"


@dataclass(frozen=True, slots=True, kw_only=True)
class Resamples:
    """How many resamples, from which seed; ``progress(done, all)`` is called on the way."""

    fewest: ClassVar[int] = 1

    replicates: int = 1000
    seed: int = 0
    progress: Progress | None = None

    def __post_init__(self) -> None:
        require_drawn("replicates", self.replicates, least=self.fewest, do=USUAL)
        require_whole("seed", self.seed, do="try 0")
        if self.progress is not None and not callable(self.progress):
            raise wrong("progress", self.progress, "a function, or None", "leave it out")

    def tell(self, done: int, whole: int) -> None:
        """Tell progress, where anyone listens."""
        if self.progress is not None:
            self.progress(done, whole)


class ResamplingKeywords(TypedDict, total=False):
    """Keywords of everything that resamples; see `ResamplingOptions`."""

    replicates: int
    seed: int
    settings: Settings
    progress: Progress | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ResamplingOptions(Resamples):
    """How data are resampled; `settings` are level, missing items and threads."""

    settings: Settings = field(default_factory=Settings)

    def __post_init__(self) -> None:
        Resamples.__post_init__(self)
        if not isinstance(self.settings, Settings):
            raise wrong("settings", self.settings, "Settings", "try Settings(level=0.9)")

    def plan(self, truth: Truths, kind: str | None) -> Resampling:
        """One plan over the items of all tasks; without a kind, what fits the truth."""
        parts = _parts(truth)
        plan = resample(parts[0], kind, replicates=self.replicates, seed=self.seed)
        items = dict.fromkeys(name for part in parts for name in part.items)
        return replace(plan, items=tuple(items))


def _parts(truth: Truths) -> Sequence[Annotations | Plausibilities]:
    """All tasks at once, or one by one."""
    if isinstance(truth, Annotations | Plausibilities):
        return [truth]
    expected, do = "annotations, or plausibilities, one per task", "read annotations first"
    if isinstance(truth, str) or not isinstance(truth, Sequence):
        raise wrong("truth", truth, expected, do)
    if not truth:
        raise InputError("truth", "nothing", expected, do)
    for part in truth:
        if not isinstance(part, Plausibilities):
            raise wrong("truth", part, expected, do)
    return truth


class AnalysisKeywords(TypedDict, total=False):
    """Keywords of every analysis; see `AnalysisOptions`."""

    metric: str | Metric
    labels: str
    task: str | None
    level: float
    replicates: int
    seed: int
    on_missing: str
    ties: str
    progress: Progress | None


@dataclass(frozen=True, slots=True, kw_only=True)
class AnalysisOptions(Resamples):
    """What is asked of an analysis, besides `Resamples`.

    Attributes
    ----------
    metric
        A name such as ``auroc``, or a `Metric`; one that meets draws of an aggregation model
        is refused, because these analyses look at votes.
    labels
        ``soft`` (mean vote) or ``hard`` (the class with most votes).
    task
        Which question; None is the only one, or the average over all.
    level
        Level of the intervals.
    on_missing, ties
        As in `equipoise.study.Settings`.
    """

    fewest: ClassVar[int] = 2

    metric: str | Metric = "auroc"
    labels: str = "soft"
    task: str | None = None
    level: float = 0.95
    on_missing: str = "error"
    ties: str = "half"

    def __post_init__(self) -> None:
        choice("labels", self.labels, LABELS)
        choice("ties", self.ties, TIES)
        choice("on_missing", self.on_missing, ON_MISSING)
        require_number("level", self.level, above=0, below=1, do="try 0.95")
        Resamples.__post_init__(self)
        if not isinstance(self.metric, str | Metric):
            raise wrong("metric", self.metric, "the name of one metric", "try 'auroc'")
        if self.task is not None and not isinstance(self.task, str):
            raise wrong("task", self.task, "the name of a task", "leave it out")

    @property
    def scored(self) -> Metric:
        """The metric itself."""
        found = named(self.metric) if isinstance(self.metric, str) else self.metric
        if found.labels == "draws":
            do = "choose a metric of labels, such as auroc or accuracy"
            raise InputError(
                f"metric {found.name}", "votes", "draws of an aggregation model", do
            )
        return found


Options = TypeVar("Options", bound=Resamples)


def checked_options(kind: type[Options], how: Mapping[str, Any]) -> Options:
    """Check the keywords given by a caller.

    Examples
    --------
    >>> checked_options(ResamplingOptions, {"replicats": 10})
    Traceback (most recent call last):
    ...
    equipoise.InputError: keyword 'replicats': unknown, expected one of ...
    """
    require_keywords(how, [one.name for one in fields(kind)])
    return kind(**how)
