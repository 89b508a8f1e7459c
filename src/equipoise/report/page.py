"""Page: one self-contained HTML file that makes no request.

A content policy in the head allows this file's own style and script, by their hash, and
nothing else. Task and metric are chosen with radio buttons and CSS alone; the script only
adds sorting, highlighting, the read-out of the matrix and the choice of theme.
"""

import base64
import hashlib
from collections.abc import Iterable
from importlib.resources import files

from equipoise.report.markup import Html, element, join
from equipoise.report.notes import note_of
from equipoise.report.numerals import apart, count, defined
from equipoise.report.overview import glance
from equipoise.report.palette import css
from equipoise.report.sections import Section, sections
from equipoise.report.view import RunLike, View, view
from equipoise.report.votes import any_model

TAB = 40  # letters of a choice


def asset(name: str) -> str:
    """Read a file that lies beside this one."""
    return files("equipoise.report").joinpath(name).read_text(encoding="utf-8")


def first_task(shown: View) -> int:
    """Which task to show first: the macro average if it is defined, else the first that is."""
    tasks = range(len(shown.header["tasks"]))
    known = [
        task
        for task in [tasks[-1], *tasks[:-1]]
        if any(
            defined(score.value)
            for key, score in shown.scores.items()
            if key[0] == shown.header["tasks"][task]
        )
    ]
    return known[0] if known else 0


def choices(shown: View) -> Html:
    """Let the reader choose task and metric; nothing to choose, nothing shown."""
    tasks = list(enumerate(shown.task_title(i) for i in range(len(shown.header["tasks"]))))
    metrics = list(enumerate(metric["title"] for metric in shown.header["metrics"]))
    groups = [
        _radios("t", "Task", [*tasks[-1:], *tasks[:-1]], first_task(shown)),
        _radios("k", "Metric", metrics, 0),
    ]
    if not any(groups):
        return Html("")
    return element("form", *groups, class_="choose", autocomplete="off")


def _radios(letter: str, title: str, options: list[tuple[int, str]], first: int) -> Html:
    """Make one row of radio buttons, with a last one for everything."""
    if len(options) < 2:
        return Html("")
    short = apart(tuple(name for _, name in options), TAB)
    buttons = []
    for value, name in [*options, (-1, "all")]:
        ident = f"{letter}{value}" if value >= 0 else f"{letter}all"
        box = element(
            "input", type="radio", name=letter, id=ident, value=value, checked=value == first
        )
        label = element(
            "label",
            short.get(name, name),
            for_=ident,
            title=name if short.get(name, name) != name else None,
        )
        buttons.append(join([box, label]))
    inner = element("div", *buttons, class_="radios")
    return element("fieldset", element("legend", title), inner)


def chosen_css(shown: View) -> str:
    """Hide what was not chosen; a browser that knows no :has() shows everything."""
    sizes = {"t": len(shown.header["tasks"]), "k": len(shown.header["metrics"])}
    return "\n".join(
        f"body:has(#{letter}{i}:checked) [data-{letter}]:not([data-{letter}='{i}'])"
        "{display:none}"
        for letter, size in sizes.items()
        if size > 1
        for i in range(size)
    )


def opening(shown: View) -> Html:
    """Title, what was evaluated, banner and notices."""
    header, how = shown.header, shown.header["settings"]
    tasks = len(header["tasks"])
    readers = {entry["annotator"] for entry in header["annotators"]}
    known = [
        count(len(shown.models), "model"),
        count(tasks - 1, "task") if tasks > 1 else "",
        count(max((t["items"] for t in header["truth"]), default=None), "item"),
        _annotators(shown, len(readers)),
        f"{count(how['replicates'], 'resample')} ({how['resample']})",
    ]
    banner = header.get("simulated")
    notices = len(header["notices"])
    link = element("a", count(notices, "notice"), href="#notices")
    return element(
        "header",
        element("p", "equipoise", class_="brand"),
        element("h1", header["title"]),
        element("p", " · ".join(filter(None, known)), *([" · ", link] if notices else []),
                class_="known"),
        element("p", str(banner), class_="banner", role="note") if banner else Html(""),
    )  # fmt: skip


def _annotators(shown: View, known: int) -> str:
    """Say how many annotators are known, or what stands in their place."""
    if known:
        return count(known, "annotator")
    return "truth from a model" if any_model(shown) else "anonymous votes"


def contents(parts: Iterable[tuple[str, str]]) -> Html:
    """List the sections, each by its anchor and its title."""
    links = (element("li", element("a", title, href=f"#{anchor}")) for anchor, title in parts)
    return element("nav", element("ol", join(links)), aria_label="Sections")


def section(part: Section, shown: View) -> Html:
    """Put one section together."""
    extra = Html("")
    if part.anchor == "verdict" and len(shown.header["tasks"]) > 1:
        metrics = range(len(shown.header["metrics"]))
        extra = join(element("div", glance(shown, m), data_k=m) for m in metrics)
    return element(
        "section",
        element("h2", part.title, id=f"{part.anchor}-title"),
        part.body(shown),
        extra,
        element("p", note, class_="note")
        if (note := note_of(part.anchor, shown))
        else Html(""),
        id=part.anchor,
        aria_labelledby=f"{part.anchor}-title",
    )


def policy(style: str, script: str) -> str:
    """Allow this style and this script, by hash, and nothing else."""
    hashes = [
        base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        for text in (style, script)
    ]
    return (
        f"default-src 'none'; img-src data:; style-src 'sha256-{hashes[0]}'; "
        f"script-src 'sha256-{hashes[1]}'; base-uri 'none'; form-action 'none'"
    )


def render(run: RunLike) -> str:
    """Turn a run into one self-contained HTML page.

    Parameters
    ----------
    run
        Anything with a `header` (the parsed ``run.json``) and `replicates`.

    Returns
    -------
    str
        The page; the same run gives the same text.
    """
    shown = view(run)
    parts = sections(shown)
    style = "\n".join([css(len(shown.models)), asset("page.css"), chosen_css(shown)])
    return document(
        shown.header["title"],
        style,
        element("a", "Skip to the verdict", href="#verdict", class_="skip"),
        opening(shown),
        contents((part.anchor, part.title) for part in parts),
        choices(shown),
        element("main", join(section(part, shown) for part in parts), id="main"),
        element("footer", f"Made by equipoise {shown.header.get('equipoise', '')}."),
    )


def lean(text: str) -> str:
    r"""Leave out of a style or a script what only people read: indents, breaks and comments.

    Examples
    --------
    >>> lean("a {\n\n  // why\n  b;\n}\nc")
    'a {b;}\nc'
    """
    lines = (line.strip() for line in text.splitlines())
    kept = [line for line in lines if line and not line.startswith("//")]
    return "".join(line if line[-1] in ";,{" else f"{line}\n" for line in kept).rstrip()


def document(title: str, style: str, *body: Html) -> str:
    """Put a whole page together: one file, with the policy that lets it do nothing else."""
    style, script = lean(style), lean(asset("page.js"))
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", http_equiv="Content-Security-Policy", content=policy(style, script)),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name="color-scheme", content="light dark"),
        element("link", rel="icon", href="data:,"),
        element("title", title),
        element("style", Html(style)),
    )
    whole = element("body", *body, element("script", Html(script)))
    return f"<!doctype html>\n{element('html', head, whole, lang='en')}\n"
