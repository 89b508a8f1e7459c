"""Score and lead: one model's number, and how much better one model is than another."""

from dataclasses import dataclass

from equipoise.report.numerals import EXACT, defined


@dataclass(frozen=True, slots=True)
class Score:
    """One model's score; None is undefined."""

    value: float | None = None
    low: float | None = None
    high: float | None = None
    rank: float | None = None
    p_best: float | None = None
    shift: float | None = None
    undefined_share: float | None = None

    @property
    def outside(self) -> bool:
        """Whether the interval leaves out the value it belongs to."""
        return _outside(self.value, self.low, self.high)


@dataclass(frozen=True, slots=True)
class Lead:
    """How much better one model is than another, paired over the same resamples."""

    value: float | None = None
    low: float | None = None
    high: float | None = None
    p_better: float | None = None

    @property
    def outside(self) -> bool:
        """Whether the interval leaves out the lead it belongs to."""
        return _outside(self.value, self.low, self.high)

    @property
    def separated(self) -> bool:
        """Whether the whole interval is on the side of the first model."""
        return self.low is not None and self.low > EXACT

    @property
    def reversed(self) -> bool:
        """Whether the whole interval is on the side of the second model."""
        return self.high is not None and self.high < -EXACT

    @property
    def decided(self) -> bool:
        """Whether the interval excludes zero, on the side of the value."""
        if self.value is None:
            return False
        return self.separated if self.value > EXACT else self.reversed and self.value < -EXACT

    @property
    def contrary(self) -> bool:
        """Whether the interval excludes zero, but not on the side of the value."""
        return (self.separated or self.reversed) and not self.decided

    @property
    def defined(self) -> bool:
        """Whether there is an interval at all."""
        return defined(self.low) and defined(self.high)


def _outside(value: float | None, low: float | None, high: float | None) -> bool:
    """Whether a value lies outside its interval; without an interval it does not."""
    if value is None or low is None or high is None:
        return False
    return not low - EXACT <= value <= high + EXACT
