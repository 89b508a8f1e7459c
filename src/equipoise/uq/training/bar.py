"""A line that tells how far a grid is and how long it still takes."""

import math
import sys
import time
from typing import TextIO

from equipoise.uq.training.grid import Progress

_WIDTH = 24
_SELDOM = 20.0  # seconds between lines where a line cannot be written over


class Bar:
    """Writes over one line of a terminal; elsewhere a line every twenty seconds."""

    def __init__(self, stream: TextIO | None = None) -> None:
        self.stream = stream or sys.stderr
        self.terminal = self.stream.isatty()
        self.last = -math.inf

    def __enter__(self) -> "Bar":
        return self

    def __exit__(self, *_: object) -> None:
        if self.terminal:
            self.stream.write("\n")

    def show(self, progress: Progress) -> None:
        """Show the progress, not too often."""
        now = time.monotonic()
        if (
            now - self.last < (0.1 if self.terminal else _SELDOM)
            and progress.done < progress.total
        ):
            return
        self.last = now
        line = _progress_line(progress)
        self.stream.write(f"\r\x1b[2K{line}" if self.terminal else f"{line}\n")
        self.stream.flush()


def _progress_line(progress: Progress) -> str:
    """The progress in one line.

    Examples
    --------
    >>> _progress_line(Progress(3, 12, 95.0, "baseline.vit_tiny.0"))
    '[######..................] 3 of 12, about 1 min 35 s left, baseline.vit_tiny.0'
    """
    full = _WIDTH * progress.done // max(1, progress.total)
    bar = "#" * full + "." * (_WIDTH - full)
    left = "time left not known yet"
    if math.isfinite(progress.left):
        minutes, seconds = divmod(math.ceil(progress.left), 60)
        left = f"about {f'{minutes} min ' if minutes else ''}{seconds} s left"
    return f"[{bar}] {progress.done} of {progress.total}, {left}, {progress.text}"
