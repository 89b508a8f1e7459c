"""Palette: every colour of the page, for paper and for the dark, and the CSS made of it.

Ten colours for models that stay apart under the three common kinds of colour blindness
(least distance in OKLab over normal, protan, deutan and tritan sight: 0.056) and reach 3:1
against the page. Beyond ten models the colours repeat with another marker, and every mark is
labelled directly, so no statement rests on colour alone. Probabilities run from the page to
one blue; leads run from orange (behind) to blue (ahead).
"""

from collections.abc import Mapping

MARKERS = 4  # filled circle, filled square, ring, hollow square

LIGHT: Mapping[str, str] = {
    "page": "#fbfbf9", "card": "#ffffff", "ink": "#1c2226", "muted": "#566069",
    "line": "#dadeda", "faint": "#f0f1ee", "accent": "#1d5c92", "onaccent": "#ffffff",
    "alert": "#7a3c00", "alertpage": "#fff3e0", "grid": "#e4e7e3", "mark": "#6b747b",
}  # fmt: skip
DARK: Mapping[str, str] = {
    "page": "#15191c", "card": "#1b2024", "ink": "#e8ebe9", "muted": "#a6b0b6",
    "line": "#363f45", "faint": "#20262a", "accent": "#86bfe9", "onaccent": "#10202c",
    "alert": "#ffcf96", "alertpage": "#33240f", "grid": "#2a3237", "mark": "#8f9aa1",
}  # fmt: skip

LIGHT_MODELS = (
    "#34508f", "#e8530e", "#056e66", "#a884a7", "#8f4408",
    "#1f86e0", "#601f3f", "#10126e", "#6f9440", "#8a58ae",
)  # fmt: skip
DARK_MODELS = (
    "#4fc3f0", "#d9682a", "#149a7a", "#e3a7b6", "#d2dc4a",
    "#b0f0e0", "#9058aa", "#8a70fa", "#a3b646", "#b294cf",
)  # fmt: skip

LIGHT_STEPS = ("#e9f0f6", "#d3e2ef", "#b4cfe5", "#8fb9db", "#6ba3cd", "#24619a", "#133f6b")
DARK_STEPS = ("#1d2b35", "#213a4b", "#274c65", "#2f5f80", "#376c93", "#8bbce0", "#c3dff4")
LIGHT_BEHIND = ("#fbeee0", "#f7d9b8", "#efb67d", "#e08f45")
DARK_BEHIND = ("#33271a", "#4d3518", "#6d4714", "#8f5a10")
LIGHT_AHEAD = ("#e6eff7", "#c8dded", "#9cc2df", "#6ba3cd")
DARK_AHEAD = ("#1c2b37", "#213e54", "#275473", "#2e6b95")
DARK_INK_FROM = 5  # from this step on, text on a probability cell is written in `onstep`


def _tokens(name: str, colours: tuple[str, ...]) -> dict[str, str]:
    """Number a row of colours."""
    return {f"{name}{index}": colour for index, colour in enumerate(colours)}


def theme(*, dark: bool) -> dict[str, str]:
    """All colours of one theme by name.

    Examples
    --------
    >>> theme(dark=False)["page"], theme(dark=True)["page"]
    ('#fbfbf9', '#15191c')
    """
    fixed, models = (DARK, DARK_MODELS) if dark else (LIGHT, LIGHT_MODELS)
    return {
        **fixed,
        "onstep": "#0c1a26" if dark else "#ffffff",
        **_tokens("model", models),
        **_tokens("step", DARK_STEPS if dark else LIGHT_STEPS),
        **_tokens("behind", DARK_BEHIND if dark else LIGHT_BEHIND),
        **_tokens("ahead", DARK_AHEAD if dark else LIGHT_AHEAD),
    }


def _variables(*, dark: bool) -> str:
    """Write one theme as custom properties."""
    colours = ";".join(f"--{name}:{colour}" for name, colour in theme(dark=dark).items())
    return f"color-scheme:{'dark' if dark else 'light'};{colours}"


def model_class(index: int) -> str:
    """Name the classes of everything that belongs to one model; they stand first.

    Examples
    --------
    >>> model_class(3), model_class(13)
    ('m3', 'm13 k1')
    """
    cycle = index // len(LIGHT_MODELS) % MARKERS
    return f"m{index}" + (f" k{cycle}" if cycle else "")


def css(models: int) -> str:
    """Make the colour rules for a page with so many models.

    Paper is always light; the reader's choice goes before that of the system.
    """
    dark = _variables(dark=True)
    themes = [
        f":root{{{_variables(dark=False)}}}",
        f"@media screen and (prefers-color-scheme:dark){{"
        f":root:not([data-theme=light]){{{dark}}}}}",
        f"@media screen{{:root[data-theme=dark]{{{dark}}}}}",
    ]
    every = range(models)
    own = [f".m{i}{{--c:var(--model{i % len(LIGHT_MODELS)})}}" for i in every]
    own += [f".s{i}{{--c:var(--model{i})}}" for i in range(len(LIGHT_MODELS))]
    others = ",".join(f"[data-on=m{i}] svg [class^=m]:not(.m{i})" for i in every)
    rows = ",".join(f"[data-on=m{i}] tr.m{i}" for i in every)
    steps = [f".q{i}{{stroke:var(--step{i})}}" for i in range(len(LIGHT_STEPS))]
    leads = [
        f".{side[0]}{i}{{stroke:var(--{side}{i})}}"
        for side in ("ahead", "behind")
        for i in range(len(LIGHT_AHEAD))
    ]
    linked = [f"{others}{{opacity:.15}}", f"{rows}{{background:var(--faint)}}"]
    return "\n".join([*themes, *own, *linked, *steps, *leads])
