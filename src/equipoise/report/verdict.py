"""Verdict: who is ahead under one kind of labels, and from whom the data separate them.

A model is *separated* from the best when the interval of the paired lead of the best over it
lies wholly above zero. Models that share the best score are best together; none is best where
the scores of all are infinitely bad.
"""

import math
from dataclasses import dataclass

from equipoise.report.numerals import UNDEFINED, defined, finite
from equipoise.report.score import Lead
from equipoise.report.view import Panel


@dataclass(frozen=True, slots=True)
class Verdict:
    """The outcome of one panel under one kind of labels.

    Attributes
    ----------
    panel, labels
        Where the verdict holds.
    best
        Models that share the first rank, in the order of the run; empty if no model has one.
    runner_up
        The best model that is not among them.
    close
        Models after the best that the data do not separate from the first of them.
    unranked
        Models whose score is undefined.
    """

    panel: Panel
    labels: str
    best: tuple[str, ...]
    runner_up: str | None
    close: tuple[str, ...]
    unranked: tuple[str, ...]

    @property
    def lead(self) -> Lead:
        """Lead of the best over the runner-up."""
        if self.runner_up is None:
            return Lead()
        return self.panel.lead(self.labels, self.best[0], self.runner_up)

    @property
    def unmoved(self) -> bool:
        """Whether nothing that these labels depend on is redrawn."""
        return self.panel.unmoved(self.labels)

    @property
    def clear(self) -> bool:
        """Whether one model is separated from every other that has a score."""
        return len(self.best) == 1 and self.runner_up is not None and not self.close

    @property
    def blind(self) -> bool:
        """Whether all that keeps the best from being clear is that no interval is defined."""
        return bool(self.close) and not any(
            self.panel.lead(self.labels, self.best[0], other).defined for other in self.close
        )

    @property
    def identical(self) -> bool:
        """Whether the models that share the first rank agree in every resample."""
        return len(self.best) > 1 and all(
            self.panel.identical(self.labels, self.best[0], other) for other in self.best[1:]
        )


def blank_word(panel: Panel, labels: str) -> str:
    """Say what keeps the models from a verdict: scores that are undefined, or infinite."""
    scores = [panel.score(labels, model).value for model in panel.view.models]
    endless = any(value is not None and not finite(value) for value in scores)
    return "infinite" if endless else UNDEFINED


def verdict(panel: Panel, labels: str) -> Verdict:
    """Find the best models, the runner-up and those too close to tell."""
    ranked = panel.ranked(labels)
    if ranked and (panel.score(labels, ranked[0]).value or 0.0) * panel.sign == -math.inf:
        ranked = []
    first = panel.score(labels, ranked[0]).rank if ranked else None
    best = tuple(model for model in ranked if panel.score(labels, model).rank == first)
    rest = ranked[len(best) :]
    close = tuple(m for m in rest if not panel.lead(labels, best[0], m).separated)
    unranked = tuple(
        model for model in panel.view.models if not defined(panel.score(labels, model).rank)
    )
    return Verdict(panel, labels, best, rest[0] if rest else None, close, unranked)
