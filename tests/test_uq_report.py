"""What a report on uncertainty says: only what the intervals support, and how it was found."""

from scipy.special import expit

from equipoise.uq import evaluate_uncertainty
from equipoise.uq.evaluate import TaskRow
from equipoise.uq.report import _advice, _leaders, _tells
from equipoise.uq.tasks import six_tasks
from tests.test_uq_evaluate import members, rows, world

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
    assert "better than chance" in _advice(OOD, some, "") and not _tells(some)
    assert not _tells([row("a", 0.9, 0.1, best=True), row("b", 0.8, 0.1, best=True)])
    assert _tells(three)
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
        "equipoise.uq.report._judged_rows", lambda _, task, __: by_task.get(task.key, [])
    )

    class Result:
        tasks = six_tasks()

    said = _leaders(Result(), "")
    assert said.startswith("a is first on both tasks (of 3)")
    assert "wide not shown to be worse" in said


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
    assert found.card.answer.startswith("b is first")
