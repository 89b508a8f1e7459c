"""View: a run as the figures read it.

A `Panel` is one task and one metric, the unit that the reader chooses on the page. It gives
scores by labels and model, and **leads**: the lead of a over b is how much better a is,
``a - b`` where higher is better and ``b - a`` where lower is better, so that a positive lead
always favours the first model. Nothing is computed here that the run has not stored, except
the sign.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from equipoise.arrays import InputError
from equipoise.report.numerals import EXACT, apart, decimals, defined, listing, numeral
from equipoise.report.score import Lead, Score

SCHEMAS = (1, 2)
SAID = 40  # letters of a name in a sentence
PARTS = (
    "title", "settings", "tasks", "models", "labels", "metrics", "rows", "differences",
    "rank_probabilities", "rank_correlation", "annotators", "truth", "influential", "notices",
)  # fmt: skip


class RunLike(Protocol):
    """What a page is made of.

    Attributes
    ----------
    header
        The parsed ``run.json``.
    replicates
        Scores of shape (tasks, metrics, labels, models, replicates); nan is undefined.
    """

    @property
    def header(self) -> Mapping[str, Any]:
        """The parsed ``run.json``."""
        ...

    @property
    def replicates(self) -> NDArray[np.float64]:
        """Scores by task, metric, labels, model and replicate."""
        ...


@dataclass(frozen=True, slots=True)
class View:
    """The whole run, indexed; `run` is checked by `view`."""

    header: Mapping[str, Any]
    replicates: NDArray[np.float64]
    scores: Mapping[tuple[str, str, str, str], Score]
    pairs: Mapping[tuple[str, str, str, str, str], Mapping[str, Any]]

    @property
    def models(self) -> Sequence[str]:
        """Names of the models."""
        return list(self.header["models"])

    @property
    def labels(self) -> Sequence[str]:
        """Which truths the models were scored against, such as hard and soft."""
        return list(self.header["labels"])

    @property
    def level(self) -> str:
        """The level of the intervals, as one writes it."""
        return f"{100 * float(self.header['settings']['level']):g}%"

    def short(self, model: str, room: int) -> str:
        """Shorten the name of a model so that no other model is shown by the same letters."""
        return apart(tuple(self.models), room)[model]

    def listing(self, models: Sequence[str], most: int = 6) -> str:
        """List models as one would say them; long names are shortened but stay different."""
        return listing([self.short(model, SAID) for model in models], most)

    def task_title(self, task: int) -> str:
        """Name a task; a single task may have none."""
        return str(self.header["tasks"][task])

    def panels(self) -> list["Panel"]:
        """Every task with every metric, tasks first."""
        return [
            Panel(self, task, metric)
            for task in range(len(self.header["tasks"]))
            for metric in range(len(self.header["metrics"]))
        ]

    def of_task(self, part: str, task: int) -> list[Mapping[str, Any]]:
        """Entries of a per-task part of the run."""
        name = self.header["tasks"][task]
        return [entry for entry in self.header.get(part, ()) if entry["task"] == name]


@dataclass(frozen=True, slots=True)
class Panel:
    """One task and one metric."""

    view: View
    task: int
    metric: int

    @property
    def key(self) -> tuple[str, str]:
        """Task and metric as the run names them."""
        return self.view.header["tasks"][self.task], self.facts["name"]

    @property
    def facts(self) -> Mapping[str, Any]:
        """What the run says about the metric."""
        facts: Mapping[str, Any] = self.view.header["metrics"][self.metric]
        return facts

    @property
    def sign(self) -> int:
        """One where higher is better, else minus one."""
        return -1 if self.facts["better"] == "lower" else 1

    def title(self, labels: str) -> str:
        """Name the metric under these labels."""
        soft = labels == "soft" and self.facts.get("soft_title")
        return str(soft or self.facts["title"])

    def score(self, labels: str, model: str) -> Score:
        """Score of one model; all undefined if the run has none."""
        found = self.view.scores.get((*self.key, labels, model), Score())
        return Score(found.value, rank=found.rank) if self.unmoved(labels) else found

    def unmoved(self, labels: str) -> bool:
        """Whether nothing that these labels depend on is redrawn, so that nothing varies.

        Under a model of the truth the hard labels of some metrics are the mean of its draws.
        """
        fixed = self.view.header["settings"].get("resample") == "posterior"
        return fixed and labels == "hard" and self.facts.get("labels") == "draws"

    def ranked(self, labels: str) -> list[str]:
        """Models with a rank, best first; ties in the order of the run."""
        models = [m for m in self.view.models if defined(self.score(labels, m).rank)]
        return sorted(models, key=lambda model: self.score(labels, model).rank or 0.0)

    @property
    def order(self) -> list[str]:
        """All models in the order of every figure: by the last labels with ranks (soft)."""
        orders = [self.ranked(labels) for labels in self.view.labels]
        ranked = next((order for order in reversed(orders) if order), [])
        return ranked + [model for model in self.view.models if model not in ranked]

    def lead(self, labels: str, a: str, b: str) -> Lead:
        """How much better a is than b."""
        models = self.view.models
        swapped = models.index(a) > models.index(b)
        first, second = (b, a) if swapped else (a, b)
        entry = self.view.pairs.get((*self.key, labels, first, second))
        if entry is None:
            return Lead()
        turn = self.sign * (-1 if swapped else 1)
        ends = [entry["low"], entry["high"]][::turn]
        value, low, high = (
            None if x is None else turn * x for x in map(numeral, (entry["value"], *ends))
        )
        if self.unmoved(labels):
            return Lead(value)
        share = entry["p_better"]
        better = None if not defined(share) else 1 - share if swapped else share
        return Lead(value, low, high, better)

    @property
    def digits(self) -> int:
        """Decimals that suit this metric, the same for all tasks."""
        name = self.facts["name"]
        return decimals(
            [
                score.high - score.low
                for key, score in self.view.scores.items()
                if key[1] == name and score.low is not None and score.high is not None
            ]
        )

    def resampled(self, labels: str, model: str) -> NDArray[np.float64]:
        """Replicates of one model."""
        names = self.view.labels, self.view.models
        place = self.task, self.metric, names[0].index(labels), names[1].index(model)
        found: NDArray[np.float64] = self.view.replicates[place]
        return found

    def identical(self, labels: str, a: str, b: str) -> bool:
        """Whether two models have the same score, in the data and in every resample."""
        gap = self.lead(labels, a, b).value
        if gap is None or abs(gap) > EXACT:
            return False
        first, second = (self.resampled(labels, model) for model in (a, b))
        return bool(np.allclose(first, second, rtol=0, atol=EXACT, equal_nan=True))

    def entry(self, part: str, labels: str | None = None) -> Mapping[str, Any] | None:
        """Return the one entry of a part of the run for this panel, if it has one."""
        for entry in self.view.header[part]:
            here = (entry["task"], entry["metric"]) == self.key
            if here and (labels is None or entry["labels"] == labels):
                found: Mapping[str, Any] = entry
                return found
        return None


def view(run: RunLike) -> View:
    """Index a run, refusing one that is not of this schema or does not fit its replicates."""
    header = run.header
    if header.get("schema") not in SCHEMAS:
        raise InputError(
            "run.json, schema", f"{header.get('schema')!r}", f"1 to {SCHEMAS[-1]}",
            "write the run again with this version",
        )  # fmt: skip
    for part in PARTS:
        if part not in header:
            raise InputError(
                f"run.json, key '{part}'", "absent", "present", "write the run again"
            )
    axes = ("tasks", "metrics", "labels", "models")
    shape = tuple(len(header[axis]) for axis in axes)
    if run.replicates.ndim != 5 or run.replicates.shape[:4] != shape:
        raise InputError(
            "replicates", f"shape {run.replicates.shape}", f"{(*shape, 'replicates')}",
            "keep run.json and its replicates together",
        )  # fmt: skip
    return View(header, run.replicates, _scores(header), _pairs(header))


def _scores(header: Mapping[str, Any]) -> dict[tuple[str, str, str, str], Score]:
    """Index the scores; nan becomes None, and what is undefined has no rank."""
    return {
        (row["task"], row["metric"], row["labels"], row["model"]): Score(
            **{
                name: numeral(row.get(name))
                for name in Score.__dataclass_fields__
                if numeral(row.get("value")) is not None or name not in ("rank", "p_best")
            }
        )
        for row in header["rows"]
    }


def _pairs(
    header: Mapping[str, Any],
) -> dict[tuple[str, str, str, str, str], Mapping[str, Any]]:
    """Index the paired differences."""
    return {
        (entry["task"], entry["metric"], entry["labels"], entry["a"], entry["b"]): entry
        for entry in header["differences"]
    }
