"""Document: one self-contained HTML file that makes no request, made of findings.

A content policy in the head allows this file's own style and script, by their hash, and
nothing else. Findings of one key are one section; where they belong to a task or a metric, the
reader chooses with radio buttons and CSS alone. The script only adds sorting, highlighting and
the choice of theme. What was left out is listed with the reasons, and the method at the end
says what words mean, what the reader should know, and how to make the page again.
"""

import base64
import hashlib
from collections.abc import Iterable, Sequence
from importlib.metadata import version
from importlib.resources import files

from equipoise.findings.record import Column, Finding, Report, Row, Table, cell
from equipoise.notices import worded
from equipoise.numbers import count
from equipoise.page.charts import draw
from equipoise.page.lettering import shorten, unique_short_names
from equipoise.page.markup import Html, element, join
from equipoise.page.palette import css
from equipoise.page.svg import ModelStyles

NOTHING = Html("")
TAB = 40  # letters of a choice
NAME = 28  # letters of a name in a table
MOST_ROWS = 300  # of a table on the page
MOST_CHARTS = 4  # that stand open in a section
SHARES = ("percent", "resample_share")  # kinds of columns that have bars
BARS = 20  # widths a bar can have
WORDS = ("text", "names")


def render(report: Report) -> str:
    """Turn a report into one self-contained page; the same report gives the same text."""
    styles = ModelStyles(report.models)
    sections = _sections(report)
    anchors = [(key, parts[0].title) for key, parts in sections.items()]
    missing = [one for one in report.findings if one.left_out]
    anchors += [("left-out", "Not looked at, and why")] if missing else []
    anchors += [("method", "Method")]
    tasks, metrics = _choices(report)
    style = [css(max(len(report.models), 1)), asset("page.css"), _chosen_css(tasks, metrics)]
    return _document(
        report.title,
        "\n".join(style),
        element("a", "Skip to the findings", href=f"#{anchors[0][0]}", class_="skip"),
        _opening(report),
        _contents(anchors),
        _choice_form(tasks, metrics),
        element(
            "main",
            join(
                _section(key, parts, (tasks, metrics), styles, first=place == 0)
                for place, (key, parts) in enumerate(sections.items())
            ),
            _left_out(missing),
            _method(report),
            id="main",
        ),
        element("footer", f"Made by equipoise {version('equipoise')}."),
    )


def asset(name: str) -> str:
    """Read a file that lies beside this one."""
    return files("equipoise.page").joinpath(name).read_text(encoding="utf-8")


def _sections(report: Report) -> dict[str, list[Finding]]:
    """Findings that can be shown, by their key."""
    found: dict[str, list[Finding]] = {}
    for finding in report.findings:
        if not finding.left_out:
            found.setdefault(finding.key, []).append(finding)
    return found


# ---- choices of the reader -----------------------------------------------------------------


def _choices(report: Report) -> tuple[list[str], list[str]]:
    """Tasks and metrics that findings belong to; the task in front first."""
    tasks = list(dict.fromkeys(one.task for one in report.findings if one.task))
    if report.task in tasks:
        tasks = [report.task, *(one for one in tasks if one != report.task)]
    return tasks, list(dict.fromkeys(one.metric for one in report.findings if one.metric))


def _choice_form(tasks: Sequence[str], metrics: Sequence[str]) -> Html:
    groups = [_radios("t", "Task", tasks), _radios("k", "Metric", metrics)]
    if not any(groups):
        return NOTHING
    return element("form", *groups, class_="choose", autocomplete="off")


def _radios(letter: str, title: str, names: Sequence[str]) -> Html:
    """One row of radio buttons, with a last one for everything."""
    if len(names) < 2:
        return NOTHING
    short = unique_short_names(tuple(names), TAB)
    buttons = []
    for value, name in [*enumerate(names), (-1, "all")]:
        ident = f"{letter}{value}" if value >= 0 else f"{letter}all"
        box = element("input", type="radio", name=letter, id=ident, value=value,
                      checked=value == 0)  # fmt: skip
        shown = short[name] if value >= 0 else name
        tip = name if shown != name else None
        buttons.append(join([box, element("label", shown, for_=ident, title=tip)]))
    inner = element("div", *buttons, class_="radios")
    return element("fieldset", element("legend", title), inner)


def _chosen_css(tasks: Sequence[str], metrics: Sequence[str]) -> str:
    """Hide what was not chosen; a browser that knows no :has() shows everything."""
    sizes = {"t": len(tasks), "k": len(metrics)}
    return "\n".join(
        f"body:has(#{letter}{i}:checked) [data-{letter}]:not([data-{letter}='{i}'])"
        "{display:none}"
        for letter, size in sizes.items()
        if size > 1
        for i in range(size)
    )


# ---- sections ------------------------------------------------------------------------------


def _section(
    key: str,
    parts: Sequence[Finding],
    choices: tuple[Sequence[str], Sequence[str]],
    styles: ModelStyles,
    *,
    first: bool,
) -> Html:
    tasks, metrics = choices
    bodies = []
    for part in parts:
        body = _body(part, styles, first=first)
        if part.task or part.metric:
            several = [name for name, every in ((part.task, tasks), (part.metric, metrics))
                       if name and len(every) > 1]  # fmt: skip
            head = element("h3", ", ".join(several)) if several else NOTHING
            body = element(
                "article",
                head,
                body,
                data_t=tasks.index(part.task) if part.task else None,
                data_k=metrics.index(part.metric) if part.metric else None,
            )
        bodies.append(body)
    return element(
        "section",
        element("h2", parts[0].title, id=f"{key}-title"),
        join(bodies),
        id=key,
        aria_labelledby=f"{key}-title",
    )


def _body(part: Finding, styles: ModelStyles, *, first: bool) -> Html:
    """Sentences, figures, open tables, and folded under them the other tables and the note."""
    said = [element("p", part.sentence, class_="headline" if first else "finding")]
    said += [element("p", one, class_="change" if first else "finding") for one in part.more]
    drawn = [(chart, made) for chart in part.charts if (made := draw(chart, styles))]
    figures = [
        element("figure", element("figcaption", chart.caption),
                element("div", made, class_="frame"))
        for chart, made in drawn
    ]  # fmt: skip
    shown = element("div", *figures[:MOST_CHARTS], class_="pair") if figures else NOTHING
    folds = []
    if figures[MOST_CHARTS:]:
        rest = element("div", *figures[MOST_CHARTS:], class_="pair")
        folds.append(_folded("More figures", rest, kept=True))
    shown_tables = [table for table in part.tables if table.page and table.rows]
    closed = [table for table in shown_tables if not table.open]
    if closed:
        inner = join(_table(table, styles) for table in closed)
        folds.append(_folded(f"Numbers: {closed[0].caption}", inner))
    if part.note:
        note = element("p", part.note, class_="note")
        folds.append(_folded("How this was done", note, kept=True))
    return join(
        [
            *(
                one
                for one, words in zip(said, (part.sentence, *part.more), strict=True)
                if words
            ),
            *(_table(table, styles) for table in shown_tables if table.open),
            shown,
            element("div", *folds, class_="folds") if folds else NOTHING,
        ]
    )


def _folded(summary: str, content: Html, *, kept: bool = False) -> Html:
    """Fold content away under a summary; paper leaves it out unless it is kept."""
    inner = element("summary", summary), content
    return element("details", *inner, class_="kept" if kept else None)


def _table(table: Table, styles: ModelStyles) -> Html:
    """A table that scrolls inside its own frame, reachable with the keyboard."""
    heads = [
        element("th", one.head, scope="col", data_up=one.kind in ("rank", "p") or None)
        for one in table.columns
    ]
    shown, caption = table.rows, table.caption
    if len(shown) > MOST_ROWS:
        shown = (table.brief or shown)[:MOST_ROWS]
        which = (
            f"the {len(shown):,} in front, " if table.brief else f"the first {len(shown):,} "
        )
        caption += f" ({which}of {len(table.rows):,} rows)"
    rows = [_row(row, table, styles) for row in shown]
    class_ = "board" if table.open and table.columns[0].kind == "model" else "plain"
    whole = element(
        "table",
        element("caption", element("span", caption)),
        element("thead", element("tr", *heads)),
        element("tbody", join(rows)),
        class_=class_ if class_ == "board" or _wordy(table) else None,
    )
    legend = element("p", table.legend, class_="about") if table.legend else NOTHING
    frame = element("div", whole, class_="scroll", tabindex=0, role="group", aria_label="Table")
    return join([frame, legend])


def _wordy(table: Table) -> bool:
    """Whether a table is mostly words, which may break their lines."""
    return sum(column.kind in WORDS for column in table.columns) > len(table.columns) / 2


def _row(row: Row, table: Table, styles: ModelStyles) -> Html:
    cells, model = [], ""
    for place, column in enumerate(table.columns):
        words = cell(row, column)
        if column.kind == "model" and not model:
            model = words
        short = _short(words, column, styles)
        tip = words if short != words else None
        head = column.head if table.open and table.columns[0].kind == "model" else None
        if place == 0:
            cells.append(element("th", short, title=tip, scope="row"))
        elif table.open and column.kind in SHARES and _share(row, column) is not None:
            width = round(BARS * min(1.0, max(0.0, _share(row, column) or 0.0)))
            cells.append(element("td", short, class_=f"bar w{width}", data_h=head))
        else:
            cells.append(element("td", short, title=tip, data_h=head))
    return element("tr", *cells, class_=styles.class_(model, "") or None)


def _short(words: str, column: Column, styles: ModelStyles) -> str:
    if column.kind == "model":
        return styles.short(words, NAME)
    return shorten(words, 2 * NAME) if column.kind == "text" else words


def _share(row: Row, column: Column) -> float | None:
    value = row.get(column.key)
    return value if isinstance(value, float) and value == value else None


# ---- opening and end -----------------------------------------------------------------------


def _opening(report: Report) -> Html:
    """Title, what was looked at, how many notices there are, and the banner."""
    notices = len(worded(report.all_notices))
    link = [" · ", element("a", count(notices, "notice"), href="#notices")] if notices else []
    return element(
        "header",
        element("p", "equipoise", class_="brand"),
        element("h1", report.title),
        element("p", " · ".join(filter(None, report.known)), *link, class_="known"),
        element("p", report.banner, class_="banner", role="note") if report.banner else NOTHING,
        element("p", report.scope, class_="scope") if report.scope else NOTHING,
    )


def _contents(parts: Iterable[tuple[str, str]]) -> Html:
    links = (element("li", element("a", title, href=f"#{key}")) for key, title in parts)
    return element("nav", element("ol", join(links)), aria_label="Sections")


def _left_out(missing: Sequence[Finding]) -> Html:
    """What the data did not allow, each with the reason."""
    if not missing:
        return NOTHING
    return element(
        "section",
        element("h2", "Not looked at, and why", id="left-out-title"),
        _terms((one.title, one.sentence) for one in missing),
        id="left-out",
        aria_labelledby="left-out-title",
    )


def _method(report: Report) -> Html:
    """What words mean, the notices, and how to make the page again."""
    notices = worded(report.all_notices)
    listed = element("ul", *(element("li", notice) for notice in notices))
    settings = (
        element("div", element("dt", name), element("dd", value))
        for name, value in (*report.settings, ("equipoise", version("equipoise")))
    )
    return element(
        "section",
        element("h2", "Method", id="method-title"),
        _terms(report.terms),
        element("h3", "Notices", id="notices"),
        listed if notices else element("p", "The data raised no notices."),
        element("h3", "Reproduce"),
        element("p", "The same data, settings and version give this page, byte for byte."),
        element("dl", *settings, class_="facts"),
        id="method",
        aria_labelledby="method-title",
    )


def _terms(terms: Iterable[tuple[str, str]]) -> Html:
    """Words and what they mean."""
    every = [element("div", element("dt", word), element("dd", said)) for word, said in terms]
    return element("dl", *every, class_="terms")


# ---- the file ------------------------------------------------------------------------------


def _policy(style: str, script: str) -> str:
    """Allow this style and this script, by hash, and nothing else."""
    hashes = [
        base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        for text in (style, script)
    ]
    return (
        f"default-src 'none'; img-src data:; style-src 'sha256-{hashes[0]}'; "
        f"script-src 'sha256-{hashes[1]}'; base-uri 'none'; form-action 'none'"
    )


def _lean(text: str) -> str:
    r"""Leave out of a style or a script what only people read: indents, breaks and comments.

    Examples
    --------
    >>> _lean("a {\n\n  // why\n  b;\n}\nc")
    'a {b;}\nc'
    """
    lines = (line.strip() for line in text.splitlines())
    kept = [line for line in lines if line and not line.startswith("//")]
    return "".join(line if line[-1] in ";,{" else f"{line}\n" for line in kept).rstrip()


def _document(title: str, style: str, *body: Html) -> str:
    """Put a whole page together: one file, with the policy that lets it do nothing else."""
    style, script = _lean(style), _lean(asset("page.js"))
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", http_equiv="Content-Security-Policy", content=_policy(style, script)),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name="color-scheme", content="light dark"),
        element("link", rel="icon", href="data:,"),
        element("title", title),
        element("style", Html(style)),
    )
    whole = element("body", *body, element("script", Html(script)))
    return f"<!doctype html>\n{element('html', head, whole, lang='en')}\n"
