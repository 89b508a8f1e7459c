"""How a truth was made is told by the votes, and both truths stand side by side."""

from dataclasses import replace

import numpy as np
import pytest

from equipoise import Annotations, Predictions, Settings, evaluate
from equipoise.study.questions import ask
from equipoise.study.questions.truths import designs
from equipoise.types import InputError, notice

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


def test_readers_alone_have_no_design_and_adjudicating_phases_have():
    votes, _ = votes_of("two plus one of gold")
    readers = votes.with_gold("ignore")
    assert list(designs(readers)) == []
    note = notice("phases_left_out", "{phases:names}", phases=("adjudication",))
    (sentence,) = designs(replace(readers, notices=(note,)))
    assert "unbiased" in sentence


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
