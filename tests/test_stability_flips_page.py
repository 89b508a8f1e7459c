"""The section on flips: one dot per task and kind of move, and words for what has none."""

import math
import re
from xml.etree import ElementTree

import numpy as np
import pytest

from equipoise.cli._stability_lines import flip_lines
from equipoise.report.stability_page import figures, render_stability
from equipoise.run.stability import stability_facts
from equipoise.run.stability_case import StabilityHow
from tests.test_stability_flips_oracle import as_given, drawn

SPACE = "{http://www.w3.org/2000/svg}"


def facts(votes, scores, **more):
    how = StabilityHow(metrics=["auroc"], replicates=5, only=["flips"], **more)
    return stability_facts(*as_given(votes, scores), how)


def section(page):
    return re.search(r"<section id=flips .*?</section>", page, re.DOTALL)[0]


@pytest.fixture(scope="module")
def several():
    return facts(*drawn(3, tasks=3, items=25, panel=3, models=4))


def test_the_average_stands_first_and_every_set_has_a_dot(several):
    found = several["flips"]
    assert found["rows"][0]["task"] == "macro average"
    assert "(macro average)" in found["finding"]
    tree = ElementTree.fromstring(figures(several)["flips"])
    words = ["".join(one.itertext()) for one in tree.iter(f"{SPACE}text")]
    assert words.index("macro average") < words.index("task-0")
    dots = [one.get("d") for one in tree.iter(f"{SPACE}path") if one.get("class") == "d"]
    known = [one for one in found["rows"] if one["size"]]
    assert len(dots) == len(known) > 4
    low = math.floor(math.log10(min((o["cleared"] + 1) / o["number"] for o in found["rows"])))
    by_task = {t: [o for o in known if o["task"] == t] for t in dict.fromkeys(
        one["task"] for one in found["rows"])}  # fmt: skip
    places = [float(re.match(r"M([\d.]+),", dot)[1]) for dot in dots]
    shares = [math.log10(one["share"]) - low for own in by_task.values() for one in own]
    step = np.polyfit(shares, places, 1)
    np.testing.assert_allclose(np.polyval(step, shares), places, atol=0.1)


def test_the_table_says_who_is_first_after_each_set(several):
    words = section(render_stability(several))
    for one in several["flips"]["rows"]:
        if one["size"]:
            bound = "" if one["smallest"] else "≤ "
            assert re.search(rf"{bound}{one['size']} \([^)]*\): {one['b']}", words)
    assert "class=scroll tabindex=0" in words and "<figure" in words


def test_level_leaders_are_shown_together():
    votes, scores = drawn(5, items=25, models=4)
    share = np.nanmean(votes[0], axis=1)
    scores[0][0] = scores[0][2] = 0.7 * share + 0.3 * scores[0][0]
    found = facts(votes, scores)
    assert found["flips"]["rows"][0]["a"] == "model-0 and model-2"
    assert "model-0 and model-2" in section(render_stability(found))
    heads, lines = flip_lines(found["flips"])
    assert lines[0][1] == "model-0 and model-2" and len(heads) == len(lines[0])


def test_where_no_set_was_found_the_search_is_shown_to_end():
    votes, scores = drawn(5, items=40, models=2)
    share = np.nanmean(votes[0], axis=1)
    scores[0][0], scores[0][1] = share, 1 - share
    found = facts(votes, scores, most=2)
    assert all(one["size"] is None for one in found["flips"]["rows"])
    drawing = figures(found)["flips"]
    assert drawing.count("none up to 2") >= 3 and 'class="cv far"' in drawing
    assert "larger ones were not searched" in found["flips"]["finding"]
    assert flip_lines(found["flips"])[1][0][-1] == "none up to 2 found"


@pytest.mark.parametrize("number", [1, 3])
def test_one_model_and_level_models_have_no_figure_but_a_sentence(number):
    votes, scores = drawn(5, items=12, models=number)
    scores[0][:] = scores[0][0]
    found = facts(votes, scores)
    said = "nobody can overtake it" if number == 1 else "are level at the top already"
    assert said in found["flips"]["finding"] and not figures(found)
    assert said in render_stability(found)
    assert flip_lines(found["flips"])[1][0][-1] == ("one model" if number == 1 else "all level")
