"""What stability is asked, and everything that each of its analyses needs."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from equipoise.annotations import Annotations
from equipoise.arrays import InputError, choice
from equipoise.evaluation import LABELS, Evaluation, Settings
from equipoise.metrics import DEFAULT, Metric
from equipoise.predictions import Predictions

if TYPE_CHECKING:
    from equipoise.analyses.subgroups import Attributes

Progress = Callable[[int, int], None]
Facts = dict[str, Any]
NAMES = (
    "ranking", "flips", "leave_one_out", "vote_cutoffs", "panel_size", "experts",
    "critical_difference", "choices", "components", "subgroups", "threshold_sweep",
    "certainty",
)  # fmt: skip

OWN = {"ranking": ("rank_stability",)}  # names of analyses in their refusals


def reason(name: str, error: InputError) -> str:
    """Why an analysis was left out, for a reader who sees its title beside.

    Examples
    --------
    >>> reason("experts", InputError("experts", "anonymous votes", "names", "give ids"))
    'Anonymous votes; it takes names. Give ids.'
    """
    own = error.where.replace(" ", "_").startswith((name, *OWN.get(name, ())))
    got = error.got if own else f"{error.where}: {error.got}"
    return f"{_capital(got)}; it takes {error.expected}. {_capital(error.do)}."


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


@dataclass(frozen=True, slots=True, kw_only=True)
class StabilityHow:
    """How stability is looked at.

    Attributes
    ----------
    metrics
        Names of metrics, or metrics; analyses of a single metric take the first.
    labels
        ``soft`` or ``hard``; rankings and choices of aggregation show both.
    replicates, seed, level, on_missing
        As in `evaluate`.
    attributes
        What is known of the items beside their labels, for subgroups.
    only
        Names of analyses; empty is all.
    sign_test
        Whether to add the published sign test on replicates, which is no evidence.
    most
        Size at which the search for flips ends.
    progress
        Called as ``progress(done, all)``.
    """

    metrics: Sequence[str | Metric] = DEFAULT
    labels: str = "soft"
    replicates: int = 1000
    seed: int = 0
    level: float = 0.95
    on_missing: str = "error"
    attributes: "Attributes | None" = None
    only: Sequence[str] = ()
    sign_test: bool = False
    most: int = 50
    progress: Progress | None = None

    def __post_init__(self) -> None:
        choice("stability, labels", self.labels, LABELS)
        for name in self.only:
            choice("stability, only", name, NAMES)
        if not self.metrics:
            raise InputError("stability", "no metric", "at least one", "try auroc")
        if self.replicates < 2:
            raise InputError(
                "stability", f"{self.replicates} replicates", "at least 2", "1000 is usual"
            )


@dataclass(frozen=True, slots=True, eq=False)
class Case:
    """Everything an analysis needs.

    Attributes
    ----------
    predictions, annotations, how
        What models and annotators say, and what was asked.
    evaluation
        The models on these annotations, items drawn anew.
    tell
        Called as ``tell(done, all)`` within the analysis.
    """

    predictions: tuple[Predictions, ...]
    annotations: Annotations
    how: StabilityHow
    evaluation: Evaluation
    tell: Progress

    @property
    def single(self) -> Facts:
        """Keywords of analyses of one metric."""
        how = self.how
        return {
            "metric": how.metrics[0], "labels": how.labels, "level": how.level,
            "replicates": how.replicates, "seed": how.seed, "on_missing": how.on_missing,
            "progress": self.tell,
        }  # fmt: skip

    @property
    def redrawn(self) -> Facts:
        """Keywords of analyses that evaluate anew."""
        how = self.how
        return {
            "replicates": how.replicates, "seed": how.seed, "progress": self.tell,
            "settings": Settings(level=how.level, on_missing=how.on_missing),
        }  # fmt: skip
