"""Terminal: the answer first, then one table, then a line for everything else.

With a hundred columns the distance from the best is drawn, with fewer its bound is printed.
Marks carry the meaning; colour only repeats it. Names are shown as text: markup and control
characters in them do nothing.

The longer form (`show`) prints each finding: its title, its sentences and the brief
rows of its first table; what the data did not allow comes last, with the reasons.
"""

import math
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import accumulate
from typing import Literal

from rich import box
from rich.console import Console
from rich.markup import escape
from rich.table import Table as RichTable
from rich.text import Text

from equipoise.types import (
    Chart,
    Column,
    Dot,
    Dots,
    Finding,
    Report,
    Row,
    Standing,
    Standings,
    Table,
    bound,
    cell,
    counted,
    in_command,
    number,
    printable,
    reasons,
)

EDGE = "  "
LABEL = 12  # width of the labels before facts
WIDE = 100  # columns from which on distances are drawn
BAR = 24  # columns of a drawing
LEAST_BAR = 12
DISTANCE = "below the best by"
MOST_MODELS = 16  # rows of the table
LEAST_WORD = 10  # columns of a list's words
HEAD = 8  # letters of a line of a column's head, unless a word is longer
AT_THE_CUT = "stated_cuts"  # whose rows stand below the standings
DEPENDS = "Does the verdict depend on …?"
BELOW = {"shown": "▾ below the best group", "same": "= same scores as another model"}


def show_answer(console: Console, report: Report, *, files: Sequence[str] = ()) -> None:
    """Print the card, the standings, and a line for every other finding in front.

    Parameters
    ----------
    files
        What was written, for the last line.
    """
    for line in answer_lines(report, console.width, files):
        console.print(line, soft_wrap=True)


def answer_lines(report: Report, width: int, files: Sequence[str] = ()) -> Iterator[Text]:
    """The lines of the answer, for a terminal of some width."""
    card = report.card
    assert card is not None
    facts = ", ".join(fact for fact in report.known if fact)
    for line in textwrap.wrap(printable(f"equipoise · {report.title} · {facts}"), width):
        yield Text(line, style="dim")
    if report.banner:
        yield from _wrapped(report.banner, width, style="yellow")
    yield Text("")
    yield from _wrapped(card.answer, width, style="bold")
    yield Text("")
    yield from fact_lines("Holds for", card.holds_for, width)
    yield from fact_lines("Settled by", card.settled_by, width)
    yield from fact_lines("Caveat", card.caveat, width, style="yellow")
    charts = {chart.name: chart for part in report.findings for chart in part.charts}
    for part in report.findings:
        if part.key == "standings" or (part.key == "metrics" and part.brief):
            yield from _boards(part, charts, width)
        elif part.key == AT_THE_CUT:
            yield from _cut_lines(part, width)
    yield from _other_lines(report, width)
    if files:
        yield Text("")
        yield Text(f"{EDGE}{'   '.join(files)}", style="dim")


def _other_lines(report: Report, width: int) -> Iterator[Text]:
    """A line for every finding in front that is no table of models."""
    others = [
        finding
        for finding in report.in_front
        if finding.nav and not finding.evidence and finding.key not in ("standings", "distance")
    ]
    if others:
        yield Text("")
    for before, finding in zip([None, *others], others, strict=False):
        again = before is not None and before.nav == finding.nav
        yield from fact_lines(
            "" if again else finding.nav, finding.sentence or finding.title, width
        )


def _boards(part: Finding, charts: Mapping[str, Chart], width: int) -> Iterator[Text]:
    """The standings of all tasks, or of one of them under its name."""
    for board in part.charts:
        if isinstance(board, Standings):
            bars = charts.get(board.name.replace("standings", "distance"))
            yield Text("")
            if part.task:
                yield Text(f"{EDGE}{printable(part.task)}", style="bold")
            yield from _board(board, bars if isinstance(bars, Dots) else None, width)


def evidence_lines(report: Report, width: int) -> Iterator[Text]:
    """Questions with their verdicts, a line for every other finding, and what was left out."""
    folded = [finding for finding in report.findings if finding.evidence and finding.brief]
    questions = [finding for finding in folded if finding.verdict]
    if questions:
        yield Text(f"{EDGE}{DEPENDS}", style="bold")
    for question in questions:
        yield from _wrapped(f"… {question.about}? {question.verdict}.", width, indent=2)
        if not question.verdict.startswith("No"):
            yield from _wrapped(question.sentence, width, indent=4, style="dim")
    for finding in [part for part in folded if not (part.verdict or part.left_out)]:
        yield Text(f"{EDGE}{printable(finding.title)}", style="bold")
        yield from _wrapped(finding.sentence, width, indent=2)
    for finding in reasons(folded):
        yield from _wrapped(finding.title, width, style="dim")
        yield from _wrapped(finding.sentence, width, indent=2)


def _wrapped(text: str, width: int, *, indent: int = 0, style: str = "") -> Iterator[Text]:
    edge = EDGE + " " * indent
    plain = printable(in_command(text))
    for line in textwrap.wrap(plain, max(20, width - len(edge) - 1), break_long_words=False):
        yield Text(f"{edge}{line}", style=style)


def fact_lines(label: str, text: str, width: int, *, style: str = "") -> Iterator[Text]:
    """A label and its text, wrapped beside it."""
    if not text:
        return
    lines = textwrap.wrap(printable(in_command(text)), max(20, width - LABEL - 3))
    for place, line in enumerate(lines):
        head = label if place == 0 else ""
        yield Text.assemble(
            EDGE, (f"{head:<{LABEL}}", style or "dim"), (line, style if place == 0 else "")
        )


def _cut_lines(part: Finding, width: int) -> Iterator[Text]:
    """Models at their cuts: the columns that fit, some without their intervals."""
    for table in part.tables:
        if table.open:
            yield Text("")
            yield from _wrapped(table.caption, width, style="bold")
            yield from _fitting_lines(table, width)


def _fitting_lines(table: Table, width: int) -> Iterator[Text]:
    """A line per row, or more where one is too long; then ends of intervals and columns go."""
    brief = table.rows if table.brief is None else table.brief
    there = [
        column
        for column in table.columns
        if column.brief and any(row.get(column.key) not in ("", None) for row in brief)
    ]
    stacks = _fitting_stacks(there, brief, width - len(EDGE))
    deep = max(map(len, stacks))
    lines = list[Row]()
    for row in (None, *brief):
        texts = {stack[0][0].key: _stack_lines(stack, row) for stack in stacks}
        lines += [
            {key: text[place] if place < len(text) else "" for key, text in texts.items()}
            for place in range(deep)
        ]
    tops = tuple(replace(stack[0][0], ends=None) for stack in stacks)
    shown = list_lines(replace(table, columns=tops, rows=lines[1:], brief=None), width)
    for place, line in enumerate(shown):
        yield Text(line.plain, style="dim") if 0 < place < deep else line
    left = len(there) - sum(len(part) for stack in stacks for part in stack)
    if left:
        yield Text(f"{EDGE}{counted(left, 'more column')} in a wider terminal", style="dim")


_Stack = list[list[Column]]  # lines of columns that stand under each other


def _stackings(there: Sequence[Column]) -> Iterator[list[_Stack]]:
    """Columns side by side; those that may stand under others in a line, and in one each."""
    yield [[[column]] for column in there]
    keys = {column.key for column in there}
    tops = [column for column in there if column.under not in keys]
    apart = [[[top], *([low] for low in there if low.under == top.key)] for top in tops]
    if len(tops) < len(there):
        lines = [[low for part in stack[1:] for low in part] for stack in apart]
        yield [
            [stack[0], *([low] * bool(low))] for stack, low in zip(apart, lines, strict=True)
        ]
        if tops[-1].is_text and len(tops) > 1:
            apart[0] += apart.pop()
        yield apart


def _stack_lines(stack: _Stack, row: Row | None) -> list[str]:
    """What a row has in the columns of a stack, a text per line; their heads without a row."""
    lines = [
        " ".join(column.head if row is None else cell(row, column) for column in part)
        for part in stack
    ]
    indent = " " * stack[0][0].is_text
    return [lines[0], *(f"{indent}{line}" for line in lines[1:])]


def _fitting_stacks(there: Sequence[Column], rows: Sequence[Row], room: int) -> list[_Stack]:
    """The columns that fit, in as few lines as that takes."""

    def need(stack: _Stack) -> int:
        words = [line for row in rows for line in _stack_lines(stack, row)]
        words += _stack_lines(stack, None)[1:]
        return 2 + max(min(len(stack[0][0].head), LEAST_WORD), *map(len, words))

    stacks = list[_Stack]()
    for stacks in _stackings(there):
        if sum(map(need, stacks)) <= room:
            return stacks
    while len(stacks) > 1 and sum(map(need, stacks)) > room:
        spans = [stack for stack in stacks if stack[0][0].ends]
        if spans:
            spans[-1][0] = [replace(spans[-1][0][0], ends=None)]
        else:
            stacks.pop()
    return stacks


# ---- the table -----------------------------------------------------------------------------


def _board(board: Standings, bars: Dots | None, width: int) -> Iterator[Text]:
    """Models by tasks, with how far each may lie below the best."""
    models = list(board.models)
    names = [printable(one) for one in models]
    room = max([len(name) for name in names] + [len("known to")])
    room = min(room, max(12, width // 3))
    heads = [_head(printable(column)) for column in board.columns]
    widths = [max(5, *(len(line) for line in head)) for head in heads]
    free = width - len(EDGE) - room - sum(widths) - 2 * len(widths) - 3
    rows = {dot.model: dot for dot in bars.rows} if bars is not None else {}
    drawn = width >= WIDE and free >= LEAST_BAR
    bar = min(BAR, free) if drawn else max((len(_bound(d)) for d in rows.values()), default=0)
    fits = _fitting(widths, width - len(EDGE) - room - bar - 3)
    legend, head = _legend(board), printable(board.metric)
    beside = len(EDGE) + len(head) + 2 + len(legend) <= width
    yield Text.assemble(EDGE, (head, "bold"), f"  {legend}".rstrip() if beside else "")
    if not beside:
        yield from _wrapped(legend, width, style="dim")
    shown = widths[:fits]
    yield from _heads(heads[:fits], shown, room, bars, bar)
    scale = _scale(bars) if bars is not None else None
    for model, name, cells in zip(models[:MOST_MODELS], names, board.cells, strict=False):
        end = _drawn(rows.get(model), scale, bar, drawn=drawn)
        yield _row(name, room, cells[:fits], shown, end)
    if len(models) > MOST_MODELS:
        yield Text(f"{EDGE}... and {len(models) - MOST_MODELS} more models", style="dim")
    foot = [("known to", tuple(map(_reach, board.known_to))), *board.foot]
    for title, texts in foot:
        yield Text(_line(title, texts, shown, room).rstrip(), style="dim")
    if len(widths) > fits:
        left = counted(len(widths) - fits, "more column")
        yield Text(f"{EDGE}{left} in a wider terminal", style="dim")


def _head(title: str) -> list[str]:
    longest = max((len(word) for word in title.split()), default=1)
    return textwrap.wrap(title, max(HEAD, longest)) or [""]


def _bound(dot: Dot) -> str:
    """How far from the best a model may lie."""
    most = max(abs(dot.low), abs(dot.high))
    return f"≤{bound(most)}" if math.isfinite(most) and most > 0 else ""


def _fitting(widths: Sequence[int], room: int) -> int:
    """How many columns fit; the first is always shown."""
    ends = accumulate(width + 2 for width in widths)
    return max(1, sum(end <= room for end in ends))


def _legend(board: Standings) -> str:
    cells_shown = [cell for row in board.cells for cell in row]
    below = any(standing.judged and not standing.inside for standing in cells_shown)
    signs = {"shown": below, "same": any(standing.same for standing in cells_shown)}
    return "   ".join(BELOW[sign] for sign, there in signs.items() if there)


def _line(name: str, texts: Sequence[str], widths: Sequence[int], room: int) -> str:
    """A name and a text for each column that is shown."""
    cells = (f"{text:>{width}}  " for text, width in zip(texts, widths, strict=False))
    return f"{EDGE}{name:<{room}} {''.join(cells)}"


def _heads(
    heads: Sequence[Sequence[str]],
    widths: Sequence[int],
    room: int,
    bars: Dots | None,
    bar: int,
) -> Iterator[Text]:
    deep = max([2, *(len(words) for words in heads)])
    words = ("below", "best") if bar < len(DISTANCE) else ("", DISTANCE)
    columns = [*heads, words if bars is not None else ("", "")]
    padded = ([""] * (deep - len(column)) + [*column] for column in columns)
    for *texts, end in zip(*padded, strict=True):
        yield Text(f"{_line('', texts, widths, room)} {end:>{bar}}".rstrip(), style="dim")


def _row(
    name: str, room: int, cells: Sequence[Standing], widths: Sequence[int], end: str
) -> Text:
    parts: list[str | tuple[str, str]] = [EDGE, f"{_cut(name, room):<{room}} "]
    for standing, width in zip(cells, widths, strict=True):
        mark = "" if standing.inside or not standing.judged else "▾"
        mark = "=" if standing.same and standing.inside else mark
        style = "bold bright_blue" if standing.best and standing.inside else ""
        style = style if standing.inside else "dim"
        parts.append((f"{number(standing.value):>{width}}{mark or ' '} ", style))
    return Text.assemble(*parts, " ", end)


def _cut(name: str, room: int) -> str:
    return name if len(name) <= room else f"{name[: room - 1]}…"


def _reach(half: float) -> str:
    if not math.isfinite(half):
        return ""
    return f"±{number(half, 2) if half >= 0.005 else number(half)}"


# ---- distances -----------------------------------------------------------------------------


def _scale(bars: Dots) -> tuple[float, float]:
    """The ends of the axis: from the farthest bound to the best."""
    ends = [x for dot in bars.rows for x in (dot.low, dot.high, dot.value) if math.isfinite(x)]
    ends += [0.0] + ([-bars.margin] if bars.margin is not None else [])
    return min(ends), max(ends)


def _drawn(dot: Dot | None, scale: tuple[float, float] | None, bar: int, *, drawn: bool) -> str:
    """The interval of one model, or its bound in words."""
    if dot is None or scale is None:
        return ""
    if not drawn or scale[0] == scale[1]:
        return f"{_bound(dot):>{bar}}"

    def place(x: float) -> int:
        return round((x - scale[0]) / (scale[1] - scale[0]) * (bar - 1))

    line = [" "] * bar
    low, high = (
        place(x) if math.isfinite(x) else place(dot.value) for x in (dot.low, dot.high)
    )
    for k in range(low, high + 1):
        line[k] = "─"
    line[low] = "├" if dot.value > dot.low else line[low]
    line[high] = "┤" if high < bar - 1 and dot.high > dot.value else line[high]
    line[place(dot.value)] = "○" if dot.hollow else "●"
    return "".join(line)


# ---- lists ---------------------------------------------------------------------------------


def list_lines(table: Table, width: int) -> Iterator[Text]:
    """The brief rows of a table, a line each, without rules; long words are cut."""
    rows = table.rows if table.brief is None else table.brief
    shown = [column for column in table.columns if column.brief]
    cells = [[column.head for column in shown]]
    cells += [[printable(cell(row, column)) for column in shown] for row in rows]
    widths = [max(len(line[k]) for line in cells) for k in range(len(shown))]
    words = [column.is_text for column in shown]
    over = sum(widths) + 2 * len(widths) + len(EDGE) - width
    inner = [max((len(line[k]) for line in cells[1:]), default=0) for k in range(len(shown))]
    while over > 0 and max(widths) > LEAST_WORD:  # long heads give way, then the longest column
        heads = [w if w > max(i, LEAST_WORD) else 0 for w, i in zip(widths, inner, strict=True)]
        place = heads.index(max(heads)) if any(heads) else widths.index(max(widths))
        widths[place] -= 1
        over -= 1
    for place, line in enumerate(cells):
        parts = [
            f"{_cut(text, wide):<{wide}}" if left else f"{_cut(text, wide):>{wide}}"
            for text, wide, left in zip(line, widths, words, strict=True)
        ]
        yield Text(f"{EDGE}{'  '.join(parts)}".rstrip(), style="" if place else "dim")


MOST = 12  # rows of a brief table


def show(console: Console, report: Report, *, verbose: bool = False) -> None:
    """Print what a report says; `verbose` shows every row, table and note."""
    findings = report.findings if verbose else report.in_front
    for finding in findings:
        if (finding.brief or verbose) and not finding.left_out:
            _finding(console, finding, verbose=verbose)
    missing = [*reasons(findings)]
    if missing:
        console.print("[bold]Not looked at, and why[/bold]")
        for finding in missing:
            console.print(
                _text(f"{finding.title}: {in_command(finding.sentence)}"), style="dim"
            )


def _finding(console: Console, finding: Finding, *, verbose: bool) -> None:
    console.print(f"[bold]{_text(finding.title)}[/bold]")
    for sentence in (finding.sentence, *finding.more):
        if sentence:
            console.print(_text(in_command(sentence)))
    for table in finding.tables if verbose else finding.tables[:1]:
        rows = table.rows if verbose or table.brief is None else table.brief
        if rows:
            _table(console, table, rows, most=None if verbose else MOST)
    if verbose and finding.note:
        console.print(_text(finding.note), style="dim")
    console.print()


def _table(console: Console, table: Table, rows: Sequence[Row], *, most: int | None) -> None:
    columns = [column for column in table.columns if column.brief or most is None]
    drawn = RichTable(box=box.SIMPLE_HEAD, pad_edge=False)
    for column in columns:
        side: Literal["left", "right"] = "left" if column.is_text else "right"
        drawn.add_column(_text(column.head), justify=side, overflow="fold")
    for row in rows[:most]:
        drawn.add_row(*(_text(cell(row, column)) for column in columns))
    console.print(drawn)
    if most is not None and len(rows) > most:
        console.print(f"... and {len(rows) - most:,} more rows", style="dim")
    if table.legend:
        console.print(_text(table.legend), style="dim")


def _text(words: str) -> str:
    return escape(printable(words))
