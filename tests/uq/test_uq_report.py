"""What a report on uncertainty says: only what the intervals support, and how it was found."""

import json
from dataclasses import replace

import numpy as np
import pytest
from scipy.special import expit

from equipoise.report.page import render
from equipoise.report.page.charts import standings
from equipoise.report.page.curves import draw_lines
from equipoise.report.page.figure import ModelStyles
from equipoise.report.terminal import answer_lines
from equipoise.types import InputError, Line, Lines
from equipoise.uq import (
    Prediction,
    decompose,
    disentanglement,
    evaluate_uncertainty,
    uncertainty_report,
)
from equipoise.uq.evaluate import TaskRow
from equipoise.uq.predictions import Outputs, find_files, read_run, read_study
from equipoise.uq.report import _advice, _leaders, _tells_apart
from equipoise.uq.tasks import six_tasks
from tests.uq.test_uq_evaluate import members, rows, save_benchmark, world

OOD, ECE = six_tasks()[0], six_tasks()[4]


def row(method, value, half, *, best, task=OOD):
    metric = task.metrics[0]
    ends = (value - half, value + half)
    chosen = True
    return TaskRow(task.key, method, "", "PU", metric, value, *ends, chosen, best, 1, 0)


def test_a_label_that_is_ranked_perfectly_is_no_circle():
    logits, labels, _ = world(uncertain=False)
    logits[:, 0] = 8 * labels[:, 0] - 4
    found = evaluate_uncertainty({"a": expit(logits), "b": expit(logits / 2)}, labels)
    assert rows(found, task="ece")


def test_advice_says_who_is_first_and_who_is_not_shown_to_be_worse():
    three = [row("a", 0.9, 0.01, best=True), row("b", 0.8, 0.01, best=False),
             row("c", 0.7, 0.3, best=True)]  # fmt: skip
    said = _advice(OOD, three, "")
    assert "a by PU is first" in said and "not shown to be worse: c." in said
    assert "lead the rest" not in said
    alone = _advice(OOD, [row("a", 0.6, 0.2, best=True)], "")
    assert "better than chance" in alone and "others" not in alone
    some = [row("a", 0.6, 0.2, best=True), row("b", 0.5, 0.01, best=False)]
    assert "better than chance" in _advice(OOD, some, "") and not _tells_apart(some)
    assert not _tells_apart([row("a", 0.9, 0.1, best=True), row("b", 0.8, 0.1, best=True)])
    assert _tells_apart(three)
    assert "alone in the best group" in _advice(OOD, three[:2], "")


def test_an_imprecise_method_does_not_take_the_headline(monkeypatch):
    by_task = {
        "ood": [row("a", 0.9, 0.01, best=True), row("wide", 0.7, 0.4, best=True),
                row("b", 0.6, 0.01, best=False)],
        "ece": [row("a", 0.01, 0.001, best=True, task=ECE),
                row("wide", 0.2, 0.3, best=True, task=ECE),
                row("b", 0.3, 0.01, best=False, task=ECE)],
        "errors": [row("wide", 0.6, 0.4, best=True), row("a", 0.4, 0.1, best=True)],
    }  # fmt: skip
    monkeypatch.setattr(
        "equipoise.uq.report._judged_rows", lambda _, task: {"": by_task.get(task.key, [])}
    )

    class Result:
        tasks = six_tasks()

    said = _leaders(Result(), "")
    assert said.startswith("a and wide are in the best group of both tasks (of 3) that tell")


def test_validation_images_without_a_defined_value_choose_nothing():
    logits, labels, _ = world()
    val_logits, val_labels, _ = world(1)
    val_labels[val_labels == -1] = 0
    val_labels[0] = -1  # every label of the one image is uncertain: no AUROC anywhere
    found = evaluate_uncertainty(
        members(logits, 0.5), labels, validation=(members(val_logits, 0.5), val_labels)
    )
    assert found.preset["uncertain"] == ("model",) and "errors" not in found.preset
    told = {one.values["number"] for one in found.notices if one.code == "preset_score"}
    assert told == {2}
    (rests,) = [one for one in found.notices if one.code == "uncertain_images"]
    assert rests.values["images"] == (labels == -1).any(axis=1).sum()
    assert "(task 2)" in found.report().methods[0]
    without = evaluate_uncertainty(members(logits, 0.5), labels).report()
    assert "chosen on" not in without.methods[0] and "fixed beforehand" in without.methods[0]


def test_what_would_settle_it_is_what_varies_most():
    logits, labels, _ = world(uncertain=False)
    still = {name: [members(logits, 0.5, seed=9)] * 3 for name in ("a",)}
    still["b"] = [members(logits, 0.6, seed=8)] * 3
    settled = evaluate_uncertainty(still, labels).report().card.settled_by
    assert settled.startswith("more images")
    wild = [expit(k * logits) for k in (-1.0, 0.2, 2.0)]
    shaky = {"a": wild, "b": [expit(k * logits - 0.1) for k in (2.0, -1.0, 0.3)]}
    assert evaluate_uncertainty(shaky, labels).report().card.settled_by.startswith("more seeds")


def test_names_of_methods_keep_their_letters():
    logits, labels, _ = world(uncertain=False)
    found = evaluate_uncertainty({"b": expit(logits), "worse": expit(-logits)}, labels).report()
    assert found.card.answer.startswith("b is in the best group")


def test_the_null_has_one_size_of_noise_for_all_images(monkeypatch):
    logits, labels, _ = world(uncertain=False)
    seen = []
    real = disentanglement.constant_noise
    monkeypatch.setattr(
        disentanglement,
        "constant_noise",
        lambda *said, **how: (
            seen.append((len(said[0]), how["decomposition"])) or real(*said, **how)
        ),
    )
    evaluate_uncertainty(
        members(logits, 0.5), labels, ood=members(0.3 * logits, 2.0),
        validation=(members(logits, 0.5), labels), decomposition="reverse_mi",
    )  # fmt: skip
    assert seen == [(2 * len(logits), "reverse_mi")]


def test_noise_is_fitted_by_the_decomposition_of_the_method():
    logits, _, _ = world(items=2000)
    drawn = expit(logits + 3 * np.random.default_rng(9).normal(size=(5, *logits.shape)))
    for name in ("information", "reverse_mi"):
        parts = decompose(drawn, decomposition=name)
        made = disentanglement.constant_noise(
            expit(logits), parts.EU, members=5, seed=0, decomposition=name
        )
        assert made.EU.mean() == pytest.approx(parts.EU.mean(), rel=0.1)
        assert made.AU.mean() == pytest.approx(parts.AU.mean(), rel=0.1)


def test_a_score_that_is_the_epistemic_part_stands_in_its_place():
    logits, labels, _ = world(uncertain=False)
    rng = np.random.default_rng(0)
    density = rng.normal(size=logits.shape)
    probs = expit(logits)[None]
    found = evaluate_uncertainty(
        {"ddu": Prediction(probs, density, score_is="EU"), "own": Prediction(probs, density)},
        labels,
        ood={"ddu": Prediction(probs, density + 5, score_is="EU"),
             "own": Prediction(probs, density + 5)},
    )  # fmt: skip
    assert [r.score for r in rows(found, task="ood", method="ddu")] == ["PU", "AU", "EU"]
    assert [r.score for r in rows(found, task="ood", method="own")] == ["PU", "own"]
    (gap,) = [r for r in found.parts if r.task == "ood"]
    assert gap.method == "ddu" and gap.gap_low > 0
    (one,) = found.correlations
    assert np.isfinite(one.value) and np.isnan(one.reference)
    told = next(n for n in found.notices if n.code == "one_member")
    assert told.values["methods"] == ("own",)
    assert render(found.report())
    with pytest.raises(InputError, match="score_is"):
        Prediction(probs, density, score_is="AU")


def test_files_say_that_their_score_is_the_epistemic_part(tmp_path):
    said = {"test_probs": np.full((1, 4, 2), 0.3), "test_score": np.ones((4, 2))}
    for name, meta in (("x", {"method": "x", "score_is": "EU"}), ("y", {"method": "y"})):
        np.savez(tmp_path / f"{name}.npz", meta=json.dumps({"schema": 1, **meta}), **said)
        scores = read_run(tmp_path / f"{name}.npz").parts["test"].scores
        assert ("EU" in scores) == (name != "y") and ("own" in scores) == (name == "y")


def test_the_brier_score_is_the_square_of_one_difference():
    logits, labels, _ = world(uncertain=False)
    found = evaluate_uncertainty(expit(logits), labels)
    (one,) = rows(found, metric="brier_score")
    assert one.value == pytest.approx(((expit(logits) - labels) ** 2).mean())
    assert one.low < one.value < one.high


def test_labels_that_are_all_blank_are_told_without_a_table():
    logits, labels, _ = world()
    both = {"a": expit(logits), "b": expit(logits / 2)}
    report = evaluate_uncertainty(both, np.full(labels.shape, np.nan)).report()
    said = "\n".join(line.plain for line in answer_lines(report, 100))
    assert "No task can be judged" in said
    assert render(report)


def test_a_file_without_a_part_is_named(tmp_path):
    save_benchmark(tmp_path)
    with np.load(tmp_path / "bce.cnn.0.npz") as held:
        kept = {name: held[name] for name in held.files if not name.startswith("ood")}
    np.savez(tmp_path / "bce.cnn.0.npz", **kept)
    report = uncertainty_report(tmp_path)
    claims = report.card.claims  # an estimand of every task, method and architecture
    assert len({claim.estimand for claim in claims}) == len(claims) > 0
    (one,) = [one for one in report.notices if one.code == "lacking_part"]
    assert one.values == {"files": ("bce.cnn.0.npz",), "part": "ood"}
    task = next(one for one in report.notices if one.code == "undefined_task")
    assert "bce.cnn.0.npz" in task.values["reason"]


def test_the_best_curve_and_the_worst_alone_stand_out_and_are_named():
    made = [Line(name, [(0.02, 0.1 * k), (0.3, 0.2 * k)], model=name, dots=False)
            for k, name in enumerate("abcd", 1)]  # fmt: skip
    common = {"name": "x", "caption": "x", "x": "p", "y": "q", "lines": made}
    styles = ModelStyles(tuple("abcd"))
    for front, named in ((("d", "a"), {"d", "a"}), ((), set("abcd"))):
        row = draw_lines(Lines(**common, x_range=(0, 1), front=front), styles).rows[0]
        assert {label.words for label in row.cells[-1].labels} == named
        body = str(row.html())
        assert ('"curve b"' in body) == bool(front) and body.count("curve main") == 1
        assert body.count('"curve pale"') == (2 if front else 3)


def test_the_best_is_bold_where_columns_differ_in_direction(tmp_path):
    board = uncertainty_report(save_benchmark(tmp_path)).findings[0].charts[0]
    assert ("", "bold: best") in standings(board, ModelStyles(())).key
    assert ("", "bold: highest") in standings(replace(board, bold="highest"),
                                              ModelStyles(())).key  # fmt: skip


def test_how_many_trainings_shared_the_device_is_told(tmp_path):
    save_benchmark(tmp_path, workers=3)
    cost = next(one for one in uncertainty_report(tmp_path).findings if one.key == "cost")
    assert {row["epochs"] for row in cost.tables[0].rows} == {5.0}
    assert {row["memory"] for row in cost.tables[0].rows} == {1.0}
    assert "3 trainings shared" in cost.sentence
    save_benchmark(tmp_path)
    alone = next(one for one in uncertainty_report(tmp_path).findings if one.key == "cost")
    assert "shared" not in alone.sentence


def test_corruptions_that_miss_their_goal_are_told(tmp_path):
    save_benchmark(tmp_path)
    told = [{"corruption": "blur", "severity": 1.0, "auroc": 0.7, "clean": 0.8,
             "fall": 0.125, "reached": False},
            {"corruption": "noise", "severity": 0.5, "auroc": 0.64, "clean": 0.8,
             "fall": 0.2, "reached": True}]  # fmt: skip
    path = tmp_path / "bce.cnn.0.npz"  # the first
    with np.load(path) as held:
        kept = {name: held[name] for name in held.files}
    meta = json.loads(str(kept["meta"])) | {"ood": {"corruptions": told}}
    np.savez(path, **(kept | {"meta": json.dumps(meta)}))
    report = uncertainty_report(tmp_path)
    (one,) = [one for one in report.findings if one.key == "corruptions"]
    assert [row["reached"] for row in one.tables[0].rows] == [False, True]
    assert one.tables[0].rows[0]["fall"] == pytest.approx(0.125)
    (weak,) = [one for one in report.notices if one.code == "weak_corruptions"]
    assert weak.values["names"] == ("blur",)
    meta["ood"]["corruptions"] = "blur"
    np.savez(path, **(kept | {"meta": json.dumps(meta)}))
    with pytest.raises(InputError, match="a list of corruptions"):
        uncertainty_report(tmp_path)


def test_a_run_says_what_its_other_images_are(tmp_path):
    save_benchmark(tmp_path)
    path = tmp_path / "bce.cnn.0.npz"  # the first
    row = {"corruption": "blur", "severity": 1.0, "auroc": 0.6, "clean": 0.8, "fall": 0.25,
           "reached": False, "goal": 0.3}  # fmt: skip
    with np.load(path) as held:
        kept = {name: held[name] for name in held.files}
    meta = json.loads(str(kept["meta"])) | {"ood": {"drop": 0.3, "corruptions": [row]}}
    np.savez(path, **(kept | {"meta": json.dumps(meta)}))
    (made,) = read_study(find_files(tmp_path)).corruptions
    assert made.goal == 0.3 and not made.reached and made.fall == 0.25


def test_a_score_that_does_not_judge_is_in_no_group():
    found = evaluate_uncertainty(members(world()[0], 0.5), world()[1]).report()
    tables = [one.tables[0] for one in found.findings if one.key == "tasks"]
    judged = [(row["best"] != "", row["chosen"]) for table in tables for row in table.rows]
    assert judged and all(best == chosen for best, chosen in judged)


@pytest.mark.parametrize(
    ("values", "logits", "said"),
    [
        (np.full((4, 2), 40.0), False, "percentages: divide by 100"),
        (np.full((4, 2), -3.0), False, "name the array logits"),
        (np.full((4, 2), 1.2), False, "give probabilities"),
        (np.full((4, 2), np.inf), True, "finite logits"),
        (np.full((4, 2), np.inf, dtype=np.float16), True, "finite logits"),
        (np.full((4, 2), np.nan), True, "leave out items"),
    ],
)
def test_numbers_that_are_no_probabilities_are_refused_with_advice(values, logits, said):
    with pytest.raises(InputError, match=said):
        decompose(values, logits=logits)


def test_other_images_are_decomposed_once(monkeypatch):
    logits, labels, _ = world(uncertain=False)
    seen = []
    real = Outputs.of.__func__
    monkeypatch.setattr(
        Outputs, "of", classmethod(lambda cls, *said: seen.append(1) or real(cls, *said))
    )
    evaluate_uncertainty({"a": [expit(logits)] * 2}, labels, ood={"a": [expit(logits)] * 2})
    assert len(seen) == 4
