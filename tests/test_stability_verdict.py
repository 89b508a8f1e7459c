"""The verdict: true for one model, for ties and without values; numbers of the leaderboard."""

import math
from dataclasses import replace

from equipoise.analyses.verdict import Lead
from equipoise.evaluation import Row, Settings, evaluate
from equipoise.evaluation.result import Difference
from equipoise.inference import Population, Reason
from equipoise.metrics import named
from equipoise.resampling import resample
from tests.report_stability_sample import found, report_of, rows, sample, study, with_gold


def lead(values, *, metric="auroc", gap=None, separated=(), population=None):
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
        task="", metric=named(metric), labels="soft", level=0.95, kind="items x panel",
        population=population or Population(), scores=scores, leaders=tuple(best),
        others=tuple(name for name in known if name not in best), separated=separated,
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


def test_a_lead_is_positive_for_metrics_where_less_is_better_and_is_not_called_better():
    words = lead([0.3, 0.4], metric="log_score", gap=(-0.1, -0.2, 0.05)).finding
    assert words.startswith("m0 scores better than m1 by log score")
    assert words.endswith(
        "It is 0.100 ahead of m1 (95% interval −0.050 to +0.200): not separated, for items "
        "and annotators like these."
    )


def test_better_is_said_only_of_what_is_separated_among_all_pairs():
    gap = {"gap": (0.1, 0.05, 0.2)}
    both = lead([0.8, 0.7], separated=("m1",), **gap).finding
    assert both.startswith("m0 is better than m1, for items and annotators like these, by soft")
    every = lead([0.8, 0.7, 0.6], separated=("m1", "m2"), **gap).finding
    assert every.startswith("m0 is better than every other model, for items and annotators")
    some = lead([0.8, 0.7, 0.6], separated=("m2",), **gap).finding
    assert some.startswith("m0 scores highest by soft AUROC") and "is better" not in some
    assert "apart as a single pair, but not among all pairs, for items and" in some
    two = Population(annotators=False, reason=Reason.TOO_FEW, effective=2.0)
    none = lead([0.8, 0.7], population=two, **gap).finding
    assert none.endswith(
        "(95% interval +0.050 to +0.200, for these annotators); annotators are too few for a "
        "verdict on annotators like these."
    )


def test_the_leaderboard_is_that_of_evaluate():
    report = sample("stability")
    verdict = report.findings[0]
    board = verdict.tables[0]
    assert (
        board.open and "intervals of single values, for items and annotators" in board.caption
    )
    scores, votes = study()
    votes = with_gold(votes)
    plan = resample(votes, replicates=40)
    done = evaluate(
        scores, votes, metrics=["auroc"], resampling=plan, settings=Settings(workers=1)
    )
    assert done.plan.kind == "items x panel"
    expected = [
        one._asdict() for one in done.table()
        if (one.task, one.labels) == (done.tasks[-1], "soft")
    ]  # fmt: skip
    by_model = {row["model"]: row for row in board.rows}
    assert {one["model"]: one for one in expected} == by_model
    best = board.rows[0]["model"]
    assert by_model[best]["value"] == max(one["value"] for one in by_model.values())
    assert verdict.sentence.startswith(f"{best} scores highest by soft AUROC (macro average): ")
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
    assert "intervals of single values, for items like these, with votes like these" in (
        verdict.tables[0].caption
    )
    assert "shares of resamples of items" in verdict.tables[0].caption


def test_the_verdict_is_true_where_all_models_are_one():
    scores, votes = study(models=1, tasks=("",))
    same = [replace(scores[0], model=f"copy {n}") for n in range(3)]
    report = report_of(same, votes, only=("ranking", "certainty"))
    first = report.findings[0].sentence
    assert first.startswith("All 3 models share the first place by soft AUROC")
    certainty = found(report, "certainty").sentence
    assert "all models have the same soft AUROC" in certainty and "leads" not in certainty
