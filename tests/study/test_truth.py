"""What the annotations leave open: certainty, ambiguous items, cases, annotators, models."""

import html
import json
import os
import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from equipoise.cli import app
from equipoise.read import codec
from equipoise.read.annotations import read_annotations
from equipoise.report.page import render
from equipoise.study.analyses.annotators import annotator_rows, skilled_rows
from equipoise.study.analyses.truth_items import (
    LEVELS,
    certainty_findings,
    certainty_meaning,
    sorted_points,
)
from equipoise.study.analyses.truth_report import (
    FittedModels,
    models_finding,
    task_report,
)
from equipoise.study.truth import task_truths
from equipoise.truth import (
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
from equipoise.types import Annotations, Finding, InputError, cell, number, percent
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
    "dawid_skene": (votes, dawid_skene),
    "majority_vote": (votes, majority_vote),
    "plackett_luce": (
        rankings,
        lambda a, **how: plackett_luce(a, chain=Chain(draws=150), **how),
    ),
    "probabilistic_inverse_rank": (rankings, probabilistic_inverse_rank),
}
SOME = pytest.mark.parametrize("name", MODELS)


def fitted(name):
    make, model = MODELS[name]
    table = make()
    return table, model(table)


def report(table, made, name="dirichlet", *, title="truth", **others):
    fits = FittedModels(
        name=name,
        reason=f"{name} was asked for.",
        task=made.task,
        models={name: made, **others},
        scores={},
    )
    return task_report(table, fits, title=title)


@SOME
def test_a_certainty_is_the_same_every_time_and_its_report_survives_a_file(name):
    first, again = (list(map(codec.encode, certainty_findings(*fitted(name)))) for _ in "12")
    assert first == again
    for found in certainty_findings(*fitted(name)):
        stored = json.loads(json.dumps(codec.encode(found), allow_nan=False))
        assert codec.encode(codec.read(Finding, stored)) == stored


@SOME
def test_a_certainty_says_what_the_fit_says(name):
    table, made = fitted(name)
    (found, ambiguous), sure = certainty_findings(table, made), made.certainty
    assert number(sure.mean()) in found.sentence
    below = int((sure < 0.99).sum())
    start = f"For {below} of {len(sure)} items" if below else "The annotations settle every"
    assert found.sentence.startswith(start)
    assert sum(row["items"] for row in found.tables[0].rows) == len(made.items)
    items = ambiguous.tables[0].rows
    shown = [one["certainty"] for one in items]
    assert shown == sorted(shown)
    assert shown[0] == pytest.approx(sure.min())
    for one in items:
        i = made.items.index(one["item"])
        assert one["entropy"] == pytest.approx(made.entropy[i])
        mean = dict(zip(made.classes, made.mean[i], strict=True))
        top = sorted(mean, key=lambda label: -mean[label])[0]
        assert one["plausible"].startswith(f"{top}: {percent(mean[top])}")
        shares = {f"{label}: {percent(mass)}" for label, mass in mean.items()}
        assert {*one["plausible"].split(", ")} - shares <= {one["plausible"].split(", ")[-1]}


def test_votes_are_told_by_class_and_person():
    table, made = fitted("dawid_skene")
    one = certainty_findings(table, made)[1].tables[0].rows[0]
    rows = table.item == table.items.index(one["item"])
    who = {label: [] for label in table.classes}
    for a, k in zip(table.annotator[rows], table.label[rows], strict=True):
        who[table.classes[k]].append(table.annotators[a])
    order = sorted((label for label in who if who[label]), key=lambda label: -len(who[label]))
    assert one["votes"] == 5 == sum(map(len, who.values()))
    assert one["counts"] == "; ".join(
        f"{label}: {len(who[label])} ({', '.join(who[label])})" for label in order
    )


def test_annotators_have_skill_and_median_time():
    times = np.where(np.arange(60) % 5 == 2, np.nan, np.arange(60.0) * 100)
    table = votes(duration_ms=times)
    made = dawid_skene(table)
    rows = skilled_rows(table, "", made.skills)
    assert [row["skill"] for row in rows] == pytest.approx(made.skills.value)
    assert rows[0]["median_ms"] == np.median(times[::5])
    assert rows[2]["median_ms"] is None
    assert "median_ms" not in annotator_rows(task_truths(votes()), votes().annotators)[0]
    finding = next(
        f for f in report(table, made, "dawid_skene").findings if f.key == "annotators"
    )
    heads = [column.head for column in finding.tables[0].columns]
    assert "median time" in heads and "skill (accuracy)" in heads
    assert finding.sentence.startswith("By the model, skill (accuracy) runs from")


def test_medians_are_of_the_items_that_are_kept():
    times = np.arange(60.0)
    (question,) = task_truths(votes(duration_ms=times))
    kept = question.subset(np.arange(12) >= 6)
    assert kept.times.medians() == {a: float(np.median(times[30 + a :: 5])) for a in range(5)}


@SOME
def test_every_model_makes_a_harmless_page_with_all_sections(name):
    table, made = fitted(name)
    text = render(report(table, made, name))
    read = Reader(text)
    ids = [value for tag, key, value in read.attributes if key == "id" and tag == "section"]
    first = ["certainty", "ambiguous", "annotators", "consensus"]
    assert ids == ["answer", *first, "evidence"]
    assert not re.search(r"(?<![\w&;])(nan|None|NaN|inf)(?![\w])", " ".join(read.words[2:-3]))
    links = [v for _, key, v in read.attributes if key in {"href", "src", "action", "srcset"}]
    assert all(link.startswith(("#", "data:,", "data:text/csv")) for link in links)
    roles = [v for tag, key, v in read.attributes if tag == "svg" and key == "role"]
    named = [v for tag, key, v in read.attributes if tag == "svg" and key == "aria-label"]
    assert len(roles) == len(named) > 0
    assert text == render(report(*fitted(name), name))


def test_the_page_shows_the_numbers_of_the_findings():
    table, made = fitted("dirichlet")
    whole = report(table, made)
    text = html.unescape(render(whole))
    assert certainty_findings(table, made)[0].sentence in text
    for finding in whole.findings:
        for part in finding.tables:
            for row in part.rows:
                for column in part.columns:
                    if column.kind == "number":
                        assert cell(row, column) in text


def test_compared_models_are_told():
    table, made = fitted("dirichlet")
    models = {"dirichlet": made, "majority_vote": majority_vote(table)}
    fits = FittedModels(
        name="dirichlet",
        reason="",
        task="",
        models=models,
        scores={"dirichlet": -0.4, "majority_vote": -np.inf},
    )
    finding = models_finding(fits)
    rows = [
        [cell(row, column) for column in finding.tables[0].columns]
        for row in finding.tables[0].rows
    ]
    assert [row[1] for row in rows] == ["−0.400", "−∞"]
    assert [row[2] for row in rows] == ["0", "−∞"]
    assert rows[1][4:] == ["none", "point: 0 or 1"]
    assert "nats per vote" in finding.tables[0].legend
    assert "are not to be compared" in finding.tables[0].legend
    alike = models_finding(replace(fits, models={"dirichlet": made, "again": made}, scores={}))
    assert alike.sentence == "All models decide every item alike."
    assert "nats per vote" not in alike.tables[0].legend


def test_what_a_certainty_is_depends_on_the_model():
    table = votes()
    many = {
        "share of resampled panels that name the same class. There are 8 draws, so it comes in "
        "steps of 0.12": ("dawid_skene", annotator_bootstrap(dawid_skene, table, draws=8)),
        "exactly one class of an item is right": ("dawid_skene", dawid_skene(table)),
        "really has the largest share": ("dirichlet", dirichlet(table)),
        "the share of the votes for the leading class": ("mean_vote", mean_vote(table)),
        "only tells ties from clear cases": ("majority_vote", majority_vote(table)),
    }
    for words, (name, made) in many.items():
        assert words in certainty_meaning(made).sentence
        assert words in report(table, made, name).findings[0].note
    panels = annotator_bootstrap(mean_vote, table, draws=100)
    assert "steps of" not in certainty_meaning(panels).sentence


def test_hostile_names_are_shown_and_do_nothing():
    table = votes(people=3, items=4)
    bad = Annotations(
        kind="nominal", classes=(f"no{BAD}", f"yes{BAD}"), item=table.item, label=table.label,
        items=tuple(f"{i}{BAD}" for i in range(4)), annotator=table.annotator,
        annotators=tuple(f"{a}{BAD}" for a in range(3)), tasks=(BAD,),
    )  # fmt: skip
    for model in (dawid_skene, dirichlet):
        text = render(report(bad, model(bad, task=BAD), title=BAD))
        read = Reader(text)
        assert not {"img", "b"} & set(read.tags)
        assert read.tags.count("script") == 1
        assert not [key for _, key, _ in read.attributes if key.startswith("on")]
        assert "&lt;img" in text


def test_ratings_have_findings_of_their_own():
    table = Annotations(
        kind="interval", items=("a", "b"), annotators=("x", "y"), item=np.array([0, 0, 1, 1]),
        annotator=np.array([0, 1, 0, 1]), value=np.array([10.0, 90.0, 80.0, 85.0]),
    )  # fmt: skip
    made = normal(table, threshold=50)
    assert certainty_findings(table, made)[1].tables[0].rows[0]["item"] == "a"
    whole = report(table, made, "normal")
    assert "2 annotators" in whole.known and "4 votes" in whole.known
    findings = {one.key: one for one in whole.findings}
    assert "above the item mean" in [c.head for c in findings["annotators"].tables[0].columns]


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
    made = dirichlet(table)
    fits = FittedModels(
        name="dirichlet", reason="", task="", models={"dirichlet": made}, scores={}
    )
    text = render(task_report(table, fits, title="a crowd"))
    seen = re.sub(r"data:text/csv[^\s>]*", "", text)  # the consensus, for a spreadsheet
    assert len(seen.encode()) < 300_000
    assert "the first 300 of 933 rows" in text
    assert text.count("worker-") < 1_000


def test_published_counts_of_uncertain_images():
    folder = os.environ.get("EQUIPOISE_DATA")
    path = Path(folder or "") / "cifar10h" / "cifar10h-counts.npy"
    if not folder or not path.exists():
        pytest.skip("needs the CIFAR-10H counts under EQUIPOISE_DATA")
    table = read_annotations(path)
    found, ambiguous = certainty_findings(table, dirichlet(table, prior="uniform"))
    assert found.sentence.startswith("For 183 of")
    assert ambiguous.tables[0].rows[0]["item"] == "9386"


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


def test_the_line_is_that_of_sorted_certainties():
    many = np.random.default_rng(3).random(5000)
    points = np.array(sorted_points(many))
    assert len(points) <= 2 * LEVELS + 1
    assert np.all(np.diff(points, axis=0) >= 0)
    assert np.interp(0.5, *points.T) == pytest.approx(np.median(many), abs=0.01)
    few = np.array(sorted_points(np.repeat([0.5, 0.9, 1.0], [1, 2, 1])))
    assert few.tolist() == [[0, 0.5], [0.25, 0.5], [0.25, 0.9], [0.75, 0.9], [0.75, 1], [1, 1]]
