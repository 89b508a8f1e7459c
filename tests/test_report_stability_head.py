"""The head of the stability page: true for one model, for ties and without values."""

import math
import re
from itertools import pairwise

import pytest

from equipoise.analyses.joined import items_and_annotators
from equipoise.analyses.redrawing import ResamplingOptions
from equipoise.cli._stability_lines import LINES
from equipoise.evaluation import Settings
from equipoise.export import stability_texts
from equipoise.report.certainty_curve import Sorted
from equipoise.report.certainty_curve import draw as draw_sorted
from equipoise.report.stability_charts import Line, Plot, curves
from equipoise.report.stability_head import headline, verdict
from equipoise.report.stability_map import _beside
from equipoise.report.stability_page import ANALYSES, render_stability
from equipoise.report.stability_rows import cast_of
from tests.report_stability_sample import facts_of, sample, study
from tests.test_report_stability import section, shown

METRICS = [
    {"name": "auroc", "title": "AUROC", "soft_title": "soft AUROC", "better": "higher"},
    {"name": "log_score", "title": "log score", "soft_title": "soft log score",
     "better": "lower"},
]  # fmt: skip


def lead(values, *, metric="auroc", gap=None, **changes):
    """Facts of a lead by hand: values by model, the best first, None is undefined."""
    names = [f"m{n}" for n in range(len(values))]
    known = [name for name, one in zip(names, values, strict=True) if one is not None]
    best = [n for n in known if values[names.index(n)] == values[names.index(known[0])]]
    rows = [
        {"task": "", "model": name, "metric": metric, "labels": "soft", "value": one,
         "low": None if one is None else one - 0.1, "high": None if one is None else one + 0.1,
         "rank": None, "p_best": None, "rank_low": None, "rank_high": None}
        for name, one in zip(names, values, strict=True)
    ]  # fmt: skip
    return {
        "task": "", "metric": metric, "labels": "soft", "kind": "items", "leaders": best,
        "others": [name for name in known if name not in best], "separated": [],
        "lead": gap, "rows": rows, **changes,
    }  # fmt: skip


def said(facts):
    cast = cast_of({"models": [one["model"] for one in facts["rows"]], "metrics": METRICS})
    return headline(facts, cast)


def test_the_headline_holds_for_one_model_for_ties_and_without_values():
    assert said(lead([0.8])).startswith("m0: soft AUROC 0.80 [0.70, 0.90]. There is no other")
    assert said(lead([0.8, 0.8, 0.8])).startswith("All 3 models share the first place")
    assert said(lead([None, None], leaders=[], others=[])) == (
        "No model has a value of soft AUROC, so there is no order to judge."
    )
    assert said(lead([0.8, None])).startswith("m0 is the only model with a value")
    gap = {"value": 0.1, "low": 0.05, "high": 0.2}
    words = said(lead([0.8, 0.8, 0.7], gap=gap))
    assert words.startswith("m0 and m1 share the first place")
    assert "They are 0.100 ahead of m2 (95% interval +0.050 to +0.200" in words
    assert said(lead([0.8, 0.7, None], gap=gap)).endswith(" 1 model without a value.")


def test_a_lead_is_positive_for_metrics_where_less_is_better_and_says_chance():
    gap = {"value": -0.1, "low": -0.2, "high": 0.05}
    words = said(lead([0.3, 0.4], metric="log_score", gap=gap))
    assert "It is 0.100 ahead of m1, which may be chance" in words
    assert "−0.050 to +0.200 with other items" in words
    clear = said(lead([0.3, 0.4], metric="log_score", gap=gap | {"high": -0.01}))
    assert "chance" not in clear


def test_the_head_says_what_the_facts_say():
    facts = sample("stability")
    front = facts["lead"]
    words = section(render_stability(facts), "verdict")
    assert front["kind"] == "items x panel"
    rows = {one["model"]: one for one in front["rows"]}
    best = front["leaders"][0]
    assert rows[best]["value"] == max(one["value"] for one in rows.values())
    assert (
        f"{best} leads by soft AUROC (macro average): {rows[best]['value']:.3f}"[:-1] in words
    )
    told = ResamplingOptions(replicates=40, settings=Settings(workers=1))
    done = items_and_annotators(*study(), ["auroc"], told)
    expected = [
        one for one in done.table() if (one.task, one.labels) == (front["task"], "soft")
    ]
    assert {one.model: (one.p_best, one.low) for one in expected} == {
        name: pytest.approx((one["p_best"], one["low"])) for name, one in rows.items()
    }
    assert front["spread"] == "the noise of votes counted once"
    assert "items and annotators drawn anew, the noise of votes counted once" in words
    assert all(one["rank_low"] <= one["rank"] <= one["rank_high"] for one in rows.values())
    for name in rows:
        assert name in words


def test_what_was_not_asked_for_is_not_mentioned():
    scores, votes = study()
    facts = facts_of(scores, votes, only=("certainty",))
    page = render_stability(facts)
    words = section(page, "verdict")
    assert "How sure" in words
    assert "What would overturn it" not in words
    assert "What it hangs on most" not in words
    assert "Not looked at" not in page
    for name in ("flips", "ranking", "subgroups"):
        assert ANALYSES[name].title not in page


def test_reasons_stand_in_one_list_at_the_end_without_headings_of_their_own():
    facts = sample("stability of one model")
    page = render_stability(facts)
    words = section(page, "left-out")
    left = [name for name in ANALYSES if "left_out" in facts.get(name, {})]
    assert left
    for name in left:
        assert ANALYSES[name].title in words
        assert f"<section id={ANALYSES[name].anchor} " not in page
    assert page.index("<section id=left-out ") < page.index("<section id=method ")
    assert "There is no other model to compare it to." in section(page, "verdict")


def test_the_head_is_true_where_all_models_are_one():
    scores, votes = study(models=1, tasks=("",))
    from dataclasses import replace

    same = [replace(scores[0], model=f"copy {n}") for n in range(3)]
    facts = facts_of(same, votes, only=("ranking", "certainty"))
    words = shown(verdict(facts, cast_of(facts)))
    assert words.startswith("All 3 models share the first place by soft AUROC")
    assert "all models have the same soft AUROC" in facts["certainty"]["finding"]
    assert "leads" not in facts["certainty"]["finding"]


def names_of(made):
    """Heights of the names at the ends of lines."""
    found = re.findall(
        r"<text x=312 y=([\d.]+)(?: class=a)?>(?:<title>.*?</title>)?(\w+)", made
    )
    return {name: float(y) for y, name in found}


def test_names_at_line_ends_never_overlap_and_a_crowd_is_grey():
    plot = Plot("h", "t", "s", ((0.0, "a"), (1.0, "b")))
    lines = [
        Line(f"n{n}", f"n{n}", f"m{n}", ((0.0, 0.5), (1.0, 0.5 + n / 1e4))) for n in range(10)
    ]
    lines.append(Line("far", "far", "m10", ((0.0, 0.1), (1.0, 0.0))))
    made = curves(plot, lines)
    places = sorted(names_of(made).values())
    assert min(b - a for a, b in pairwise(places)) >= 14.9
    assert made.count('class="cv pale"') == 7
    assert "7 others" in made
    assert names_of(made).keys() == {"n0", "n1", "n2", "n3", "7"}
    kept = curves(Plot("h", "t", "s", plot.ticks, lead=("far",)), lines)
    assert names_of(kept).keys() == {"far", "10"}
    assert curves(plot, lines) == made


def test_lines_with_room_all_keep_their_names():
    plot = Plot("h", "t", "s", ((0.0, "a"), (1.0, "b")), down=True)
    lines = [Line(f"n{n}", f"n{n}", f"m{n}", ((0.0, n), (1.0, n))) for n in range(1, 11)]
    made = curves(plot, lines)
    assert "others" not in made
    assert len(names_of(made)) == 10


def test_names_on_the_map_stay_clear_of_points_and_of_each_other():
    spots = [(100.0 + 11 * (n % 4), 100.0 + 12 * (n // 4)) for n in range(6)]
    found = _beside(spots, [f"bc{n}" for n in range(6)])
    assert len({(x, y) for x, y, _ in found}) == 6
    assert _beside([(50.0, 50.0), (200.0, 50.0)], ["a", "b"]) == [
        (58.0, 54.0, ""), (208.0, 54.0, "")
    ]  # fmt: skip


def test_the_sorted_curve_lies_where_the_points_are():
    made = draw_sorted([Sorted([[0.0, 0.5], [0.5, 0.5], [0.5, 1.0], [1.0, 1.0]], 0.5)], 0.99, 4)
    steps = re.search(r"<path class=cv d=M([\d.,L]+)", made)[1]
    spots = [tuple(map(float, one.split(","))) for one in steps.split("L")]
    assert spots == [(44, 200), (236, 200), (236, 36), (428, 36)]
    assert "50% below 0.99" in made
    assert draw_sorted([Sorted([], 0.0)], 0.99, 0) is None
    assert "reliability" not in made


def test_certainty_is_on_the_page_in_the_tables_and_on_the_terminal():
    facts = sample("stability")
    entry = facts["certainty"]
    words = section(render_stability(facts), "certainty")
    for one in entry["curves"]:
        assert f"reliability {one['reliability']:g}:" in words
    for one in entry["shares"]:
        assert one["task"] in words
    texts = stability_texts(facts)
    assert {"tables/certainty.csv", "tables/certainty_shares.csv"} <= set(texts)
    assert texts["tables/certainty.csv"].count("\n") == 1 + len(entry["rows"])
    heads, lines = LINES["certainty"](entry, facts)
    assert len(lines) == len(entry["cutoffs"])
    assert all(len(line) == len(heads) for line in lines)


@pytest.mark.parametrize("share", [0.0, 0.004, 0.5, 0.999, 1.0])
def test_the_mark_of_the_share_stays_on_the_drawing(share):
    made = draw_sorted([Sorted([[0.0, 0.6], [1.0, 1.0]], share)], 0.99, 1000)
    x = float(re.search(r"<path class=zero d=M([\d.]+),", made)[1])
    assert x == pytest.approx(44 + 384 * share, abs=0.06)
    assert math.isfinite(x)
