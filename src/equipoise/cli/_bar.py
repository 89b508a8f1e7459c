"""A bar on a terminal: what is done, how long it took, how long it will take."""

from typing import TYPE_CHECKING

from rich.progress import (
    BarColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.text import Text

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Task


class TimeLeft(TimeRemainingColumn):
    """Time left, once there is something to tell it by."""

    def render(self, task: "Task") -> Text:
        """Show the time left with the word for it."""
        known = task.total is not None and task.time_remaining is not None
        return Text.assemble(super().render(task), " left") if known else Text("")


def bar(console: "Console") -> Progress:
    """Make a bar that goes away when it is done."""
    columns = (
        TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn(), TimeLeft(),
    )  # fmt: skip
    return Progress(*columns, console=console, transient=True)
