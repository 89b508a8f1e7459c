"""What a plan says: the findings are what the plan found, in every case that can happen."""

import csv
import io
import json
import math
import os
import re
from dataclasses import replace
from functools import cache
from pathlib import Path
from statistics import NormalDist
from types import SimpleNamespace

import numpy as np
import pytest

from equipoise import page
from equipoise.annotations import Annotations
from equipoise.arrays import InputError
from equipoise.findings.json import as_json
from equipoise.findings.text import texts
from equipoise.notices import worded
from equipoise.planning import (
    next_for_ranking,
    next_items,
    plan_ranking,
    plan_report,
    plan_size,
)
from equipoise.predictions import Predictions

BAD = "\"'><img src=x onerror=alert(1)><!--\x00\u202e"
LONG = "a-name-that-never-ends-" * 6
ALWAYS = {"verdict", "uncertainty"}
PLANNED = ALWAYS | {"power", "designs"}


def study(noise=(0.4, 0.7), items=60, votes=4, names="model {}", *, people=True):
    """Votes on items of all shades, and models of falling skill; a noise of 0 is a twin."""
    random = np.random.default_rng(2)
    share = random.random(items)
    cast = random.random((items, votes)) < share[:, None]
    item, who = (grid.ravel() for grid in np.mgrid[0:items, 0:votes])
    table = Annotations(
        kind="binary", classes=("no", "yes"),
        items=tuple(f"scan {i}{names.format('')}" for i in range(items)),
        item=item, label=cast.ravel().astype(int),
        **({"annotators": tuple(f"r{a}" for a in range(votes)), "annotator": who}
           if people else {}),
    )  # fmt: skip
    scores, made = [], []
    for place, one in enumerate(noise):
        fresh = np.clip(share + random.normal(0, abs(one), items), 0.01, 0.99)
        scores.append(scores[-1] if one == 0 else fresh)
        made.append(Predictions(names.format(place), table.items, scores[-1]))
    return made, table


def pair(**how):
    given, table = study(**how)
    done = plan_size(
        given, table, simulations=20, votes=(1, 2, 4, 6), price_item=1, price_vote=0.25
    )
    return done, next_items(given, table, number=20)


def ranking(noise=(0.3, 0.5, 0.7, 0.9), number=60, **how):
    given, table = study(noise=noise, **how)
    return plan_ranking(given, table, simulations=0), next_for_ranking(
        given, table, number=number
    )


def level():
    given, table = study(noise=(0.4, 0))
    return plan_size(given, table), next_items(given, table, number=5)


def one_way():
    table = Annotations.from_counts(np.tile([0, 2], (12, 1))).against("1")
    two = [
        Predictions(name, table.items, np.full(12, s)) for name, s in (("a", 0.9), ("b", 0.1))
    ]
    return plan_size(two, table, metric="brier_score"), None


def known_truths():
    given, table = study(noise=(0.4, 0.6, 0.9), votes=1)
    sure = replace(table, is_gold=np.ones(len(table.item), dtype=bool))
    return plan_ranking(given, sure, simulations=0), next_for_ranking(given, sure)


def many_votes():
    given, table = study(items=90)
    return plan_size(given, table, votes=tuple(range(1, 13)), simulations=0), None


PLANS = {
    "pair": pair,
    "pair of strangers": lambda: pair(people=False),
    "pair with one vote": lambda: pair(votes=1),
    "pair without prices": many_votes,
    "pair that is level": level,
    "pair that goes one way": one_way,
    "ranking": ranking,
    "ranking of two": lambda: ranking((0.3, 0.6)),
    "ranking with twins": lambda: ranking((0.3, 0, 0.7)),
    "ranking of twins": lambda: ranking((0.3, 0, 0)),
    "ranking with one vote": lambda: ranking(votes=1),
    "ranking by known truths": known_truths,
    "ranking of the hostile": lambda: ranking(names="{}" + BAD),
    "ranking of the long": lambda: ranking((0.3,) * 24, names=LONG + "{}", number=3),
}
SOME = pytest.mark.parametrize("name", PLANS)


@cache
def found(name):
    return PLANS[name]()


@cache
def report_of(name):
    return plan_report(*found(name))


def finding(name, key):
    return next(one for one in report_of(name).findings if one.key == key)


def rows_of(name, table):
    """Rows of a table, as records."""
    every = [one for part in report_of(name).findings for one in part.tables]
    return [SimpleNamespace(**row) for one in every if one.name == table for row in one.rows]


@SOME
def test_a_report_is_json_a_page_and_texts_without_holes(name):
    report = report_of(name)
    assert json.loads(json.dumps(as_json(report), allow_nan=False))
    made = page.render(report)
    assert made == page.render(report) and len(made.encode()) < 250_000
    shown = re.sub(r"<(script|style)>.*?</\1>", "", made, flags=re.DOTALL)
    assert not re.search(r"\b(nan|inf|None)\b", shown)
    files = texts(report)
    assert {"methods.md", "references.bib"} <= set(files)
    for key in re.findall(r"@\w+\{(\w+),", files["references.bib"]):
        assert files["references.bib"].count(f"{{{key},") == 1


@SOME
def test_findings_are_those_that_there_is_something_to_say_in(name):
    plan, wanted = found(name)
    planned = bool(plan.designs)
    keys = [one.key for one in report_of(name).findings]
    several = len(getattr(plan, "pairs", [plan])) > 1
    assert set(keys) == (PLANNED if planned else ALWAYS) | ({"pairs"} if several else set()) | (
        {"next"} if wanted else set()
    )
    assert len(keys) == len(set(keys)) and keys[0] == "verdict"
    assert finding(name, "verdict").sentence == plan.finding


def charts(name):
    return {chart.name for one in report_of(name).findings for chart in one.charts}


def test_each_plan_has_the_figures_it_can_have():
    assert charts("pair") == {
        "plan-interval", "plan-power", "plan-items", "plan-cost", "plan-uncertainty-pilot",
        "plan-uncertainty-planned", "plan-next",
    }  # fmt: skip
    assert {"plan-pairs", "plan-pair-differences", "plan-votes"} <= charts("ranking")
    single = charts("pair with one vote")
    assert "plan-power" in single and not {"plan-items", "plan-cost"} & single
    assert charts("pair that goes one way") == {"plan-interval"}
    assert set(page.figures(report_of("ranking"))) == charts("ranking")


def test_the_pair_is_told_as_it_was_planned():
    done, _ = found("pair")
    designs = rows_of("pair", "plan_designs")
    assert [one.items for one in designs] == [one.items for one in done.designs]
    assert done.cheapest.cost == min(one.cost for one in designs)
    for one in rows_of("pair", "plan_power"):
        assert one.power == pytest.approx(done.power(one.items, one.votes_per_item))
    for row, wanted in zip(rows_of("pair", "plan_grid"), done.grid(), strict=True):
        for key, one in wanted.items():
            assert getattr(row, key) == pytest.approx(one), key
    part = finding("pair", "designs")
    assert "The cheapest of 4 designs" in part.sentence
    heads = {column.key for column in part.tables[0].columns}
    assert {"items", "items_error", "cost", "simulated", "monte_carlo_error"} <= heads
    assert not {"a", "b", "pair_power"} & set(part.tables[0].rows[0])


def joint(plan, items, votes):
    """Least probability that all pairs are told apart, from each pair's own."""
    z = NormalDist().inv_cdf(0.975)
    own = [
        NormalDist().cdf(one.resolved / one.standard_error(items, votes) - z)
        for one in plan.pairs
        if one.designs
    ]
    return 1 - sum(1 - power for power in own), min(own)


@pytest.mark.parametrize("name", ["ranking", "ranking with twins", "ranking with one vote"])
def test_a_ranking_is_planned_for_the_power_asked_and_no_more(name):
    plan, _ = found(name)
    for one in rows_of(name, "plan_designs"):
        power, least = joint(plan, one.items, one.votes_per_item)
        assert one.power == pytest.approx(power) and one.pair_power == pytest.approx(least)
        assert power >= 0.8 > joint(plan, one.items - 1, one.votes_per_item)[0]
    best = plan.recommended
    known = [row for row in rows_of(name, "plan_pairs") if row.state == "planned"]
    hard = max(known, key=lambda row: row.items)
    assert (hard.a, hard.b) == (best.a, best.b) == (plan.hardest.a, plan.hardest.b)
    assert hard.power_in_study == min(row.power_in_study for row in known)
    assert hard.items <= best.items
    for words in (f"{best.items:,} items", f"{hard.a} and {hard.b}", "at least 80%"):
        assert words in plan.finding


def test_each_pair_keeps_what_it_needs_alone():
    plan, _ = found("ranking")
    given, table = study(noise=(0.3, 0.5, 0.7, 0.9))
    best, rows = plan.recommended, rows_of("ranking", "plan_pairs")
    for row, one in zip(rows, plan.pairs, strict=True):
        alone = plan_size(given, table, models=(one.a, one.b), simulations=0)
        assert one.designs == alone.designs
        assert row.items <= best.items
        power = one.power(best.items, best.votes_per_item)
        assert row.power_in_study == pytest.approx(power)
    missed = sum(1 - row.power_in_study for row in rows)
    assert 1 - missed == pytest.approx(best.power) and best.power < 0.81


def test_the_error_of_the_items_is_that_of_the_spreads():
    """Widen every spread by a little: as many more items are needed as the slope says."""
    plan, _ = found("ranking")
    best = plan.recommended
    for step in (0.9, 1.1):
        wider = [
            replace(one, spread=replace(one.spread, items=one.spread.items * math.sqrt(step),
                                        votes=one.spread.votes * math.sqrt(step)))
            for one in plan.pairs
        ]  # fmt: skip
        needed = replace(plan, pairs=tuple(wider)).items_needed(best.votes_per_item, 0.8)
        assert needed == pytest.approx(best.items * step, rel=1e-3, abs=1)
    errors = [one.spread.relative_error(best.votes_per_item) for one in plan.pairs]
    assert min(errors) <= best.items_error / best.items <= max(errors)


def test_curves_contours_and_designs_meet():
    plan, _ = found("ranking")
    contours = rows_of("ranking", "plan_contours")
    assert sorted({one.power for one in contours}) == [0.5, 0.8, 0.95]
    for one in contours:
        assert joint(plan, one.items, one.votes_per_item)[0] >= one.power - 1e-9
        assert joint(plan, one.items - 1, one.votes_per_item)[0] < one.power
    asked = {one.votes_per_item: one.items for one in contours if one.power == 0.8}
    for one in plan.designs:
        assert asked[one.votes_per_item] == one.items
        reached = [
            row.items
            for row in rows_of("ranking", "plan_power")
            if row.votes_per_item == one.votes_per_item and row.power >= 0.8
        ]
        assert min(reached) >= one.items > min(reached) / 1.6
    for row in rows_of("ranking", "plan_grid"):
        votes = row.votes_needed
        if math.isinf(votes):
            assert joint(plan, row.items, 1e9)[0] < 0.8
        else:
            assert joint(plan, row.items, votes)[0] >= 0.8 - 1e-9
            assert votes == 1 or joint(plan, row.items, votes - 1)[0] < 0.8


def test_the_power_promised_holds_when_pairs_are_drawn_apart():
    """Studies of normal differences, which share nothing: the bound is nearly exact."""
    plan, _ = found("ranking")
    best, z = plan.recommended, NormalDist().inv_cdf(0.975)
    random = np.random.default_rng(3)
    size = (best.items, best.votes_per_item)
    reach = np.array([one.resolved / one.standard_error(*size) for one in plan.pairs])
    found_all = (random.normal(reach, 1, (100_000, len(reach))) > z).all(axis=1).mean()
    assert 0.8 - 0.005 < found_all < 0.82


def test_a_ranking_of_two_is_a_pair():
    report = report_of("ranking of two")
    assert ("Goal", "pair") in report.settings
    assert report.findings[0].sentence == found("ranking of two")[0].pairs[0].finding


def test_parts_of_the_uncertainty_are_those_of_the_spread():
    done, _ = found("pair")
    parts = {one.source: one for one in rows_of("pair", "plan_components")}
    assert sum(one.pilot_share for one in parts.values()) == pytest.approx(1)
    square = sum(one.pilot**2 for one in parts.values())
    assert square == pytest.approx(done.spread.pilot**2 + done.spread.panel**2)
    best = done.cheapest
    error = math.hypot(parts["items"].planned, parts["votes"].planned)
    assert error == pytest.approx(done.standard_error(best.items, best.votes_per_item))
    most = max(parts.values(), key=lambda one: one.pilot_share)
    assert (
        f"({most.pilot_share:.0%} of the variance)" in finding("pair", "uncertainty").sentence
    )
    planned = rows_of("pair", "plan_intervals")[1]
    assert planned.high - planned.value == pytest.approx(1.95996 * error, rel=1e-4)


def test_people_who_lean_are_said_to_be_the_cause():
    random = np.random.default_rng(4)
    latent, side = random.normal(size=(2, 400))
    lean = np.array([-3.0, -2.0, 2.0, 3.0])
    cast = random.random((400, 4)) < 1 / (1 + np.exp(-latent[:, None] - lean * side[:, None]))
    item, who = (grid.ravel() for grid in np.mgrid[0:400, 0:4])
    table = Annotations(
        kind="binary", classes=("0", "1"), items=tuple(map(str, range(400))), item=item,
        label=cast.ravel().astype(int), annotators=tuple("abcd"), annotator=who,
    )  # fmt: skip
    two = [
        Predictions(name, table.items, latent + k * side) for name, k in (("x", 1), ("y", -0.9))
    ]
    part = plan_size(two, table, simulations=0).reports()[-1]
    assert "comes from who votes" in part.sentence and "other people do" in part.sentence
    people = part.tables[0].rows[2]
    assert people["planned"] == people["pilot"] > 0


def test_one_vote_per_item_says_that_votes_are_not_known():
    for name in ("pair with one vote", "ranking with one vote"):
        part = finding(name, "uncertainty")
        assert "No item of the pilot has two votes" in part.sentence
        assert part.charts[0].rows[0].label == "items and votes"
        assert "1 vote each" in finding(name, "power").sentence
        assert "One design was looked at" in finding(name, "designs").sentence
        methods = finding(name, "verdict").methods
        assert "was not told apart" in methods and "1 votes" not in methods


def test_what_is_tied_is_said_and_the_rest_is_planned():
    states = [one.state for one in rows_of("ranking with twins", "plan_pairs")]
    assert sorted(states) == ["planned", "tied"]
    plan, _ = found("ranking with twins")
    assert "No study can be planned for the whole order" in plan.finding
    assert "the other pair of neighbours" in plan.finding
    assert (
        "No size can be planned for 1 pair." in finding("ranking with twins", "pairs").sentence
    )
    methods = finding("ranking with twins", "verdict").methods
    assert "No size could be planned for" in methods
    none, _ = found("ranking of twins")
    assert none.recommended is None and none.designs == ()
    assert none.finding.count("tied in the pilot") == 1 and "collect" not in none.finding
    flat, _ = found("pair that goes one way")
    assert flat.state == "no spread"
    assert (
        "no uncertainty to divide" in finding("pair that goes one way", "uncertainty").sentence
    )


def test_notices_name_the_pairs_they_are_about_and_come_once():
    plan, _ = found("ranking with one vote")
    codes = [one.code for one in plan.notices]
    assert codes.count("single_votes") == 1
    assert not next(one for one in plan.notices if one.code == "single_votes").about
    each = [one for pair_ in plan.pairs for one in pair_.notices]
    assert (
        codes.count("open_difference")
        <= 1
        < [one.code for one in each].count("open_difference")
    )
    assert {one.code for one in each} <= set(codes)
    said = worded(plan.notices)
    assert len(said) == len(set(said)) == len(plan.notices)
    far = [str(one) for one in found("ranking of the long")[0].notices]
    assert any("hardly differ" in one and "difference=..." in one for one in far)
    command = worded(found("ranking of the long")[0].notices, command=True)
    assert any("say which difference matters (--difference VALUE)" in one for one in command)


def test_known_truths_are_said_to_be_no_votes():
    name = "ranking by known truths"
    assert found(name)[0].pairs[0].pilot_votes == 0
    part = finding(name, "next")
    assert "No vote on any item" in part.sentence and part.tables == ()
    methods = finding(name, "verdict").methods
    assert "60 items with a known truth each" in methods and "single votes" not in methods
    assert "60 items, a known truth each" in " ".join(report_of(name).known)


def test_a_difference_that_depends_on_votes_is_said_once():
    given, table = study(noise=(0.1, 0.4, 0.7), votes=3)
    plan = plan_ranking(given, table, metric="total_variation", simulations=0)
    each = [
        str(one)
        for pair_ in plan.pairs
        for one in pair_.notices
        if one.code == "depends_on_votes"
    ]
    assert len(each) == 2 and each[0] != each[1]
    told = [str(one) for one in plan.notices if one.code == "depends_on_votes"]
    assert len(told) == 1 and told[0].startswith("By this metric the difference itself depends")


def test_items_that_come_next_are_listed_with_their_gain():
    _, wanted = found("ranking")
    part = finding("ranking", "next")
    assert part.sentence == wanted.finding
    assert [row["item"] for row in part.tables[0].rows] == list(wanted.items)
    heads = [column.head for column in part.tables[0].columns]
    assert heads[-1] == "tells most about"
    assert [dot.label for dot in part.charts[0].rows] == list(wanted.items[:12])
    other = [column.head for column in finding("pair", "next").tables[0].columns]
    assert "tells most about" not in other
    assert finding("pair that is level", "next").charts == ()
    assert "expected fall of the variance" in finding("pair", "next").methods


def test_a_design_lies_on_its_line_and_the_pilot_is_marked():
    chart = finding("ranking", "power").charts[0]
    plan, _ = found("ranking")
    designs, *curves = chart.lines
    assert designs.points == sorted((float(one.items), one.power) for one in plan.designs)
    by_name = {f"{one.votes_per_item} vote{'s' * (one.votes_per_item > 1)}": one
               for one in plan.designs}  # fmt: skip
    names = [line.name for line in curves]
    assert len(names) <= 4 and names[0] == "1 vote" and names[-1] == list(by_name)[-1]
    for line in curves:
        one = by_name[line.name]
        below = [power for items, power in line.points if items <= one.items]
        above = [power for items, power in line.points if items >= one.items]
        assert below[-1] <= one.power + 1e-12 and above[0] >= one.power - 1e-12
    assert chart.marks == ((60.0, "pilot"),) and chart.logarithmic


@SOME
def test_texts_hold_every_table_in_three_formats(name):
    plan, wanted = found(name)
    files = texts(report_of(name))
    tables = [path for path in files if path.startswith("tables/")]
    assert len(tables) % 3 == 0
    if plan.designs:
        rows = list(csv.DictReader(io.StringIO(files["tables/plan_designs.csv"])))
        assert [int(row["items"]) for row in rows] == [one.items for one in plan.designs]
    several = len(getattr(plan, "pairs", [plan])) > 1
    assert ("tables/plan_pairs.tex" in files) == several
    listed = wanted is not None and len(wanted.items) > 0
    assert ("tables/plan_next.md" in files) == listed
    assert ("owen1956" in files["references.bib"]) == listed


def test_the_methods_say_what_was_run_and_nothing_else():
    said = texts(report_of("pair"))["methods.md"]
    assert "20 studies simulated" in said and "a probability of 80%" in said
    assert "expected fall of the variance" in said
    said = finding("ranking", "verdict").methods
    assert "simulated" not in said and "with a probability of at least 80% (1 minus" in said
    assert "the order of 4 models" in said
    level_ = finding("pair that is level", "verdict").methods
    assert "difference in the pilot is 0" in level_ and "this takes" not in level_


def test_only_the_hardest_pair_is_simulated(monkeypatch):
    given, table = study(noise=(0.3, 0.5, 0.7, 0.9))
    drawn = []

    def share(two, items, votes, *_, **__):
        drawn.append((two.a, two.b, items, votes))
        return 0.5, 0.05

    monkeypatch.setattr("equipoise.planning.size.simulated_power", share)
    plan = plan_ranking(given, table, simulations=8, votes=(3, 1, 9))
    assert [one.votes_per_item for one in plan.designs] == [1, 3, 9]
    assert drawn == [(one.a, one.b, one.items, one.votes_per_item) for one in plan.designs[:2]]
    assert [one.simulated for one in plan.designs[:2]] == [0.5, 0.5]
    assert math.isnan(plan.designs[2].simulated)
    said = [str(one) for one in plan.notices]
    assert any("do not bear out the formula for 1, 3 votes per item" in one for one in said)
    assert any("rest on the formula alone" in one for one in said)
    methods = plan.reports()[0].methods
    assert "1, 3 votes per item were checked for the pair hardest to tell apart by 8" in methods


def test_two_models_are_planned_as_a_pair_or_as_a_ranking_alike():
    given, table = study(noise=(0.3, 0.6))
    how = {"simulations": 10, "votes": (1, 4)}
    ranked, alone = plan_ranking(given, table, **how), plan_size(given, table, **how)
    one, other = (as_json(plan_report(each)) for each in (ranked, alone))
    assert one["findings"] == other["findings"]
    assert list(map(str, ranked.notices)) == list(map(str, alone.notices))


def test_only_plans_are_taken():
    for wrong in ((), ("a",), [1]):
        with pytest.raises(InputError):
            plan_report(wrong)


def test_a_ranking_of_chexpert_is_planned_and_small():
    if not (Path(os.environ.get("EQUIPOISE_DATA", "missing")) / "chexpert").exists():
        pytest.skip("the CheXpert files are not in EQUIPOISE_DATA")
    from equipoise.datasets import chexpert

    data = chexpert()
    done = plan_ranking(data.predictions, data.annotations, task="Atelectasis", simulations=0)
    assert [one.state for one in done.pairs].count("tied") == 3
    assert "the other 6 pairs of neighbours" in done.finding
    assert all(0.8 <= one.power < 0.801 for one in done.designs)
    close = plan_ranking(data.predictions, data.annotations, task="Edema", simulations=0)
    alone = [design.items for one in close.planned for design in one.designs[-2:-1]]
    assert close.designs[-2].votes_per_item == 8
    assert max(alone) == 105_153 < close.designs[-2].items == 122_063
    assert len(page.render(plan_report(done)).encode()) < 120_000
