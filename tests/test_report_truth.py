"""What the annotations leave open: the facts, and the pages that show them."""

import html
import json
import os
import re
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest
from equipoise.report.sections import SECTIONS
from scipy.stats import binom
from typer.testing import CliRunner

from equipoise.aggregate import (
    Chain,
    annotator_bootstrap,
    dawid_skene,
    dirichlet,
    majority_vote,
    mean_vote,
    normal,
    plackett_luce,
    probabilistic_inverse_rank,
)
from equipoise.annotations import Annotations
from equipoise.arrays import InputError
from equipoise.cli import app
from equipoise.evaluation import evaluate
from equipoise.evaluation.questions import questions
from equipoise.io import read_annotations
from equipoise.predictions import Predictions
from equipoise.report import render
from equipoise.report.truth_page import TruthPage, render_truth
from equipoise.report.view import view
from equipoise.run import Provenance, Run, record
from equipoise.run.ambiguity import vote_certainty, vote_posterior
from equipoise.run.certainty import truth_facts
from equipoise.run.describe import annotator_rows
from equipoise.run.sweep import COUNTS, FACTORS, reliability_sweep
from tests.report_truth_sample import BAD, rankings, votes


class Reader(HTMLParser):
    """Collects what a page is made of."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.attributes, self.words = [], [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += [(tag, *pair) for pair in attrs]

    def handle_data(self, data):
        self.words.append(data)


MODELS = {
    "dirichlet": (votes, dirichlet),
    "dawid-skene": (votes, dawid_skene),
    "majority": (votes, majority_vote),
    "plackett-luce": (rankings, lambda a: plackett_luce(a, chain=Chain(draws=150))),
    "inverse rank": (rankings, probabilistic_inverse_rank),
}
SOME = pytest.mark.parametrize("name", MODELS)


def found(name, **how):
    make, model = MODELS[name]
    table = make()
    return truth_facts(table, model(table), task="", **how)


@SOME
def test_facts_are_plain_and_the_same_every_time(name):
    facts = found(name)
    assert json.loads(json.dumps(facts, allow_nan=False)) == facts
    assert found(name) == facts


@SOME
def test_facts_say_what_the_fit_says(name):
    make, model = MODELS[name]
    made, facts = model(make()), found(name)
    row, certainty = facts["certainty"], made.certainty
    assert row["mean"] == pytest.approx(certainty.mean())
    assert row["below"] == (certainty < 0.99).sum() == sum(row["histogram"]["below"])
    assert sum(row["histogram"]["counts"]) == row["items"] == len(made.items)
    shown = [one["certainty"] for one in row["ambiguous"]]
    assert shown == sorted(shown)
    assert shown[0] == pytest.approx(certainty.min())
    for one in row["ambiguous"]:
        i = made.items.index(one["item"])
        assert one["entropy"] == pytest.approx(made.entropy[i])
        mean = dict(zip(made.classes, made.mean[i], strict=True))
        assert all(p["mass"] == pytest.approx(mean[p["class"]]) for p in one["plausible"])
        total = sum(p["mass"] for p in one["plausible"]) + one["others"]
        assert total == pytest.approx(1)


@SOME
def test_cases_have_all_the_mass_and_quantiles_around_their_middle(name):
    facts = found(name)
    assert [case["role"] for case in facts["cases"]][::2] == ["most ambiguous", "most certain"]
    for case in facts["cases"]:
        rows = [*case["rows"], *([case["others"]] if case["others"] else [])]
        assert sum(one["mean"] for one in rows) == pytest.approx(1)
        assert case["spread"] == all("quantiles" in one for one in rows)
        for one in rows:
            ends = one.get("quantiles", [0, 1])
            assert ends == sorted(ends)
            assert len(one.get("draws", [])) <= 100
            assert ends[0] - 1e-9 <= one["mean"] <= ends[-1] + 1e-9


def test_draws_follow_their_law():
    table = Annotations.from_counts(np.array([[6, 2, 0]]))
    (case,) = truth_facts(table, dirichlet(table), task="")["cases"]
    ends = np.array(case["rows"][0]["quantiles"])
    # Beta(7, 4): P(x <= q) = P(binomial(10, q) >= 7)
    assert np.abs(binom.sf(6, 10, ends) - [0.05, 0.25, 0.5, 0.75, 0.95]).max() < 0.09
    assert case["others"]["classes"] == 1
    assert case["others"]["mean"] == pytest.approx(1 / 11)


def test_readings_are_told_as_they_were_given():
    table = rankings(["a", "b", "c", "d", "e"])
    facts = truth_facts(table, probabilistic_inverse_rank(table), task="")
    told = {case["item"]: case["readings"] for case in facts["cases"]}
    every = [one["blocks"] for lines in told.values() for one in lines]
    assert [["d"], ["b", "e"]] in every
    assert [["a", "b", "c"]] in every
    assert {one["number"] for one in told["1"]} == {1, 2}
    first = next(case for case in facts["cases"] if case["item"] == "1")["rows"][0]
    assert (first["class"], first["first"]) == ("c", pytest.approx(1.0))


def test_votes_are_told_by_class_and_person():
    one = found("dawid-skene")["certainty"]["ambiguous"][0]
    table = votes()
    i = table.items.index(one["item"])
    rows = table.item == i
    said = {
        table.annotators[a]: table.classes[k]
        for a, k in zip(table.annotator[rows], table.label[rows], strict=True)
    }
    assert {w: part["class"] for part in one["counts"] for w in part["who"]} == said
    assert one["votes"] == 5 == sum(part["votes"] for part in one["counts"])


def test_annotators_have_skill_and_median_time():
    times = np.where(np.arange(60) % 5 == 2, np.nan, np.arange(60.0) * 100)
    table = votes(duration_ms=times)
    made = dawid_skene(table)
    rows = truth_facts(table, made, task="")["annotators"]
    assert [row["skill"] for row in rows] == pytest.approx(made.skills.value)
    assert rows[0]["median_ms"] == np.median(times[::5])
    assert rows[2]["median_ms"] is None
    assert "median_ms" not in annotator_rows(questions(votes()), votes().annotators)[0]
    page = render_truth(truth_facts(table, made, task=""))
    assert "median time" in page
    assert "skill (accuracy)" in page


def test_medians_are_of_the_items_that_are_kept():
    times = np.arange(60.0)
    (question,) = questions(votes(duration_ms=times))
    kept = question.kept(np.arange(12) >= 6)
    assert kept.pace.medians() == {a: float(np.median(times[30 + a :: 5])) for a in range(5)}


@pytest.mark.parametrize(
    ("name", "values"),
    [("dirichlet", COUNTS), ("plackett-luce", COUNTS), ("inverse rank", FACTORS)],
)
def test_more_reliable_annotations_make_a_more_certain_truth(name, values):
    sweep = found(name)["sweep"]
    assert tuple(row["reliability"] for row in sweep["rows"]) == values
    means = [row["mean"] for row in sweep["rows"]]
    assert means[-1] > means[0]
    assert sweep["used"] in values


def test_the_sweep_holds_the_value_in_use_and_repeats_the_fit():
    table = votes()
    made = dirichlet(table, reliability=1.5, prior=0.5)
    rows = {row["reliability"]: row for row in reliability_sweep(table, made, "")["rows"]}
    assert len(rows) == 6
    assert rows[1.5]["mean"] == pytest.approx(made.certainty.mean())


@pytest.mark.parametrize("name", ["dawid-skene", "majority"])
def test_models_without_a_reliability_say_so(name):
    facts = found(name)
    assert facts["sweep"] is None
    assert "has no reliability" in render_truth(facts)
    assert "id=reliability" not in render_truth(found(name, sweep=False))


@SOME
def test_every_model_makes_a_harmless_page_with_all_sections(name):
    text = render_truth(found(name))
    read = Reader(text)
    ids = [value for tag, key, value in read.attributes if key == "id" and tag == "section"]
    wanted = ["certainty", "ambiguous", "annotators", "cases", "reliability", "method"]
    assert ids == wanted
    assert not re.search(r"(?<![\w&;])(nan|None|NaN|inf)(?![\w])", " ".join(read.words[2:-3]))
    links = [v for _, key, v in read.attributes if key in {"href", "src", "action", "srcset"}]
    assert all(link.startswith("#") or link == "data:," for link in links)
    named = [v for tag, key, v in read.attributes if tag == "svg" and key == "aria-label"]
    assert read.tags.count("svg") == len(named) > 3
    assert text == render_truth(json.loads(json.dumps(found(name))))


def test_the_page_shows_the_numbers_of_the_facts():
    facts = found("dirichlet")
    text = html.unescape(render_truth(facts))
    row = facts["certainty"]
    assert f"For {row['below']} of {row['items']} items" in text
    for one in row["ambiguous"]:
        assert f"{one['certainty']:.3f}" in text
        assert one["item"] in text
    for one in facts["annotators"]:
        assert f"{one['agreement']:.3f}" in text
    for one in facts["sweep"]["rows"]:
        assert f"{one['mean']:.3f}" in text


COMPARED = [
    {"model": "dirichlet", "held_out_log_likelihood": -0.4, "other_top_class": 0,
     "certainty_is": "chance of the largest share"},
    {"model": f"majority{BAD}", "held_out_log_likelihood": "-inf", "other_top_class": 3,
     "certainty_is": "point: 0 or 1"},
]  # fmt: skip


def test_compared_models_are_on_the_page():
    text = render_truth(found("dirichlet"), TruthPage(models=COMPARED))
    assert "section id=models" in text
    assert "-0.400" in text or "−" + "0.400" in text
    assert "−∞" in text
    assert "nats per vote" in text
    assert "25.0%" in text
    assert "are not to be compared" in text
    assert not {"img", "b"} & set(Reader(text).tags)
    alike = [{**one, "other_top_class": 0, "held_out_log_likelihood": None} for one in COMPARED]
    plain = render_truth(found("dirichlet"), TruthPage(models=alike))
    assert "All models decide every item alike." in plain
    assert "nats per vote" not in plain


def test_the_page_says_what_certainty_is():
    table = votes()
    many = {
        "share of redrawn panels that name the same class. There are 8 draws, so it comes in "
        "steps of 0.12": annotator_bootstrap(dawid_skene, table, draws=8),
        "exactly one class of an item is right": dawid_skene(table),
        "really has the largest share": dirichlet(table),
        "the share of the votes for the leading class": mean_vote(table),
        "only tells ties from clear cases": majority_vote(table),
    }
    for said, made in many.items():
        text = render_truth(truth_facts(table, made, task="", sweep=False))
        assert said in text
    panels = truth_facts(table, annotator_bootstrap(mean_vote, table, draws=100), task="")
    assert "steps of" not in panels["meaning"]


def test_hostile_names_are_shown_and_do_nothing():
    table = votes(people=3, items=4)
    bad = Annotations(
        kind="nominal", classes=(f"no{BAD}", f"yes{BAD}"), item=table.item, label=table.label,
        items=tuple(f"{i}{BAD}" for i in range(4)), annotator=table.annotator,
        annotators=tuple(f"{a}{BAD}" for a in range(3)), tasks=(BAD,),
    )  # fmt: skip
    for model in (dawid_skene, dirichlet):
        facts = truth_facts(bad, model(bad, task=BAD), task=BAD)
        text = render_truth(facts, TruthPage(BAD, BAD, (BAD,)))
        read = Reader(text)
        assert not {"img", "b"} & set(read.tags)
        assert read.tags.count("script") == 1
        assert not [key for _, key, _ in read.attributes if key.startswith("on")]
        assert "&lt;img" in text


def test_long_names_are_shortened_with_the_whole_in_a_title():
    long = "a-very-long-name-" * 8
    table = Annotations.from_counts(
        np.array([[3, 2], [1, 4]]), items=(f"{long}1", f"{long}2"), classes=(f"{long}x", "y")
    )
    text = render_truth(truth_facts(table, dirichlet(table), task=""))
    assert f"<title>{long}x</title>" in text
    assert f"<title>{long}1</title>" in text
    assert f"{long}1 is the least" not in text


def test_ratings_have_a_page_without_a_table_of_annotators():
    table = Annotations(
        kind="interval", items=("a", "b"), annotators=("x", "y"), item=np.array([0, 0, 1, 1]),
        annotator=np.array([0, 1, 0, 1]), value=np.array([10.0, 90.0, 80.0, 85.0]),
    )  # fmt: skip
    facts = truth_facts(table, normal(table, threshold=50), task="")
    assert facts["certainty"]["ambiguous"][0]["item"] == "a"
    assert [one["blocks"] for one in facts["cases"][0]["readings"]] == [[["10"]], [["90"]]]
    text = render_truth(facts)
    assert "2 annotators" in text
    assert "Ratings are numbers" in text


def test_a_crowd_and_many_classes_make_a_small_page():
    random = np.random.default_rng(0)
    rows = 49_731
    table = Annotations(
        kind="nominal", classes=tuple(f"condition number {k}" for k in range(419)),
        items=tuple(f"case-{i:06d}" for i in range(16_577)),
        annotators=tuple(f"worker-{a:04d}" for a in range(933)),
        item=np.arange(rows) % 16_577, annotator=random.integers(0, 933, rows),
        label=random.integers(0, 419, rows),
    )  # fmt: skip
    facts = truth_facts(table, dirichlet(table), task="", sweep=False)
    text = render_truth(facts)
    assert len(text.encode()) < 300_000
    assert "733 annotators with fewer are left out" in text
    assert text.count("worker-") < 1_000


def answers(table, name, seed):
    random = np.random.default_rng(seed)
    return Predictions(model=name, items=table.items, values=random.random(len(table.items)))


def evaluated(table):
    result = evaluate([answers(table, "one", 1), answers(table, "two", 2)], table)
    return record(result, Provenance(annotators=table.annotators or ()))


@pytest.mark.parametrize(
    "extra", [{}, {"weight": np.linspace(0.1, 2, 60)}, {"is_gold": np.arange(60) < 1}]
)
def test_the_certainty_of_votes_is_that_of_the_dirichlet_model(extra):
    table = votes(**extra)
    made, (question,) = dirichlet(table), questions(table)
    own = vote_posterior(question, question.votes)
    assert own.items == made.items
    assert own.certainty == pytest.approx(made.certainty)
    assert own.mean == pytest.approx(made.mean)


def test_an_evaluation_records_and_shows_the_certainty_of_its_votes(tmp_path):
    table = votes(duration_ms=np.arange(60.0) * 50)
    run = evaluated(table)
    (row,) = run.header["certainty"]
    assert row["mean"] == pytest.approx(dirichlet(table).certainty.mean())
    assert {part["class"] for part in row["ambiguous"][0]["counts"]} <= {"no", "yes"}
    text = render(Run.load(run.save(tmp_path / "run")))
    ids = re.findall(r"<section id=(\w+)", text)
    assert ids == [
        part.anchor for part in SECTIONS if part.needs in ("", "certainty", "influential")
    ]
    assert "median time" in text
    assert html.escape(row["ambiguous"][0]["item"]) in text


def test_runs_of_earlier_versions_lack_the_sections():
    run = evaluated(votes())
    header = {key: part for key, part in run.header.items() if key != "certainty"}
    text = render(Run(header, run.replicates))
    assert "id=certainty" not in text
    assert "#certainty" not in text
    assert view(run).header["certainty"]


def test_several_tasks_are_shown_side_by_side():
    table = votes()
    task = np.arange(60) % 5 // 3
    two = Annotations(
        kind="binary", classes=table.classes, items=table.items, annotators=table.annotators,
        item=table.item, annotator=table.annotator, label=table.label, task=task,
        tasks=("edema", BAD),
    )  # fmt: skip
    models = [
        Predictions(model=name, items=two.items, task=task,
                    values=np.random.default_rng(k).random(12))
        for k, name in enumerate(("one", "two")) for task in two.tasks
    ]  # fmt: skip
    run = record(evaluate(models, two), Provenance(annotators=two.annotators))
    text = render(run)
    assert len(run.header["certainty"]) == 2
    assert "is the least settled task" in text
    assert "The least certain item of every task" in text
    assert not {"img", "b"} & set(Reader(text).tags)


def test_plausibilities_without_votes_have_no_certainty_of_votes():
    (question,) = questions(dirichlet(votes()).drawn(50, seed=0))
    assert vote_certainty(question, ()) is None


def test_published_counts_of_uncertain_images():
    folder = os.environ.get("EQUIPOISE_DATA")
    path = Path(folder or "") / "cifar10h" / "cifar10h-counts.npy"
    if not folder or not path.exists():
        pytest.skip("needs the CIFAR-10H counts under EQUIPOISE_DATA")
    table = read_annotations(path)
    facts = truth_facts(table, dirichlet(table), task="", sweep=False)
    assert facts["certainty"]["below"] == 183
    assert facts["certainty"]["ambiguous"][0]["item"] == "9386"
    assert len(render_truth(facts).encode()) < 100_000


def test_the_command_line_writes_the_page(tmp_path):
    rows = ["item,annotator,label"]
    rows += [
        f"scan {i},{who},{(i + k) % 3 // 2}" for i in range(9) for k, who in enumerate("abc")
    ]
    (tmp_path / "votes.csv").write_text("\n".join(rows), encoding="utf-8")
    call = ["aggregate", str(tmp_path / "votes.csv"), "--model", "dirichlet", "--page"]
    done = CliRunner().invoke(app, [*call, str(tmp_path / "truth.html")])
    assert done.exit_code == 0
    text = (tmp_path / "truth.html").read_text(encoding="utf-8")
    assert "votes: what is plausibly true?" in text
    assert "dirichlet was asked for." in text
    assert CliRunner().invoke(app, [*call, str(tmp_path / "truth.txt")]).exit_code == 2
    refused = CliRunner().invoke(app, [*call, str(tmp_path / "absent" / "truth.html")])
    assert isinstance(refused.exception, InputError)
    assert not (tmp_path / "absent").exists()
