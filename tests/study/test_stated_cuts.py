"""Models at their stated cuts: counts by gold, readers beside them, nothing assumed."""

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from numpy.testing import assert_allclose
from scipy.stats import binomtest
from sklearn.metrics import confusion_matrix

from equipoise import Annotations, InputError, Predictions, Settings
from equipoise.inference.intervals import simultaneous_widths
from equipoise.inference.proportions import clopper_pearson, ratio_interval
from equipoise.read.attributes import Attributes
from equipoise.report.answer import analyse_study
from equipoise.report.page import render
from equipoise.report.terminal import answer_lines
from equipoise.study import Study
from equipoise.study.analyses.stated_cuts import (
    RATES,
    cuts_finding,
    groups_at_cuts,
    points_at_cuts,
)
from equipoise.study.competitors import reader_tables
from equipoise.study.thresholds import Thresholds
from equipoise.types import Decision, Nouns, percent


def gold_study(tasks=("",), readers=3, cut=0.5, margin=None, quality=2.0, number=160):
    """Readers, a reference standard and two models whose truth is known."""
    random = np.random.default_rng(7)
    truths = random.random((len(tasks), number)) < 0.4
    rows = []
    for task, truth in enumerate(truths):
        for reader in range(readers):
            right = random.random(number) < 0.7 + 0.02 * reader
            rows += [
                (i, reader, task, t == r, False)
                for i, (t, r) in enumerate(zip(truth, right, strict=True))
            ]
        rows += [(i, readers, task, t, True) for i, t in enumerate(truth)]
    item, annotator, task, label, gold = map(np.array, zip(*rows, strict=True))
    annotations = Annotations(
        kind="binary",
        items=tuple(f"film {i:03d}" for i in range(number)),
        classes=("no", "yes"),
        annotators=(*(f"reader {r}" for r in range(readers)), "panel"),
        tasks=tasks,
        item=item,
        annotator=annotator,
        task=task,
        label=label.astype(int),
        is_gold=gold,
    )
    models = [
        Predictions(
            name,
            annotations.items,
            1 / (1 + np.exp(-(strength * (2 * truth - 1) + random.normal(size=number)))),
            task=task,
        )
        for name, strength in (("net", quality), ("tree", quality / 2))
        for task, truth in zip(tasks, truths, strict=True)
    ]
    thresholds = None if cut is None else Thresholds(cut)
    settings = Settings(thresholds=thresholds, margin=margin, replicates=20)
    return Study.of(models, annotations, metrics=["auroc"], settings=settings), truths, models


def test_counts_are_those_of_scikit_learn_with_exact_intervals():
    study, truths, models = gold_study()
    for point, model in zip(points_at_cuts(study, reader_tables(study)), models, strict=True):
        table = confusion_matrix(truths[0], model.values >= 0.5)
        (clear, alarm), (missed, hit) = table.tolist()
        expected = {
            "sensitivity": (hit, hit + missed),
            "specificity": (clear, clear + alarm),
            "ppv": (hit, hit + alarm),
            "npv": (clear, clear + missed),
        }
        for name, (hits, trials) in expected.items():
            rate = point.rates[name]
            assert (rate.hits, rate.trials) == (hits, trials)
            exact = binomtest(hits, trials).proportion_ci(0.95, "exact")
            assert_allclose(rate[:3], (hits / trials, *exact), atol=1e-9)


def test_readers_lie_between_their_own_rates_by_gold():
    study, truths, _ = gold_study()
    votes = study.annotations
    sens = []
    for reader in range(3):
        mine = (votes.annotator == reader) & ~votes.is_gold
        sens.append(votes.label[mine][truths[0][votes.item[mine]]].mean())
    assert_allclose(
        points_at_cuts(study, reader_tables(study))[0].readers["sensitivity"],
        (min(sens), max(sens)),
    )


def test_a_score_that_nobody_cut_is_not_cut():
    study, _, _ = gold_study(cut=None)
    assert points_at_cuts(study) == ()
    finding = cuts_finding(study, "net")
    assert not finding.tables
    assert "threshold" in finding.sentence


def test_one_task_with_cut_scores_of_votes_has_no_counts():
    study, _, _ = gold_study()
    votes = study.annotations
    opinions = votes.rows(~votes.is_gold)
    study = Study.of(
        study.predictions, opinions, metrics=["auroc"],
        settings=Settings(thresholds=Thresholds(0.5), replicates=20),
    )  # fmt: skip
    point = points_at_cuts(study, reader_tables(study))[0]
    assert point.rates["sensitivity"].trials == -1
    assert point.rates["sensitivity"].low < point.rates["sensitivity"].value


@pytest.mark.parametrize("tasks", [("",), ("edema", "mass", "nodule")])
def test_claims_against_readers_are_one_family_of_tasks_and_models(tasks):
    study, _, _ = gold_study(tasks, quality=1.2, readers=8)
    (table,) = (t for t in reader_tables(study) if t.truth == "gold")
    claims = table.task_claims(["net", "tree"], ("net", "tree"))
    assert set(claims) == {(task, model) for task in tasks for model in ("net", "tree")}
    alone = table.claims(("net", "tree"))
    for model in ("net", "tree"):
        of_mean = [claim for (name, _), claim in alone.items() if name == model]
        if len(tasks) == 1:  # one estimand, one claim
            assert claims["", model] in of_mean
        for task in tasks[1:]:
            claim = claims[task, model]
            level = 1 - 0.05 / len(tasks)
            (part,) = (part for part in table.tasks if part.task == task)
            width = simultaneous_widths(part.contrasts.like_these.subset([0, 1]), level)
            place = table.models.index(model)
            assert claim.high - claim.low == pytest.approx(2 * width[place])
            assert task in claim.estimand.metric


def test_with_a_margin_one_model_is_judged_as_many_are():
    study, _, _ = gold_study(quality=4.0, readers=8, margin=0.1)
    for view in (study, study.of_models(["net"])):
        assert points_at_cuts(view, reader_tables(view))[0].claim.decision in (
            Decision.SUPERIOR,
            Decision.NON_INFERIOR,
        )


def test_many_rows_are_those_of_the_leader_in_a_terminal():
    tasks = tuple(f"finding {k}" for k in range(7))
    study, _, _ = gold_study(tasks, number=60)
    tables = cuts_finding(study, "tree", Nouns(), reader_tables(study)).tables
    whole, mine, matrix, predictive = tables
    assert {row["model"] for row in mine.brief} == {"tree"} and len(mine.brief) == 7
    assert (mine.open, matrix.open, whole.open) == (True, True, False)
    assert (mine.file, len(whole.rows)) == (False, 14)
    cells = {(row["task"], row["model"]): row for row in whole.rows}
    for table, rates in ((matrix, RATES[:2]), (predictive, RATES[2:])):
        for line in table.rows:
            for task in tasks:
                row = cells[task, line["model"]]
                sides = [percent(row[side]).removesuffix("%") for side in rates]
                assert line[task].split()[0] == "/".join(sides)
    report = analyse_study(study, only=["calibration"])
    for width in (60, 80, 100, 140):
        lines = [line.plain for line in answer_lines(report, width)]
        assert any(line.strip().startswith("finding 6") for line in lines)
        assert max(map(len, lines)) <= width


@pytest.mark.parametrize("width", [80, 100, 120, 200])
def test_every_rate_stands_with_its_count_and_interval_at_any_usual_width(width):
    study, _, _ = gold_study(("fibrillation", "block"), number=400)
    study = replace(study, settings=replace(study.settings, margin=0.05))
    report = analyse_study(study, only=["calibration"])
    text = "\n".join(line.plain for line in answer_lines(report, width))
    for point in points_at_cuts(study, reader_tables(study)):
        for rate in point.rates.values():
            low, high = (percent(end).removesuffix("%") for end in (rate.low, rate.high))
            size = percent(rate.value).removesuffix("%")
            assert f"{size} [{low}, {high}]" in text and f"{rate.hits}/{rate.trials}" in text
    block = text[text.index("Models at") : text.index("AUROC", text.index("Models at"))]
    assert max(map(len, block.splitlines())) <= width
    assert all(head in block for head in ("sens. %", "spec. %", "PPV %", "NPV %"))
    assert "more column" not in block


def test_counts_and_readers_stand_in_small_letters_on_the_page():
    study, _, _ = gold_study(("a", "b"), number=400)
    page = render(analyse_study(study, only=["calibration"]))
    start = page.index('aria-label="Models at their stated cuts"')
    table = page[start : page.index("</table>", start)]
    for point in points_at_cuts(study, reader_tables(study)):
        assert f">{point.model}<td" in table and f">{point.task}<td" in table
        for name, rate in point.rates.items():
            ends = [percent(end).removesuffix("%") for end in point.readers.get(name, ())]
            beside = f" {'–'.join(dict.fromkeys(ends))}" if ends else ""
            assert f"<small>{rate.hits}/{rate.trials}{beside}</small>" in table
    assert table.count("<small>count readers</small>") == 2


def test_at_a_stated_prevalence_predictive_values_follow_by_bayes():
    study, _, _ = gold_study(("a", "b"))
    before = points_at_cuts(study, reader_tables(study))
    here = points_at_cuts(
        replace(study, settings=replace(study.settings, prevalence={"a": 0.02})),
        reader_tables(study),
    )
    for old, new in zip(before, here, strict=True):
        if new.task == "b":
            assert new == old
            continue
        sens, spec = (new.rates[name].value for name in ("sensitivity", "specificity"))
        assert_allclose(new.rates["ppv"].value, 0.02 * sens / (0.02 * sens + 0.98 * (1 - spec)))
        assert_allclose(new.rates["npv"].value, 0.98 * spec / (0.98 * spec + 0.02 * (1 - sens)))
        assert new.rates["ppv"].low < new.rates["ppv"].value < new.rates["ppv"].high
        assert new.rates["npv"].low < new.rates["npv"].value < new.rates["npv"].high
        found, spared = (new.rates[name][:3] for name in ("sensitivity", "specificity"))
        missed, alarms = ((1 - v, 1 - high, 1 - low) for v, low, high in (found, spared))
        for name, ratio, sign in (
            ("ppv", ratio_interval(found, alarms), 1),
            ("npv", ratio_interval(missed, spared), -1),
        ):
            after = [0.02 / 0.98 * x / (1 + 0.02 / 0.98 * x) for x in ratio[1:]]
            ends = after if sign > 0 else [1 - x for x in after[::-1]]
            assert_allclose((new.rates[name].low, new.rates[name].high), ends)


@pytest.mark.parametrize("share", [0, 1, -0.1, "much"])
def test_a_prevalence_that_is_none_is_refused(share):
    with pytest.raises(InputError, match="prevalence"):
        Settings(prevalence=share)


def test_a_prevalence_of_an_unknown_task_is_refused():
    study, _, models = gold_study(("a", "b"))
    with pytest.raises(InputError, match="expected one of a, b"):
        Study.of(models, study.annotations, settings=Settings(prevalence={"A": 0.1}))


@pytest.mark.parametrize("sizes", [(34, 80), (30, 300), (15, 60)])
def test_ratios_of_shares_hold_what_their_level_promises(sizes):
    random, inside = np.random.default_rng(3), 0
    for _ in range(400):
        shares = []
        for size, share in zip(sizes, (0.85, 0.1), strict=True):
            seen = random.binomial(size, share) / size
            shares.append((seen, *clopper_pearson(seen, size)))
        _, low, high = ratio_interval(*shares)
        inside += low <= 8.5 <= high
    assert inside / 400 > 0.93


def test_every_group_has_its_counts_at_the_cut():
    study, truths, models = gold_study()
    side = np.arange(160) % 3 == 0
    table = pa.table(
        {"item": list(study.items), "site": ["north" if north else "south" for north in side]}
    )
    view = replace(study, attributes=Attributes.from_dataframe(table))
    rows = {row["group"]: row for row in next(groups_at_cuts(view, "net")).rows}
    for name, inside in (("site = north", side), ("site = south", ~side)):
        called, sick = models[0].values[inside] >= 0.5, truths[0][inside]
        (clear, alarm), (missed, hit) = confusion_matrix(sick, called).tolist()
        assert rows[name]["sensitivity_count"] == f"{hit}/{hit + missed}"
        assert rows[name]["specificity_count"] == f"{clear}/{clear + alarm}"
        exact = binomtest(hit, hit + missed).proportion_ci(0.95, "exact")
        ends = rows[name]["sensitivity_low"], rows[name]["sensitivity_high"]
        assert_allclose(ends, exact, atol=1e-9)
    assert not [*groups_at_cuts(study, "net")]
    assert not [*groups_at_cuts(replace(view, thresholds=None), "net")]
