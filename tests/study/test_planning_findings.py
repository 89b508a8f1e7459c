"""What a plan says: the findings are what the plan found, in every case that can happen."""

import csv
import io
import json
import os
import re
from dataclasses import replace
from functools import cache
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from equipoise.report import page
from equipoise.report.text import texts
from equipoise.study.planning import (
    next_items,
    plan_report,
    plan_size,
)
from equipoise.study.planning.findings import _source_shares
from equipoise.types import Annotations, InputError, Predictions, as_json, in_command, worded

BAD = "\"'><img src=x onerror=alert(1)><!--\x00\u202e"
LONG = "a-name-that-never-ends-" * 6
ALWAYS = {"verdict"}
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
        given, table, simulations=20, difference=0.1, price_item=1, price_vote=0.25
    )
    return done, next_items(given, table, number=20)


def ranking(noise=(0.3, 0.5, 0.7, 0.9), number=60, **how):
    given, table = study(noise=noise, **how)
    plan = plan_size(given, table, simulations=0, difference=0.08, ranking=True)
    return plan, next_items(given, table, number=number, ranking=True)


def level():
    given, table = study(noise=(0.4, 0))
    return plan_size(given, table), next_items(given, table, number=5)


def undecided():
    given, table = study(noise=(0.4, 0.41))
    return plan_size(given, table), None


def undecided_order():
    given, table = study(noise=(0.1, 0.9, 0.91))
    return plan_size(given, table, simulations=0, ranking=True), None


def one_way():
    table = Annotations.from_counts(np.tile([0, 2], (12, 1))).against("1")
    two = [
        Predictions(name, table.items, np.full(12, s)) for name, s in (("a", 0.9), ("b", 0.1))
    ]
    return plan_size(two, table, metric="brier_score"), None


def known_truths():
    given, table = study(noise=(0.4, 0.6, 0.9), votes=1)
    sure = replace(table, is_gold=np.ones(len(table.item), dtype=bool))
    plan = plan_size(given, sure, simulations=0, difference=0.1, ranking=True)
    return plan, next_items(given, sure, ranking=True)


def nights():
    given, table = study(items=120)
    table = replace(
        table, group=np.repeat(np.arange(20), 6), groups=tuple(f"n{k}" for k in range(20))
    )
    return plan_size(given, table, simulations=10, difference=0.1, votes=(2, 9)), None


def unreachable():
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
    return plan_size(two, table, difference=0.1, simulations=0), None


PLANS = {
    "pair": pair,
    "pair of strangers": lambda: pair(people=False),
    "pair with one vote": lambda: pair(votes=1),
    "pair by nights": nights,
    "pair out of reach": unreachable,
    "pair that is open": undecided,
    "pair that is level": level,
    "pair that goes one way": one_way,
    "ranking": ranking,
    "ranking that is open": undecided_order,
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
    assert charts("pair") == {"plan-interval", "plan-power", "plan-next"}
    assert "plan-power" in charts("pair with one vote")
    assert charts("pair that is open") == charts("pair that goes one way") == {"plan-interval"}
    assert set(page.figures(report_of("ranking"))) == charts("ranking")


def test_the_pair_is_told_as_it_was_planned():
    done, _ = found("pair")
    designs = rows_of("pair", "plan_designs")
    assert [one.items for one in designs] == [one.items for one in done.designs]
    assert done.recommended.cost == min(one.cost for one in designs)
    shapes = done.pairs[0].shapes()[:5]
    for row in rows_of("pair", "plan_grid"):
        for place, shape in enumerate(shapes):
            power = done.power(row.items, shape)
            assert getattr(row, f"power_{place}") == pytest.approx(power)
    part = finding("pair", "designs")
    assert f"The cheapest of {len(designs)} designs" in part.sentence
    heads = {column.key for column in part.tables[0].columns}
    assert {"annotators", "items", "cost", "power", "simulated", "monte_carlo_error"} <= heads
    assert not {"a", "b", "pair_power"} & set(part.tables[0].rows[0])
    planned = rows_of("pair", "plan_intervals")[1]
    best = done.recommended
    half = done.pairs[0].components.spread(best.groups, best.shape).half_width()
    assert planned.high - planned.value == pytest.approx(half)


@pytest.mark.parametrize("name", ["ranking", "ranking with twins", "ranking with one vote"])
def test_a_ranking_is_planned_for_the_power_asked_and_no_more(name):
    plan, _ = found(name)

    def joint(units, shape):
        own = [one.power(units, shape) for one in plan.pairs if one.designs]
        return 1 - sum(1 - power for power in own), min(own)

    for one in plan.designs:
        power, least = joint(one.groups, one.shape)
        assert one.power == pytest.approx(power) and one.pair_power == pytest.approx(least)
        assert power >= 0.8 > joint(one.groups - 1, one.shape)[0]
    best = plan.recommended
    known = [row for row in rows_of(name, "plan_pairs") if row.state == "planned"]
    assert plan.hardest.pair == f"{best.a} / {best.b}"
    assert min(row.power_in_study for row in known) == best.pair_power
    assert all(row.items <= best.items for row in known)
    missed = sum(1 - row.power_in_study for row in known)
    assert 1 - missed == pytest.approx(best.power)
    for words in (f"{best.items:,} items", f"{best.a} and {best.b}", "at least 80%"):
        assert words in plan.finding


def test_what_no_number_of_items_reaches_is_said():
    done, _ = found("pair out of reach")
    assert (
        done.pairs[0].state == "out of reach"
        and "no number of items reaches it" in done.finding
    )
    source = finding("pair out of reach", "verdict").more[1]
    assert "on who annotates (" in source and "other people do" in source


@pytest.mark.parametrize("name", ["pair that is open", "pair out of reach"])
def test_a_share_below_a_half_is_nobodys_most(name):
    """What moves a difference most is often open: `components` says so of the same pair."""
    source = finding(name, "verdict").more[1]
    assert "puts the largest part of the uncertainty" in source and "Most" not in source


def test_a_pilot_that_is_open_says_so_everywhere():
    part = finding("pair that is open", "verdict")
    assert part.sentence.startswith("Not plannable from this pilot")
    assert "includes 0" in part.sentence and "scores better" in part.more[0]
    assert "one that matters (--difference VALUE)" in in_command(part.sentence)
    states = {row.state for row in rows_of("ranking that is open", "plan_pairs")}
    assert states == {"planned", "not plannable"}
    said = found("ranking that is open")[0].finding
    assert "are not surely apart in it" in said and "difference=..." in said


def test_designs_by_nights_name_groups():
    done, _ = found("pair by nights")
    heads = [column.head for column in finding("pair by nights", "designs").tables[0].columns]
    assert heads.index("items per group") + 1 == heads.index("groups needed")
    part = finding("pair by nights", "designs")
    for row, one in zip(part.tables[0].rows, done.designs, strict=True):
        assert row["items_per_group"] * row["groups"] == row["items"] == one.items
    assert "groups" in part.sentence and "Going from items" not in part.sentence
    assert " in 20 groups with " in finding("pair by nights", "verdict").more[0]
    assert {one.votes_per_item for one in done.designs} == {2, 3, 5, 8, 9}
    assert all(
        _source_shares(done.pairs[0])[name] >= 0 for name in ("groups", "items", "votes")
    )


def test_parts_of_the_uncertainty_add_up():
    done, _ = found("pair")
    share = _source_shares(done.pairs[0])
    assert sum(share.values()) == pytest.approx(1)
    whole = done.pairs[0].standard_error(60, done.pairs[0].pilot_shape) ** 2
    assert share["items"] * whole == pytest.approx(done.pairs[0].components.items / 60)
    assert share["annotators"] * whole == pytest.approx(done.pairs[0].components.annotators / 4)
    assert share["votes"] * whole == pytest.approx(done.pairs[0].components.votes / 240)
    most = max(share.values())
    assert f"({most:.0%} of the variance)" in finding("pair", "verdict").more[1]


def test_one_vote_per_item_says_that_votes_are_not_known():
    for name in ("pair with one vote", "ranking with one vote"):
        assert "No item of the pilot has two votes" in finding(name, "verdict").more[1]
        assert "One design reaches it" in finding(name, "designs").sentence
        assert "1 votes" not in finding(name, "verdict").methods


def test_what_is_tied_is_said_and_the_rest_is_planned():
    states = [one.state for one in rows_of("ranking with twins", "plan_pairs")]
    assert sorted(states) == ["planned", "tied"]
    plan, _ = found("ranking with twins")
    assert "No study can be planned for the whole order" in plan.finding
    assert "the other pair of neighbours" in plan.finding
    sentence = finding("ranking with twins", "pairs").sentence
    assert "No size can be planned for 1 pair." in sentence
    assert "No size could be planned for" in finding("ranking with twins", "verdict").methods
    none, _ = found("ranking of twins")
    assert none.recommended is None and none.designs == ()
    assert none.finding.count("tied in the pilot") == 1 and "collect" not in none.finding
    flat, _ = found("pair that goes one way")
    assert flat.pairs[0].state == "no spread"
    assert "no uncertainty to divide" in finding("pair that goes one way", "verdict").more[1]


def test_notices_name_the_pairs_they_are_about_and_come_once():
    plan, _ = found("ranking with one vote")
    codes = [one.code for one in plan.notices]
    assert codes.count("single_votes") == 1
    assert not next(one for one in plan.notices if one.code == "single_votes").about
    each = [one for pair_ in plan.pairs for one in pair_.notices]
    assert {one.code for one in each} <= set(codes)
    said = worded(plan.notices)
    assert len(said) == len(set(said)) == len(plan.notices)


def test_known_truths_are_said_to_be_no_votes():
    name = "ranking by known truths"
    assert found(name)[0].pairs[0].pilot_votes == 0
    part = finding(name, "next")
    assert "No vote on any item" in part.sentence and part.tables == ()
    assert "60 items with a known truth each" in finding(name, "verdict").methods
    assert "60 items with a known truth each" in " ".join(report_of(name).known)


def test_the_methods_say_what_was_run_and_nothing_else():
    said = texts(report_of("pair"))["methods.md"]
    assert "by 20 studies each" in said and "a probability of 80%" in said
    assert "expected fall of the variance" in said
    said = finding("ranking", "verdict").methods
    assert "simulated" not in said and "with a probability of at least 80% (1 minus" in said
    assert "the order of 4 models" in said
    level_ = finding("pair that is level", "verdict").methods
    assert "difference in the pilot is 0" in level_ and "this takes" not in level_


def test_only_the_hardest_pair_is_simulated(monkeypatch):
    given, table = study(noise=(0.3, 0.5, 0.7, 0.9))
    drawn = []

    def share(parts, units, shape, *_):
        drawn.append((parts, units, shape))
        return 0.5, 0.05

    monkeypatch.setattr("equipoise.study.planning.size.simulated_power", share)
    plan = plan_size(
        given, table, simulations=8, difference=0.1, annotators=(8, 12), ranking=True
    )
    hard = [next(two for two in plan.pairs if (two.a, two.b) == (one.a, one.b))
            for one in plan.designs]  # fmt: skip
    wanted = [
        (two.components, one.groups, one.shape)
        for two, one in zip(hard, plan.designs, strict=True)
    ]
    assert sorted(drawn, key=str) == sorted(wanted, key=str)  # threads end in any order
    assert [one.simulated for one in plan.designs] == [0.5, 0.5]
    assert any("find less than was promised for" in str(one) for one in plan.notices)
    assert "checked for the pair hardest to tell apart by 8" in plan.reports()[0].methods


def test_two_models_are_planned_as_a_pair_or_as_a_ranking_alike():
    given, table = study(noise=(0.3, 0.6))
    how = {"simulations": 10, "difference": 0.1, "annotators": (5, 8)}
    ranked, alone = plan_size(given, table, **how, ranking=True), plan_size(given, table, **how)
    one, other = (as_json(plan_report(each)) for each in (ranked, alone))
    assert one["findings"] == other["findings"]
    assert list(map(str, ranked.notices)) == list(map(str, alone.notices))


def test_a_ranking_of_chexpert_is_planned_and_small():
    if not (Path(os.environ.get("EQUIPOISE_DATA", "missing")) / "chexpert").exists():
        pytest.skip("the CheXpert files are not in EQUIPOISE_DATA")
    from equipoise.datasets import load_chexpert

    data = load_chexpert()
    how = {"task": "Atelectasis", "simulations": 0, "annotators": (5, 8, 20)}
    done = plan_size(data.predictions, data.annotations, difference=0.02, **how, ranking=True)
    assert [one.state for one in done.pairs].count("tied") == 3
    assert "the other 6 pairs of neighbours" in done.finding
    assert all(0.8 <= one.power < 0.82 for one in done.designs)
    assert len(page.render(plan_report(done)).encode()) < 120_000


def test_a_ranking_of_two_is_a_pair():
    report = report_of("ranking of two")
    assert ("Goal", "pair") in report.settings
    assert report.findings[0].sentence == found("ranking of two")[0].pairs[0].finding


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
    assert "owen2007" in files["references.bib"]


def test_only_plans_are_taken():
    for wrong in ((), ("a",), [1]):
        with pytest.raises(InputError):
            plan_report(wrong)
