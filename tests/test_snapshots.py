"""Every surface of five studies, as text: a change of output is seen, and where.

Each command of `snapshot_studies` gives one file per surface under ``snapshots/<study>/``:
``terminal`` (what is printed, said and written), ``json`` (what ``--json`` prints), ``record``
(JSON in the folder), ``page`` (visible text, names of drawings, counts of elements), ``csv``,
``md``, ``tex``, ``bib`` and ``svg``. ``EQUIPOISE_SNAPSHOTS=write`` writes them anew.
"""

import json
import os
import re
import shlex
import sys
from collections import Counter
from contextlib import redirect_stderr, redirect_stdout
from difflib import unified_diff
from html.parser import HTMLParser
from io import StringIO
from itertools import groupby, islice
from pathlib import Path

import pytest

from equipoise import cli
from tests.snapshot_studies import STUDIES, Command

SNAPSHOTS = Path(__file__).parent / "snapshots"
WRITING = os.environ.get("EQUIPOISE_SNAPSHOTS") == "write"
HINT = "if that is meant: EQUIPOISE_SNAPSHOTS=write pytest tests/test_snapshots.py"
MANY, FEW = (12, 3), (3, 1)  # how many rows are kept, first and last
WIDTH = 100
PLAIN = {"COLUMNS": str(WIDTH), "LINES": "50", "TERM": "dumb"}
COLOURS = ("FORCE_COLOR", "NO_COLOR", "TTY_COMPATIBLE", "TTY_INTERACTIVE")
PACKAGES = "equipoise|python|numpy|numba|scipy|pyarrow|narwhals|scikit-learn"
VARYING = (
    (
        re.compile(rf"\b({PACKAGES})(\W{{1,6}})\d+(?:\.\d+)+\w*", re.IGNORECASE),
        r"\1\2<version>",
    ),
    (re.compile(r"(?<![\w.])(?=\d*[a-f])(?:[0-9a-f]{40,64}|[0-9a-f]{16})(?!\w)"), "<hash>"),
    (re.compile(r"\(\d+ KB\)"), "(<size> KB)"),
    (re.compile(r"([─━═])\1{3,}"), r"\1\1\1"),  # rules are long, and rows show the widths
    (re.compile(r'("bytes": )\d+'), r"\1<size>"),
    # what was read stays out: which patient, and who said what
    (re.compile(r"patient\d+"), "patient<n>"),
    (re.compile(r"\((?:bc|scorer )\d+(?:, (?:bc|scorer )\d+)*\)"), "(<who>)"),
)
LONG = re.compile(r"(?<![\w.])-?\d+\.\d{5,}(?:e-?\d+)?(?![\w.])")
TAGS = ("section", "article", "h2", "h3", "p", "table", "tr", "figure", "svg", "details",
        "form", "input", "a", "style", "script")  # fmt: skip
BLOCKS = {
    "address", "article", "aside", "caption", "details", "dd", "div", "dl", "dt", "fieldset",
    "figcaption", "figure", "footer", "form", "header", "label", "legend", "li", "main", "nav",
    "ol", "option", "p", "pre", "section", "summary", "table", "tbody", "thead", "title", "tr",
    "ul",
}  # fmt: skip
OPENS = {
    "h1": "# ", "h2": "## ", "h3": "### ", "h4": "#### ", "li": "- ", "tr": "| ",
    "summary": "> ", "dt": ": ",
}  # fmt: skip


class Screen(StringIO):
    """Standard output that is a terminal."""

    def isatty(self):
        """Whether a person looks at it: yes."""
        return True


def cut(lines, first=MANY[0], last=MANY[1]):
    """The first and last of many lines, with how many there are between them."""
    left = len(lines) - first - last
    if left <= 1:
        return list(lines)
    return [*lines[:first], f"... {left} rows ...", *lines[-last:]]


def cut_tables(text, row=lambda _: True, most=MANY):
    """Lines of a text, runs of table rows cut."""
    lines = []
    for is_row, run in groupby(text.splitlines(), row):
        found = list(run)
        lines += cut(found, *most) if is_row else found
    return lines


def six_digits(value):
    """A number at six significant digits; what is only rounding error is 0."""
    return 0.0 if abs(value) < 1e-12 else float(f"{value:.6g}")


def rounded(text):
    """Text whose long numbers have six significant digits."""
    return LONG.sub(lambda found: repr(six_digits(float(found[0]))), text)


def json_lines(value, indent=0, *, listed=False):
    """JSON with a line for each row and long lists cut; what is short stands on one line."""
    text = json.dumps(trimmed(value), ensure_ascii=False)
    if len(text) + indent <= WIDTH or is_row(value, listed=listed):
        return [text]
    pad = " " * (indent + 1)
    if isinstance(value, list):
        rows = ["\n".join(json_lines(one, indent + 1, listed=True)) for one in value]
        return ["[", *(pad + row for row in cut(rows, *FEW)), pad[1:] + "]"]
    lines = ["{"]
    for name, one in value.items():
        shown = "\n".join(json_lines(one, indent + 1))
        lines.append(f"{pad}{json.dumps(name, ensure_ascii=False)}: {shown}")
    return [*lines, pad[1:] + "}"]


def is_row(value, *, listed):
    """Whether JSON belongs on one line: a word or number, numbers, an object in a list."""
    if isinstance(value, list):
        return not any(isinstance(one, dict | list | str) for one in value)
    if isinstance(value, dict):
        lists = [one for one in value.values() if isinstance(one, list)]
        plain = not any(isinstance(one, dict | list) for own in lists for one in own)
        return listed and plain and not any(isinstance(x, dict) for x in value.values())
    return True


def trimmed(value):
    """JSON with rounded numbers and long lists cut."""
    if isinstance(value, float):
        return six_digits(value)
    if isinstance(value, dict):
        return {name: trimmed(one) for name, one in value.items()}
    if isinstance(value, list):
        return [trimmed(one) for one in cut(value)]
    return value


class Seen(HTMLParser):
    """What a reader of a page or drawing sees and hears, a line for each block."""

    def __init__(self):
        super().__init__()
        self.lines, self.words, self.counts = [], [], Counter()
        self.silent, self.drawing = 0, None
        self.inner = 0  # drawings inside a drawing

    def handle_starttag(self, tag, attrs):
        """Begin a block, a cell or a drawing."""
        self.counts[tag] += 1
        label = dict(attrs).get("aria-label")
        if self.drawing is not None:
            self.drawing[1][tag] += 1
            self.inner += tag == "svg"
            if tag in ("text", "title"):
                self.drawing[2].append("")
        elif tag == "svg":
            self.end_line()
            self.drawing = (label, Counter(), [])
        elif tag in ("script", "style"):
            self.silent += 1
        else:
            self.begin(tag, label)

    def begin(self, tag, label):
        """Begin something that is not in a drawing."""
        if tag in BLOCKS or tag in OPENS:
            self.end_line()
            self.words.append(OPENS.get(tag, ""))
        elif tag in ("td", "th") and "".join(self.words).strip(" |"):
            self.words.append(" | ")
        elif tag == "br":
            self.words.append(" ")
        if label is not None:
            self.words.append(f"[{tag}: {label}] ")

    def handle_endtag(self, tag):
        """End a block or a drawing."""
        if tag == "svg" and self.inner:
            self.inner -= 1
        elif tag == "svg":
            self.end_drawing()
        elif self.drawing is not None and tag == "title":
            self.drawing[2].append("")
        elif self.drawing is None and tag in ("script", "style"):
            self.silent -= 1
        elif self.drawing is None and (tag in BLOCKS or tag in OPENS):
            self.end_line()

    def handle_data(self, data):
        """Take text."""
        if self.drawing is None:
            if not self.silent:
                self.words.append(data)
        elif self.drawing[2]:
            self.drawing[2][-1] += data

    def end_line(self):
        """Keep a line that says something."""
        line = " ".join("".join(self.words).split())
        if line not in ("", *map(str.strip, OPENS.values())):
            self.lines.append(line)
        self.words = []

    def end_drawing(self):
        """Keep a drawing: its name, how many marks it has, and its words."""
        label, marks, words = self.drawing
        counted = ", ".join(f"{marks[tag]} {tag}" for tag in sorted(marks))
        self.lines.append(f"[drawing: {label or 'without a name'}]")
        said = cut([" ".join(one.split()) for one in words if one.strip()])
        self.lines += [f"    {counted}", f"    {' · '.join(said)}"]
        self.drawing = None


def seen(text):
    """A page or drawing as lines, and how many there are of each element."""
    parser = Seen()
    parser.feed(text)
    parser.close()
    parser.end_line()
    rows = cut_tables("\n".join(parser.lines), lambda line: line.startswith("| "), FEW)
    return rows, parser.counts


def page(text):
    """A page: what it is made of, then what is seen."""
    lines, counts = seen(text)
    return ["made of: " + ", ".join(f"{counts[tag]} {tag}" for tag in TAGS), "", *lines]


def parts_of_json(text):
    """JSON in parts: what stands under each name at the top, else all of it."""
    facts = json.loads(text)
    if not isinstance(facts, dict):
        return [json_lines(facts)]
    return [[f"{name}: " + "\n".join(json_lines(one))] for name, one in facts.items()]


def markdown(text):
    """Markdown with its tables cut."""
    return [cut_tables(text, lambda line: line.startswith("|"), FEW)]


def latex(text):
    """LaTeX with its tables cut."""
    return [cut_tables(text, lambda line: line.endswith(r"\\"), FEW)]


SURFACES = {
    ".json": ("record", parts_of_json),
    ".html": ("page", lambda text: [page(text)]),
    ".csv": ("csv", lambda text: [cut_tables(rounded(text))]),
    ".md": ("md", markdown),
    ".tex": ("tex", latex),
    ".bib": ("bib", lambda text: [one.splitlines() for one in text.split("\n\n")]),
    ".svg": ("svg", lambda text: [seen(text)[0]]),
}


class Told(dict):
    """Parts that were shown, and where: a long part is not shown twice."""

    def once(self, name, parts):
        """Lines of parts, with a word in place of those that another file shows already."""
        lines = []
        for part in parts:
            text = "\n".join(part)
            first = self.setdefault(text, name)
            if len(text) <= WIDTH or first == name:
                lines += part
            else:
                lines.append(f"{part[0].partition(': ')[0][:40]}: the same as in {first}")
        return lines


def run(words):
    """Run one verb in this process: exit code, output, messages without those of progress."""
    out, said = Screen(), StringIO()
    sys.argv = ["equipoise", *words]
    with redirect_stdout(out), redirect_stderr(said):
        code = cli.run()
    told = [line for line in said.getvalue().splitlines() if not line.endswith(" ...")]
    return code, out.getvalue().splitlines(), told


def files_of(folder):
    """Files of a folder with the time of their last change."""
    paths = (path for path in folder.rglob("*") if path.is_file())
    return {path: path.stat().st_mtime_ns for path in paths}


def written_since(before, folder):
    """Files that are new or changed, by name."""
    now = files_of(folder)
    return sorted(path for path in now if now[path] != before.get(path))


def printed(words, code, out, said):
    """What a command printed, as lines."""
    head = [f"$ equipoise {shlex.join(words)}", f"exit code {code}"]
    return [*head, "", "--- output", *out, "", "--- messages", *said]


def surfaces(command, folder, shown):
    """Every surface of a command as lines, by name."""
    words = shlex.split(f"{command.line} {command.writes}")
    before = files_of(folder)
    lines = printed(words, *run(words))
    written = written_since(before, folder)
    names = [path.relative_to(folder).as_posix() for path in written]
    made = {"terminal": [*lines, "", "--- files", *names]}
    for path, name in zip(written, names, strict=True):
        if path.suffix in SURFACES:
            surface, parts = SURFACES[path.suffix]
            own = shown.once(name, parts(path.read_text(encoding="utf-8")))
            made.setdefault(surface, []).extend([f"=== {name}", *own, ""])
    if command.as_json:
        made["json"] = as_json(command, shown)
    return made


def as_json(command, shown):
    """What a command prints with ``--json``, and what it says meanwhile."""
    words = shlex.split(f"{command.line} --json")
    code, out, said = run(words)
    if code == 0:
        out = shown.once(f"{command.name}.json.txt", parts_of_json("\n".join(out)))
    return printed(words, code, out, said)


def normal(lines, folder):
    """Lines as they are kept: nothing of this machine, its folders and versions."""
    text = "\n".join(lines).replace(str(folder), "<tmp>")
    for pattern, name in VARYING:
        text = pattern.sub(name, text)
    return "\n".join(line.rstrip() for line in text.splitlines()).strip("\n") + "\n"


def snapshots(study, folder):
    """All snapshots of a study, by name of file."""
    made, shown = {}, Told()
    study.write(folder)
    for step in study.steps:
        if not isinstance(step, Command):
            step(folder)
            continue
        for surface, lines in surfaces(step, folder, shown).items():
            made[f"{step.name}.{surface}.txt"] = normal(lines, folder)
    return made


def kept(place):
    """Snapshots as they lie in a folder, by name of file."""
    return {path.name: path.read_text(encoding="utf-8") for path in sorted(place.glob("*"))}


def write(place, made):
    """Write snapshots anew, and remove those that nobody makes any more."""
    place.mkdir(parents=True, exist_ok=True)
    for name in kept(place).keys() - made.keys():
        (place / name).unlink()
    for name, text in made.items():
        (place / name).write_text(text, encoding="utf-8", newline="\n")


def difference(name, old, new):
    """The first lines of what changed in a file."""
    both = old.splitlines(), new.splitlines()
    return "\n".join(
        islice(unified_diff(*both, f"kept {name}", f"now {name}", "", "", 1, ""), 40)
    )


def complaints(old, new):
    """What is missing, stale or different: a line for each, and the first difference."""
    said = [f"{name}: not kept yet" for name in new if name not in old]
    said += [f"{name}: stale, no command makes it any more" for name in old if name not in new]
    changed = [name for name in new if name in old and old[name] != new[name]]
    said += [f"{name}: changed" for name in changed]
    return said + [difference(name, old[name], new[name]) for name in changed[:1]]


@pytest.fixture
def desk(tmp_path, monkeypatch):
    """An empty folder to work in, a plain terminal of fixed width."""
    for name, value in PLAIN.items():
        monkeypatch.setenv(name, value)
    for name in COLOURS:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(sys, "argv", [])
    monkeypatch.setattr(sys.modules["__main__"], "__package__", None)  # who runs the tests
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("name", STUDIES)
def test_every_surface_is_as_it_was(name, desk, monkeypatch):
    if name == "general":
        monkeypatch.setenv("EQUIPOISE_DATA", "data")
        monkeypatch.setenv("XDG_CACHE_HOME", str(desk / "cache"))
    made = snapshots(STUDIES[name], desk)
    if WRITING:
        write(SNAPSHOTS / name, made)
    found = complaints(kept(SNAPSHOTS / name), made)
    if found:
        pytest.fail("\n".join([f"{name}: {len(made)} snapshots", *found, HINT]), pytrace=False)


def test_every_kept_folder_belongs_to_a_study():
    stale = {path.name for path in SNAPSHOTS.iterdir()} - set(STUDIES)
    assert not stale, f"no study makes {sorted(stale)} any more; remove them"
