r"""What a person sees: tables on standard output, messages and progress on standard error.

What a stream that is not UTF-8 cannot show is written in letters that it can: a minus sign
becomes a hyphen, an inequality two letters; a name in another script becomes its escapes,
``\u4e2d``, so nothing is lost and no two names become one.
"""

import codecs
import json
import os
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from io import TextIOWrapper
from pathlib import PurePosixPath
from threading import Timer
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.markup import escape

from equipoise.types import Notice, Progress, as_notices, in_command, printable, worded

if TYPE_CHECKING:
    from click import Command, Context
    from rich.progress import Progress as Bar
    from rich.progress import Task

PATIENCE = 2.0  # seconds after which a reader without a terminal is told what goes on


def say(*sentences: str) -> None:
    """Print sentences on standard error, with the options of the verb that runs."""
    for sentence in sentences:
        text = printable(in_command(sentence, verb_options()))
        _errors().print(escape(text), highlight=False)


def note(notices: Iterable[Notice | str]) -> None:
    """Print what a reader should know on standard error, each thing once."""
    distinct = as_notices(notices)
    say(
        *(
            f"Note: {sentence}"
            for sentence in worded(distinct, command=True, options=verb_options())
        )
    )


def verb_options() -> set[str] | None:
    """Names of the options that the verb which runs has, with underscores; None if none runs.

    Examples
    --------
    >>> verb_options() is None
    True
    """
    context = running()
    return None if context is None else option_names(context.command)


def running() -> "Context | None":
    """The context of the verb that runs; None if none runs.

    Typer may bring a click of its own, so its contexts are asked for where they are made.
    """
    from importlib import import_module

    import typer

    home = typer.Context.__mro__[1].__module__.rpartition(".")[0]
    context: Context | None = import_module(f"{home}.globals").get_current_context(silent=True)
    return context


def option_names(command: "Command") -> set[str]:
    """Names of the options of a command, with underscores."""
    flags = (option for param in command.params for option in param.opts)
    return {flag.lstrip("-").replace("-", "_") for flag in flags}


def counted(files: Iterable[str]) -> str:
    """How many tables and figures there are among files, and which texts.

    Examples
    --------
    >>> counted(["tables/a.csv", "tables/a.md", "tables/a.tex", "methods.md"])
    '1 table (CSV, Markdown, LaTeX), 0 figures, methods.md'
    """
    paths = [PurePosixPath(name) for name in files]
    tables = len({path.stem for path in paths if path.parts[0] == "tables"})
    figures = sum(path.parts[0] == "figures" for path in paths)
    texts = [path.name for path in paths if path.name in ("methods.md", "references.bib")]
    words = [
        f"{tables} table{'' if tables == 1 else 's'} (CSV, Markdown, LaTeX)",
        f"{figures} figure{'' if figures == 1 else 's'}",
    ]
    return ", ".join([*words, *texts])


def print_json(rows: Any) -> None:
    """Print JSON at full precision on standard output, undefined as null."""
    from equipoise.types import plain

    narrow = not (sys.stdout.encoding or "utf-8").lower().startswith("utf")
    escaped = narrow or sys.stdout.isatty()  # names may hold what a terminal obeys
    json.dump(plain(rows), sys.stdout, indent=1, ensure_ascii=escaped, allow_nan=False)
    sys.stdout.write("\n")


def output() -> Console:
    """The console of standard output; 140 columns, or COLUMNS, when it is no terminal."""
    console = Console(highlight=False)
    sized = console.is_terminal or os.environ.get("COLUMNS", "").isdecimal()
    return console if sized else Console(highlight=False, width=140)


@contextmanager
def progress(title: str) -> Iterator[Progress]:
    """Show a bar with the time left on standard error while work goes on.

    Where standard error is no terminal, one plain line is printed once it takes a while.
    """
    if not _errors().is_terminal:
        with _one_line(f"{title} ..."):
            yield _untold
        return
    with stages(1, title) as stage:
        yield stage(title)


@contextmanager
def stages(steps: int, title: str = "evaluating") -> Iterator[Callable[[str], Progress]]:
    """A bar over several steps, which names the one that is being done."""
    console, place = _errors(), [-1]
    if not console.is_terminal:
        with _one_line(f"{title} ..."):
            yield lambda _: _untold
        return
    with bar(console) as drawn:
        task = drawn.add_task(title, total=float(steps))

        def stage(name: str) -> Progress:
            place[0] += 1
            first = place[0]
            drawn.update(task, description=name.replace("_", " "), completed=float(first))

            def tell(done: int, total: int) -> None:
                part = done / total if total else 0.0
                drawn.update(task, completed=min(first + part, float(steps)))

            return tell

        yield stage


def bar(console: Console) -> "Bar":
    """A bar with the time taken and, once that can be told, the time left; it goes away."""
    from rich.progress import (
        BarColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )
    from rich.text import Text

    class TimeLeft(TimeRemainingColumn):
        """Time left, with the word for it."""

        def render(self, task: "Task") -> Text:
            foreseen = task.total is not None and task.time_remaining is not None
            return Text.assemble(super().render(task), " left") if foreseen else Text("")

    title = TextColumn("{task.description}")
    columns = (title, BarColumn(), TimeElapsedColumn(), TimeLeft())
    return Progress(*columns, console=console, transient=True)


def _untold(*_: int) -> None:
    """Take what a bar would show."""


@contextmanager
def _one_line(text: str) -> Iterator[None]:
    """Print a line on standard error once something has taken a while."""
    timer = Timer(PATIENCE, print, (text,), {"file": sys.stderr, "flush": True})
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def _errors() -> Console:
    return Console(stderr=True, soft_wrap=True)


# ---- streams that are not UTF-8 ----------------------------------------------------------

_PLAIN = {
    "−": "-", "–": "-", "—": "-", "‑": "-", "≤": "<=", "≥": ">=", "≠": "!=", "≈": "~", "×": "x",
    "·": "*", "…": "...", "±": "+/-", "→": "->", "←": "<-", "↑": "^", "↓": "v", "’": "'",
    "‘": "'", "“": '"', "”": '"', "∞": "inf", "•": "*", "\u00a0": " ", "\u2009": " ",
    "█": "#", "■": "#", "●": "o", "○": "o", "│": "|", "─": "-", "├": "|", "┤": "|",
    "▾": "v", "▸": ">", "╭": "+", "╮": "+", "╰": "+", "╯": "+", "━": "-", "┃": "|", "┼": "+",
    "α": "alpha", "κ": "kappa", "Δ": "Delta", "²": "^2", "�": "?",
}  # fmt: skip
_NAME = "equipoise.plain"


def _plain(error: UnicodeError) -> tuple[str | bytes, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    letters = error.object[error.start : error.end]
    words = [
        _PLAIN.get(letter) or letter.encode("ascii", "backslashreplace").decode()
        for letter in letters
    ]
    return "".join(words), error.end


def make_writable() -> None:
    """Let standard output and standard error take any text."""
    codecs.register_error(_NAME, _plain)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            with suppress(OSError, ValueError):
                stream.reconfigure(errors=_NAME)
