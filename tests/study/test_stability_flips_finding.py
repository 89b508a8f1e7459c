"""The finding on flips: one dot per task and kind of move, and words for what has none."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from equipoise.study.analyses.fragility import UNITS, analyse
from tests.analysed import flips, study_of
from tests.study.test_stability_flips_oracle import as_given, drawn


def found(votes, scores, **asked):
    """Both kinds of moves together."""
    predictions, truth = as_given(votes, scores)
    return analyse(study_of(predictions, truth, resampling="items", replicates=5, **asked))


@pytest.fixture(scope="module")
def several():
    return found(*drawn(3, tasks=3, items=25, panel=3, models=4))


def test_the_average_stands_first_and_every_set_has_a_dot(several):
    table, members = several.tables
    assert table.rows[0]["task"] == "macro average" and "(macro average)" in several.sentence
    assert list(dict.fromkeys(row["unit"] for row in table.rows)) == list(UNITS)
    (chart,) = several.charts
    assert chart.logarithmic and len(chart.rows) == len(table.rows)
    rows = [row for row in table.rows if row["task"] == "macro average"]
    for dot, row in zip(chart.rows, rows, strict=False):
        assert_allclose(dot.value, row["share"])
        assert dot.model == row["b"] and str(row["size"]) in dot.remark
    assert table.brief == members.brief == ()
    sizes = [row["size"] or 0 for row in table.rows]
    assert len(members.rows) == sum(sizes)
    assert {"unit", "task", "item", "annotator", "said", "instead", "within"} == {
        *members.rows[0]
    }


def test_sentences_methods_and_sources_are_of_all_kinds_of_moves(several):
    assert len(several.more) == 1 and "leaving out" in several.sentence
    for words in ("items to leave out or votes to change", "verified"):
        assert words in several.methods
    assert several.references == ("broderick2020",) and "[@broderick2020]" in several.methods


def test_a_kind_of_move_that_is_refused_is_said_in_a_notice():
    finding = found(*drawn(3, items=25, models=3), labels="hard")
    assert {row["unit"] for row in finding.tables[0].rows} == {"items"}
    notices = [str(notice) for notice in finding.notices]
    assert notices[0].startswith(
        "No search by changed votes: Hard labels; it takes soft labels"
    )


def test_tied_leaders_are_shown_together():
    votes, scores = drawn(5, items=25, models=4)
    share = np.nanmean(votes[0], axis=1)
    scores[0][0] = scores[0][2] = 0.7 * share + 0.3 * scores[0][0]
    table = found(votes, scores).tables[0]
    assert table.rows[0]["a"] == "model-0 and model-2"


def test_where_no_set_was_found_the_search_is_said_to_end():
    votes, scores = drawn(5, items=40, models=2)
    share = np.nanmean(votes[0], axis=1)
    scores[0][0], scores[0][1] = share, 1 - share
    finding = found(votes, scores, most=2)
    assert all(row["size"] is None for row in finding.tables[0].rows)
    assert [dot.remark for dot in finding.charts[0].rows] == ["none up to 2"] * 2
    assert all(np.isnan(dot.value) for dot in finding.charts[0].rows)
    assert "larger ones were not searched" in finding.sentence
    assert "verified" not in finding.methods


@pytest.mark.parametrize("number", [1, 3])
def test_one_model_and_tied_models_have_no_chart_but_a_sentence(number):
    votes, scores = drawn(5, items=12, models=number)
    scores[0][:] = scores[0][0]
    finding = found(votes, scores)
    words = "nobody can overtake it" if number == 1 else "are tied at the top already"
    assert words in finding.sentence and not finding.charts and not finding.methods
    idle = {row["idle"] for row in finding.tables[-1].rows}
    assert idle == {"one model" if number == 1 else "all level"}
    assert flips(*as_given(votes, scores)).report().sentence == finding.sentence
