"""Findings of thresholds and audits: what they claim on every surface."""

import json
import re
from xml.etree import ElementTree

import numpy as np
import pytest

from equipoise.report import page
from equipoise.report.text import texts
from equipoise.types import as_json
from tests.threshold_study import AUDITS, THRESHOLDS, known

every = pytest.mark.parametrize("name", [*THRESHOLDS, *AUDITS])


def finding(name, key):
    return next(one for one in known(name).findings if one.key == key)


def table(name, key, called):
    return next(one for one in finding(name, key).tables if one.name == called)


@every
def test_the_page_the_figures_and_the_record_have_no_holes(name):
    report = known(name)
    assert json.loads(json.dumps(as_json(report), allow_nan=False))
    made = page.render(report)
    assert made == page.render(report)
    shown = re.sub(r"<(script|style)>.*?</\1>", "", made, flags=re.DOTALL)
    assert not re.search(r"\b(nan|inf|None)\b", shown)
    drawn = page.figures(report)
    assert drawn
    for text in drawn.values():
        tree = ElementTree.fromstring(text)
        assert tree.get("role") == "img" and tree.get("aria-label")
        assert "var(" not in text and not re.search(r"[\"',(](nan|-?inf)", text)
    assert {"methods.md", "references.bib"} <= set(texts(report))


def test_the_threshold_is_in_the_words_the_figure_and_the_tables():
    part = finding("threshold", "threshold")
    (whole,) = table("threshold", "threshold", "threshold").rows
    assert f"from a probability of {whole['threshold']:.3f}" in part.sentence
    (chart,) = part.charts
    (shares,) = chart.lines
    rows = table("threshold", "threshold", "bins").rows
    assert [y for _, y in shares.points] == [row["share of positives"] for row in rows]
    assert len(shares.band) == len(rows)
    words = [text for _, text in chart.marks if text]
    assert words == [f"threshold {whole['threshold']:.3f}"]
    place = next(x for x, text in chart.marks if text)
    means = [row["mean probability"] for row in rows]
    assert np.interp(place, np.arange(1, len(means) + 1), means) == pytest.approx(
        whole["threshold"]
    )
    drawn = set(page.figures(known("threshold")))
    assert {"threshold-bins", "sweep"} <= drawn


def test_prevalence_falls_and_is_that_of_the_threshold():
    part = finding("threshold", "prevalence")
    rows = part.tables[0].rows
    (whole,) = table("threshold", "threshold", "threshold").rows
    shares = [row["prevalence"] for row in rows]
    assert shares == sorted(shares, reverse=True)
    here = next(row for row in rows if row["threshold"] == whole["threshold"])
    assert f"At this threshold {here['positives']} of 150 items are positive" in part.sentence
    ends = [row for row in rows if row["threshold"] in (whole["low"], whole["high"])]
    for row in ends:
        assert f"{row['prevalence']:.1%}" in part.sentence


def test_the_interval_of_the_threshold_is_in_the_sentence():
    (whole,) = table("threshold", "threshold", "threshold").rows
    part = finding("threshold", "threshold")
    assert f"[{whole['low']:.3f}, {whole['high']:.3f}]" in part.sentence
    assert "resamples experts, and items within their bins" in part.note


def test_tables_are_called_as_before():
    names = {path.split("/")[1] for path in texts(known("threshold")) if path.endswith(".csv")}
    assert {
        "bins.csv", "threshold.csv", "prevalence.csv", "sweep.csv", "sweep_metrics.csv",
    } == names  # fmt: skip
    head = texts(known("threshold"))["tables/sweep.csv"].splitlines()[0]
    assert head.startswith("variant,competitor,items,value,low,high,rank,spearman,verdict")
    names = {path.split("/")[1] for path in texts(known("audit")) if path.endswith(".csv")}
    assert names == {"pools.csv", "retrieval.csv"}


def test_without_a_threshold_nothing_that_follows_is_claimed():
    name = "threshold that nobody set"
    assert "set no threshold" in finding(name, "threshold").sentence
    for key in ("prevalence", "sweep"):
        part = finding(name, key)
        assert part.left_out and part.sentence.startswith(
            "The experts' labels set no threshold"
        )
    assert set(page.figures(known(name))) == {"threshold-bins"}
    assert "set no threshold" in texts(known(name))["methods.md"]


def test_a_report_without_models_says_nothing_of_them():
    keys = {one.key for one in known("threshold where positives rise").findings}
    assert "sweep" not in keys
    part = finding("threshold where positives rise", "threshold")
    assert "the mean probability of the first bin, from below" in part.note
    assert any("By the rule rise" in str(one) for one in part.notices)


def test_an_audit_shows_every_pool_and_both_ends():
    part = finding("audit", "audit")
    pools = table("audit", "audit", "pools").rows
    (chart,) = part.charts
    for dot, row in zip(chart.rows, pools, strict=True):
        assert dot.remark == f"{row['positives']} of {row['audited']}"
        assert (dot.value, dot.low, dot.high) == (
            row["share"], row["share_low"], row["share_high"],
        )  # fmt: skip
    totals = {row["quantity"]: row for row in table("audit", "audit", "retrieval").rows}
    assert totals["missed"]["value"] == sum(row["missed"] for row in pools)
