"""Fast near-duplicate rounds: against the slow twin, the lemma, and interruptions."""

import math
from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from equipoise.clean import Collection, pair_name
from equipoise.clean import similarity as search
from equipoise.clean.rounds import (
    JUDGES,
    DuplicateRounds,
    Judging,
    PairVote,
    pair_rows,
    read_pair_votes,
)
from equipoise.clean.rounds_record import finding, load, save
from equipoise.clean.similarity import Directions
from equipoise.types import InputError
from tests.oracles import duplicate_rounds as slow


def collection(embeddings, names=None):
    rows = np.asarray(embeddings, float)
    made = tuple(f"i{place:03d}" for place in range(len(rows)))
    return Collection(items=tuple(names or made), embeddings=rows)


def judged(rounds, same):
    """The end of the rounds when `same(first name, second name)` answers every question."""
    history = []
    while not rounds.finished:
        history.append(list(zip(rounds.pairs.first, rounds.pairs.second, strict=True)))
        said = [
            PairVote(name, "ann", "yes" if same(*name.split(" | ")) else "no")
            for name in rounds.names
        ]
        rounds = rounds.answered(said)
    return rounds, history


def members(rounds):
    return {frozenset(group) for group in rounds.groups}


GRID = st.integers(-3, 3)  # small numbers: ties, copies and zeros are frequent


@st.composite
def worlds(draw, least=1, most=14):
    items = draw(st.integers(least, most))
    rows = draw(st.lists(st.tuples(GRID, GRID, GRID), min_size=items, max_size=items))
    groups = draw(st.lists(st.integers(0, 4), min_size=items, max_size=items))
    return np.array(rows, float), groups


@given(worlds(), st.integers(1, 3), st.sampled_from([1, 64]))
@settings(max_examples=150, deadline=None)
def test_the_same_questions_as_the_slow_twin(world, patience, cells):
    rows, groups = world
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(search, "CELLS", cells)
        rounds = DuplicateRounds.start(collection(rows), patience=patience)
        place = {name: number for number, name in enumerate(rounds.items)}
        rounds, history = judged(rounds, lambda a, b: groups[place[a]] == groups[place[b]])
    points, places = Directions.of(rows), np.arange(len(rows))
    far = np.array([points.distance(np.full(len(rows), i), places) for i in places])
    np.testing.assert_allclose(far, slow.matrix(rows), atol=1e-12)
    expected, clusters = slow.rounds(far, lambda a, b: groups[a] == groups[b], patience)
    assert [sorted(one) for one in history] == [sorted(one) for one in expected]
    named = {frozenset(rounds.items[i] for i in one) for one in clusters if len(one) > 1}
    assert members(rounds) == named
    for one in rounds.rounds:
        assert (one.distances == far[one.pairs.first, one.pairs.second]).all()


def test_two_clusters_are_asked_again_once_their_closest_pair_is_another():
    """A pair between them was refused, then both grew toward each other."""
    random = np.random.default_rng(251)
    rows, groups = random.normal(size=(20, 3)), random.integers(0, 2, 20)
    rounds = DuplicateRounds.start(collection(rows), patience=2)
    _, history = judged(rounds, lambda a, b: groups[int(a[1:])] == groups[int(b[1:])])
    far = slow.matrix(rows)
    expected, _ = slow.rounds(far, lambda a, b: groups[a] == groups[b], 2)
    assert [sorted(one) for one in history] == [sorted(one) for one in expected]


@st.composite
def cliques(draw):
    """Groups of random sizes around random directions that satisfy the assumption."""
    sizes = draw(st.lists(st.integers(1, 20), min_size=1, max_size=8))
    random = np.random.default_rng(draw(st.integers(0, 2**32)))
    features = draw(st.integers(8, 24))
    centre = random.normal(size=(len(sizes), features))
    group = np.repeat(np.arange(len(sizes)), sizes)
    spread = 10.0 ** random.uniform(-4, 0, len(sizes))[group, None]  # dense and loose groups
    noise = random.normal(size=(len(group), features))
    for _ in range(60):  # shrink until near duplicates are closer than all else
        rows = centre[group] + spread * noise
        if assumption_holds(slow.matrix(rows), group):
            return rows, group
        spread = spread / 2
    raise AssertionError("unreachable: centres differ")


def assumption_holds(far, group):
    same = np.asarray(group)[:, None] == np.asarray(group)[None]
    inside = np.where(same, far, -1).max(axis=1)
    outside = np.where(same, np.inf, far).min(axis=1)
    return bool((inside < outside).all())


@given(cliques(), st.integers(1, 3))
@settings(max_examples=80, deadline=None)
def test_the_lemma_on_cliques(world, patience):
    rows, group = world
    rounds = DuplicateRounds.start(collection(rows), patience=patience)
    place = {name: number for number, name in enumerate(rounds.items)}
    rounds, history = judged(rounds, lambda a, b: group[place[a]] == group[place[b]])
    size = np.bincount(group)
    assert members(rounds) == {
        frozenset(rounds.items[i] for i in np.flatnonzero(group == one))
        for one in np.flatnonzero(size > 1)
    }
    asked = sum(map(len, history))
    assert asked <= len(group) + (patience - 1) * len(size)
    assert len(history) <= math.floor(math.log2(size.max())) + patience
    assert len({tuple(pair) for one in history for pair in one}) == asked
    yes = sum(int((one.answers == 1).sum()) for one in rounds.rounds)
    assert yes == len(group) - len(size)  # a spanning tree of every group, nothing wasted

    assert len(rounds.rounds) <= rounds.most_rounds
    assert rounds.judgements <= rounds.most_judgements
    assert not finding(rounds).notices


def test_the_bound_on_rounds_is_reached():
    """Pairs, pairs of pairs, and so on: a group of 16 takes four rounds and the last."""
    angle = sum(0.02 * 3.0**level * (np.arange(16) >> level & 1) for level in range(4))
    rows = np.column_stack([np.cos(angle / 10), np.sin(angle / 10)])
    rounds, history = judged(
        DuplicateRounds.start(collection([*rows, [-1, 0]])), lambda a, b: "i016" not in (a, b)
    )
    assert [len(one) for one in history] == [9, 4, 2, 1]  # i016 is refused in the first
    assert len(rounds.groups) == 1
    rounds, history = judged(
        DuplicateRounds.start(collection([*rows, [-1, 0], [-1, 0.1], [-1, 0.3]])),
        lambda a, b: a < b < "i016" or (a, b) == ("i016", "i017"),
    )
    assert [len(one) for one in history] == [10, 5, 2, 1, 1]
    assert rounds.most_rounds == len(history)


def chain(length):
    """Near duplicates in a row; all but the first two have something else even closer."""
    along = np.concatenate([[0], np.cumsum(1 + 0.01 * np.arange(length - 1))])
    aside = np.repeat([0, 0.5], [length, length - 2])
    return np.column_stack([np.full(2 * length - 2, 100), [*along, *along[2:]], aside])


@pytest.mark.parametrize("length", [4, 8, 16])
def test_a_chain_exceeds_the_bound_and_says_so(length):
    rows = chain(length)
    group = (np.arange(len(rows)) >= length) * np.arange(len(rows))
    assert not assumption_holds(slow.matrix(rows), group)
    last = f"i{length:03d}"
    rounds, history = judged(
        DuplicateRounds.start(collection(rows)), lambda a, b: a < last and b < last
    )
    said = finding(rounds)
    assert [len(one) for one in rounds.groups] == [length]  # found all the same, one a round
    assert len(rounds.rounds) == len(history) >= length - 1
    assert rounds.most_rounds == math.ceil(math.log2(length)) + 1
    exceeded = len(rounds.rounds) > rounds.most_rounds
    assert exceeded == (length > 4)
    codes = {one.code: one for one in said.notices}
    assert ("rounds_above_bound" in codes) == exceeded
    assert codes["grew_after_refusal"].values["clusters"] >= length - 2
    assert ("exceeded" in said.more[0]) == exceeded
    assert f"{len(rounds.rounds)} rounds" in said.more[0]


def test_near_duplicates_that_are_not_transitive_can_be_missed():
    """The counterexample of the docstring: the assumption holds, and a component is split."""
    angle = np.array([-2.5, -2, 0, 1, 3.5, 4.5, 6.5, 7]) / 100
    names = tuple("wyxacezv")
    rows = np.column_stack([np.cos(angle), np.sin(angle)])
    pairs = {pair_name(*one) for one in ("wy", "xa", "ac", "ce", "zv")}
    far = slow.matrix(rows)
    for i, j, k in ((i, j, k) for i in range(8) for j, k in combinations(range(8), 2)):
        for near, other in ((j, k), (k, j)):
            if i in (near, other):
                continue
            is_near = pair_name(names[i], names[near]) in pairs
            if is_near and pair_name(names[i], names[other]) not in pairs:
                assert far[i, near] < far[i, other]
    ends = [
        judged(
            DuplicateRounds.start(collection(rows, names), patience=patience),
            lambda a, b: pair_name(a, b) in pairs,
        )[0]
        for patience in (1, 2)
    ]
    assert members(ends[0]) == {*map(frozenset, ("wy", "xa", "ce", "zv"))}
    assert members(ends[1]) == {*map(frozenset, ("wy", "xace", "zv"))}


@given(worlds(least=2), st.randoms(use_true_random=False))
@settings(max_examples=40, deadline=None)
def test_the_order_of_items_does_not_matter(world, random):
    rows, groups = world
    names = [f"i{place:03d}" for place in range(len(rows))]
    group = dict(zip(names, groups, strict=True))
    order = list(range(len(rows)))
    random.shuffle(order)
    ends = [
        judged(
            DuplicateRounds.start(collection(rows[list(one)], [names[i] for i in one])),
            lambda a, b: group[a] == group[b],
        )
        for one in (range(len(rows)), order)
    ]
    (one, asked), (other, asked_too) = ends
    assert asked == asked_too and one.groups == other.groups
    assert one.fingerprint == other.fingerprint


def test_copies_of_one_picture_ask_one_question_each():
    rows = np.repeat([[1.0, 2, 3], [-3, 1, 0]], [40, 25], axis=0)
    rounds, history = judged(
        DuplicateRounds.start(collection(rows)), lambda a, b: (a < "i040") == (b < "i040")
    )
    assert [len(one) for one in rounds.groups] == [40, 25]
    assert sum(map(len, history)) <= 65
    assert len(history) == 2  # all at once to the first copy, then the two groups


@pytest.mark.parametrize("items", [0, 1, 2])
def test_few_items(items):
    rounds = DuplicateRounds.start(collection(np.eye(3)[:items]))
    assert len(rounds.pairs) == (items == 2)
    assert rounds.finished == (items < 2)
    assert rounds.groups == () and finding(rounds).sentence


# ---- votes ------------------------------------------------------------------------------


def four(**how):
    """Two pairs close together, the second of which is open to doubt."""
    rows = [[1, 0], [1, 0.01], [0, 1], [0.05, 1]]
    return DuplicateRounds.start(collection(rows, "abcd"), **how)


def votes(**said):
    """Votes by pair: ``ab="yyn"`` are three annotators."""
    words = {"y": "yes", "n": "no", "u": "unsure"}
    return [
        PairVote(pair_name(*pair), f"r{who}", words[letter])
        for pair, letters in said.items()
        for who, letter in enumerate(letters)
    ]


def test_the_majority_decides_and_ties_follow_the_rule():
    said = votes(ab="yyn", cd="yn")
    assert four().answered(said).groups == (("a", "b"),)
    lenient = four(judging=Judging(undecided="yes")).answered(said)
    assert lenient.groups == (("a", "b"), ("c", "d"))
    for one in (four().answered(said), lenient):
        undecided = [note for note in finding(one).notices if note.code == "undecided_pairs"]
        assert undecided[0].values == {"pairs": 1, "rule": one.judging.undecided}
    more = four(judging=Judging(undecided="more")).answered(said)
    assert len(more.rounds) == 1 and more.missing.tolist() == [1]
    assert more.answered([PairVote("c | d", "r9", "yes")]).groups == lenient.groups


def test_pairs_refused_within_a_group_are_counted():
    """b-c is refused, then a-b and x-e meet while x-e and c do."""
    plane = {"a": (-0.3, 0), "b": (0, 0), "c": (0.85, 0), "e": (0.5, 0.82), "x": (0.2, 0.93)}
    rows = [[100, *point] for point in plane.values()]
    rounds = DuplicateRounds.start(collection(rows, plane))
    end, _ = judged(rounds, lambda a, b: {a, b} != {"b", "c"})
    assert end.groups == (("a", "b", "c", "e", "x"),)
    values = {one.code: one.values for one in finding(end).notices}
    assert values["refused_within_group"] == {"pairs": 1}
    assert values["grew_after_refusal"] == {"clusters": 1}


def test_nobody_sure_is_undecided():
    after = four().answered(votes(ab="u", cd="uuy"))
    assert after.rounds[0].answers.tolist() == [-1, 1]


def test_a_round_stays_open_until_every_pair_has_its_votes():
    rounds = four(judging=Judging(votes=2))
    part = rounds.answered(votes(ab="yy", cd="y"))
    assert part.missing.tolist() == [1] and len(part.rounds) == 1
    assert "1 of its 2 pairs needs votes" in finding(part).sentence
    assert [row["pair"] for row in pair_rows(part)] == ["c | d"]
    assert part.answered(votes(ab="yy", cd="y")).rounds[0].votes == part.rounds[0].votes
    assert len(part.answered([PairVote("d | c", "r1", "No")]).rounds) == 2


@pytest.mark.parametrize("model", JUDGES)
def test_every_aggregation_model_can_decide(model):
    after = four(judging=Judging(model=model)).answered(votes(ab="yyy", cd="nnn"))
    assert after.groups == (("a", "b"),)
    assert finding(after).methods.count("[@groger2025")


def test_a_model_learns_from_earlier_rounds():
    """A reader who was wrong throughout the first round is not believed in the second."""
    random = np.random.default_rng(0)
    rows = np.repeat(random.normal(size=(12, 6)), 2, axis=0)
    rows = rows + 0.01 * random.normal(size=rows.shape)
    rounds = DuplicateRounds.start(collection(rows), judging=Judging(model="dawid_skene"))
    said = [
        PairVote(name, who, "yes" if (who != "odd") == (i < 10) else "no")
        for i, name in enumerate(rounds.names)
        for who in ("ann", "bob", "odd")
    ]
    second = rounds.answered(said)
    assert len(second.groups) == 10
    name, *others = second.names
    mixed = [PairVote(name, "odd", "no"), PairVote(name, "ann", "yes")]
    rest = [PairVote(other, "bob", "no") for other in others]
    third = second.answered([*mixed, *rest])
    assert third.rounds[1].answers[0] == 1


@pytest.mark.parametrize(
    ("said", "message"),
    [
        ([PairVote("a | x", "r", "yes")], "no item is called 'x'"),
        ([PairVote("a | c", "r", "yes")], "was never asked"),
        ([PairVote("a | b", "r", "maybe")], "label 'maybe'"),
        ([PairVote("a | b", "r", "yes"), PairVote("b | a", "r", "no")], "and said 'yes'"),
    ],
)
def test_votes_that_cannot_be_are_refused(said, message):
    with pytest.raises(InputError, match=r"expected .*; .") as error:
        four().answered(said)
    assert message in str(error.value)


def test_closed_rounds_take_no_new_votes_but_the_old_ones_again():
    said = votes(ab="y", cd="y")
    after = four().answered(said)
    assert after.answered(said).rounds[0].votes == after.rounds[0].votes
    with pytest.raises(InputError, match="round 1, which is closed"):
        after.answered([PairVote("a | b", "late", "no")])
    end = after.answered([PairVote(name, "r0", "no") for name in after.names])
    assert end.finished and end.answered(said) is not None
    with pytest.raises(InputError, match="which is closed"):
        end.answered([PairVote("a | b", "late", "no")])


@pytest.mark.parametrize(
    "how",
    [{"model": "oracle"}, {"threshold": 1.0}, {"votes": 0}, {"undecided": "maybe"}],
)
def test_judging_is_checked(how):
    with pytest.raises(InputError):
        Judging(**how)


def test_names_and_embeddings_are_checked():
    with pytest.raises(InputError, match="rename the item"):
        DuplicateRounds.start(collection(np.eye(2), ["a | b", "c"]))
    with pytest.raises(InputError, match="no embeddings"):
        DuplicateRounds.start(Collection(items=("a", "b")))
    with pytest.raises(InputError, match="patience"):
        DuplicateRounds.start(collection(np.eye(2)), patience=0)


# ---- files ------------------------------------------------------------------------------


@pytest.mark.parametrize("head", ["pair,annotator,label", "item,annotator,label"])
def test_votes_are_read_by_pair(tmp_path, head):
    path = tmp_path / "votes.csv"
    path.write_text(f"{head}\na | b,ann,yes\nc | d,ann,\n")
    assert [vote[:3] for vote in read_pair_votes(path)] == [("a | b", "ann", "yes")]


def test_votes_are_read_by_items(tmp_path):
    path = tmp_path / "votes.csv"
    path.write_text("first,second,label\nb,a,1\nc,d,0\n")
    assert four().answered(read_pair_votes(path)).groups == (("a", "b"),)
    path.write_text("left,right,label\nb,a,1\n")
    with pytest.raises(InputError, match="first and second"):
        read_pair_votes(path)
    path.write_text("first,second,annotator\nb,a,1\n")
    with pytest.raises(InputError, match="label"):
        read_pair_votes(path)
    with pytest.raises(InputError, match="ending"):
        read_pair_votes(path.rename(tmp_path / "votes.xls"))


def odd_world():
    """Names that need care in files, and a group of four among seven items."""
    random = np.random.default_rng(3)
    names = ["=1+1", 'qu"ote', "com,ma", " blank", "é\n", "'=2", "plain"]
    rows = random.normal(size=(7, 5))
    rows[:4] = rows[0] + 0.05 * rows[:4]
    return collection(rows, names), {*names[:4]}


def play(folder, group):
    """Answer everything by way of the folder, with a fresh start before each answer."""
    while not (rounds := load(folder)).finished:
        first, second = rounds.pairs.first, rounds.pairs.second
        place = int(rounds.missing[0])  # one pair at a time
        both = {rounds.items[first[place]], rounds.items[second[place]]}
        label = "yes" if both <= group else "no"
        save(rounds.answered([PairVote(rounds.names[place], "ann", label)]), folder)
    save(rounds, folder)  # what an interruption left out
    return rounds


def bytes_of(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_interrupted_after_every_answer_it_ends_the_same(tmp_path):
    world, group = odd_world()
    whole = DuplicateRounds.start(world)
    save(whole, tmp_path / "parts")
    end = play(tmp_path / "parts", group)
    straight, _ = judged(whole, lambda a, b: {a, b} <= group)
    assert members(end) == members(straight) == {frozenset(group)}
    save(straight, tmp_path / "whole")
    assert bytes_of(tmp_path / "whole") == bytes_of(tmp_path / "parts")


def test_killed_before_any_file_it_ends_the_same(tmp_path, monkeypatch):
    """Stop before the n-th file of the way is written, for every n, then go on."""
    from equipoise.clean import rounds_record as home

    world, group = odd_world()
    save(DuplicateRounds.start(world), tmp_path / "whole")
    play(tmp_path / "whole", group)
    write, killed = home.write_text, 0
    for last in range(100):
        place = tmp_path / f"killed-{last}"
        save(DuplicateRounds.start(world), place)
        left = [last]

        def dying(path, text, left=left):
            if left[0] == 0:
                path.with_name(f".{path.name}.part").write_text(text[: len(text) // 2])
                raise KeyboardInterrupt
            left[0] -= 1
            write(path, text)

        with monkeypatch.context() as patch:
            patch.setattr(home, "write_text", dying)
            try:
                play(place, group)
            except KeyboardInterrupt:
                killed += 1
        play(place, group)
        for scratch in place.glob(".*.part"):
            scratch.unlink()
        assert bytes_of(place) == bytes_of(tmp_path / "whole"), last
        if left[0] > 0:
            break
    assert killed > 3


def test_other_embeddings_and_other_folders_are_refused(tmp_path):
    world, _ = odd_world()
    save(DuplicateRounds.start(world), tmp_path / "one")
    moved = replace(world, embeddings=world.embeddings + 1e-6)
    for other in (moved, world.subset(np.arange(5))):
        with pytest.raises(InputError, match="other items, or the same with other embeddings"):
            save(DuplicateRounds.start(other), tmp_path / "one")
    with pytest.raises(InputError, match="other settings"):
        save(DuplicateRounds.start(world, patience=2), tmp_path / "one")
    with pytest.raises(InputError, match="no such folder"):
        load(tmp_path / "none")
    np.save(tmp_path / "one" / "embeddings.npy", moved.embeddings)
    with pytest.raises(InputError, match="not those of its rounds"):
        load(tmp_path / "one")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('"version": 2', '"version": 7'),
        ('"plain"', '"pla1n"'),
        ('"patience": 1', '"patience": 2'),
        ('"first": [0', '"first": [1'),
        ('"seal": "', '"was": "'),
        ("{", "["),
    ],
)
def test_a_folder_that_was_changed_is_refused(tmp_path, before, after):
    world, _ = odd_world()
    save(DuplicateRounds.start(world), tmp_path / "one")
    path = tmp_path / "one/rounds.json"
    assert before in path.read_text()
    path.write_text(path.read_text().replace(before, after))
    with pytest.raises(InputError, match=r"expected .*; .*"):
        load(tmp_path / "one")


def test_embeddings_of_other_items_and_names_that_are_no_text_are_refused(tmp_path):
    world, _ = odd_world()
    save(DuplicateRounds.start(world), tmp_path / "one")
    np.save(tmp_path / "one/embeddings.npy", np.ones((6, 5)))
    with pytest.raises(InputError, match="rows for 7 items"):
        load(tmp_path / "one")
    with pytest.raises(InputError, match="no text"):
        DuplicateRounds.start(collection(np.eye(2), ["a", "\ud800"]))
