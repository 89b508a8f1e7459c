r"""Items and annotators together, without counting the noise of votes twice.

Replicates that draw items and annotators together vary too much: redrawn items bring the noise
of their votes along, and redrawn annotators bring it once more. Their spread around their mean
is therefore made that of the parts,

.. math:: V = V_{\text{items}} + V_{\text{panel}} - V_{\text{votes}},

no less than either of the first two. What moves all models together (their mean) and what
moves them apart (the differences to it) have a factor each, so that twins stay twins and
differences, ranks and chances follow from the same replicates. Where the parts are unknown,
replicates stay as drawn, on the wide side.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import sqrt
from typing import NamedTuple

import numpy as np

from equipoise.analyses.redrawing import WIDE, ResamplingOptions, redrawable, redrawn, voting
from equipoise.analyses.words import as_notices
from equipoise.annotations import Annotations
from equipoise.arrays import Bools, Floats, InputError
from equipoise.evaluation import Evaluation
from equipoise.evaluation.result import widened
from equipoise.metrics import Metric
from equipoise.notices import Notice
from equipoise.predictions import Predictions

KIND = "items x panel"
PARTS = ("items", "panel", "votes")


class TwoWay(NamedTuple):
    """An evaluation that speaks for other items and annotators; `wide` where it errs so."""

    evaluation: Evaluation
    wide: bool
    notices: tuple[Notice, ...]


def items_and_annotators(
    predictions: Sequence[Predictions],
    annotations: Annotations,
    metrics: Sequence[str | Metric],
    told: ResamplingOptions,
) -> TwoWay:
    """The evaluation that speaks for other items, and for other annotators who have names.

    Votes that are anonymous are items' own: then items alone are drawn, with their votes.
    """
    truth, said = voting(predictions, annotations, told.settings.on_missing)
    plans, _ = redrawable(truth, None)
    kind = next((one for one in (KIND, "items") if one in plans), "")
    if not kind:
        raise InputError(
            "stability", "items that cannot be drawn anew", "at least two groups of items",
            "leave the group column out, or give more data",
        )  # fmt: skip
    kinds = [kind, *(one for one in PARTS if kind == KIND and one in plans)]
    done = {
        one: redrawn(predictions, truth, metrics=metrics, kind=one, told=told) for one in kinds
    }
    exact = set(PARTS) <= set(done)
    found = done[kind]
    wide = () if kind != KIND or exact else (WIDE,)
    notices = as_notices(said, wide, found.notices)
    if not exact:
        return TwoWay(found, bool(wide), notices)
    drawn = {one: done[one].replicates for one in kinds}
    replicates = np.empty_like(found.replicates)
    for cell in np.ndindex(found.values.shape[:-1]):
        own = {one: each[cell] for one, each in drawn.items()}
        replicates[cell] = drawn_in(own, np.isfinite(found.values[cell]))
    return TwoWay(replace(found, replicates=replicates), wide=False, notices=notices)


def drawn_in(drawn: Mapping[str, Floats], known: Bools) -> Floats:
    """Joint replicates of all models, (models, replicates), with the variance of the parts.

    Parameters
    ----------
    drawn
        Replicates by kind: of ``items x panel``, items, panel and votes.
    known
        Which models have a finite value, shape (models,); others stay as they are.
    """
    found = np.array(drawn[KIND])
    fine = np.isfinite(found[known]).all(axis=0)
    if not known.any() or not fine.any():
        return found
    factors = _factors({kind: each[known] for kind, each in drawn.items()})
    together, apart = _halves(found[known][:, fine])
    moved = widened(together, factors[0]) + widened(apart, factors[1])
    found[np.ix_(known, fine)] = moved
    return found


def _halves(each: Floats) -> tuple[Floats, Floats]:
    """What moves all models together, and what moves them apart."""
    together = each.mean(axis=0, keepdims=True)
    return together, each - together


def _factors(drawn: Mapping[str, Floats]) -> tuple[float, float]:
    """Factors of both halves; 1 where a variance is unknown or nothing varies."""
    found = []
    halves = {kind: _halves(_whole(each)) for kind, each in drawn.items()}
    for half in range(2):
        spread = {kind: _spread(each[half]) for kind, each in halves.items()}
        votes, joint = spread["votes"], spread[KIND]
        parts = max(spread["items"], votes) + max(spread["panel"], votes) - votes
        known = np.isfinite(list(spread.values())).all() and joint > 0
        found.append(sqrt(parts / joint) if known else 1.0)
    return found[0], found[1]


def _whole(each: Floats) -> Floats:
    """Only the replicates in which every model is finite."""
    return np.asarray(each[:, np.isfinite(each).all(axis=0)])


def _spread(each: Floats) -> float:
    """Variance of the replicates, summed over models; nan with fewer than two."""
    return float(each.var(axis=1, ddof=1).sum()) if each.shape[1] > 1 else float("nan")
