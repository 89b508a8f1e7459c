"""What a person sees: tables on standard output, messages and progress on standard error."""

import json
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import PurePosixPath
from threading import Timer
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Console

PATIENCE = 2.0  # seconds after which a reader without a terminal is told what goes on


def say(*sentences: str) -> None:
    """Print sentences on standard error, options in place of Python."""
    from rich.markup import escape

    from equipoise.cli._hints import in_options

    for sentence in sentences:
        _errors().print(escape(in_options(sentence)), highlight=False)


def counted(files: Iterable[str]) -> str:
    """How many tables and figures there are among files, and which texts.

    Examples
    --------
    >>> counted(["tables/a.csv", "tables/a.md", "tables/a.tex", "methods.md"])
    '1 table (CSV, Markdown, LaTeX), 0 figures, methods.md'
    """
    paths = [PurePosixPath(one) for one in files]
    tables = len({one.stem for one in paths if one.parts[0] == "tables"})
    figures = sum(one.parts[0] == "figures" for one in paths)
    texts = [one.name for one in paths if one.name in ("methods.md", "references.bib")]
    words = [
        f"{tables} table{'' if tables == 1 else 's'} (CSV, Markdown, LaTeX)",
        f"{figures} figure{'' if figures == 1 else 's'}",
    ]
    return ", ".join([*words, *texts])


def print_json(rows: Any) -> None:
    """Print JSON at full precision on standard output, undefined as null."""
    from equipoise.findings.json import plain

    json.dump(plain(rows), sys.stdout, indent=1, ensure_ascii=False, allow_nan=False)
    sys.stdout.write("\n")


def output() -> "Console":
    """The console of standard output; full width when it is not a terminal."""
    from rich.console import Console

    console = Console(highlight=False)
    return console if console.is_terminal else Console(highlight=False, width=140)


@contextmanager
def progress(title: str) -> Iterator[Callable[[int, int], None]]:
    """Show a bar with the time left on standard error while work goes on.

    Where that is no terminal, one line says what is being done if it takes long.
    """
    console = _errors()
    if not console.is_terminal:
        with _one_line(f"{title} ..."):
            yield _untold
        return
    from equipoise.cli._bar import bar

    with bar(console) as drawn:
        task = drawn.add_task(title, total=None)

        def tell(done: int, total: int) -> None:
            drawn.update(task, completed=done, total=total)

        yield tell


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


def verdicts(header: Mapping[str, Any], replicates: Any) -> list[str]:
    """The sentences the page opens with: for the last task, metric by metric."""
    from equipoise.report.view import view
    from equipoise.report.words import change, headline
    from equipoise.run import Run

    seen = view(Run(header, replicates))
    sentences = []
    for panel in seen.panels():
        if panel.key[0] == header["tasks"][-1]:
            title = panel.facts["title"]
            sentences.append(f"{title}: {headline(panel)} {change(panel)}".strip())
    return sentences


def _errors() -> "Console":
    from rich.console import Console

    return Console(stderr=True, soft_wrap=True)
