"""The cost of a guest: one file and one line of a catalogue, and it is wherever the others are.

A metric, an aggregation model and an analysis are each written as a file of a package of their
own, put in the catalogue by one line, and then met on every surface.
"""

import json
import sys
from dataclasses import replace
from importlib import import_module, invalidate_caches
from pathlib import Path

import numpy as np
import pytest

import equipoise as package
from equipoise import Annotations, InputError, evaluate
from equipoise.clean import DETECTORS, Collection
from equipoise.clean.detector import choose
from equipoise.cli.truth import check_word
from equipoise.datasets import CATALOGUE as DATASETS
from equipoise.metrics import CATALOGUE as METRICS
from equipoise.metrics import by_topic, item_scores, named, require_known
from equipoise.study.analyses.catalogue import ANALYSES, Analysis
from equipoise.truth import CATALOGUE, MODELS, model_title
from equipoise.truth.choosing import companions, fitted, model, recommended, suitable
from equipoise.types import bibtex, cite
from equipoise.types.findings import ENTRIES
from tests.cli_sample import flat, write_study

METRIC = '''
"""Kindness: the probability of the class that the votes agree on."""

import numpy as np

from equipoise.metrics.distributions import checked_distributions, itself, over_classes
from equipoise.metrics.distributions import mean_finish, mean_influence, mean_sums
from equipoise.metrics._metric import Metric


def kindness_per_item(y_true, probabilities):
    labels, predicted = checked_distributions(y_true, probabilities)
    return score(labels.T, predicted)


def metric():
    return Metric(
        name="kindness", title="kindness", soft_title="kindness", topic="Manners",
        definition="Mean probability of what an annotator says.", family="kindness",
        prepare=itself, reduce=mean_sums(score), finish=mean_finish, better="higher",
        needs="probabilities", labels="distribution", influence=mean_influence(score),
        per_item=kindness_per_item, references=("guo2017",),
    )


def score(labels, predicted):
    return np.asarray((over_classes(predicted, labels) * labels).sum(axis=0))
'''
MODEL = '''
"""Unsure: every vote counts for less."""

from dataclasses import replace

from equipoise.truth import AggregationModel, Reliability, dirichlet


def unsure(annotations, *, reliability=0.5, task=""):
    made = dirichlet(annotations, reliability=reliability, task=task)
    return replace(made, model="unsure", method="the unsure")


MODEL = AggregationModel(
    name="unsure", title="the unsure", description="a guest", fit=unsure, kinds=("binary",),
    suits=("binary",), rank=-1, because="guests come first", companions=("mean_vote",),
    reliability=Reliability(0.5, (0.5,)), references=("brier1950",),
)
'''
ANALYSIS = '''
"""Spread: how far apart are the models?"""

from equipoise.types import numbers
from equipoise.types import (Column, Dot, Dots, Finding, Table)

TITLE = "How far apart are the models?"


def analyse(study):
    rows = [
        {"model": row.model, "value": row.value, "secret": 7}
        for row in study.evaluation.table() if row.labels == study.settings.labels
    ]
    values = [row["value"] for row in rows]
    return Finding(
        key="spread", title=TITLE,
        sentence=f"They lie between {numbers.number(min(values))} and "
        f"{numbers.number(max(values))}.",
        tables=(Table(name="spread", caption="Values", rows=rows,
                      columns=[Column("model", "Model", "model"),
                               Column("value", "guest value", "number")]),),
        charts=(Dots(name="spread", caption="Values of the models", axis="value",
                     rows=[Dot(row["model"], row["value"], model=row["model"])
                           for row in rows]),),
        methods="The spread of the models was looked at [@owen2007].",
        references=("owen2007",),
    )
'''
METHOD = '''
"""Humble: the baseline, its logits divided by a number that somebody chose."""

from dataclasses import dataclass
from typing import ClassVar

from equipoise.uq.training.methods.method import Method


@dataclass(frozen=True, slots=True, kw_only=True)
class Humble(Method):
    title: ClassVar[str] = "Humble"
    factor: float = 2.0

    def logits(self, model, images):
        return model(images) / self.factor
'''
ASKED = '''
"""Halves: does the verdict depend on which half of the items is looked at?"""

from equipoise.study.questions import Question, Variant


def halves(contest):
    for side, name in enumerate(("even", "odd")):
        yield Variant(name, contest.of_votes(contest.votes.item % 2 == side))


QUESTION = Question(
    key="halves", about="one half of the items", variants=halves, head="half", over="halves",
    at="on {} items", methods="Both halves were looked at [@owen2007].",
    references=("owen2007",),
)
'''
DETECTOR = '''
"""Loudness: how far from zero an item is."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from equipoise.clean import Detector


@dataclass(frozen=True)
class Loudness(Detector):
    name: ClassVar[str] = "loudness"
    title: ClassVar[str] = "Loudness"
    task: ClassVar[str] = "off_topic"
    needs: ClassVar[tuple[str, ...]] = ("embeddings",)
    power: float = 2.0

    def score(self, data, *, seed=0, progress=None):
        self.check(data)
        return self.of_items(data.items, (abs(data.embeddings) ** self.power).sum(axis=1))
'''
VOTES = Annotations.from_counts(np.array([[3, 2], [9, 0]]))
QUICK = ("--replicates", 20)


@pytest.fixture
def guest(tmp_path, monkeypatch):
    """Write one file of a package, and import it."""
    home = tmp_path / "elsewhere" / "guests"
    home.mkdir(parents=True)
    monkeypatch.syspath_prepend(str(home.parent))

    def write(name, text):
        (home / f"{name}.py").write_text(text.lstrip())
        invalidate_caches()
        for known in [one for one in sys.modules if one.partition(".")[0] == "guests"]:
            del sys.modules[known]
        return import_module(f"guests.{name}")

    return write


def unload():
    """Forget the command line; what it was."""
    names = [one for one in sys.modules if one.startswith("equipoise.cli")]
    return {name: sys.modules.pop(name) for name in names}


@pytest.fixture
def equipoise(tmp_path, monkeypatch, capsys):
    """The command line, loaded after the guest came, on a study of probabilities."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "140")
    write_study(tmp_path)
    head, *lines = (tmp_path / "scores.csv").read_text().split()
    rows = [[item, *(1 / (1 + np.exp(-float(one))) for one in rest)]
            for item, *rest in (line.split(",") for line in lines)]  # fmt: skip
    text = "\n".join([head, *(",".join(map(str, row)) for row in rows)])
    (tmp_path / "chances.csv").write_text(text + "\n")

    loaded, before = [], unload()

    def load():
        monkeypatch.setattr(package, "cli", package.cli)
        loaded.append(import_module("equipoise.cli"))

    def call(*words):
        if not loaded:
            load()
        monkeypatch.setattr(sys, "argv", ["equipoise", *map(str, words)])
        code = loaded[0].run()
        said = capsys.readouterr()
        assert code == 0, said.err
        return said.out

    yield call
    unload()  # what has met the guest
    sys.modules.update(before)


def test_a_guest_metric_is_one_file_and_one_line(guest, equipoise, tmp_path, monkeypatch):
    monkeypatch.setitem(METRICS, "kindness", guest("kindness", METRIC).metric)
    assert [metric.name for metric in by_topic()["Manners"]] == ["kindness"]
    require_known("kindness")
    assert item_scores("kindness", [0, 1], [0.1, 0.2]).tolist() == pytest.approx([0.9, 0.2])
    listed = flat(equipoise("evaluate", "--list-metrics"))
    assert "Manners kindness: Mean probability of what an annotator says. (higher" in listed
    assert "Manners: kindness." in flat(equipoise("evaluate", "--help"))
    asked = ("-a", "votes.csv", "-p", "chances.csv", *QUICK)
    shown = equipoise("evaluate", *asked, "--metrics", "kindness", "--out", "run")
    assert "kindness" in shown and "undefined" not in shown
    record = json.loads((tmp_path / "run" / "run.json").read_text())
    assert record["metrics"][0]["name"] == "kindness"
    page = (tmp_path / "run" / "report.html").read_text()
    assert "kindness" in page and "Mean probability of what an annotator says." in page
    held = json.loads(equipoise("report", "run", "--json"))
    assert {row["metric"] for row in held["rows"]} == {"kindness"}
    equipoise("report", "run", "--export", "exported")
    exported = tmp_path / "exported"
    assert "kindness [@guo2017]" in (exported / "methods.md").read_text()
    assert "@inproceedings{guo2017" in (exported / "references.bib").read_text()
    assert "kindness" in equipoise("evaluate", "run", "--only", "leave_one_out", *QUICK)
    assert named("kindness").title == "kindness"


def test_a_guest_model_is_one_file_and_one_line(guest, equipoise, tmp_path, monkeypatch):
    monkeypatch.setitem(MODELS, "unsure", guest("unsure", MODEL).MODEL)
    assert suitable(VOTES)[0] == "unsure"
    assert recommended(VOTES) == ("unsure", "unsure, because guests come first.")
    assert companions(VOTES) == ("mean_vote",)
    assert fitted(VOTES, ["unsure"], "")["unsure"].model == "unsure"
    assert model("unsure", VOTES, reliability=2.0)(VOTES).certainty.shape == (2,)
    check_word("truth", "unsure")
    assert model_title("unsure") == "the unsure"
    with pytest.raises(InputError, match="unsure, prior: 1, expected nothing"):
        model("unsure", VOTES, prior=1)
    with pytest.raises(InputError, match=r"or choose dirichlet, .* or unsure"):
        model("mean_vote", VOTES, reliability=2.0)
    said = flat(equipoise("aggregate", "--help"))
    assert "unsure: a guest." in said
    shown = equipoise("aggregate", "votes.csv", "--model", "unsure", "--page", "truth.html")
    assert "the unsure" in shown and "the unsure" in (tmp_path / "truth.html").read_text()
    beside = json.loads(equipoise("aggregate", "votes.csv", "--compare", "--json"))
    assert beside["model"] == "unsure" and beside["reason"].endswith("guests come first.")
    assert "unsure" in {row["model"] for row in beside["comparison"]}
    asked = ("-a", "votes.csv", "-p", "chances.csv", *QUICK, "--metrics", "accuracy")
    equipoise("evaluate", *asked, "--truth", "unsure", "--out", "run")
    assert "the unsure" in (tmp_path / "run" / "report.html").read_text()
    equipoise("report", "run", "--export", "exported")
    assert "@brier1950" in (tmp_path / "exported" / "methods.md").read_text()
    assert "{brier1950" in (tmp_path / "exported" / "references.bib").read_text()
    choices = equipoise("evaluate", *asked[:4], *QUICK, "--only", "choices", "--out", "s")
    assert "the unsure" in choices
    equipoise("report", "s", "--export", "paper")
    assert "the unsure [@brier1950]" in (tmp_path / "paper" / "methods.md").read_text()


def test_a_guest_detector_is_one_file_and_one_line(guest):
    catalogue = (*DETECTORS, guest("loudness", DETECTOR).Loudness())
    (loudness,) = choose(("loudness",), catalogue)
    assert loudness.settings == {"power": 2.0} and loudness.task == "off_topic"
    items = tuple("abcdef")
    made = loudness.score(Collection(items=items, embeddings=np.arange(6.0)[:, None]))
    truth = Annotations(
        kind="binary", items=items, classes=("no", "yes"), item=np.arange(6),
        label=np.array([0, 0, 1, 0, 1, 1]), is_gold=np.ones(6, dtype=bool),
    )  # fmt: skip
    row, *_ = evaluate(replace(made, task=""), truth, metrics=("auroc",)).table()
    assert row.model == "loudness" and row.value == pytest.approx(8 / 9)
    with pytest.raises(InputError, match="detector loudness: no embeddings"):
        loudness.score(Collection(items=items))
    with pytest.raises(InputError, match="loudness"):
        choose(("loudnes",), catalogue)


def test_a_guest_uncertainty_method_is_one_file_and_one_line(guest, monkeypatch):
    torch = pytest.importorskip("torch")
    from equipoise.uq.training.methods import METHODS, method_of
    from equipoise.uq.training.plan import Plan, Setup, settings_of

    monkeypatch.setitem(METHODS, "humble", guest("humble", METHOD).Humble())
    cells = Plan(methods=("humble",), architectures=("resnet18",), seeds=(0,)).cells()
    assert [cell.name for cell in cells] == ["humble.resnet18.0"]
    setup = Setup(source="demo", settings=settings_of(["humble.factor=4"]))
    assert method_of("humble").factor == 2 and setup.method("humble").factor == 4
    logits = setup.method("humble").logits(lambda images: images, torch.full((1, 1), 2.0))
    assert logits.item() == 0.5
    with pytest.raises(InputError, match="did you mean 'humble'"):
        method_of("humbl")


def test_a_guest_analysis_is_one_file_and_one_line(guest, equipoise, tmp_path, monkeypatch):
    guest("spread", ANALYSIS)
    monkeypatch.setitem(ANALYSES, "spread", Analysis("spread", "guests.spread", "any models"))
    title = "How far apart are the models?"
    assert "subgroups, spread." in flat(equipoise("evaluate", "--help"))
    asked = ("evaluate", "-a", "votes.csv", "-p", "scores.csv", *QUICK, "--only", "spread")
    shown = equipoise(*asked, "--out", "s")
    assert title in shown and "They lie between 0." in shown and "guest value" in shown
    (held,) = [
        one
        for one in json.loads(equipoise(*asked, "--json"))["findings"]
        if one["key"] == "spread"
    ]
    assert held["rows"][0]["secret"] == 7
    again = json.loads(equipoise("report", "s", "--json"))["findings"]
    assert held in again
    page = (tmp_path / "s" / "report.html").read_text()
    assert title in page and "They lie between 0." in page
    equipoise("report", "s", "--export", "paper")
    folder = tmp_path / "paper"
    assert (folder / "tables" / "spread.csv").read_text().startswith("model,value,secret\ngood")
    assert "| Model | guest value |" in (folder / "tables" / "spread.md").read_text()
    assert "guest value" in (folder / "tables" / "spread.tex").read_text()
    assert "<svg" in (folder / "figures" / "spread.svg").read_text()
    assert "looked at [@owen2007]." in (folder / "methods.md").read_text()
    assert "@article{owen2007" in (folder / "references.bib").read_text()


def test_a_guest_question_is_one_file_and_one_line(guest, equipoise, tmp_path, monkeypatch):
    guest("halves", ASKED)
    monkeypatch.setitem(ANALYSES, "halves", Analysis("halves", "guests.halves"))
    assert "subgroups, halves." in flat(equipoise("evaluate", "--help"))
    asked = ("evaluate", "-a", "votes.csv", "-p", "scores.csv", *QUICK, "--analyses", "halves")
    shown = equipoise(*asked, "--out", "s")
    assert "Does the verdict depend on one half of the items?" in shown
    page = (tmp_path / "s" / "report.html").read_text()
    assert "Does the verdict depend on …?" in page and "… one half of the items?" in page
    (held,) = [
        one
        for one in json.loads(equipoise(*asked, "--json"))["findings"]
        if one["key"] == "halves"
    ]
    assert {row["variant"] for row in held["rows"]} == {"even", "odd"}
    equipoise("report", "s", "--export", "paper")
    folder = tmp_path / "paper"
    assert (folder / "tables" / "halves.csv").read_text().startswith("variant,competitor,items")
    assert "Both halves were looked at [@owen2007]." in (folder / "methods.md").read_text()


def test_records_are_complete():
    for name, make in METRICS.items():
        metric = make()
        assert metric.topic and metric.definition.endswith("."), name
        assert set(metric.references) <= set(ENTRIES)
        assert (metric.labels == "draws") == (metric.score_draws is not None)
    for name, one in MODELS.items():
        assert one.name == name and set(one.suits) <= set(one.kinds)
        assert set(one.references) <= set(ENTRIES) and set(one.companions) <= set(MODELS)
        assert one.decides_as in {"", *MODELS}
    assert {name: one.fit for name, one in MODELS.items() if name != "normal"} == CATALOGUE
    for name, analysis in ANALYSES.items():
        assert analysis.name == name and analysis.title
    for source in DATASETS.values():
        assert source.load is not None and set(source.references) <= set(ENTRIES)


def test_models_say_who_they_are():
    for name in suitable(VOTES):
        assert CATALOGUE[name](VOTES).model == name


def test_sources_are_cited_once():
    assert cite("brier1950", "brier1950") == " [@brier1950]"
    assert bibtex(["brier1950", "guo2017", "brier1950"]).count("@") == 2
    code = Path(package.__file__).parent.rglob("*.py")
    text = "".join(one.read_text() for one in code if one.name != "bibliography.py")
    assert [key for key in ENTRIES if key not in text] == []
    assert 'L{\\"u}th' in bibtex(["traub2024"])
