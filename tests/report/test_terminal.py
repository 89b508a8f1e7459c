"""The answer on a terminal: short, within its width, and with the right marks."""

import re
from dataclasses import replace

import numpy as np
import pytest

from equipoise.report.terminal import _row, answer_lines, evidence_lines
from equipoise.types import Dots, Predictions, Standing, Standings, number
from tests.findings_sample import HOSTILE
from tests.odd_studies import ODD, Answered, answered, odd, renamed, world
from tests.report_stability_sample import sample

TASKS = ("Atelectasis", "Cardiomegaly", "Consolidation", "Edema", "Pleural Effusion")
NAMES = (
    "sensexdr", "ihil", "drnet", "ngango3", "uestc", "yww211", "ngango2", "hieupham",
    "jfaboy", "desmond",
)  # fmt: skip


@pytest.fixture(scope="module")
def ten() -> Answered:
    """Ten models on five tasks, eight annotators; three models are copies in four tasks."""
    noise = [0.5, 0.5, 0.5, 0.55, 0.6, 0.6, 0.65, 0.7, 0.75, 3.0]
    scores, votes = world(noise, items=200, people=8, tasks=TASKS)
    first = {one.task: one for one in scores if one.model == "net 0"}
    made = []
    for one in scores:
        m = int(one.model.split()[1])
        copied = m in (1, 2) and one.task != "Edema"
        made.append(renamed(first[one.task] if copied else one, NAMES[m]))
    return answered(made, votes)


def lines(study: Answered, width: int, **more) -> list[str]:
    return [one.plain for one in answer_lines(study.report, width, **more)]


def boards(study: Answered) -> tuple[Standings, Dots]:
    charts = {one.name: one for part in study.report.findings for one in part.charts}
    return charts["standings"], charts["distance"]


def test_ten_models_and_five_tasks_fit_on_a_screen(ten):
    shown = lines(ten, 100, files=["Page run/report.html", "numbers run/run.json"])
    assert len(shown) <= 40, "\n".join(shown)
    assert max(map(len, shown)) <= 100, max(shown, key=len)
    assert " ".join(line.strip() for line in shown[2:4]) == ten.report.card.answer
    assert shown[-1].strip() == "Page run/report.html   numbers run/run.json"
    labels = [line[2:14].strip() for line in shown if line[:2] == "  " and line[2:3].strip()]
    for label in ("Holds for", "Settled by", "Readers", "Agreement", "Disputed"):
        assert label in labels, label


@pytest.mark.parametrize("width", [80, 90, 100, 120, 160])
@pytest.mark.parametrize("name", ODD)
def test_no_line_is_longer_than_the_terminal(name, width):
    study = odd(name)
    for line in [*lines(study, width), *(x.plain for x in evidence_lines(study.report, width))]:
        assert len(line) <= width, line
    assert len(lines(study, width)) <= 45


@pytest.mark.parametrize("width", [60, 70, 80, 99, 100, 140])
def test_the_table_never_breaks(ten, width):
    shown = lines(ten, width)
    assert max(map(len, shown)) <= width, max(shown, key=len)
    assert sum(any(line.strip().startswith(name) for name in NAMES) for line in shown) >= 10


def test_marks_are_those_of_the_standings(ten):
    board, bars = boards(ten)
    shown = lines(ten, 160)
    for place, model in enumerate(board.models):
        line = next(x for x in shown if x.startswith(f"  {model} "))
        found = re.findall(r"(\d\.\d{3})(.)", line)[: len(board.columns)]
        for cell, (value, mark) in zip(board.cells[place], found, strict=True):
            wanted = "▾" if not cell.inside else "=" if cell.same else " "
            assert (value, mark) == (number(cell.value), wanted), (model, line)
    assert any(not cell.inside for row in board.cells for cell in row)
    assert any(cell.same for row in board.cells for cell in row)
    legend = next(x for x in shown if "below the best group" in x)
    assert "= same scores as another model" in legend
    assert [dot.model for dot in bars.rows] == list(board.models)


def test_distances_are_drawn_where_there_is_room_and_printed_elsewhere(ten):
    _, bars = boards(ten)
    wide, narrow = lines(ten, 160), lines(ten, 90)
    drawn = [line for line in wide if "●" in line or "○" in line]
    assert len(drawn) == len(bars.rows)
    behind = [line for line in drawn if "○" in line]
    assert len(behind) == sum(dot.hollow for dot in bars.rows)
    assert not [line for line in narrow if "●" in line]
    for dot in bars.rows:
        line = next(x for x in narrow if x.startswith(f"  {dot.model} "))
        assert line.endswith(dot.remark.removeprefix("at most ")), line
    ends = {}
    for dot in bars.rows:
        line = next(x for x in drawn if x.startswith(f"  {dot.model} "))
        ends[dot.model] = line.index("●" if not dot.hollow else "○")
    order = [ends[dot.model] for dot in sorted(bars.rows, key=lambda one: one.value)]
    assert order == sorted(order)


def test_many_models_are_cut_and_said_to_be():
    shown = lines(odd("forty_models"), 100)
    assert any("... and 24 more models" in line for line in shown)
    assert len(shown) <= 40


def test_a_long_title_is_wrapped(ten):
    made = replace(ten.report, title="votes of the second reading " * 8)
    assert max(len(one.plain) for one in answer_lines(made, 80)) <= 80


def test_names_do_nothing_on_a_terminal():
    scores, votes = world([0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0])
    given = [Predictions(HOSTILE[m], one.items, one.values) for m, one in enumerate(scores)]
    made = answered(given, votes)
    shown = "\n".join(lines(made, 100))
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f]", shown)
    assert "[bold red]rich[/bold red]" in shown


def test_every_finding_of_the_evidence_has_its_line():
    report = sample("stability")
    said = " ".join(" ".join(x.plain.split()) for x in evidence_lines(report, 100))
    for one in report.findings:
        if one.verdict and one.evidence:
            assert f"… {one.about}? {one.verdict}." in said
        elif one.evidence and one.brief:
            assert " ".join(str(one.sentence).split()) in said or "=" in str(one.sentence)


def test_infinite_and_undefined_values_are_words():
    shown = lines(odd("a_missing_model"), 100)
    row = next(line for line in shown if line.startswith("  sure "))
    assert "∞" in row and "▾" in row
    undefined = "\n".join(lines(odd("one_task_undefined"), 120))
    assert "nan" not in undefined


def test_a_line_of_a_lower_is_better_metric_says_above():
    study = odd("lower_is_better")
    _, bars = boards(study)
    assert all(dot.value >= 0 and np.isfinite(dot.high) for dot in bars.rows)
    assert "above" in study.report.card.lede


@pytest.mark.parametrize(
    ("inside", "judged", "same", "mark"),
    [(False, True, False, "▾"), (False, False, False, " "), (True, True, False, " "),
     (True, True, True, "="), (False, True, True, "▾")],
)  # fmt: skip
def test_a_model_is_marked_as_behind_only_where_a_verdict_is_possible(
    inside, judged, same, mark
):
    cell = Standing(value=0.5, inside=inside, best=False, same=same, judged=judged)
    assert _row("net", 5, [cell], [5], "").plain.rstrip(" ").endswith(f"0.500{mark}".rstrip())
