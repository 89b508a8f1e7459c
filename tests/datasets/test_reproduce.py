"""Reproductions: what they compare with, and that the numbers come out."""

import json
import os
import sys
from dataclasses import replace
from types import SimpleNamespace

import pytest
from typer.testing import CliRunner

import equipoise.datasets.reproduce
from equipoise.cli import app
from equipoise.datasets.reproduce import (
    CATALOGUE,
    Reproduction,
    cifar10h_certainty,
    dermatology_ddx,
    recompute,
)
from equipoise.truth import Chain

needs_data = pytest.mark.skipif(
    "EQUIPOISE_DATA" not in os.environ,
    reason="set EQUIPOISE_DATA to a folder with the public data sets",
)
ROWS = [{"of": "one", "value": 0.58, "more": 3}, {"of": "two", "value": 0.7, "more": 4}]


def reproduction(tolerance, published=None):
    return Reproduction(
        title="t", source="s", keys=("of",), columns=("value", "more"), rows=ROWS,
        published=published or {("one",): {"value": 0.6}}, tolerance=tolerance,
    )  # fmt: skip


def test_only_published_cells_are_compared():
    assert reproduction(0.03).agreement() == (1, 1)
    assert reproduction(0.01).agreement() == (0, 1)
    assert reproduction(0.03).compared() == ("value",)
    both = {("one",): {"value": 0.6}, ("two",): {"value": 0.6, "more": 4.0}}
    assert reproduction({("one",): 0.03, ("two",): 0.05}, both).agreement() == (2, 3)


def test_every_row_of_the_record_is_judged():
    assert reproduction(0.03).record() == [
        {**ROWS[0], "published": {"value": 0.6}, "tolerance": 0.03, "agrees": True},
        {**ROWS[1], "published": None, "tolerance": None, "agrees": None},
    ]
    one, two = reproduction({("one",): 0.01}).record()
    assert (one["tolerance"], one["agrees"]) == (0.01, False)
    assert (two["tolerance"], two["agrees"]) == (None, None)
    several = reproduction(0.03, {("one",): {"value": 0.6, "more": 3.1}}).record()
    assert several[0]["published"] == {"value": 0.6, "more": 3.1}
    assert several[0]["agrees"] is False


def test_a_figure_that_is_compared_often_counts_once():
    both = {("one",): {"value": 0.6}, ("two",): {"value": 0.6}}
    made = replace(reproduction(0.03, both), figures=1)
    assert made.verdict() == "1 published figure, compared with 2 ofs: 1 agree within 0.03."


@pytest.fixture
def printed(monkeypatch):
    """What the command line prints for a reproduction made up here."""

    def run(made, *words):
        module = SimpleNamespace(reproduce=lambda _tell: made)
        monkeypatch.setitem(sys.modules, "made_up", module)
        monkeypatch.setattr(equipoise.datasets.reproduce, "CATALOGUE", {"made-up": "made_up"})
        done = CliRunner().invoke(app, ["reproduce", "made-up", *words])
        assert done.exit_code == 0, done.output
        return done.stdout

    return run


def test_the_table_states_the_tolerance_of_every_row_that_has_one(printed):
    shown = printed(reproduction({("one",): 0.03}))
    one, two = ([cell.strip() for cell in line.split("│")[1:-1]]
                for line in shown.splitlines() if "│" in line)  # fmt: skip
    assert one == ["one", "0.5800", "0.600", "3.0000", "0.03"]
    assert two == ["two", "0.7000", "-", "4.0000", "-"]
    assert "1 of 1 published cells agree within the tolerance of their row." in shown
    assert "0 of 1 published cells agree within 0.01." in printed(reproduction(0.01))


def test_json_has_the_published_figures_beside_ours(printed):
    made = reproduction({("one",): 0.03})
    assert json.loads(printed(made, "--json")) == made.record()


def test_every_reproduction_is_listed():
    shown = CliRunner().invoke(app, ["reproduce"]).stdout
    assert [line.split()[0] for line in shown.splitlines()] == [*CATALOGUE]
    rows = json.loads(CliRunner().invoke(app, ["reproduce", "--json"]).stdout)
    assert [row["name"] for row in rows] == [*CATALOGUE]
    assert all(row["description"].endswith(".") for row in rows)
    assert set(CATALOGUE) >= {"chexpert-leaderboard", "cifar10h-certainty", "dermatology-ddx"}


@needs_data
def test_cifar10h_exact_and_drawn(monkeypatch):
    monkeypatch.setattr(cifar10h_certainty, "SEEDS", 4)
    told = []
    found = recompute("cifar10h-certainty", lambda done, total: told.append((done, total)))
    assert [row["exact"] for row in found.rows] == [183, 180, 176]
    drawn = [row["drawn"] for row in found.rows]
    # means of 40 to 240 seeds; one seed scatters by 2.6, so three errors of four seeds are 4
    assert drawn == pytest.approx([180.2, 177.9, 175.1], abs=4)
    for row in found.rows:
        assert 0.5 < row["sd_over_seeds"] < 5
        assert row["drawn"] - 4 < row["exact"] < row["drawn_at_most"] + 4
    assert {figures["drawn"] for figures in found.published.values()} == {178}
    assert told == [(step, 12) for step in range(12)]
    assert found.verdict().startswith("1 published figure, compared with 3 priors: ")
    assert all(row["published"] == {"drawn": 178} for row in found.record())
    assert cifar10h_certainty.PUBLISHED == 178


@pytest.fixture(scope="module")
def dermatology():
    if "EQUIPOISE_DATA" not in os.environ:
        pytest.skip("set EQUIPOISE_DATA to a folder that holds dermatology_ddx/")
    found = dermatology_ddx.reproduce(chain=Chain(draws=200, burn_in=100))
    return found, {tuple(row[key] for key in found.keys): row["value"] for row in found.rows}


@pytest.mark.parametrize(
    ("model", "means"),
    [
        ("PL", {1: 0.712, 2: 0.803, 3: 0.841, 5: 0.878, 10: 0.911}),
        ("PrIRN", {10: 0.751, 20: 0.818, 30: 0.846, 50: 0.874, 100: 0.901}),
    ],
)
def test_dermatology_mean_certainties(dermatology, model, means):
    """Recomputed once from the definitions with 1,000 draws; the paper has no numbers."""
    found, value = dermatology
    room = 0.004 if model == "PL" else 0.001  # shares of 200 draws lean upwards
    for reliability, mean in means.items():
        key = (dermatology_ddx.MEAN, f"{model} {reliability}")
        assert value[key] == pytest.approx(mean, abs=room)
        assert key not in found.published


def test_dermatology_published_figures(dermatology):
    found, value = dermatology
    assert {key: figures["value"] for key, figures in found.published.items()} == {
        (dermatology_ddx.BELOW, "conditions, PL 3"): 0.59,
        (dermatology_ddx.BELOW, "risk, PL 3"): 0.382,
        (dermatology_ddx.CORRELATION, "PL 3 and PrIRN 20"): 0.9,
        (dermatology_ddx.CORRELATION, "PL 3 and PrIRN 30"): 0.9,
        (dermatology_ddx.AGREEMENT, "PL 3"): 0.85,
    }
    assert set(found.tolerance) == set(found.published) <= set(value)
    for key, figures in found.published.items():
        fewer_draws = 0.02 if key[0] == dermatology_ddx.BELOW else 0.005
        assert value[key] == pytest.approx(
            figures["value"], abs=found.allowed(key) + fewer_draws
        )
