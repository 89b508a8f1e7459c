"""Document: one self-contained HTML file that makes no request, decided from the top.

A content policy in the head allows this file's own style and script, by their hash, and
nothing else. First comes the answer as a card, then what it rests on as open sections, then
whether the verdict depends on something, a row per question, then everything else folded under
"Evidence", each fold with its own sentence. Findings of one key
are one section; where they belong to a task or a metric, the reader chooses with radio buttons
and CSS alone. The script only adds the theme, the place in the navigation and highlighting.

Tables: numbers in a frame of their own that scrolls, and as files to take along.
"""

import base64
import hashlib
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from importlib.metadata import version
from importlib.resources import files

from equipoise.report.page.charts import draw
from equipoise.report.page.figure import NOTHING, ModelStyles, css
from equipoise.report.page.svg import Html, element, join
from equipoise.report.page.votes import gallery, has_files, worklist
from equipoise.report.text import as_csv
from equipoise.types import (
    UNDEFINED,
    Card,
    Chart,
    Column,
    Dots,
    Finding,
    Gallery,
    Report,
    Row,
    Standings,
    Table,
    Worklist,
    capital,
    cell,
    cited,
    count,
    joined,
    reasons,
    worded,
)

LONG = 110  # letters of an answer in smaller letters
CHIPS = 14  # models that are named in the card
BESIDE = 7  # columns of standings that leave room for notes beside them
BRIEF = 170  # letters of a sentence that is a heading
DEPENDS = "depends"  # anchor of the section of questions
Section = tuple[str, list[Finding]]


def render(report: Report) -> str:
    """Turn a report into one self-contained page; the same report gives the same text."""
    styles = ModelStyles.of(report)
    parts = _sections(report)
    questions = [part for part in parts if part[1][0].verdict and part[1][0].evidence]
    others = [part for part in parts if part not in questions]
    opened = [part for part in others if not (report.card and part[1][0].evidence)]
    folded = [part for part in others if part not in opened]
    body = [_open_section(part, report, styles) for part in opened]
    sections = [section for section in zip(opened, body, strict=True) if section[1]]
    evidence = _evidence(folded, report, styles)
    links = [
        ("answer", "Answer"),
        *(
            (key, findings[0].nav or capital(key.replace("_", " ").replace("-", " ")))
            for key, findings in (opened if report.card else [part for part, _ in sections])
        ),
    ]
    links += [(DEPENDS, "Depends on?")] if questions else []
    links += [("evidence", "Evidence" if folded else "Method")] if evidence else []
    galleries = [chart for part in report.findings for chart in part.charts
                 if isinstance(chart, Gallery)]  # fmt: skip
    more = ["gallery"] if galleries else []
    names = [css(), *(asset(f"{name}.css") for name in ["page", *more]), _chosen_css(parts)]
    return _document(
        report.title,
        "\n".join(names),
        "\n".join(asset(f"{name}.js") for name in ["page", *more]),
        element("a", "To the answer", href="#answer", class_="skip"),
        _navigation(links),
        element(
            "main", _card(report, opened), *_side_by_side(sections),
            _questions(questions, styles), evidence, id="main",
        ),
        _footer(report),
        beside=any(map(has_files, galleries)),
    )  # fmt: skip


def asset(name: str) -> str:
    """Read a file that lies beside this one."""
    return files("equipoise.report.page").joinpath(name).read_text(encoding="utf-8")


def _sections(report: Report) -> list[Section]:
    """Findings that can be shown, by their key; the task in front first."""
    by_key: dict[str, list[Finding]] = {}
    for finding in report.findings:
        if not finding.left_out:
            by_key.setdefault(finding.key, []).append(finding)
    return [
        (key, sorted(parts, key=lambda part: part.task not in ("", report.task)))
        for key, parts in by_key.items()
    ]


# ---- the card ------------------------------------------------------------------------------


def _card(report: Report, opened: Sequence[Section]) -> Html:
    """The answer, whom it holds for, what would settle it and the one caveat."""
    card = report.card or _first_as_card(report, opened)
    seen = " · ".join(filter(None, [report.title, *report.known]))
    facts = [
        ("Holds for", card.holds_for, None),
        ("What would settle it", card.settled_by, None),
        ("Caveat", card.caveat, "caveat"),
    ]
    shown = [
        element("div", element("dt", head), element("dd", words), class_=class_)
        for head, words, class_ in facts
        if words
    ]
    return element(
        "section",
        element("p", seen, class_="eyebrow"),
        element("p", report.banner, class_="banner", role="note") if report.banner else NOTHING,
        element(
            "h1",
            card.answer,
            id="answer-title",
            class_="long" if len(card.answer) > LONG else None,
        ),
        element("p", card.lede, class_="lede") if card.lede else NOTHING,
        _chips(card, report),
        element("dl", *shown, class_="facts") if shown else NOTHING,
        id="answer",
        class_="card",
        aria_labelledby="answer-title",
    )


def _first_as_card(report: Report, opened: Sequence[Section]) -> Card:
    """Of a report without an answer: the first finding's sentence and what was looked at."""
    if not opened:
        missing = [finding.sentence for finding in report.findings if finding.left_out]
        return Card(answer=missing[0] if missing else report.title, lede=report.scope)
    first = opened[0][1][0]
    return Card(answer=first.sentence, lede=" ".join(filter(None, [*first.more, report.scope])))


def _chips(card: Card, report: Report) -> Html:
    """Models: the best group filled, those below it ▾."""
    if not card.standing:
        return NOTHING
    styles = ModelStyles.of(report)
    shown = list(card.standing)
    if len(shown) > CHIPS:
        below = [chip for chip in shown if not chip[1]][: CHIPS // 3]
        shown = [*[chip for chip in shown if chip[1]][: CHIPS - len(below)], *below]
    chips = [
        element("li", name if inside else f"▾ {name}", class_=None if inside else "out",
                data_m=styles.number(name))
        for name, inside in shown
    ]  # fmt: skip
    rest = len(card.standing) - len(shown)
    if rest:
        chips.append(element("li", f"{rest} more", class_="rest"))
    return element("ul", *chips, class_="chips", aria_label="Best group, then the rest")


# ---- open sections -------------------------------------------------------------------------


def _open_section(part: Section, report: Report, styles: ModelStyles) -> Html:
    """A finding that stands open: its heading, figures, and the rest folded or beside."""
    key, findings = part
    first = findings[0]
    in_card = not report.card and first is _sections(report)[0][1][0]
    short = bool(report.card) and 0 < len(first.sentence) <= BRIEF and len(findings) == 1
    heading = first.sentence.removesuffix(".") if short else first.title
    shown_above = (
        {first.sentence, *first.more} if in_card else {first.sentence} if short else set()
    )
    body = _choices(part, styles, folds=True, shown_above=shown_above)
    if in_card and not body:
        return NOTHING
    return element(
        "section", element("h2", heading, id=f"{key}-title"), body,
        id=key, aria_labelledby=f"{key}-title",
    )  # fmt: skip


def _side_by_side(sections: Sequence[tuple[Section, Html]]) -> list[Html]:
    """Two neighbours that hold one narrow chart each share a line."""
    rows_of_page: list[Html] = []
    waiting = list(sections)
    while waiting:
        pair = waiting[:2]
        if len(pair) == 2 and all(_narrow(part) for part, _ in pair):
            rows_of_page.append(element("div", *(html for _, html in pair), class_="two"))
            waiting = waiting[2:]
        else:
            rows_of_page.append(waiting.pop(0)[1])
    return rows_of_page


def _narrow(part: Section) -> bool:
    charts = part[1][0].charts
    return len(part[1]) == 1 and len(charts) == 1 and isinstance(charts[0], Dots)


def _choices(
    part: Section, styles: ModelStyles, *, folds: bool, shown_above: Collection[str]
) -> Html:
    """What findings of one key hold; of several tasks or metrics the reader chooses one."""
    key, findings = part
    if len(findings) == 1:
        return _body(findings[0], styles, folds=folds, shown_above=shown_above)
    names = {
        "t": list(dict.fromkeys(finding.task for finding in findings if finding.task)),
        "k": list(dict.fromkeys(finding.metric for finding in findings if finding.metric)),
    }
    articles = []
    for finding in findings:
        labels = ((finding.task, names["t"]), (finding.metric, names["k"]))
        chosen = [label for label, choices in labels if label and len(choices) > 1]
        articles.append(
            element(
                "article",
                element("h4", ", ".join(chosen)) if chosen else NOTHING,
                _body(finding, styles, folds=folds, shown_above=shown_above),
                data_t=names["t"].index(finding.task) if finding.task else None,
                data_k=names["k"].index(finding.metric) if finding.metric else None,
            )
        )
    tabs = [
        _radios(f"{key}-{letter}", title, names[letter])
        for letter, title in (("t", "Task"), ("k", "Metric"))
    ]
    return element("div", *tabs, *articles, class_="choice")


def _radios(name: str, title: str, values: Sequence[str]) -> Html:
    """One row of radio buttons."""
    if len(values) < 2:
        return NOTHING
    buttons = [
        join(
            [
                element("input", type="radio", name=name, id=f"{name}{place}",
                        class_=f"{name[-1]}{place}", checked=place == 0),
                element("label", value, for_=f"{name}{place}"),
            ]
        )
        for place, value in enumerate(values)
    ]  # fmt: skip
    inner = element("div", *buttons, class_="radios")
    return element("fieldset", element("legend", title), inner)


def _chosen_css(parts: Sequence[Section]) -> str:
    """Hide on screens what was not chosen; a browser that knows no :has() shows everything."""
    sizes = {
        "t": max(
            (len({finding.task for finding in findings}) for _, findings in parts), default=0
        ),
        "k": max(
            (len({finding.metric for finding in findings}) for _, findings in parts), default=0
        ),
    }
    rules = [
        f".choice:has(.{letter}{i}:checked)>[data-{letter}]:not([data-{letter}='{i}'])"
        "{display:none}"
        for letter, size in sizes.items()
        if size > 1
        for i in range(size)
    ]
    return "@media screen{" + "\n".join(rules) + "}" if rules else ""


# ---- what a finding holds ------------------------------------------------------------------


def _body(
    part: Finding, styles: ModelStyles, *, folds: bool, shown_above: Collection[str]
) -> Html:
    """Sentences not `shown_above`, figures and tables; `folds` folds tables and the note."""
    new = part.sentence and part.sentence not in shown_above
    first = [element("p", part.sentence, class_="finding")] if new else []
    more = [
        element("p", sentence, class_="finding")
        for sentence in part.more
        if sentence and sentence not in shown_above
    ]
    figures = [html for chart in part.charts if (html := _figure_html(chart, styles))]
    tables = [table for table in part.tables if table.page and table.rows]
    taken = [element("p", download(data), class_="sub get")
             for data in part.tables if data.download and data.rows]  # fmt: skip
    front = [table_html(table) for table in tables if table.open]
    back = [table_html(table) for table in tables if not table.open]
    note = [element("p", part.note, class_="sub")] if part.note else []
    rest = [_fold("Numbers", back)] if back else []
    if not folds:
        return join([*first, *more, *front, *figures, *taken, *rest, *note])
    boards = [chart for chart in part.charts if isinstance(chart, Standings)]
    if boards and (more or note):
        wide = max(len(board.columns) for board in boards) > BESIDE
        aside = element("aside", *more, *note)
        shown = element("div", element("div", *figures), aside,
                        class_="split under" if wide else "split")  # fmt: skip
        return join([*first, *front, shown, *taken, *rest])
    rest += [_fold("How this was done", note)] if note else []
    shown = element("div", *figures, class_="figures") if len(figures) > 1 else join(figures)
    return join([*first, *more, *front, shown, *taken, *rest])


def _fold(summary: str, content: Sequence[Html]) -> Html:
    return element("details", element("summary", summary),
                   element("div", *content, class_="body"), class_="small")  # fmt: skip


def _figure_html(chart: Chart, styles: ModelStyles) -> Html | None:
    """A chart with its caption; None where it would say nothing."""
    if isinstance(chart, Worklist | Gallery):
        content = worklist(chart) if isinstance(chart, Worklist) else gallery(chart)
    else:
        drawn = draw(chart, styles)
        if drawn and drawn.axes.lower() in chart.caption.lower():
            drawn = replace(drawn, axes="")
        content = drawn.html() if drawn else None
    if content is None:
        return None
    caption = element("figcaption", chart.caption, class_="sub") if chart.caption else NOTHING
    return element("figure", caption, content)


# ---- questions -----------------------------------------------------------------------------


def _questions(parts: Sequence[Section], styles: ModelStyles) -> Html:
    """Does the verdict depend on ...? A row per question, its chart and numbers folded."""
    if not parts:
        return NOTHING
    rows = []
    for key, every in parts:
        first = every[0]
        summary = element(
            "summary",
            element("h3", f"… {first.about}?"),
            element("strong", first.verdict),
            element("span", first.sentence),
        )
        body = _choices((key, every), styles, folds=False, shown_above={first.sentence})
        rows.append(element("details", summary, element("div", body, class_="body"), id=key))
    return element(
        "section",
        element("h2", "Does the verdict depend on …?", id=f"{DEPENDS}-title"),
        element("div", *rows, class_="questions"),
        id=DEPENDS,
        aria_labelledby=f"{DEPENDS}-title",
    )


# ---- evidence ------------------------------------------------------------------------------


def _evidence(folded: Sequence[Section], report: Report, styles: ModelStyles) -> Html:
    """Everything else, folded, each with its own sentence; then how it was done."""
    parts = []
    for key, findings in folded:
        title, sentence = findings[0].title, findings[0].sentence
        body = _choices((key, findings), styles, folds=False, shown_above={sentence})
        parts.append(_closed(key, title, sentence, body))
    missing = [finding for finding in report.findings if finding.left_out]
    if missing:
        many = "One analysis" if len(missing) == 1 else f"{count(len(missing))} analyses"
        body = _terms((finding.title, finding.sentence) for finding in reasons(missing))
        sentence = f"{many} that the data do not allow."
        parts.append(_closed("left-out", "Not looked at, and why", sentence, body))
    notices = worded(report.all_notices)
    if report.terms:
        words = joined([word for word, _ in report.terms], most=4)
        parts.append(
            _closed("method", "Method", f"What is meant by {words}.", _terms(report.terms))
        )
    if notices:
        body = element("ul", *(element("li", notice) for notice in notices), class_="list")
        parts.append(
            _closed(
                "notices",
                "Notices",
                f"{capital(count(len(notices), 'thing'))} to know about the data.",
                body,
            )
        )
    parts += [*_sources(report), _settings(report)]
    return element(
        "section",
        element("h2", "Evidence" if folded else "Method and data", id="evidence-title"),
        element("div", *parts, class_="columns"),
        id="evidence",
        aria_labelledby="evidence-title",
    )


def _closed(key: str, title: str, sentence: str, body: Html) -> Html:
    summary = element("summary", element("h3", title), element("span", sentence))
    return element("details", summary, element("div", body, class_="body"), id=key)


def _sources(report: Report) -> list[Html]:
    keys = (
        *report.references,
        *(key for finding in report.findings for key in finding.references),
    )
    sources = cited(keys)
    if not sources:
        return []
    body = element("ul", *(element("li", whole) for _, whole in sources), class_="list")
    names = joined([short for short, _ in sources], most=4)
    return [_closed("references", "References", f"{names}.", body)]


def _settings(report: Report) -> Html:
    settings = (*report.settings, ("equipoise", version("equipoise")))
    promise = "The same data, settings and version give this page, byte for byte."
    return _closed(
        "settings", "Settings", promise, element("div", _terms(settings), class_="pairs")
    )


def _terms(terms: Iterable[tuple[str, str]]) -> Html:
    """Words and what they mean."""
    items = [
        element("div", element("dt", word), element("dd", meaning)) for word, meaning in terms
    ]
    return element("dl", *items, class_="terms")


# ---- the file ------------------------------------------------------------------------------


def _navigation(links: Sequence[tuple[str, str]]) -> Html:
    anchors = [element("a", words, href=f"#{key}") for key, words in links]
    theme = element("button", "◐", id="theme", type="button", hidden=True,
                    aria_label="Dark theme", title="Dark theme")  # fmt: skip
    inner = element("div", *anchors, class_="links")
    return element(
        "header",
        element("nav", element("strong", "equipoise"), inner, theme, aria_label="Sections"),
    )


def _footer(report: Report) -> Html:
    program = f"equipoise {version('equipoise')}"
    command = [element("code", report.command), " · "] if report.command else []
    return element("footer", *command, program)


def _policy(style: str, script: str, *, beside: bool) -> str:
    """Allow this style and this script, by hash, pictures, and nothing else."""
    hashes = [
        base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        for text in (style, script)
    ]
    pictures = "data: file: 'self'" if beside else "data:"
    return (
        f"default-src 'none'; img-src {pictures}; style-src 'sha256-{hashes[0]}'; "
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
    lines_left = [line for line in lines if line and not line.startswith("//")]
    return "".join(line if line[-1] in ";,{" else f"{line}\n" for line in lines_left).rstrip()


def _document(title: str, style: str, script: str, *body: Html, beside: bool) -> str:
    """Put a whole page together: one file, with the policy that lets it do nothing else.

    `beside` is whether pictures lie beside it.
    """
    style, script = _lean(style), _lean(script)
    policy = _policy(style, script, beside=beside)
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", http_equiv="Content-Security-Policy", content=policy),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name="color-scheme", content="light dark"),
        element("link", rel="icon", href="data:,"),
        element("title", title),
        element("style", Html(style)),
    )
    whole = element("body", *body, element("script", Html(script)))
    return f"<!doctype html>\n{element('html', head, whole, lang='en')}\n"


MOST_ROWS = 300  # of a table on the page
IN_SIGHT = 20  # rows that are shown at once
MOST_FIRST = 12  # rows that are put first
KINDS = 4  # of rows that are told apart
MORE = 5  # rows that are not worth folding
LONG_WORDS = 30  # letters of words that take lines


def table_html(table: Table) -> Html:
    """A table, and one for each kind of row where columns do not apply to some."""
    legend = [element("p", table.legend, class_="sub")] if table.legend else []
    return join([*(_single_table(part) for part in _apart(table)), *legend])


def _apart(table: Table) -> list[Table]:
    """By the first column, where words in others are undefined for one of its values alone."""
    first, *others = table.columns
    kinds: dict[str, list[Row]] = {}
    for row in table.rows:
        kinds.setdefault(cell(row, first), []).append(row)
    if not first.is_text or not 1 < len(kinds) <= KINDS:
        return [table]
    gaps = {
        tuple(other.key for other in others if other.is_text and not _has_value(rows, other))
        for rows in kinds.values()
    }
    if len(gaps) == 1:
        return [table]
    return [
        replace(table, caption=f"{table.caption}: {kind}", rows=rows, columns=others,
                brief=[row for row in table.brief or () if cell(row, first) == kind])
        for kind, rows in kinds.items()
    ]  # fmt: skip


def _has_value(rows: Sequence[Row], column: Column) -> bool:
    """Whether a column is defined in some row."""
    return any(cell(row, column) != UNDEFINED for row in rows)


def _single_table(table: Table) -> Html:
    """A table with its first rows in sight, the others behind a box to tick.

    Columns and rows without a single number that is defined are left out. It scrolls sideways
    inside its own frame, reachable with the keyboard; paper shows every row.
    """
    columns, rows = _defined(table)
    caption = table.caption
    if len(rows) < len(table.rows):
        caption += f" ({count(len(table.rows) - len(rows))} without a number left out)"
    shown = rows
    if len(rows) > MOST_ROWS:
        shown = (table.brief or rows)[:MOST_ROWS]
        which = f"{'the' if table.brief else 'the first'} {len(shown):,}"
        which += " in front, " if table.brief else " "
        caption += f" ({which}of {len(table.rows):,} rows)"
    if len(shown) > IN_SIGHT + MORE:
        shown = _front_first(shown, columns, table.brief or ())
    frame = element("div", _table(shown, columns, caption), class_="scroll", tabindex=0,
                    role="group", aria_label="Table")  # fmt: skip
    if len(shown) > IN_SIGHT + MORE:
        box = element("input", type="checkbox")
        all_ = element("label", box, f" Show all {count(len(shown), 'row')}")
        frame = element("div", frame, all_, class_="folding")
    return join([element("p", caption, class_="sub caption"), frame])


def _table(rows: Sequence[Row], columns: Sequence[Column], caption: str) -> Html:
    numeric = {column.key for column in columns if not column.is_text}
    below = {
        key: [column for column in columns if column.under == key] for key in numeric
    }  # what stands in small letters under a number, as its count does
    columns = [column for column in columns if column.under not in numeric]
    texts = [[cell(row, column) for column in columns] for row in rows]
    left = ["l" if column.is_text else None for column in columns]
    long = [any(len(row[at]) > LONG_WORDS for row in texts) for at in range(len(columns))]
    heads = [
        element("th", column.head, *_small(low.head for low in below.get(column.key, ())),
                scope="col", class_="l long" if side and wide else side)
        for column, side, wide in zip(columns, left, long, strict=True)
    ]  # fmt: skip
    smalls = [
        [_small(cell(row, low) for low in below.get(column.key, ())) for column in columns]
        for row in rows
    ]
    rows_html = [_row(row, left, small) for row, small in zip(texts, smalls, strict=True)]
    seen = IN_SIGHT if len(rows) > IN_SIGHT + MORE else len(rows)
    later = [element("tbody", *rows_html[seen:], class_="later")] if rows_html[seen:] else []
    bodies = [element("tbody", *rows_html[:seen]), *later]
    head = element("thead", element("tr", *heads))
    return element("table", head, *bodies, class_="plain", aria_label=caption)


def _small(texts: Iterable[str]) -> list[Html]:
    words = " ".join(texts)
    return [element("small", words)] if words else []


def _row(
    texts: Sequence[str], left: Sequence[str | None], smalls: Sequence[Sequence[Html]]
) -> Html:
    first = element("th", texts[0], *smalls[0], scope="row", class_=left[0])
    cells = [
        element("td", text, *small, class_=side)
        for text, side, small in zip(texts[1:], left[1:], smalls[1:], strict=True)
    ]
    return element("tr", first, *cells)


def _defined(table: Table) -> tuple[Sequence[Column], Sequence[Row]]:
    """Columns and rows that say something; all of them where no number is defined."""
    numeric = [column for column in table.columns if not column.is_text]
    if not numeric:
        return [one for one in table.columns if _has_value(table.rows, one)], table.rows
    rows = [
        row for row in table.rows if any(cell(row, column) != UNDEFINED for column in numeric)
    ]  # fmt: skip
    if not rows:
        return table.columns, table.rows
    return [one for one in table.columns if _has_value(rows, one)], rows


def _front_first(
    rows: Sequence[Row], columns: Sequence[Column], front: Sequence[Row]
) -> list[Row]:
    """Rows in order; those that a terminal shows come first if they were not seen."""
    brief = {str(dict(row)) for row in front}
    first = [
        at for at, row in enumerate(rows)
        if str(dict(row)) in brief and all(cell(row, column) != UNDEFINED for column in columns)
    ]  # fmt: skip
    if all(at < IN_SIGHT for at in first):
        return list(rows)
    rest = sorted(set(range(len(rows))) - set(first[:MOST_FIRST]))
    return [rows[at] for at in [*first[:MOST_FIRST], *rest]]


def download(table: Table) -> Html:
    """A link that holds the whole table as CSV."""
    held = base64.b64encode(as_csv(table.rows).encode()).decode()
    name = f"{table.name}.csv"
    return element("a", f"Download {name}", download=name,
                   href=f"data:text/csv;charset=utf-8;base64,{held}")  # fmt: skip
