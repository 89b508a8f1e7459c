"""The colours: legible in both themes, and apart for every kind of sight."""

from itertools import combinations, pairwise

import numpy as np
import pytest

from equipoise.report.page.figure import (
    CLASSES,
    LEVELS,
    STEPS,
    ModelStyles,
    class_tone,
    css,
    theme,
)

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
    pairs = [(ink, ground) for ink in ("ink", "soft", "blue", "amber") for ground in
             ("page", "card")]  # fmt: skip
    pairs += [("ink", "tint"), ("soft", "zone"), ("amber", "warm"), ("onh3", "h3")]
    pairs += [("onh4", "h4"), *(("ink", f"h{step}") for step in range(3))]
    pairs += [("ink", f"{side}{step}") for side in "ab" for step in range(LEVELS)]
    for text, ground in pairs:
        assert contrast(colours[text], colours[ground]) >= 4.5, (text, ground)


@pytest.mark.parametrize("name", THEMES)
def test_marks_stand_out(name):
    colours = THEMES[name]
    for mark in ("blue", "amber", "grey"):
        assert contrast(colours[mark], colours["page"]) >= 3, mark


@pytest.mark.parametrize("sight", SIGHT)
@pytest.mark.parametrize("name", THEMES)
def test_classes_pairs_and_sides_differ_for_every_sight(name, sight):
    colours = THEMES[name]
    classes = [seen(colours[f"c{i}"], sight) for i in range(CLASSES)]
    assert min(np.linalg.norm(a - b) for a, b in combinations(classes, 2)) > 0.1
    first = [seen(colours[f"c{i}"], sight) for i in range(5)]
    assert min(np.linalg.norm(a - b) for a, b in combinations(first, 2)) > 0.15
    for one, other in (("blue", "amber"), ("a3", "b3")):
        assert np.linalg.norm(seen(colours[one], sight) - seen(colours[other], sight)) > 0.1


@pytest.mark.parametrize("name", THEMES)
def test_ordered_colours_run_one_way(name):
    colours = THEMES[name]
    for row, size in (("o", STEPS), ("h", 5), ("v", 5)):
        light = [contrast(colours[f"{row}{i}"], colours["page"]) for i in range(size)]
        assert all(b > a for a, b in pairwise(light)), row


def test_every_theme_names_the_same_colours():
    assert THEMES["light"].keys() == THEMES["dark"].keys()
    for name in ("light", "dark"):
        assert THEMES[name]["page"] in css()


def test_classes_have_their_own_colours_and_grades_their_order():
    assert len({class_tone(i, 8, ordered=False) for i in range(8)}) == 8
    for total in range(2, 8):
        tones = [class_tone(i, total, ordered=True) for i in range(total)]
        assert tones == sorted(set(tones))
    assert class_tone(0, 2, ordered=False) != class_tone(1, 2, ordered=False)


def test_two_models_that_are_compared_differ_and_more_have_no_colour_of_their_own():
    styles = ModelStyles(("a", "b", "c"), "a", frozenset("c"))
    pair = styles.pair(["b", "", "c", "b"])
    assert pair == ("b", "c")
    assert [styles.tone(name, pair) for name in pair] == ["", "b"]
    assert styles.pair("abc") == ()
    assert [styles.tone(name) for name in ("a", "b", "c", "")] == ["", "", "out", "reader"]
