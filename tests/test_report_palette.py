"""The colours: legible in both themes, and apart for every kind of sight."""

from itertools import combinations

import numpy as np
import pytest

from equipoise.page.palette import DARK_INK_FROM, LIGHT_MODELS, LIGHT_STEPS, css, theme

SIGHT = {  # Machado et al. 2009, complete deficiency, linear RGB
    "normal": np.eye(3),
    "protan": np.array(
        [[0.152, 1.053, -0.205], [0.115, 0.786, 0.099], [-0.004, -0.048, 1.052]]
    ),
    "deutan": np.array([[0.367, 0.861, -0.228], [0.280, 0.673, 0.047], [-0.012, 0.043, 0.969]]),
    "tritan": np.array(
        [[1.256, -0.077, -0.179], [-0.078, 0.931, 0.148], [0.005, 0.691, 0.304]]
    ),
}
TO_CONES = np.array(
    [[0.4122, 0.5363, 0.0514], [0.2119, 0.6807, 0.1074], [0.0883, 0.2817, 0.63]]
)
TO_LAB = np.array(
    [[0.2105, 0.7936, -0.0041], [1.978, -2.4286, 0.4506], [0.0259, 0.7828, -0.8087]]
)
THEMES = {"light": theme(dark=False), "dark": theme(dark=True)}


def linear(colour):
    parts = np.array([int(colour[at : at + 2], 16) for at in (1, 3, 5)]) / 255
    return np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)


def contrast(one, other):
    low, high = sorted(float(linear(c) @ [0.2126, 0.7152, 0.0722]) for c in (one, other))
    return (high + 0.05) / (low + 0.05)


def seen(colour, sight):
    return TO_LAB @ np.cbrt(TO_CONES @ np.clip(SIGHT[sight] @ linear(colour), 0, 1))


def test_contrast_of_black_on_white():
    assert contrast("#000000", "#ffffff") == pytest.approx(21)


@pytest.mark.parametrize("name", THEMES)
def test_text_reaches_aa(name):
    colours = THEMES[name]
    pairs = [("ink", "page"), ("muted", "page"), ("accent", "page"), ("onaccent", "accent")]
    pairs += [("alert", "alertpage"), ("ink", "faint"), ("muted", "faint"), ("muted", "card")]
    pairs += [("ink", f"{side}{step}") for side in ("ahead", "behind") for step in range(4)]
    for step in range(len(LIGHT_STEPS)):
        pairs.append(("onstep" if step >= DARK_INK_FROM else "ink", f"step{step}"))
    for text, ground in pairs:
        assert contrast(colours[text], colours[ground]) >= 4.5, (text, ground)


@pytest.mark.parametrize("name", THEMES)
def test_marks_stand_out(name):
    colours = THEMES[name]
    for mark in ["mark", *(f"model{i}" for i in range(len(LIGHT_MODELS)))]:
        assert contrast(colours[mark], colours["page"]) >= 3, mark


@pytest.mark.parametrize("sight", SIGHT)
@pytest.mark.parametrize("name", THEMES)
def test_models_and_sides_differ_for_every_sight(name, sight):
    colours = THEMES[name]
    models = [seen(colours[f"model{i}"], sight) for i in range(len(LIGHT_MODELS))]
    assert min(np.linalg.norm(a - b) for a, b in combinations(models, 2)) > 0.04
    ahead, behind = (seen(colours[f"{side}3"], sight) for side in ("ahead", "behind"))
    assert np.linalg.norm(ahead - behind) > 0.1


def test_every_theme_names_the_same_colours():
    assert THEMES["light"].keys() == THEMES["dark"].keys()


def test_forty_models_have_forty_marks():
    rules = css(40)
    assert ".m39{--c:var(--model9)}" in rules
    assert "[data-on=m39] tr.m39" in rules
