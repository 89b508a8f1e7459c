"""The verdict: true for one model, for ties and without values; numbers of the leaderboard."""

import math
from dataclasses import replace

import numpy as np
import pytest

from equipoise.analyses.options import ResamplingOptions
from equipoise.analyses.verdict import Lead, _rank_end, two_way_bootstrap
from equipoise.evaluation import Row, Settings
from equipoise.evaluation.result import Difference
from equipoise.metrics import named
from tests.report_stability_sample import found, report_of, rows, sample, study, with_gold


def lead(values, *, metric="auroc", gap=None):
    """A lead by hand: values by model, the best first, None is undefined."""
    names = [f"m{n}" for n in range(len(values))]
    known = [name for name, one in zip(names, values, strict=True) if one is not None]
    best = [n for n in known if values[names.index(n)] == values[names.index(known[0])]]
    scores = tuple(
        Row("", name, metric, "soft", *([math.nan] * 3 if v is None else [v, v - 0.1, v + 0.1]),
            math.nan, math.nan)
        for name, v in zip(names, values, strict=True)
    )  # fmt: skip
    return Lead(
        task="", metric=named(metric), labels="soft", level=0.95, kind="items", wide=False,
        scores=scores, rank_ends=((math.nan, math.nan),) * len(names), leaders=tuple(best),
        others=tuple(name for name in known if name not in best), separated=(),
        gap=None if gap is None else Difference("", metric, "soft", "m0", "m1", *gap, 0.5),
    )  # fmt: skip


def test_the_sentence_holds_for_one_model_for_ties_and_without_values():
    alone = lead([0.8]).finding
    assert alone.startswith("m0: soft AUROC 0.800 [0.700, 0.900]. There is no other")
    assert lead([0.8, 0.8, 0.8]).finding.startswith("All 3 models share the first place")
    assert lead([None, None]).finding == (
        "No model has a value of soft AUROC, so there is no order to judge."
    )
    assert lead([0.8, None]).finding.startswith("m0 is the only model with a value")
    words = lead([0.8, 0.8, 0.7], gap=(0.1, 0.05, 0.2)).finding
    assert words.startswith("m0 and m1 share the first place")
    assert "They are 0.100 ahead of m2 (95% interval +0.050 to +0.200" in words
    last = lead([0.8, 0.7, None], gap=(0.1, 0.05, 0.2)).finding
    assert last.endswith(" 1 model without a value.")


def test_a_lead_is_positive_for_metrics_where_less_is_better_and_says_chance():
    words = lead([0.3, 0.4], metric="log_score", gap=(-0.1, -0.2, 0.05)).finding
    assert "It is 0.100 ahead of m1, which may be chance" in words
    assert "−0.050 to +0.200 with other items" in words
    assert "chance" not in lead([0.3, 0.4], metric="log_score", gap=(-0.1, -0.2, -0.01)).finding


def test_the_leaderboard_is_that_of_other_items_and_annotators():
    report = sample("stability")
    verdict = report.findings[0]
    board = verdict.tables[0]
    assert board.open and "the noise of votes counted once" in board.caption
    by_model = {row["model"]: row for row in board.rows}
    told = ResamplingOptions(replicates=40, settings=Settings(workers=1))
    scores, votes = study()
    done = two_way_bootstrap(scores, with_gold(votes), ["auroc"], told).evaluation
    assert done.plan.kind == "items x panel"
    expected = [
        one for one in done.table() if (one.task, one.labels) == (done.tasks[-1], "soft")
    ]
    assert {one.model: (one.p_best, one.low) for one in expected} == {
        name: pytest.approx((one["p_best"], one["low"])) for name, one in by_model.items()
    }
    best = board.rows[0]["model"]
    assert by_model[best]["value"] == max(one["value"] for one in by_model.values())
    assert verdict.sentence.startswith(f"{best} leads by soft AUROC (macro average): ")
    assert all(one["rank_low"] <= one["rank"] <= one["rank_high"] for one in board.rows)


def test_the_grounds_are_those_of_flips_and_components():
    report = sample("stability")
    grounds = " ".join(report.findings[0].more)
    sizes = [row for row in rows(report, "flips") if row["task"] == "macro average"]
    least = min((row["size"] for row in sizes if row["size"]), default=None)
    assert (f" {least} of " if least else "No set of up to") in grounds
    assert "It hangs most on " in grounds
    few = report_of(*study(), only=("certainty",)).findings[0]
    assert len(few.more) == 1 and "of the resamples of items and annotators" in few.more[0]


def test_anonymous_votes_are_drawn_with_their_items():
    verdict = sample("stability of anonymous votes").findings[0]
    assert "intervals, items resampled" in verdict.tables[0].caption
    assert "with other items)" in verdict.sentence


def test_the_verdict_is_true_where_all_models_are_one():
    scores, votes = study(models=1, tasks=("",))
    same = [replace(scores[0], model=f"copy {n}") for n in range(3)]
    report = report_of(same, votes, only=("ranking", "certainty"))
    first = report.findings[0].sentence
    assert first.startswith("All 3 models share the first place by soft AUROC")
    certainty = found(report, "certainty").sentence
    assert "all models have the same soft AUROC" in certainty and "leads" not in certainty


def test_rank_ends_hold_the_level():
    shares = np.array([0.02, 0.5, 0.4, 0.06, 0.02])
    low, high = _rank_end(shares, 0.025), _rank_end(shares, 0.975)
    assert (low, high) == (2, 4)
    assert shares[int(low) - 1 : int(high)].sum() >= 0.95
