"""Pages whose truth comes from a model, marks that are explained, and lists that stay short."""

import json
import re

import numpy as np
import pytest

from equipoise.aggregate import dirichlet
from equipoise.evaluation import evaluate
from equipoise.notices import Notice, worded
from equipoise.resampling import resample
from equipoise.run import Provenance, record
from equipoise.run.agreement import with_agreement
from equipoise.run.findings.report import written
from equipoise.run.record import TruthModel
from tests.report_distributions_sample import models, votes
from tests.report_sample import (
    METRICS,
    Shape,
    changed,
    finding,
    opened,
    render,
    sample,
    section,
)

METRICS_OF_TRUTH = ("topk_accuracy", "total_variation", "brier_score")


def evaluated(kind="ordinal", classes=("a", "b", "c"), names=("clear", "blurred"), **how):
    table = votes(classes, kind)
    truth = dirichlet(table).drawn(30, seed=0)
    plan = resample(truth, "posterior", replicates=60)
    asked = how.pop("metrics", METRICS_OF_TRUTH)
    return table, evaluate(models(table, names), truth, metrics=asked, resampling=plan)


def recorded(**how):
    table, result = evaluated(**how)
    facts = Provenance(annotators=table.annotators, truth_model=TruthModel(model="dirichlet"))
    return with_agreement(record(result, facts), table)


@pytest.fixture(scope="module")
def run():
    return recorded()


@pytest.fixture(scope="module")
def page(run):
    return render(run)


def read(markup):
    return re.sub(r"<[^>]+>", " ", markup)


def test_a_truth_from_a_model_is_told_in_plausibilities(run, page):
    (entry,) = run.record.truth
    assert not entry.from_votes
    said = read(section(page, "labels"))
    assert "The truth comes from a model" in said
    assert "three quarters of the plausibility" in said
    assert not re.search(r"\b[Vv]otes?\b|[Uu]nanimous|strict majority", said)
    assert "What the votes leave open" not in page


def test_a_yes_no_truth_from_a_model_speaks_of_its_positive_class():
    run = recorded(kind="binary", classes=("no", "yes"), metrics=("auroc", "brier_score"))
    page = render(run)
    said = read(section(page, "labels"))
    assert "plausibility of the positive class is above 0.25" in said
    assert not re.search(r"\b[Vv]otes?\b|[Uu]nanimous|soft label is above", said)
    items = read(section(page, "items"))
    assert "the truth put the item" in items


def test_an_earlier_run_of_a_model_is_known_by_its_lack_of_votes(run):
    header = json.loads(json.dumps(run.header))
    for entry in header["truth"]:
        del entry["from_votes"]
    assert "unanimous" not in read(section(render(opened(header, run.replicates)), "labels"))
    assert "unanimous" in read(section(render(sample()), "labels"))


def test_known_annotators_are_not_called_anonymous(page):
    assert "anonymous" not in page
    assert "The truth comes from a model of the votes" in section(page, "annotators")
    assert "truth from a model" in page.split("<main")[0]


def test_calibration_against_plausibilities_is_written_out(run):
    for positive, share in ((None, "plausibility of the answer"), ("b", "plausibility of it")):
        bins = [[0.2, 0.1, 5], [0.9, 0.5, 5]]
        one = {"model": "clear", "error": 0.25, "predicted": 0.55, "observed": 0.3}
        entry = {"task": "", "class": positive, "bins": 10, "from_votes": False}
        entry["models"] = [{**one, "bins": bins}]
        found = finding(changed(run, reliability=[entry]), "reliability")
        said = found.sentence
        assert found.charts[0].y == share
        assert f"from the {share}." in said
        assert "it says 55%, and the plausibility is 30%." in said


def test_hard_labels_of_a_modelled_truth_have_intervals_too(run, page):
    rows = [row for row in run.record.rows if row.labels == "hard"]
    assert rows and all(row.has_interval and row.low < row.high for row in rows)
    assert run.record.settings.population == (
        "items like these, judged by this model of the truth"
    )
    for anchor in ("verdict", "leaderboard", "forest"):
        first = section(page, anchor).split("</article>")[0]
        assert "undefined" not in first
        assert "cannot be computed" not in first


def test_a_long_list_of_classes_is_folded():
    classes = [f"class {number}" for number in range(419)]
    for given in (classes, ",".join(classes), f"nominal: {', '.join(classes)}"):
        run = changed(sample(Shape(tasks=("",), undefined=None)), question={"read as": given})
        told = section(render(run), "method")
        assert re.search(r"class 1[01], … 40[78] more", told)
        assert "class 418" not in told
    assert written(classes).endswith("class 11, … 407 more")


def test_without_traced_items_there_is_one_line_and_no_section():
    run = changed(sample(), influential=[])
    page = render(run)
    assert "<section id=items" not in page
    assert "#items" not in page
    assert "No items were traced" in section(page, "method")
    assert "No items were traced" not in section(render(sample()), "method")


def test_infinite_scores_of_several_models_are_told_together():
    table = votes(("a", "b", "c"), "ordinal")
    given = models(table, ("m0", "m1", "sane"), impossible=("m0", "m1"))
    found = evaluate(given, table, metrics=["log_score"], resampling="items").notices
    told = [one for one in worded(found) if "infinite" in one]
    assert told == [
        "log_score with hard and soft labels is infinite, because probability 0 is given to a "
        "class that 1 of 60 items have (m0 and m1)."
    ]
    assert {one.about for one in found if one.code == "infinite_score"} == {("m0",), ("m1",)}
    few = Notice("few", "{items:count} items are few.", (), {"items": 3})
    assert worded([few.of("left"), few.of("right")]) == ["3 items are few (left and right)."]


def test_choices_never_look_alike():
    start = "top-1 accuracy where the risk is hi"
    titles = [f"{start}gh", f"{start}gh or medium", f"{start}dden from all readers"]
    metrics = tuple({**METRICS[0], "name": t, "title": t} for t in titles)
    page = render(sample(Shape(tasks=("",), undefined=None, metrics=metrics)))
    shown = re.findall(r"<label for=k\d[^>]*>([^<]*)", page)
    assert len(set(shown)) == 3
    assert all(len(name) <= 40 for name in shown)
    assert f'title="{titles[2]}"' in page
    assert np.all([".radios label" in page, "text-overflow:ellipsis}\n.radios" not in page])
