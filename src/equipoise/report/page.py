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


def asset(name: str) -> str:
    """Read a file that lies beside this one."""
    return files("equipoise.report").joinpath(name).read_text(encoding="utf-8")


def contents(parts: Iterable[tuple[str, str]]) -> Html:
    """List the sections, each by its anchor and its title."""
    links = (element("li", element("a", title, href=f"#{anchor}")) for anchor, title in parts)
    return element("nav", element("ol", join(links)), aria_label="Sections")


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
