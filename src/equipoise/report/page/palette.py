"""Palette: every colour of the page, for paper and for the dark, and who gets which.

Blue is the best group, grey are readers and models below it, amber is dispute and caution; no
model has a colour of its own. Where a chart compares two models, the first is blue and filled,
the second amber and hollow. Classes without an order have eight colours that stay apart under
the common kinds of colour blindness (least distance in OKLab over four kinds of sight: 0.12);
classes with one run from pale to dark.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from equipoise.report.page.svg import FROM
from equipoise.types.findings import Report

CLASSES, STEPS, LEVELS = 8, 7, 4
MOST = 1500  # pixels that a grid takes at least, where it has many columns
LONGEST = 40  # letters of a name beside a grid that are counted

LIGHT: Mapping[str, str] = {
    "page": "#fbfbf9", "card": "#ffffff", "ink": "#16191d", "soft": "#565e67",
    "line": "#dfe2e5", "blue": "#0a5ba8", "tint": "#d8e7f6", "zone": "#eef4fa",
    "grey": "#767e87", "pale": "#b9bfc6", "amber": "#8a5200", "warm": "#fbf0dc",
}  # fmt: skip
DARK: Mapping[str, str] = {
    "page": "#121517", "card": "#1a1e22", "ink": "#e9ecef", "soft": "#a9b1b9",
    "line": "#30363c", "blue": "#82baf5", "tint": "#14314b", "zone": "#172430",
    "grey": "#97a0a9", "pale": "#565e66", "amber": "#e9b35f", "warm": "#2e2614",
}  # fmt: skip
ROWS: Mapping[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "v": (("#eceae5", "#f3dfb9", "#eac27c", "#d99a34", "#b86e06"),
          ("#2a2e32", "#4a3c22", "#7b5b24", "#b58029", "#eba93f")),
    "h": (("#fbfbf9", "#d8e7f6", "#a9cbea", "#5e9bd1", "#0a5ba8"),
          ("#121517", "#17324d", "#1f4d79", "#3476b0", "#82baf5")),
    "a": (("#eef4fa", "#cfe1f2", "#9cc2df", "#6ba3cd"),
          ("#18242e", "#1d3a52", "#245274", "#2c6998")),
    "b": (("#faf3e6", "#f5e0b8", "#eac27c", "#dda14a"),
          ("#29241a", "#453819", "#63491a", "#845c18")),
    "c": (("#341fd8", "#ecb029", "#1e95a9", "#7e0167",
           "#cc5a00", "#3ac3fa", "#3d3309", "#a564fd"),
          ("#63afff", "#ffd682", "#38858c", "#a132ef",
           "#e8240d", "#e6ffe9", "#b4b01e", "#b2d3f8")),
    "o": (("#e9f0f6", "#d3e2ef", "#b4cfe5", "#8fb9db", "#5e98c8", "#24619a", "#133f6b"),
          ("#1d2b35", "#213a4b", "#274c65", "#2f5f80", "#3f7aa5", "#8bbce0", "#c3dff4")),
}  # fmt: skip
ON = {"h3": ("#0b1620", "#ffffff"), "h4": ("#ffffff", "#0b1620")}  # words on dark cells


@dataclass(frozen=True, slots=True)
class ModelStyles:
    """The models of a page: who leads, and who is below the best group."""

    models: tuple[str, ...]
    leader: str = ""
    below: frozenset[str] = frozenset()

    @classmethod
    def of(cls, report: Report) -> "ModelStyles":
        """What a report says about its models."""
        standing = report.card.standing if report.card else ()
        below = frozenset(name for name, inside in standing if not inside)
        return cls(report.models, standing[0][0] if standing else "", below)

    def number(self, model: str) -> int | None:
        """The place of a model, by which marks of one model know each other."""
        return self.models.index(model) if model in self.models else None

    def pair(self, models: Iterable[str]) -> tuple[str, ...]:
        """The two models that a chart compares; empty where it shows another number."""
        names = tuple(dict.fromkeys(name for name in models if name))
        return names if len(names) == 2 else ()

    def tone(self, model: str, pair: tuple[str, ...] = ()) -> str:
        """The class of a mark: blue is plain, ``out`` below, ``b`` the second of a pair."""
        if model in pair:
            return "b" if model == pair[1] else ""
        if model in self.below:
            return "out"
        return "" if model else "reader"


def theme(*, dark: bool) -> dict[str, str]:
    """All colours of one theme by name.

    Examples
    --------
    >>> theme(dark=False)["page"], theme(dark=True)["c0"]
    ('#fbfbf9', '#63afff')
    """
    rows = {
        f"{name}{step}": colour
        for name, both in ROWS.items()
        for step, colour in enumerate(both[dark])
    }
    return {
        **(DARK if dark else LIGHT), **rows, **{f"on{k}": v[dark] for k, v in ON.items()}
    }  # fmt: skip


def class_tone(place: int, total: int, *, ordered: bool) -> str:
    """The colour of one of several classes; no and yes are pale and dark.

    Examples
    --------
    >>> [class_tone(i, 3, ordered=True) for i in range(3)], class_tone(9, 12, ordered=False)
    (['o1', 'o3', 'o5'], 'c1')
    """
    if not ordered and total > 2:
        return f"c{place % CLASSES}"
    first, last = (1, 5) if total < 6 else (0, STEPS - 1)
    return f"o{round(first + (last - first) * place / max(total - 1, 1))}"


def css() -> str:
    """Make the colour rules: paper is always light, the reader's choice goes first."""
    dark = _variables(dark=True)
    named = theme(dark=False)
    marks = [name for name in named if name[0] in ROWS and name[1:].isdigit()]
    return "\n".join(
        [
            f":root{{{_variables(dark=False)}}}",
            f"@media screen and (prefers-color-scheme:dark){{"
            f":root:not([data-theme=light]){{{dark}}}}}",
            f"@media screen{{:root[data-theme=dark]{{{dark}}}}}",
            *(f".{name}{{fill:var(--{name});background:var(--{name})}}" for name in marks),
            *(f".{name}{{color:var(--on{name})}}" for name in ON),
            *(
                f".k{step}{{stroke:var(--c{step})}}.d.k{step}{{fill:var(--c{step})}}"
                for step in range(CLASSES)
            ),
            *(
                f"@container (max-width:{size - 1}px){{.ge{size}{{display:none}}}}"
                for size in FROM
            ),
            *(f".m{size}{{min-width:{size}px}}" for size in range(50, MOST + 1, 50)),
            *(f".n{size}{{--n:{size}}}" for size in range(1, LONGEST + 1)),
        ]
    )


def _variables(*, dark: bool) -> str:
    """Write one theme as custom properties."""
    colours = ";".join(f"--{name}:{colour}" for name, colour in theme(dark=dark).items())
    return f"color-scheme:{'dark' if dark else 'light'};{colours}"
