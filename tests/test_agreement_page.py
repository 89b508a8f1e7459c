"""The page of an agreement: whole, escaped, and in words that its numbers bear out."""

import re
from dataclasses import replace

import pytest

from equipoise.agreement import agreement_table
from equipoise.report.agreement_page import AgreementPage, render_agreement
from equipoise.report.agreement_section import agreement_section
from equipoise.run.agreement import agreement_facts
from tests.report_truth_sample import BAD, rankings, votes
from tests.test_agreement import table

LONG = "an-annotator-with-a-name-that-never-ends-" * 3


def facts(annotations, task="", **how):
    return agreement_facts(agreement_table(annotations, task=task, replicates=50, **how))


def hostile(people=9):
    panel = votes(people=people, items=40)
    names = tuple(f"{BAD}{LONG}{a}" for a in range(people))
    return replace(panel, annotators=names)


def two_tasks():
    panel = votes(people=5, items=30)
    both = replace(panel, tasks=(f"one{BAD}", "two"), task=(panel.item >= 15).astype(int))
    return [facts(both, task) for task in both.tasks]


PAGES = {
    "few": lambda: [facts(votes(people=8, items=60))],
    "many": lambda: [facts(votes(people=75, items=30))],
    "hostile": lambda: [facts(hostile())],
    "anonymous": lambda: [facts(votes(people=3).anonymous())],
    "ratings": lambda: [facts(table([[1, 2.5, 3], [1, 2, 3.5]], "interval"))],
    "rankings": lambda: [facts(rankings())],
    "tasks": two_tasks,
}


@pytest.mark.parametrize("name", PAGES)
def test_the_page_is_whole_and_the_same_every_time(name):
    found = PAGES[name]()
    about = AgreementPage(f"{name}{BAD}", (BAD,))
    page = render_agreement(found, about)
    assert page == render_agreement(PAGES[name](), about)
    assert "<img" not in page and "nan" not in page.replace("anan", "")
    assert page.count("<section") == len(found) + 1 + (len(found) > 1)


def test_cells_are_titled_and_numbered_when_few():
    few = agreement_section(facts(votes(people=8, items=60)))
    assert few.count("<title>reader") == 8 * 7
    assert few.count("class=num") == 8
    many = agreement_section(facts(votes(people=75, items=30)))
    assert many.count("<title>reader") >= 60 * 59
    assert "class=num" not in many
    assert "the 60 annotators with most votes of 75" in many


def test_the_words_agree_with_the_numbers():
    found = facts(votes(people=8, items=60))
    section = agreement_section(found)
    first = found["coefficients"][0]
    assert f"{first['value']:.2f}" in section and first["words"] in section
    low = found["pairs"]["furthest"][0]
    assert f"{low['first']} and {low['second']} least" in section
    assert f"least ({low['kappa']:.2f}".replace("-", "−") in section.replace("-", "−")
    assert f"on {low['items']} shared items)" in section
    assert f"{found['annotators'][0]['votes']} votes)" in section


def test_the_threshold_is_drawn_for_alpha_alone():
    of_labels = agreement_section(facts(votes(people=8, items=60)))
    heights = re.findall(r"class=ref d=\"?M[\d.]+[ ,][\d.]+v([\d.]+)", of_labels)
    assert [float(one) for one in heights] == [26.0]
    of_rankings = agreement_section(facts(rankings()))
    assert "class=ref" not in of_rankings and "dashed" not in of_rankings


def test_an_interval_that_leaves_out_its_value_is_marked():
    found = facts(votes(people=8, items=60))
    assert "†" not in agreement_section(found)
    row = next(one for one in found["coefficients"] if one["name"].startswith("Cohen's"))
    row["high"] = row["value"] - 0.01
    assert agreement_section(found).count("†") == 1
