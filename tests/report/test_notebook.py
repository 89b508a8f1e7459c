"""What a notebook user does: dataframes in, dataframes, a card, figures and a page out."""

import re
import xml.etree.ElementTree as ElementTree
from dataclasses import replace

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from equipoise import Annotations, InputError, Plausibilities, Predictions, evaluate
from equipoise.datasets.demo import reading_study
from equipoise.report.answer import evaluation_report
from equipoise.report.run import Provenance, record
from equipoise.study import Settings, Study
from equipoise.study.competitors import reader_tables
from equipoise.study.planning import next_items, plan_size
from equipoise.study.questions import ask
from equipoise.truth import agreement, dawid_skene, dirichlet
from tests.analysed import (
    flips,
    rank_stability,
    variance_components,
)

READINGS, SCORES = reading_study()
KINDS = {"pandas": pd.DataFrame, "polars": pl.DataFrame, "pyarrow": pa.table}
FIGURES = ("forest", "scores", "matrix", "pairs", "ranks", "roc", "precision_recall")
LONGEST = 300


def vote_columns(task=None):
    """The votes of the demo as columns; several tasks repeat them."""
    table = {
        "item": [READINGS.items[i] for i in READINGS.item],
        "annotator": [READINGS.annotators[a] for a in READINGS.annotator],
        "label": READINGS.label.tolist(),
    }
    return table if task is None else {**table, "task": [task] * len(READINGS)}


def score_columns():
    return {"item": list(SCORES[0].items), **{one.model: one.values for one in SCORES}}


def quick(predictions, truth, **how):
    return evaluate(predictions, truth, metrics=["auroc"], resampling="influence", **how)


@pytest.fixture(scope="module")
def result():
    return quick(SCORES, READINGS)


@pytest.fixture(scope="module")
def tasks():
    votes = {
        name: [*one, *one] for name, one in vote_columns("Edema").items() if name != "task"
    }
    votes["task"] = ["Edema"] * len(READINGS) + ["Effusion"] * len(READINGS)
    given = [replace(one, task=task) for one in SCORES for task in ("Edema", "Effusion")]
    flipped = [
        replace(one, values=-one.values) if one.task == "Effusion" else one for one in given
    ]
    return quick(flipped, Annotations.from_dataframe(pa.table(votes)))


# ---- dataframes ----------------------------------------------------------------------------


@pytest.mark.parametrize("votes", KINDS)
@pytest.mark.parametrize("scores", KINDS)
def test_frames_of_any_kind_give_the_numbers_of_the_types(result, scores, votes):
    frames = KINDS[scores](score_columns()), KINDS[votes](vote_columns())
    for given in (frames, frames[::-1]):
        done = quick(*given)
        assert done.table() == result.table()
    assert quick(*frames).frame == scores


@pytest.mark.parametrize("kind", KINDS)
def test_results_go_back_as_the_callers_own_frames(kind):
    done = quick(KINDS[kind](score_columns()), READINGS)
    frame = done.to_dataframe()
    assert type(frame) is type(KINDS[kind]({"a": [1]}))
    assert list(frame["value"].to_pylist() if kind == "pyarrow" else frame["value"]) == [
        row.value for row in done.table()
    ]
    other = done.to_dataframe("differences", backend="polars")
    assert other.height == 2 * 7 * 6 // 2 and {"a", "b", "p_adjusted"} <= set(other.columns)


def test_lazy_frames_and_lists_of_frames_are_read():
    table = score_columns()
    each = [pd.DataFrame({"item": table["item"], one.model: one.values}) for one in SCORES]
    lazy = pl.DataFrame(vote_columns()).lazy()
    assert quick(each, lazy).table() == quick(SCORES, READINGS).table()


def test_without_frames_the_table_is_arrow_and_unknown_kinds_are_refused(result):
    assert isinstance(result.to_dataframe(), pa.Table)
    with pytest.raises(InputError, match=r"'numpy', expected one of 'pandas'"):
        result.to_dataframe(backend="numpy")
    with pytest.raises(InputError, match="differences"):
        result.to_dataframe("ranks")


# ---- what is shown -------------------------------------------------------------------------


def test_the_verdict_is_a_sentence_with_whom_it_holds_for(result):
    card = result.verdict
    assert str(card) == card.answer and card.answer.endswith(".")
    assert card.holds_for.startswith("Items and annotators like these. 569 items")
    assert "Settings(margin=...)" in card.settled_by
    assert next(name for name, _ in card.standing) == "logistic regression"


def test_the_card_and_table_are_small_and_run_nothing(result):
    text = result._repr_html_()
    assert len(text) < 20_000
    assert not re.search(r"<script|<style|http|onload|<link", text)
    assert result.verdict.answer in text and "soft AUROC" in text
    assert text.count("<tr>") == 1 + len(result.models)


def test_names_become_no_markup():
    bad = "<script>alert(1)</script>"
    done = quick([replace(SCORES[0], model=bad), *SCORES[1:3]], READINGS)
    for text in (done._repr_html_(), done.plot.forest()._repr_html_(), done.plot.scores().svg):
        assert "<script" not in text


@pytest.mark.parametrize("name", FIGURES)
def test_figures_are_svg_files(result, tmp_path, name):
    figure = getattr(result.plot, name)()
    assert ElementTree.fromstring(figure._repr_svg_()).tag.endswith("svg")
    assert "data:image/svg+xml;base64," in figure._repr_html_()
    assert figure.save(tmp_path / "figure.svg").read_text(encoding="utf-8") == figure.svg
    with pytest.raises(InputError, match=r"figure\.svg"):
        figure.save(tmp_path / "figure.png")
    assert len(repr(figure)) < LONGEST


def test_figures_take_metric_labels_and_task(tasks):
    hard = tasks.plot.forest(task="Effusion", labels="hard")
    assert hard.svg != tasks.plot.forest(task="Effusion").svg
    assert tasks.plot.forest(task="Edema").svg != tasks.plot.forest(task="Effusion").svg
    assert tasks.plot.roc(task="Edema").caption == "ROC curves (Edema), soft labels"
    with pytest.raises(InputError, match="2 tasks"):
        tasks.plot.roc()
    with pytest.raises(InputError, match=r"'Odema', expected one of"):
        tasks.plot.forest(task="Odema")
    with pytest.raises(InputError, match="metric, labels or task"):
        tasks.plot.forest(label="soft")
    shown = ElementTree.fromstring(tasks.plot.matrix().svg)
    words = " ".join(shown.itertext())
    assert "Edema" in words and "Mean of two" in words


def test_the_page_is_written_with_agreement(result, tmp_path):
    path = result.report(tmp_path / "page.html", title="My study")
    text = path.read_text(encoding="utf-8")
    assert "My study" in text and "Krippendorff" in text and READINGS.annotators[0] in text
    with pytest.raises(InputError, match=r"page\.html"):
        result.report(tmp_path / "page.pdf")


# ---- short representations -----------------------------------------------------------------


def with_gold():
    settled = np.flatnonzero(READINGS.annotator == 0)
    return replace(READINGS, is_gold=np.isin(np.arange(len(READINGS)), settled))


def results():
    """One of every public result."""
    few = {"replicates": 20}
    done = quick(SCORES, READINGS)
    two = SCORES[:3]
    yield from (READINGS, SCORES[0], done, done.plan, done.plot, done.verdict)
    yield from (done.estimate("neural network", "auroc"), done.family("auroc"))
    yield from (done.two_way("auroc"), done.questions[0], done.metrics[0])
    yield from (dirichlet(READINGS), dawid_skene(READINGS), dawid_skene(READINGS).skills)
    yield agreement.agreement_summaries(READINGS)[0]
    yield agreement.krippendorff_alpha(READINGS)
    yield from (rank_stability(two, READINGS, **few), flips(two, READINGS, most=3))
    yield from (ask("leave_one_out", two, READINGS), variance_components(two, READINGS))
    yield reader_tables(Study.of(two, READINGS))[0]
    plan = {"difference": 0.01, "simulations": 0}
    yield from (
        plan_size(two, READINGS, **plan),
        plan_size(two, READINGS, **plan, ranking=True),
    )
    yield from (
        next_items(two, READINGS, "auroc", 3),
        next_items(two, READINGS, "auroc", 3, ranking=True),
    )
    yield record(done, Provenance(), evaluation_report(done))


def test_no_result_prints_its_data():
    for one in results():
        text = repr(one)
        assert len(text) <= LONGEST, text
        assert "\n" not in text and "array(" not in text
        assert text.startswith(type(one).__name__) or isinstance(one, float), text


# ---- consensus -----------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
def test_the_consensus_is_a_frame(kind):
    made = dirichlet(READINGS)
    frame = made.to_dataframe(backend=kind)
    assert type(frame) is type(KINDS[kind]({"a": [1]}))
    rows, mean, certainty = made.consensus(), made.mean, made.certainty
    for i, row in enumerate(rows):
        assert row.item == READINGS.items[i]
        assert row.probability == pytest.approx(mean[i].max())
        assert row.label == made.classes[int(mean[i].argmax())]
        assert row.certainty == certainty[i]


def test_ties_and_classes_that_nobody_mentioned_are_told():
    made = Plausibilities(
        items=("a", "b"),
        classes=("x", "y", "z"),
        start=np.array([0, 2, 3]),
        label=np.array([2, 0, 1]),
        mass=np.array([[0.45, 0.45, 0.2]]),
        rest=np.array([[0.1, 0.8]]),
        method="by hand",
    )
    first, second = made.consensus()
    assert (first.label, first.tied_with, first.probability) == ("x", "z", 0.45)
    assert (second.label, second.probability) == ("", 0.4)


def test_settings_and_predictions_stay_as_they_were_given(result):
    assert result.annotations is READINGS
    assert all(isinstance(one, Predictions) for one in result.predictions)
    fixed = quick(SCORES, READINGS, settings=Settings(annotators="fixed"))
    assert fixed.verdict.holds_for.startswith("Items like these and these annotators.")
