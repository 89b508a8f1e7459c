"""How a truth was made is told by the votes, and both truths stand side by side."""

import numpy as np
import pyarrow as pa
import pytest
from sklearn.metrics import balanced_accuracy_score

from equipoise import Annotations, Predictions, Settings, evaluate
from equipoise.study.questions import ask
from equipoise.study.questions.truths import designs
from equipoise.types import InputError

ITEMS, SHARE, WRONG = 400, 0.3, 0.12
WORDS = {
    "panel": "by others than these readers",
    "disputed": "almost only where readers split",
    "majority": "the majority of these readers",
    "two plus one of gold": "Wherever r0 and r1 agree",
    "two plus one": "added where the first 2 disagreed",
}


def votes_of(design, seed=0):
    """Readers, of whom some vote, and a standard, as a design has them; and the disease."""
    random, rows = np.random.default_rng(seed), []
    disease = random.random(ITEMS) < SHARE
    for item, sick in enumerate(disease):
        said = (sick ^ (random.random(5) < WRONG)).tolist()
        used = said[: {"two plus one": 2, "majority": 3}.get(design, 5)]
        standard = None
        if design == "two plus one" and said[0] != said[1]:
            used.append(said[2])
        elif design == "panel" or (design == "disputed" and len(set(used)) > 1):
            standard = sick
        elif design == "majority":
            standard = sum(used) >= 2
        elif design == "two plus one of gold":
            standard = said[0] if said[0] == said[1] else sick
        rows += [(item, reader, answer, False) for reader, answer in enumerate(used)]
        rows += [] if standard is None else [(item, 5, standard, True)]
    item, who, label, gold = map(np.array, zip(*rows, strict=True))
    names = (*(f"r{reader}" for reader in range(5)), "standard")
    votes = Annotations(
        kind="binary", items=tuple(f"i{k:03d}" for k in range(ITEMS)), classes=("no", "yes"),
        annotators=names, item=item, annotator=who, label=label.astype(int), is_gold=gold,
    )  # fmt: skip
    return votes, disease


def models_of(disease, items):
    random = np.random.default_rng(9)
    return [
        Predictions(name, items, 1 / (1 + np.exp(-(k * disease + random.normal(size=ITEMS)))))
        for name, k in (("net", 2.5), ("tree", 1.0))
    ]


@pytest.mark.parametrize("design", WORDS)
def test_the_design_is_told_by_the_votes(design):
    (sentence,) = designs(votes_of(design)[0])
    assert WORDS[design] in sentence


def test_readers_alone_have_no_design():
    votes, _ = votes_of("two plus one of gold")
    assert list(designs(votes.with_gold("ignore"))) == []


def settled(cases, first=2):
    """Items that the first two split where `split`, and votes of adjudication on `cases`."""
    rows = [(f"i{k}", r, int(k < 3 and r), "core") for k in range(30) for r in range(first)]
    rows += [(f"i{k}", 7 + n, 1, "adjudication") for n, k in enumerate(cases)]
    heads = ("item", "annotator", "label", "phase")
    frame = pa.table(dict(zip(heads, map(list, zip(*rows, strict=True)), strict=True)))
    return Annotations.from_dataframe(frame)


@pytest.mark.parametrize(
    ("cases", "first", "words"),
    [
        ([0, 1, 2], 2, "3 of 3 cases that split the readers, as two plus one makes it."),
        ([0, 1], 2, "2 of 3 cases that split the readers, as two plus one makes it."),
        ([0, 1, 2], 3, "3 of 3 cases that split the readers. They"),
        ([0, 1, 1], 2, "2 of 3 cases that split the readers. They"),
        ([0, 1, 9], 2, "2 of 3 cases that split the readers and on 1 other. They"),
    ],
)
def test_what_adjudication_settled_is_told_by_the_phase(cases, first, words):
    votes = settled(cases, first)
    (sentence,) = designs(votes)
    assert words in sentence and "unbiased part" in sentence
    whole = votes.adjudicated
    assert len(whole) == len(votes) + len(cases) and whole.annotators is None
    late = whole.rows(np.arange(len(votes), len(whole)))
    assert [late.items[code] for code in late.item] == [f"i{k}" for k in cases]
    assert late.label.tolist() == [1] * len(cases) and not late.gold.any()


def test_adjudication_of_every_case_is_a_panel():
    (sentence,) = designs(settled(list(range(30))))
    assert "on every case, as those of a panel" in sentence and "rise" not in sentence


def test_a_question_about_classes_is_asked_of_adjudication_too():
    rows = [("a", 0, "mild"), ("a", 1, "none"), ("b", 0, "severe"), ("b", 1, "none")]
    frame = {"item": [x for x, _, _ in rows] + ["a"], "annotator": [0, 1, 0, 1, 2],
             "label": [x for _, _, x in rows] + ["severe"],
             "phase": ["core"] * 4 + ["adjudication"]}  # fmt: skip
    votes = Annotations.from_dataframe(
        pa.table(frame), kind="ordinal", classes=["none", "mild", "severe"]
    )
    for asked, label in ((votes.at_least("mild"), 1), (votes.against("mild"), 0)):
        assert asked.adjudication.label.tolist() == [label]
        assert asked.adjudicated.label.tolist()[-1] == label


def test_what_readers_reach_by_their_own_majority_is_that_of_a_slow_loop():
    votes, _ = votes_of("majority")
    said = np.full((3, ITEMS), -1)
    mine = ~votes.gold
    said[votes.annotator[mine], votes.item[mine]] = votes.label[mine]
    own, others = [], []
    for reader in range(3):
        rest = [said[k] for k in range(3) if k != reader]
        one = rest[0] == rest[1]
        own.append(balanced_accuracy_score(said.sum(axis=0) >= 2, said[reader]))
        others.append(balanced_accuracy_score(rest[0][one], said[reader][one]))
    (sentence,) = designs(votes)
    expected = (
        f"is {np.mean(own):.2f} by the standard and {np.mean(others):.2f} by the majority"
    )
    assert expected in sentence


def test_the_effect_of_a_standard_of_two_is_shown_by_their_votes_alone():
    votes, disease = votes_of("two plus one of gold")
    models = models_of(disease, votes.items)
    how = {"metrics": ["auroc"], "settings": Settings(replicates=20)}
    answer = ask("truths", models, votes, **how)
    two = evaluate(models, votes.rows(~votes.gold & (votes.annotator < 2)), **how)
    lines = [line for line in answer.lines if line.variant == "the votes of r0 and r1 alone"]
    assert len(lines) == 2
    for line in lines:
        value = two.estimate(line.competitor, "auroc").value
        assert line.value == pytest.approx(value, abs=1e-12)


def test_stopping_on_agreement_raises_soft_auroc_and_the_first_votes_undo_it():
    votes, disease = votes_of("two plus one")
    models = models_of(disease, votes.items)
    how = {"metrics": ["auroc"], "settings": Settings(replicates=20)}
    answer = ask("truths", models, votes, **how)
    whole, first = (
        {m: evaluate(models, part, **how).estimate(m, "auroc").value for m in ("net", "tree")}
        for part in (votes, votes.first_votes(2))
    )
    lines = {line.competitor: line for line in answer.lines}
    for model, line in lines.items():
        assert line.variant == "the first 2 votes"
        assert line.value == pytest.approx(first[model], abs=1e-12)
        assert line.change == pytest.approx(first[model] - whole[model], abs=1e-12)
        assert 0.003 < -line.change < 0.06
    assert "first_votes(2)" in answer.finding().sentence


def test_both_truths_stand_side_by_side_and_say_where_they_part():
    votes, disease = votes_of("panel")
    models = models_of(disease, votes.items)
    how = {"metrics": ["auroc"], "settings": Settings(replicates=20)}
    finding = (answer := ask("truths", models, votes, **how)).finding()
    opinions = ~votes.gold
    yes = np.bincount(votes.item[opinions], votes.label[opinions])
    part = (yes >= 3) != disease
    (row,) = finding.tables[-1].rows
    assert (row["items"], row["part"]) == (ITEMS, part.sum())
    assert (row["standard"], row["readers"]) == (
        (part & disease).sum(),
        (part & ~disease).sum(),
    )
    assert f"part on {part.sum()} of {ITEMS} cases" in finding.sentence
    alone = evaluate(models, votes.with_gold("ignore"), **how)
    for line in answer.lines:
        expected = alone.estimate(line.competitor, "auroc")
        assert (line.value, line.low, line.high) == pytest.approx(
            (expected.value, *expected.interval(0.95)), abs=1e-12
        )


def test_one_truth_is_refused():
    votes, disease = votes_of("two plus one of gold")
    with pytest.raises(InputError, match="one truth, expected a reference standard"):
        ask("truths", models_of(disease, votes.items), votes.with_gold("ignore"))
