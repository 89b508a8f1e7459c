"""Contest: who is best in one task, or by the average of several, and who could be instead.

The leaders are all models that are level at the top, to 12 decimals; every other model is a
rival. A rival has overtaken when it is ahead of all leaders by more than rounding. A set of
moves after which the metric of any task is undefined does not count.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from equipoise.analyses._field import ONCE, Field
from equipoise.analyses._flip_bounds import lowest_leads
from equipoise.arrays import Floats, InputError
from equipoise.ranks import TIE

AHEAD = 1e-12  # how far a rival must be ahead
SURE = AHEAD / 2  # what a proof may lack by rounding
Move = tuple[int, int]  # which field, and which of its moves


@dataclass(frozen=True, eq=False)
class Contest:
    """The models of one task, or of several together.

    Attributes
    ----------
    task
        Name of the task, or of the average.
    fields
        The tasks; every one counts the same.
    """

    task: str
    fields: tuple[Field, ...]

    @cached_property
    def full(self) -> Floats:
        """Goodness of every model on all data, (models,)."""
        return np.asarray(np.mean([one.full for one in self.fields], axis=0))

    @cached_property
    def leaders(self) -> list[int]:
        """Models that are level at the top; none where a value is undefined."""
        good = np.round(self.full, TIE)
        return [int(m) for m in np.flatnonzero(good == good.max())]

    @cached_property
    def rivals(self) -> list[int]:
        """All other models, the best first."""
        order = np.argsort(-self.full, kind="stable")
        return [int(m) for m in order if m not in self.leaders] if self.leaders else []

    def place(self, model: int) -> int:
        """Rank of a model; those that are level with it do not count."""
        good = np.round(self.full, TIE)
        return int((good > good[model]).sum()) + 1

    @property
    def number(self) -> int:
        """How many items or votes there are."""
        return sum(one.moves.number for one in self.fields)

    @cached_property
    def exact(self) -> bool:
        """Whether every move is scored alone; else influence functions take their place."""
        for one in self.fields:
            metric = one.subject.metric
            if not one.exact and metric.influence is None:
                raise InputError(
                    f"flips, metric {metric.name}",
                    f"{len(one.kinds):,} candidates among {one.items:,} items",
                    f"at most {ONCE:,} (candidates times items) without an influence function",
                    "choose auroc or average_precision in their default forms, or fewer items",
                )  # fmt: skip
        return all(one.exact for one in self.fields)

    @cached_property
    def singles(self) -> list[Floats]:
        """Goodness in every field after each of its kinds of moves alone, (models, kinds)."""
        return [one.singles if self.exact else one.first_order() for one in self.fields]

    @cached_property
    def parted(self) -> bool | None:
        """Whether one move alone parts level leaders; None where that is not known."""
        if not self.exact:
            return None
        for field, values in zip(self.fields, self.singles, strict=True):
            with np.errstate(invalid="ignore"):  # of two infinite values: not apart
                shift = (values - field.full[:, None])[self.leaders]
                apart = np.ptp(shift, axis=0) > AHEAD * len(self.fields)
            if apart.any():
                return True
        return False

    def gaps(self, own: Floats, field: int, now: list[Floats]) -> Floats:
        """Lead of the best leader over a rival, (sets,); inf where undefined.

        Parameters
        ----------
        own
            Goodness in one field, leaders first and the rival last, (1 + leaders, sets).
        now
            Goodness in every field, the same models.
        """
        rest = sum((one for t, one in enumerate(now) if t != field), np.zeros(len(own)))
        return led(rest[:, None] + own) / len(self.fields)

    def lowest(self, most: int) -> dict[int, Floats]:
        """Lowest lead that at most 0, 1, ... moves can leave over each rival, as far as known.

        A rival must pass every leader: the one that is hardest to pass counts.
        """
        pairs = [(a, b) for b in self.rivals for a in self.leaders]
        ahead, behind = [a for a, _ in pairs], [b for _, b in pairs]
        parts = [lowest_leads(one, ahead, behind, most) for one in self.fields]
        total = parts[0]
        for part in parts[1:]:
            total = _shared_out(total, part)
        total = total.reshape(len(self.rivals), len(self.leaders), most + 1).max(axis=1)
        return dict(zip(self.rivals, total / len(self.fields), strict=True))

    def fresh(self, chosen: list[Move]) -> Floats:
        """Goodness of every model after a set, everything made anew, (models,)."""
        return np.asarray(
            np.mean(
                [one.fresh(moves_of(chosen, t)) for t, one in enumerate(self.fields)], axis=0
            )
        )


def led(values: Floats) -> Floats:
    """How far the best of all but the last row is ahead of the last; inf where undefined."""
    with np.errstate(invalid="ignore"):  # of two infinite values: undefined
        gap = values[:-1].max(axis=0) - values[-1]
    return np.where(np.isnan(gap), np.inf, gap)


def moves_of(chosen: list[Move], field: int) -> list[int]:
    """Moves of a set that are of one field."""
    return [move for t, move in chosen if t == field]


def _shared_out(one: Floats, other: Floats) -> Floats:
    """Lowest sum of two bounds when the moves are shared out between them, row by row.

    Examples
    --------
    >>> _shared_out(np.array([[5.0, 3.0, 2.0]]), np.array([[1.0, 0.0, -4.0]]))
    array([[6., 4., 1.]])
    """
    out = np.full_like(one, np.inf)
    for moved in range(one.shape[1]):
        width = one.shape[1] - moved
        with np.errstate(invalid="ignore"):  # an infinite lead and an unknown bound: unknown
            both = one[:, :width] + other[:, moved, None]
        out[:, moved:] = np.minimum(out[:, moved:], np.where(np.isnan(both), -np.inf, both))
    return out
