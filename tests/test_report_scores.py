"""Scores that are infinite or lower-is-better: what page and terminal say."""

import io
import json
import math
import re

import pytest
from rich.console import Console

from equipoise import metrics
from equipoise.aggregate import dirichlet
from equipoise.findings.screen import show
from equipoise.run import Provenance, Run, record
from equipoise.run.findings import terminal_report
from equipoise.run.findings.panels import RunView
from equipoise.run.findings.verdict import headline, standing
from tests.report_distributions_sample import (
    METRICS,
    MODELS,
    evaluated,
    made,
    models,
    sample_runs,
    votes,
)
from tests.report_sample import HOSTILE, changed, finding, opened, render, section


def log_score(run):
    """The panel of the log score."""
    return RunView(run).panels()[METRICS.index("log_score")]


@pytest.fixture(scope="module")
def runs():
    return sample_runs()


def test_infinite_scores_are_stored_shown_and_last(runs, tmp_path):
    run = runs["grades"]
    assert run.header["schema"] == 2
    again = Run.load(run.save(tmp_path / "run"))
    page = render(again)
    panel = log_score(again)
    score = panel.score("soft", "bold")
    assert (score.value, score.rank) == (math.inf, len(MODELS))
    assert panel.order[-1] == "bold"
    place = METRICS.index("log_score")
    assert finding(run, "leaderboard", place).more == (
        "With hard and soft labels the log score of bold is infinite (∞): it gives probability "
        "0 to what the labels say of at least one item. It ranks last.",
    )
    assert "infinite (∞)" in section(page, "forest")
    assert "∞" in section(page, "leaderboard")
    assert not re.search(r"\binf\b", page.split("<main")[1])


def test_runs_without_infinite_numbers_stay_readable_for_earlier_versions():
    run = made(metrics=("brier_score",))
    assert run.header["schema"] == 1
    assert '"inf"' not in json.dumps(run.header)


def test_an_older_run_that_stored_null_for_infinite_reads_as_undefined(runs):
    def age(value):
        if isinstance(value, dict):
            return {key: age(one) for key, one in value.items()}
        if isinstance(value, list):
            return [age(one) for one in value]
        return None if value == "inf" else value

    run = opened({**age(dict(runs["grades"].header)), "schema": 1}, runs["grades"].replicates)
    panel = log_score(run)
    assert math.isnan(panel.score("soft", "bold").value)
    assert "undefined" in section(render(run), "leaderboard")


def test_a_score_that_is_infinite_for_all_ranks_nobody():
    run = made(metrics=("log_score",), impossible=MODELS)
    panel = RunView(run).panels()[0]
    assert headline(panel) == "log score is infinite for every model: no ranking."
    assert "infinite for every model" in standing(panel.verdicts()[1])
    assert "They rank" not in finding(run, "leaderboard").more[0]
    assert "infinite (∞)" in render(run)


def test_two_models_one_infinite():
    run = made(metrics=("log_score",), names=("a", "b"), impossible=("b",))
    panel = RunView(run).panels()[0]
    said = standing(panel.verdicts()[1])
    assert said.startswith("With soft labels (mean vote), a has the best")
    assert "; the lead over b has no defined interval." in said
    render(run)


# --- words


def test_where_lower_is_better_no_model_scores_highest():
    page = render(made(metrics=("ranked_probability_score", "brier_score", "log_score")))
    verdict = section(page, "verdict")
    assert "highest" not in verdict
    assert "(lower is better)" in section(page, "forest")
    assert "lower is better" in section(page, "leaderboard")


def test_hard_labels_of_whole_distributions_are_the_class_with_most_votes(runs):
    assert "hard labels (class with most votes)" in section(render(runs["grades"]), "verdict")
    mixed = render(runs["many classes"])
    assert "shared by tied classes" in section(mixed, "labels")
    nominal = render(made(votes(("a", "b", "c"), "nominal"), ("auroc",)))
    assert "hard labels (class with most votes)" in section(nominal, "verdict")
    assert "tied classes" not in section(nominal, "labels")
    assert "hard labels (majority, a tie counts 1/2)" in section(
        render(runs["yes or no"]), "verdict"
    )
    made_of = render(changed(runs["grades"], truth_model={"method": "Dirichlet"}))
    assert "hard labels (most plausible class)" in section(made_of, "verdict")


def test_metrics_of_draws_say_what_hard_and_soft_are():
    table = votes()
    truth = dirichlet(table).drawn(20, seed=0)
    run = record(evaluated(truth, models(table), ("topk_accuracy",)), Provenance())
    verdict = section(render(run), "verdict")
    assert "With hard labels (mean plausibility, as if it were settled)" in verdict
    assert "With soft labels (mean over the possible truths)" in verdict


def test_the_method_tells_definitions_and_the_model_of_the_truth(runs):
    run = runs["grades"]
    method = section(render(run), "method")
    for metric in run.record.metrics:
        assert metric.title[1:] in method
    assert "How the truth was made" not in method
    facts = {"method": f"Dirichlet {HOSTILE}", "parameters": {"reliability": 2.0}}
    told = section(render(changed(run, truth_model=facts)), "method")
    assert "Dirichlet &lt;b&gt;" in told
    assert "reliability: 2.0" in told
    listed = section(render(changed(run, truth_model=[facts, facts])), "method")
    assert listed.count("reliability: 2.0") == 2


@pytest.mark.parametrize("name", metrics.CATALOGUE)
def test_every_metric_has_a_page(name):
    table = votes(("no", "yes"), "binary") if name.endswith("_at_k") else votes()
    asked = metrics.named(name.replace("_k", "_5") if name.endswith("_at_k") else name)
    truth = dirichlet(table).drawn(20, seed=0) if asked.labels == "draws" else table
    run = record(evaluated(truth, models(table), (asked.name,)), Provenance())
    text = render(run)
    assert asked.title in section(text, "verdict")
    assert len(text.encode()) < 300_000


def test_a_truth_without_votes_is_not_called_votes():
    table = votes()
    run = record(evaluated(dirichlet(table), models(table), ("brier_score",)), Provenance())
    page = render(run)
    said = section(page, "hardest")
    assert "the truth " in said
    assert "class with most mass" in said
    assert "votes" not in section(page, "reliability").split("class=note")[0]


def test_the_terminal_says_which_way_is_better_and_what_infinite_means():
    table = votes()
    result = evaluated(table, models(table, impossible=("bold",)), ("log_score", "accuracy"))
    console = Console(width=100, record=True, file=io.StringIO())
    show(console, terminal_report(record(result, Provenance())), verbose=True)
    text = console.export_text()
    words = " ".join(text.split())
    assert "log score (lower is better)" in text
    assert "accuracy (lower" not in text
    assert re.search(r"bold +∞ +4 +∞ +4 ", text)
    assert "its lead over bold cannot be computed" in words
    assert max(map(len, text.splitlines())) <= 100
    assert "∞ The score is infinite" in words
