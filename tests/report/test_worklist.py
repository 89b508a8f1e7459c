"""The worklist of disputed items against slow loops, and the strips of agreement."""

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from equipoise.report.answer import analyse_study
from equipoise.report.answer.readers import disputed, task_votes
from equipoise.report.run import downloads
from equipoise.report.text import as_csv
from equipoise.types import Annotations, Strips, Worklist
from tests.odd_studies import Answered, answered, odd, renamed, world
from tests.study.test_stated_cuts import gold_study

STUDIES = ("copies_and_more", "anonymous", "grades", "tasks_with_copies", "groups", "ratings")
some = pytest.mark.parametrize("name", STUDIES)


def chart(study: Answered) -> Worklist:
    finding = next(one for one in study.report.findings if one.key == "disputed")
    (made,) = finding.charts
    assert isinstance(made, Worklist)
    return made


def rows(study: Answered) -> list[dict]:
    finding = next(one for one in study.report.findings if one.key == "disputed")
    return list(finding.tables[0].rows)


def by_item(votes: Annotations) -> dict[tuple[str, str], list[tuple[str, int]]]:
    """Who said what of every item of every task, one vote after another."""
    found: dict[tuple[str, str], list[tuple[str, int]]] = {}
    for row in range(len(votes.item)):
        task = votes.tasks[votes.task[row]] if votes.task is not None else ""
        who = "" if votes.annotators is None else votes.annotators[votes.annotator[row]]
        times = 1 if votes.count is None else int(votes.count[row])
        key = (task, votes.items[votes.item[row]])
        found.setdefault(key, []).extend([(who, int(votes.label[row]))] * times)
    return found


def splits(said: list[tuple[str, int]]) -> bool:
    """Whether at least a third of at least two votes is against the commonest answer."""
    labels = Counter(label for _, label in said)
    return len(said) >= 2 and 3 * (len(said) - max(labels.values())) >= len(said)


@some
def test_disputed_items_are_those_of_a_slow_loop(name):
    study = odd(name)
    cast = by_item(study.study.voted)
    wanted = {key for key, said in cast.items() if splits(said)}
    assert {(row["task"], row["item"]) for row in rows(study)} == wanted
    made = chart(study)
    assert {one.task: one.number for one in made.disputes} == Counter(t for t, _ in wanted)
    several = sum(len(said) >= 2 for said in cast.values())
    finding = next(one for one in study.report.findings if one.key == "disputed")
    said = f"{finding.title} {finding.sentence}"
    assert f"{len(wanted)} of {several} " in said
    assert [one.number for one in made.disputes] == sorted(
        (one.number for one in made.disputes), reverse=True
    )


@some
def test_patterns_are_counted_as_a_slow_loop_does(name):
    study = odd(name)
    votes, made = study.study.voted, chart(study)
    cast = {key: said for key, said in by_item(votes).items() if splits(said)}
    for dispute in made.disputes:
        own = {item: said for (task, item), said in cast.items() if task == dispute.task}
        patterns = Counter(pattern(said, votes) for said in own.values())
        assert f"{len(patterns)} pattern" in dispute.remark
        most = sorted(patterns.values(), reverse=True)[: len(dispute.patterns)]
        assert [one.number for one in dispute.patterns] == most
        for one in dispute.patterns:
            assert patterns[one.votes] == one.number
            for item, places in one.items:
                assert pattern(own[item], votes) == one.votes
                assert len(places) == len(made.models)
        assert len({one.votes for one in dispute.patterns}) == len(dispute.patterns)


def pattern(said, votes):
    """What every annotator said; of anonymous votes, the votes in order."""
    if votes.annotators is None:
        return tuple(sorted((label for _, label in said), reverse=True))
    known = dict(reversed(said))
    return tuple(known.get(who) for who in votes.annotators)


@some
def test_models_are_placed_by_the_share_of_items_that_they_score_lower(name):
    study = odd(name)
    scores = {
        (one.task, one.model): dict(zip(one.items, one.values, strict=True))
        for one in study.study.predictions
    }
    for row in rows(study)[:10]:
        for model in study.answer.evaluation.models:
            own = scores[row["task"], model]
            mine = own[row["item"]]
            if np.ndim(mine):
                top = study.study.voted.classes.index(row["commonest"])
                assert row[f"place_{model}"] == pytest.approx(mine[top])
                continue
            lower = sum(x < mine for x in own.values())
            ties = sum(x == mine for x in own.values())
            share = (lower + ties / 2) / len(own)
            assert row[f"place_{model}"] == pytest.approx(share, abs=1e-12)


@pytest.mark.parametrize(
    ("counts", "wanted"),
    [
        ((0, 3), False), ((1, 2), True), ((1, 3), False), ((2, 4), True), ((1, 1), True),
        ((0, 1), False), ((3, 5), True), ((2, 6), False), ((2, 5), False), ((1, 1, 1), True),
        ((4, 1, 1), True), ((5, 1, 1), False), ((0, 0, 2), False),
    ],
)  # fmt: skip
def test_a_third_against_the_commonest_answer_splits(counts, wanted):
    total = np.array([sum(counts)])
    shares = np.array(counts)[:, None] / total
    assert disputed(shares, total).tolist() == [wanted]


def test_rates_are_of_the_disputed_items():
    study = odd("copies_and_more")
    votes = study.study.voted
    (dispute,) = chart(study).disputes
    cast = {key: said for key, said in by_item(votes).items() if splits(said)}
    for who, rate in zip(votes.annotators, dispute.rates, strict=True):
        own = [label for said in cast.values() for name, label in said if name == who]
        assert rate == pytest.approx(np.mean(own))
    most = max(zip(dispute.rates, votes.annotators, strict=True))[1]
    assert f"{most} says yes most often" in dispute.remark


def test_gold_items_and_single_votes_are_not_disputed():
    assert not [one for one in odd("gold_only").report.findings if one.key == "disputed"]
    assert not [one for one in odd("one_vote").report.findings if one.key == "disputed"]


def test_items_that_no_model_scored_are_not_on_the_list():
    scores, votes = world([0.5, 0.6])
    fewer = [replace(one, items=one.items[:20], values=one.values[:20]) for one in scores]
    study = answered(fewer, votes, on_missing="drop")
    listed = {row["item"] for row in rows(study)}
    assert listed and listed <= set(fewer[0].items)
    votes_of = task_votes(study.study, {"": np.arange(20)})
    assert len(votes_of[""][0].items) == 20


def test_the_file_for_adjudication_reads_back():
    report = odd("copies_and_more").report
    (table,) = downloads(report)
    lines = as_csv(table.rows).splitlines()
    assert lines[0].startswith("task,item,votes,share_yes,vote_reader 0")
    assert len(lines) == 1 + len(table.rows)


def test_hostile_names_stay_words():
    scores, votes = world([0.5, 0.6])
    bad = '=1+1,"<b>'
    items = (bad, *votes.items[1:])
    named = replace(votes, items=items, annotators=(bad, *votes.annotators[1:]))
    given = [replace(renamed(one, f"{bad}{m}"), items=items) for m, one in enumerate(scores)]
    study = answered(given, named)
    (table,) = downloads(study.report)
    assert not [x for x in as_csv(table.rows).splitlines() if x.startswith("=")]


@some
def test_strips_show_all_items_once(name):
    study = odd(name)
    finding = next(one for one in study.report.findings if one.key == "agreement")
    (made,) = finding.charts
    assert isinstance(made, Strips)
    cast = by_item(study.study.voted)
    for strip in made.rows:
        own = [said for (task, _), said in cast.items() if task == strip.task]
        assert sum(part[0] for part in strip.shares) == pytest.approx(1)
        split = sum(part[0] for part in strip.shares if part[2])
        assert split == pytest.approx(np.mean([splits(said) for said in own]))
        assert f"{100 * split:.0f}% split" == strip.split


def test_the_reference_standard_has_no_square():
    study, _, _ = gold_study(number=60)
    votes = study.voted
    order = np.argsort([name != "panel" for name in votes.annotators])  # the standard first
    place = np.argsort(order)
    votes = replace(
        votes,
        annotators=tuple(votes.annotators[k] for k in order),
        annotator=place[votes.annotator],
    )
    finding = next(
        part for part in analyse_study(replace(study, truth=votes, votes=votes)).findings
        if part.key == "disputed"
    )  # fmt: skip
    (made,) = finding.charts
    readers = tuple(name for name in votes.annotators if name != "panel")
    assert made.annotators == readers
    cast = by_item(votes.with_gold("ignore"))
    for row in finding.tables[0].rows:
        said = dict(cast[row["task"], row["item"]])
        for reader in readers:
            assert row[f"vote_{reader}"] == votes.classes[said[reader]]
    assert all(len(one.rates) == len(readers) for one in made.disputes)
