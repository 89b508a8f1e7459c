"""The page of a plan: what it claims is what the plan found, in every case that can happen."""

import csv
import io
import json
import math
import os
import re
from dataclasses import replace
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from statistics import NormalDist
from xml.etree import ElementTree

import numpy as np
import pytest
from equipoise.planning._together import items_needed
from equipoise.planning._words import DEPENDS, LEANING, OPEN, TRUST
from equipoise.planning.next_for_ranking import next_for_ranking

from equipoise.annotations import Annotations
from equipoise.arrays import InputError
from equipoise.export.plan_texts import plan_methods, plan_texts
from equipoise.planning import next_items, plan_ranking, plan_size
from equipoise.predictions import Predictions
from equipoise.report.plan_curves import Curve, Field, chances, tens
from equipoise.report.plan_page import SECTIONS, PlanPage, figures, render_plan
from equipoise.run.planning import plan_facts
from tests.report_stability_sample import BAD, LONG

SPACE = "{http://www.w3.org/2000/svg}"
ALWAYS = {"verdict", "doubt"}
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
def facts_of(name):
    return plan_facts(*found(name))


class Reader(HTMLParser):
    """Collects what a page is made of."""

    def __init__(self, page):
        super().__init__()
        self.tags, self.attributes, self.words = [], [], []
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += [(tag, *pair_) for pair_ in attrs]

    def handle_data(self, data):
        self.words.append(data)


def section(page, anchor):
    """Words of one section."""
    part = page.split(f"<section id={anchor} ")[1].split("</section>")[0]
    return " ".join(" ".join(Reader(f"<section {part}").words).split())


@SOME
def test_the_facts_are_json_and_the_page_is_the_same_every_time(name):
    facts = facts_of(name)
    again = json.loads(json.dumps(facts, allow_nan=False))
    assert again == facts
    page = render_plan(facts)
    assert render_plan(again) == page
    assert len(page.encode()) < 200_000


@SOME
def test_sections_are_those_that_there_is_something_to_say_in(name):
    facts = facts_of(name)
    page = render_plan(facts)
    anchors = set(re.findall(r"<section id=(\w+) ", page))
    wanted = PLANNED if facts["recommended"] else ALWAYS
    wanted = wanted | ({"pairs"} if len(facts["models"]) > 2 else set())
    wanted = wanted | ({"next"} if facts["next"] else set())
    assert anchors == wanted | {"method"}
    for anchor in wanted:
        words = section(page, anchor)
        assert words.startswith(SECTIONS[anchor].title)
        assert ("Numbers: " in words) == (anchor != "next" or len(facts["next"]["rows"]) > 0)
    clean = re.sub("[\x00\u202e]", "\ufffd", facts["finding"])
    assert " ".join(clean.split()) in section(page, "verdict")


@SOME
def test_nothing_is_asked_for_and_no_name_becomes_markup(name):
    page = render_plan(facts_of(name), PlanPage(BAD, BAD, (BAD,), BAD))
    read = Reader(page)
    assert not {"img", "iframe", "object", "b"} & set(read.tags)
    assert read.tags.count("script") == 1
    links = [one for _, key, one in read.attributes if key in {"href", "src"}]
    assert all(one == "data:," or one.startswith("#") for one in links)
    assert not [key for _, key, _ in read.attributes if key.startswith("on") or key == "style"]
    anchors = [one for _, key, one in read.attributes if key == "id"]
    assert len(anchors) == len(set(anchors))
    assert {one[1:] for one in links if one.startswith("#")} <= set(anchors)
    shown = re.sub(r"<(script|style)>.*?</\1>", "", page, flags=re.DOTALL)
    assert not re.search(r"\b(nan|inf|None)\b", shown)


@SOME
def test_figures_are_xml_with_their_own_style(name):
    drawn = figures(facts_of(name))
    assert set(drawn) <= {
        "plan-interval", "plan-power", "plan-items", "plan-cost", "plan-votes",
        "plan-doubt-pilot", "plan-doubt-planned", "plan-pairs", "plan-pair-differences",
        "plan-next",
    }  # fmt: skip
    for made in drawn.values():
        tree = ElementTree.fromstring(made)
        assert tree.tag == f"{SPACE}svg" and tree.get("aria-label")
        assert "var(" not in made
        assert not re.search(r"[\"',(](nan|-?inf)", made)
    assert render_plan(facts_of(name)).count("<svg") == len(drawn)


def test_each_plan_has_the_figures_it_can_have():
    assert set(figures(facts_of("pair"))) == {
        "plan-interval", "plan-power", "plan-items", "plan-cost", "plan-doubt-pilot",
        "plan-doubt-planned", "plan-next",
    }  # fmt: skip
    assert {"plan-pairs", "plan-pair-differences", "plan-votes"} <= set(
        figures(facts_of("ranking"))
    )
    single = set(figures(facts_of("pair with one vote")))
    assert "plan-power" in single and not {"plan-items", "plan-cost"} & single
    assert set(figures(facts_of("pair that goes one way"))) == {"plan-interval"}


def test_the_pair_is_told_as_it_was_planned():
    (done, _), facts = found("pair"), facts_of("pair")
    assert facts["goal"] == "pair" and facts["finding"] == done.finding
    assert facts["designs"][0]["items"] == done.designs[0].items
    best = facts["recommended"]
    assert best["cost"] == done.cheapest.cost == min(one["cost"] for one in facts["designs"])
    for one in facts["power"]:
        assert one["power"] == pytest.approx(done.power(one["items"], one["votes_per_item"]))
    for row, wanted in zip(facts["grid"], done.grid(), strict=True):
        for key, one in wanted.items():
            assert float(row[key]) == pytest.approx(one), key
    words = section(render_plan(facts), "designs")
    for one in facts["designs"]:
        assert f"{one['items']:,} ± {one['items_error']:,.0f}" in words
    assert "not simulated" in words and "The cheapest of 4 designs" in words


def whole_chance(plan, items, votes):
    """Least chance that all pairs are told apart, from each pair's own."""
    z = NormalDist().inv_cdf(0.975)
    own = [
        NormalDist().cdf(one.resolved / one.standard_error(items, votes) - z)
        for one in plan.pairs
        if one.designs
    ]
    return 1 - sum(1 - chance for chance in own), min(own)


@pytest.mark.parametrize("name", ["ranking", "ranking with twins", "ranking with one vote"])
def test_a_ranking_is_planned_for_the_chance_asked_and_no_more(name):
    (plan, _), facts = found(name), facts_of(name)
    assert facts["settings"]["power"] == 0.8 and "pair_power" not in facts["settings"]
    for one in facts["designs"]:
        chance, least = whole_chance(plan, one["items"], one["votes_per_item"])
        assert one["power"] == pytest.approx(chance)
        assert one["pair_power"] == pytest.approx(least)
        assert chance >= 0.8 > whole_chance(plan, one["items"] - 1, one["votes_per_item"])[0]
    best = facts["recommended"]
    known = [row for row in facts["pairs"] if row["state"] == "planned"]
    hard = max(known, key=lambda row: row["items"])
    assert facts["hardest"] == {"a": hard["a"], "b": hard["b"]}
    assert (hard["a"], hard["b"]) == (best["a"], best["b"])
    assert hard["power_in_study"] == min(row["power_in_study"] for row in known)
    assert hard["items"] <= best["items"]
    for words in (f"{best['items']:,} items", f"{hard['a']} and {hard['b']}", "at least 80%"):
        assert words in facts["finding"]


def test_each_pair_keeps_what_it_needs_alone():
    (plan, _), facts = found("ranking"), facts_of("ranking")
    given, table = study(noise=(0.3, 0.5, 0.7, 0.9))
    best = facts["recommended"]
    for row, one in zip(facts["pairs"], plan.pairs, strict=True):
        alone = plan_size(given, table, models=(one.a, one.b), simulations=0)
        assert one.designs == alone.designs
        assert row["items"] <= best["items"]
        power = one.power(best["items"], best["votes_per_item"])
        assert row["power_in_study"] == pytest.approx(power)
    missed = sum(1 - row["power_in_study"] for row in facts["pairs"])
    assert 1 - missed == pytest.approx(best["power"]) and best["power"] < 0.81
    assert "items needed alone" in section(render_plan(facts), "pairs")


def test_the_doubt_about_the_items_is_that_of_the_spreads():
    """Widen every spread by a little: as many more items are needed as the slope says."""
    plan, _ = found("ranking")
    best = plan.recommended
    for step in (0.9, 1.1):
        wider = [
            replace(one, spread=replace(one.spread, items=one.spread.items * math.sqrt(step),
                                        votes=one.spread.votes * math.sqrt(step)))
            for one in plan.pairs
        ]  # fmt: skip
        needed = items_needed(wider, best.votes_per_item, 0.8)
        assert needed == pytest.approx(best.items * step, rel=1e-3, abs=1)
    doubts = [one.spread.doubt(best.votes_per_item) for one in plan.pairs]
    assert min(doubts) <= best.items_error / best.items <= max(doubts)


def test_curves_contours_and_designs_meet():
    (plan, _), facts = found("ranking"), facts_of("ranking")
    assert sorted({one["power"] for one in facts["contours"]}) == [0.5, 0.8, 0.95]
    for one in facts["contours"]:
        votes = one["votes_per_item"]
        assert whole_chance(plan, one["items"], votes)[0] >= one["power"] - 1e-9
        assert whole_chance(plan, one["items"] - 1, votes)[0] < one["power"]
    asked = {one["votes_per_item"]: one["items"] for one in facts["contours"]
             if one["power"] == 0.8}  # fmt: skip
    for one in facts["designs"]:
        assert asked[one["votes_per_item"]] == one["items"]
        reached = [row["items"] for row in facts["power"]
                   if row["votes_per_item"] == one["votes_per_item"]
                   and row["power"] >= 0.8]  # fmt: skip
        assert min(reached) >= one["items"] > min(reached) / 1.6
    for row in facts["grid"]:
        votes = float(row["votes_needed"])
        if math.isinf(votes):
            assert whole_chance(plan, row["items"], 1e9)[0] < 0.8
        else:
            assert whole_chance(plan, row["items"], votes)[0] >= 0.8 - 1e-9
            assert votes == 1 or whole_chance(plan, row["items"], votes - 1)[0] < 0.8


def test_the_chance_promised_holds_when_pairs_are_drawn_apart():
    """Studies of normal differences, which share nothing: the bound is nearly exact."""
    plan, _ = found("ranking")
    best, z = plan.recommended, NormalDist().inv_cdf(0.975)
    random = np.random.default_rng(3)
    size = (best.items, best.votes_per_item)
    reach = np.array([one.resolved / one.standard_error(*size) for one in plan.pairs])
    found_all = (random.normal(reach, 1, (100_000, len(reach))) > z).all(axis=1).mean()
    assert 0.8 - 0.005 < found_all < 0.82


def test_a_ranking_of_two_is_a_pair():
    facts = facts_of("ranking of two")
    assert facts["goal"] == "pair"
    assert facts["finding"] == found("ranking of two")[0].pairs[0].finding


def test_parts_of_the_doubt_are_those_of_the_spread():
    (done, _), facts = found("pair"), facts_of("pair")
    parts = {one["source"]: one for one in facts["components"]}
    assert sum(one["pilot_share"] for one in parts.values()) == pytest.approx(1)
    square = sum(one["pilot"] ** 2 for one in parts.values())
    assert square == pytest.approx(done.spread.pilot**2 + done.spread.panel**2)
    best = facts["recommended"]
    error = math.hypot(parts["items"]["planned"], parts["votes"]["planned"])
    assert error == pytest.approx(done.standard_error(best["items"], best["votes_per_item"]))
    most = max(parts.values(), key=lambda one: one["pilot_share"])
    assert f"({most['pilot_share']:.0%} of the variance)" in facts["components_finding"]
    planned = facts["intervals"][1]
    assert planned["high"] - planned["value"] == pytest.approx(1.95996 * error, rel=1e-4)


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
    facts = plan_facts(plan_size(two, table, simulations=0))
    assert "comes from who votes" in facts["components_finding"]
    assert "other people do" in facts["components_finding"]
    assert facts["components"][2]["planned"] == facts["components"][2]["pilot"] > 0


def test_one_vote_per_item_says_that_votes_are_not_known():
    for name in ("pair with one vote", "ranking with one vote"):
        facts = facts_of(name)
        assert "No item of the pilot has two votes" in facts["components_finding"]
        page = render_plan(facts)
        words = section(page, "doubt")
        assert "items and votes" in words and "not known" in words
        assert "1 vote each" in section(page, "power")
        assert "One design was looked at" in section(page, "designs")
        assert "1 votes" not in page
        assert "was not told apart" in plan_methods(facts)
        assert "1 votes" not in plan_methods(facts)


def test_what_is_level_is_said_and_the_rest_is_planned():
    facts = facts_of("ranking with twins")
    states = [one["state"] for one in facts["pairs"]]
    assert sorted(states) == ["level", "planned"]
    assert "No study can be planned for the whole order" in facts["finding"]
    assert "the other pair of neighbours" in facts["finding"]
    words = section(render_plan(facts), "pairs")
    assert "No size can be planned for 1 pair." in words and "level in the pilot" in words
    assert "No size could be planned for" in plan_methods(facts)
    none = facts_of("ranking of twins")
    assert none["recommended"] is None and none["designs"] == []
    assert none["finding"].count("level in the pilot") == 1
    assert "collect" not in none["finding"]
    flat = facts_of("pair that goes one way")
    assert "no doubt to divide" in flat["components_finding"]
    assert flat["pairs"][0]["state"] == "no spread"


def test_notices_name_the_pairs_they_are_about_and_come_once():
    (plan, _), facts = found("ranking with one vote"), facts_of("ranking with one vote")
    shared = [one for one in facts["notices"] if one.startswith("No item of the pilot")]
    assert len(shared) == 1
    alike = [one for one in facts["notices"] if OPEN in one]
    each = [one for pair_ in plan.pairs for one in pair_.notices]
    assert len(alike) <= 1 < sum(OPEN in one for one in each)
    assert facts["notices"] == list(plan.notices)
    for notice in each:
        told = OPEN if OPEN in notice else LEANING if LEANING in notice else notice
        assert any(told in one for one in facts["notices"])
    assert any("hardly differ" in one for one in facts_of("ranking of the long")["notices"])
    page = render_plan(facts, PlanPage(notices=("first", "first")))
    assert page.count("<li>first") == 1


def test_known_truths_are_said_to_be_no_votes():
    facts = facts_of("ranking by known truths")
    assert facts["pilot"]["votes_per_item"] == 0 and facts["next"]["rows"] == []
    assert "No vote on any item" in section(render_plan(facts), "next")
    assert "60 items, a known truth each" in " ".join(Reader(render_plan(facts)).words)
    methods = plan_methods(facts)
    assert "60 items with a known truth each" in methods
    assert "single votes" not in methods and "further annotation" not in methods


def test_a_difference_that_depends_on_votes_is_said_once():
    given, table = study(noise=(0.1, 0.4, 0.7), votes=3)
    plan = plan_ranking(given, table, metric="total_variation", simulations=0)
    each = [one for pair_ in plan.pairs for one in pair_.notices if DEPENDS in one]
    assert len(each) == 2 and each[0] != each[1]
    told = [one for one in plan_facts(plan)["notices"] if DEPENDS in one]
    assert told == [f"By this metric {DEPENDS}. {TRUST}"]


def test_items_that_come_next_are_listed_with_their_gain():
    (_, wanted), facts = found("ranking"), facts_of("ranking")
    assert facts["next"]["goal"] == "ranking"
    assert [one["item"] for one in facts["next"]["rows"]] == list(wanted.items)
    words = section(render_plan(facts), "next")
    assert wanted.finding in words and "first 50 of 60" in words
    assert f"{wanted.gain[0]:.2g}" in words and "tells most about" in words
    assert facts_of("pair")["next"]["goal"] == "pair"
    assert "tells most about" not in section(render_plan(facts_of("pair")), "next")
    assert "plan-next" not in figures(facts_of("pair that is level"))


def test_a_design_lies_on_its_line_and_the_chance_asked_for_where_it_is():
    points = tuple((10.0**n, n / 4) for n in range(1, 5))
    field = Field("h", "s", 0.5, 100.0)
    made = chances(field, [Curve("1 vote", "m0", points, (100.0, 0.5))])
    line = re.search(r"<path class=cv d=M([\d.,L]+)", made)[1].split("L")
    (dot,) = re.findall(r"<path class=d d=M([\d.]+,[\d.]+)h0", made)
    assert dot == line[1]
    (asked,) = re.findall(r"<path class=ref d=M[\d.]+,([\d.]+)h", made)
    (pilot,) = re.findall(r"<path class=ref d=M([\d.]+),[\d.]+v", made)
    assert f"{pilot},{asked}" == dot
    assert chances(field, [Curve("1 vote", "m0", points[:1], (10.0, 0.5))]) is None


@pytest.mark.parametrize(("low", "high"), [(3, 6), (90, 2400), (166, 9e7), (20_000, 25_000)])
def test_ticks_lie_inside_and_have_room(low, high):
    ticks = tens(low, high)
    assert 2 <= len(ticks) <= 7
    assert all(low - 1 <= one <= high + 1 for one in ticks)


@SOME
def test_texts_hold_every_table_in_three_formats(name):
    facts = facts_of(name)
    texts = plan_texts(facts)
    tables = [path for path in texts if path.startswith("tables/")]
    assert len(tables) % 3 == 0 and {"methods.md", "references.bib"} <= set(texts)
    if facts["recommended"]:
        rows = list(csv.DictReader(io.StringIO(texts["tables/plan_designs.csv"])))
        assert [int(row["items"]) for row in rows] == [one["items"] for one in facts["designs"]]
    assert ("tables/plan_pairs.tex" in texts) == (facts["goal"] == "ranking")
    listed = facts["next"] is not None and len(facts["next"]["rows"]) > 0
    assert ("tables/plan_next.md" in texts) == listed
    assert ("owen1956" in texts["references.bib"]) == listed
    for key in re.findall(r"@\w+\{(\w+),", texts["references.bib"]):
        assert texts["references.bib"].count(f"{{{key},") == 1


def test_the_methods_say_what_was_run_and_nothing_else():
    said = plan_methods(facts_of("pair"))
    assert "20 studies simulated" in said and "a chance of 80 %" in said
    assert "expected fall of the variance" in said
    said = plan_methods(facts_of("ranking"))
    assert (
        "simulated" not in said and "together with a chance of at least 80 % (1 minus" in said
    )
    assert "the order of 4 models" in said
    level_ = plan_methods(facts_of("pair that is level"))
    assert "difference in the pilot is 0" in level_ and "this takes" not in level_


def test_only_the_hardest_pair_is_simulated(monkeypatch):
    given, table = study(noise=(0.3, 0.5, 0.7, 0.9))
    drawn = []

    def share(two, design, *_):
        drawn.append((two.a, two.b, *design))
        return 0.5, 0.05

    monkeypatch.setattr("equipoise.planning.size.simulated_power", share)
    plan = plan_ranking(given, table, simulations=8, votes=(3, 1, 9))
    facts = plan_facts(plan)
    assert [one.votes_per_item for one in plan.designs] == [1, 3, 9]
    assert drawn == [(one.a, one.b, one.items, one.votes_per_item) for one in plan.designs[:2]]
    assert [one["simulated"] for one in facts["designs"]] == [0.5, 0.5, None]
    assert facts["settings"]["simulations"] == 8
    assert any("do not bear out the formula for 1, 3 votes per item" in one
               for one in facts["notices"])  # fmt: skip
    assert any("rest on the formula alone" in one for one in facts["notices"])
    said = plan_methods(facts)
    assert "1, 3 votes per item were checked for the pair hardest to tell apart by 8" in said


def test_two_models_are_planned_as_a_pair_or_as_a_ranking_alike():
    given, table = study(noise=(0.3, 0.6))
    how = {"simulations": 10, "votes": (1, 4)}
    ranked, alone = plan_ranking(given, table, **how), plan_size(given, table, **how)
    assert plan_facts(ranked)["designs"] == plan_facts(alone)["designs"]
    assert plan_facts(ranked)["grid"] == plan_facts(alone)["grid"]
    assert ranked.notices == alone.notices


def test_only_plans_are_taken():
    for wrong in ((), ("a",), [1]):
        with pytest.raises(InputError):
            plan_facts(wrong)


def test_a_ranking_of_chexpert_is_planned_and_small():
    if not (Path(os.environ.get("EQUIPOISE_DATA", "missing")) / "chexpert").exists():
        pytest.skip("the CheXpert files are not in EQUIPOISE_DATA")
    from equipoise.datasets import chexpert

    data = chexpert()
    done = plan_ranking(data.predictions, data.annotations, task="Atelectasis", simulations=0)
    facts = plan_facts(done)
    assert [one["state"] for one in facts["pairs"]].count("level") == 3
    assert "the other 6 pairs of neighbours" in facts["finding"]
    assert all(0.8 <= one["power"] < 0.801 for one in facts["designs"])
    close = plan_ranking(data.predictions, data.annotations, task="Edema", simulations=0)
    alone = [design.items for one in close.planned for design in one.designs[-2:-1]]
    assert close.designs[-2].votes_per_item == 8
    assert max(alone) == 105_153 < close.designs[-2].items == 122_063
    assert len(render_plan(facts).encode()) < 100_000


@pytest.fixture(scope="module")
def browser():
    from tests.test_report_browser import CHROMIUM, FLAGS, playwright

    if not CHROMIUM.exists():
        pytest.skip(f"the page is tried in a browser only where {CHROMIUM} is")
    with playwright.sync_playwright() as driver:
        started = driver.chromium.launch(executable_path=str(CHROMIUM), args=FLAGS)
        yield started
        started.close()


@pytest.fixture
def visit(browser, tmp_path):
    contexts = []

    def open_page(name, **how):
        file = tmp_path / "plan.html"
        about = PlanPage(f"{name}{BAD}", LONG, (BAD,), BAD)
        file.write_text(render_plan(facts_of(name), about), encoding="utf-8")
        how.setdefault("viewport", {"width": 1280, "height": 900})
        contexts.append(browser.new_context(**how))
        page = contexts[-1].new_page()
        page.heard = []
        page.on("console", lambda message: page.heard.append(message.text))
        page.on("pageerror", lambda error: page.heard.append(str(error)))
        page.on("request", lambda request: page.heard.append(request.url))
        page.goto(file.as_uri())
        page.mouse.wheel(0, 4000)
        page.wait_for_timeout(30)
        assert page.heard == [file.as_uri()]
        for fold in page.query_selector_all("details"):
            fold.evaluate("fold => (fold.open = true)")
        return page

    yield open_page
    for context in contexts:
        context.close()


CUT = """all => all.filter(words => {
  const own = words.getBoundingClientRect();
  const frame = words.ownerSVGElement.getBoundingClientRect();
  return own.left < frame.left - 2 || own.right > frame.right + 2
    || own.top < frame.top - 2 || own.bottom > frame.bottom + 2;
}).map(words => words.textContent)"""


@SOME
def test_the_page_is_silent_and_fits_a_telephone(visit, name):
    page = visit(name, viewport={"width": 390, "height": 844}, java_script_enabled=True)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    assert page.eval_on_selector_all("svg text", CUT) == []


@SOME
def test_words_of_a_figure_stay_on_it(visit, name):
    assert visit(name).eval_on_selector_all("svg text", CUT) == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", ["pair", "ranking"])
def test_all_text_reaches_aa(visit, name, scheme):
    from tests.test_report_browser import CONTRAST

    page = visit(name, color_scheme=scheme)
    ground = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert ground == ("rgb(21, 25, 28)" if scheme == "dark" else "rgb(251, 251, 249)")
    seen, faults = page.evaluate(CONTRAST)
    assert seen > 120
    assert faults == []


def test_the_page_is_whole_without_a_script_and_reached_by_the_skip_link(visit):
    page = visit("ranking", java_script_enabled=False)
    shown = "all => all.every(part => part.checkVisibility() && part.clientHeight > 60)"
    assert page.eval_on_selector_all("section", shown)
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    assert page.url.endswith("#verdict")


def test_a_figure_is_a_file_that_a_browser_shows(visit, tmp_path):
    page = visit("ranking")
    for name, drawn in figures(facts_of("ranking")).items():
        file = tmp_path / f"{name}.svg"
        file.write_text(drawn, encoding="utf-8")
        page.goto(file.as_uri())
        assert page.evaluate("document.documentElement.tagName") == "svg"
        assert page.locator("parsererror").count() == 0
