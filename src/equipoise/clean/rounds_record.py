"""What the rounds leave behind: a folder to go on from, and a finding.

The folder holds their state, from which they go on after any interruption:

``rounds.json``
    What they are about: settings, and a hash of the items and embeddings.
``items.csv``, ``embeddings.npy``, ``neighbours.npy``
    The items in the order of their names, where their images are, their embeddings, and the
    places of their nearest neighbours.
``round-01.pairs.csv``, ``round-01.votes.csv``, ``round-01.answers.csv``, ...
    What was asked in a round, what was said, and what that comes to once the round is closed.

The folder is put in its place whole when the rounds start. Later each file is written in one
step, and what it says follows from the files before it: pairs from the answers of the round
before, answers from votes. Whichever file an interruption finds missing is therefore made
again, with the same bytes; nothing is ever half there.

The finding compares what was found with the bounds of the lemma of `equipoise.clean.rounds`.
"""

import csv
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, replace
from io import BytesIO, StringIO
from pathlib import Path

import numpy as np

from equipoise.clean.collection import Collection
from equipoise.clean.pairs import Pairs
from equipoise.clean.rounds import LABELS, NO, OPEN, SPELT, YES, DuplicateRounds, Judging, Round
from equipoise.clean.rounds_search import Clusters
from equipoise.clean.similarity import EXACT_UP_TO
from equipoise.read.codec import read
from equipoise.read.files import content, read_array, read_json
from equipoise.read.writing import write_folder, write_text
from equipoise.truth import MODELS, model_title
from equipoise.types.arrays import Floats, InputError, Ints, listed
from equipoise.types.findings import Column, Finding, Line, Lines, Row, Table, cite, columns
from equipoise.types.notices import Notice, notice
from equipoise.types.numbers import count, number
from equipoise.types.words import counted, csv_text, unguarded_all

MARK = "rounds.json"
VERSION = 1
OURS = ("items.csv", "embeddings", "neighbours.npy", "round-", "pairs.csv")
ANSWERS = {**SPELT, OPEN: "undecided"}
AGAIN = "use the folder as it was written, or start again"  # one that was changed by hand
KEY = "duplicate_rounds"
SOURCES = ("groger2025", "boruvka1926")
SHOWN = 12  # groups that a terminal shows


def save(state: DuplicateRounds, folder: Path) -> Path:
    """Write a state; in a folder that holds an earlier one of these rounds, what is new."""
    if not (folder / MARK).exists():
        check_start(folder)
        return write_folder(folder, {**_beginning(state), **_files_of_rounds(state)}, mark=MARK)
    facts = _read_facts(folder)
    if facts.get("fingerprint") != state.fingerprint:
        raise _other_items(folder)
    if facts != json.loads(_header(state)):
        raise InputError(
            f"{folder}", "rounds with other settings", "the same settings",
            "name another folder",
        )  # fmt: skip
    for name, text in _files_of_rounds(state).items():
        path = folder / name
        if not path.exists() or path.read_bytes() != text:
            write_text(path, text)
    return folder


def check_start(folder: Path) -> None:
    """Refuse a folder that holds rounds already, or what is none of theirs."""
    if (folder / MARK).exists():
        raise InputError(
            f"{folder}", "holds rounds already", "a new folder",
            "go on with them (rounds next), or name another folder",
        )  # fmt: skip
    there = sorted(path.name for path in folder.iterdir()) if folder.is_dir() else []
    other = [name for name in there if not name.startswith(OURS) and name[:1] != "."]
    if other or folder.is_file():
        raise InputError(
            f"{folder}", f"holds {listed(other)}" if other else "a file", "a new folder",
            "name another folder",
        )  # fmt: skip


def load(folder: Path, collection: Collection | None = None) -> DuplicateRounds:
    """Take a state up again.

    Parameters
    ----------
    collection
        The items, where they should be those that the rounds were started with; refused when
        they, or their embeddings, are others.
    """
    facts = _read_facts(folder)
    items, paths = _read_items(folder)
    embeddings = read_array(content(folder / "embeddings.npy"))
    near = read_array(content(folder / "neighbours.npy"))
    _check_arrays(folder, len(items), embeddings, near)
    begun = DuplicateRounds.before_first_round(
        Collection(items=items, embeddings=embeddings),
        judging=read(Judging, facts.get("judging"), f"{folder / MARK}, judging"),
        patience=_whole(facts.get("patience"), folder / MARK),
        near=near,
    )
    state = replace(begun, paths=paths)
    if state.fingerprint != facts.get("fingerprint"):
        raise InputError(
            f"{folder}", "items or embeddings that are not those of its rounds",
            "those that the rounds were started with", AGAIN,
        )  # fmt: skip
    if collection is not None:
        _check_same(folder, collection, state)
    return _replayed(folder, state)


def _replayed(folder: Path, state: DuplicateRounds) -> DuplicateRounds:
    """The state after all rounds of a folder, and what follows from them."""
    places = {name: place for place, name in enumerate(state.items)}
    while (path := _path(folder, len(state.rounds) + 1, "pairs")).exists():
        state = state.with_round(*_read_pairs(path, places))
        names = {name: place for place, name in enumerate(state.names)}
        votes = _path(folder, len(state.rounds), "votes")
        if votes.exists():
            state = state.with_votes(_read_votes(votes, names))
        answers = _path(folder, len(state.rounds), "answers")
        if not answers.exists():
            return state.closed_if_complete()
        state = state.with_answers(_read_answers(answers, names))
    return state.with_next_round()


def _path(folder: Path, number: int, what: str) -> Path:
    return folder / f"round-{number:02d}.{what}.csv"


def _beginning(state: DuplicateRounds) -> dict[str, bytes]:
    """The files that never change."""
    paths = state.paths or [""] * len(state.items)
    rows = zip(state.items, paths, strict=True)
    return {
        "items.csv": _csv(("item", "path"), rows),
        "embeddings.npy": _npy(state.embeddings),
        "neighbours.npy": _npy(state.search.near.astype(np.int32)),
        MARK: _header(state),
    }


def _header(state: DuplicateRounds) -> bytes:
    facts = {
        "version": VERSION,
        "items": len(state.items),
        "fingerprint": state.fingerprint,
        "patience": state.patience,
        "judging": asdict(state.judging),
    }
    return (json.dumps(facts, indent=1, ensure_ascii=False) + "\n").encode()


def _files_of_rounds(state: DuplicateRounds) -> dict[str, bytes]:
    """The files of all rounds, in the order in which they come to be."""
    files = {}
    for place, round_ in enumerate(state.rounds, start=1):
        names = round_.pairs.names(state.items)
        for what, text in _round_files(state, round_, names).items():
            files[_path(Path(), place, what).name] = text
    return files


def _round_files(
    state: DuplicateRounds, round_: Round, names: Sequence[str]
) -> dict[str, bytes]:
    both = zip(round_.pairs.first, round_.pairs.second, round_.distances.tolist(), strict=True)
    rows_of_pairs = ((state.items[a], state.items[b], repr(far)) for a, b, far in both)
    files = {"pairs": _csv(("first", "second", "distance"), rows_of_pairs)}
    if round_.votes:
        votes = sorted(round_.votes.items())
        rows = ((names[pair], who, SPELT[label]) for (pair, who), label in votes)
        files["votes"] = _csv(("pair", "annotator", "label"), rows)
    if round_.answers is not None:
        answers = zip(names, (ANSWERS[code] for code in round_.answers.tolist()), strict=True)
        files["answers"] = _csv(("pair", "answer"), answers)
    return files


def _csv(head: Sequence[str], rows: Iterable[Sequence[str]]) -> bytes:
    """Text that is read back as it was, whatever stands in the names."""
    return csv_text(head, rows).encode("utf-8", "surrogatepass")


def _read_csv(path: Path, head: Sequence[str]) -> list[list[str]]:
    try:
        text = content(path).data.decode("utf-8", "surrogatepass")
        lines = csv.reader(StringIO(text, newline=""), strict=True)
        rows = [unguarded_all(row) for row in lines]
    except (UnicodeDecodeError, csv.Error) as error:
        raise InputError(f"{path}", f"damaged ({error})", "a table of text", AGAIN) from error
    if rows[:1] != [list(head)] or any(len(row) != len(head) for row in rows):
        raise InputError(f"{path}", "other columns", f"{', '.join(head)}", AGAIN)
    return rows[1:]


def _npy(array: Floats | Ints) -> bytes:
    out = BytesIO()
    np.save(out, array, allow_pickle=False)
    return out.getvalue()


def _read_facts(folder: Path) -> Mapping[str, object]:
    """What ``rounds.json`` says."""
    path = folder / MARK
    if not path.is_file():
        raise InputError(
            f"{folder}",
            "a folder without rounds" if folder.is_dir() else "no such folder",
            f"a folder with {MARK}",
            "name a folder that rounds start wrote",
        )
    facts = read_json(content(path))
    if not isinstance(facts, Mapping) or facts.get("version") != VERSION:
        raise InputError(
            f"{path}", "another kind of record", f"rounds of version {VERSION}",
            "start again with this version of equipoise",
        )  # fmt: skip
    return facts


def _read_items(folder: Path) -> tuple[tuple[str, ...], tuple[str, ...]]:
    rows = _read_csv(folder / "items.csv", ("item", "path"))
    paths = tuple(row[1] for row in rows)
    return tuple(row[0] for row in rows), paths if any(paths) else ()


def _check_arrays(folder: Path, items: int, embeddings: Floats, near: Ints) -> None:
    fits = (
        near.ndim == 2
        and len(near) == items
        and (not near.size or (near.min() >= 0 and near.max() < items))
    )
    if not fits or embeddings.ndim != 2 or len(embeddings) != items:
        raise InputError(
            f"{folder}", f"arrays of {embeddings.shape} and {near.shape}",
            f"rows for {items} items", AGAIN,
        )  # fmt: skip


def _check_same(folder: Path, collection: Collection, state: DuplicateRounds) -> None:
    same = len(collection) == len(state.items)
    near, judging = state.search.near, state.judging
    if (
        not same
        or DuplicateRounds.before_first_round(
            collection, near=near, judging=judging
        ).fingerprint
        != state.fingerprint
    ):
        raise _other_items(folder)


def _other_items(folder: Path) -> InputError:
    return InputError(
        f"{folder}", "rounds about other items, or the same with other embeddings",
        "the items and embeddings that the rounds were started with",
        "give the same features, or images and encoder, or start rounds in a new folder",
    )  # fmt: skip


def _whole(value: object, path: Path) -> int:
    if not isinstance(value, int):
        raise InputError(f"{path}, patience", f"{value!r}", "a whole number", AGAIN)
    return value


@contextmanager
def _as_written(path: Path, expected: str) -> Iterator[None]:
    """Refuse a file that holds what no round writes."""
    try:
        yield
    except (KeyError, ValueError) as error:
        raise InputError(f"{path}", f"{error}", expected, AGAIN) from error


def _read_pairs(path: Path, places: Mapping[str, int]) -> tuple[Pairs, Floats]:
    rows = _read_csv(path, ("first", "second", "distance"))
    with _as_written(path, "items of items.csv, numbers"):
        first = np.array([places[row[0]] for row in rows], dtype=np.int64)
        second = np.array([places[row[1]] for row in rows], dtype=np.int64)
        return Pairs(first, second), np.array([float(row[2]) for row in rows])


def _read_votes(path: Path, names: Mapping[str, int]) -> dict[tuple[int, str], int]:
    rows = _read_csv(path, ("pair", "annotator", "label"))
    with _as_written(path, "pairs of its round"):
        return {(names[pair], who): LABELS[label] for pair, who, label in rows}


def _read_answers(path: Path, names: Mapping[str, int]) -> Ints:
    rows = _read_csv(path, ("pair", "answer"))
    codes = {word: code for code, word in ANSWERS.items()}
    with _as_written(path, "pairs of its round"):
        answers = {names[pair]: codes[answer] for pair, answer in rows}
    if len(answers) != len(names):
        raise InputError(
            f"{path}", f"answers on {len(answers)} pairs", f"{len(names)} pairs", AGAIN
        )
    return np.array([answers[place] for place in range(len(names))], dtype=np.int64)


def finding(state: DuplicateRounds) -> Finding:
    """What was found so far, in how many rounds, and whether the assumption can be right."""
    groups = state.groups
    inside = sum(map(len, groups))
    result = (
        f"{counted(len(groups), 'group')} of near duplicates hold {count(inside)} of "
        f"{counted(len(state.items), 'item')}; the largest has {count(state.largest)}"
        if groups
        else f"No near duplicates among {counted(len(state.items), 'item')}"
    )
    if state.finished:
        sentence = f"{result}."
    else:
        missing = len(state.missing)
        sentence = (
            f"Round {len(state.rounds)} is open: {count(missing)} of its "
            f"{counted(len(state.pairs), 'pair')} {'needs' if missing == 1 else 'need'} votes. "
            f"So far: {result[0].lower() + result[1:]}."
        )
    rows = list(_round_rows(state))
    return Finding(
        key=KEY,
        title="Which items are near duplicates of one another?",
        sentence=sentence,
        more=_cost_sentence(state),
        tables=(_round_table(rows), _group_table(state)),
        charts=(_chart(rows),) if len(rows) > 1 else (),
        note="A cluster asks about the closest pair between it and the nearest other cluster "
        "that was not judged yet, and rests once it is refused until it grows. Under the "
        "assumption that near duplicates of an item are closer to it than all else, and for "
        "right answers, no group is missed.",
        methods=_methods(state),
        references=(*SOURCES, *MODELS[state.judging.model].references),
        notices=tuple(_notices(state)),
    )


def _cost_sentence(state: DuplicateRounds) -> tuple[str, ...]:
    cost = (
        f"{counted(state.judgements, 'pair')} in {counted(len(state.rounds), 'round')}; the "
        f"bounds are {count(state.most_judgements)} pairs"
    )
    possible = len(state.items) * (len(state.items) - 1) // 2
    share = f" All pairs would be {count(possible)}." if possible else ""
    if not state.finished:
        return (f"Asked so far: {cost}.{share}",)
    over = len(state.rounds) > state.most_rounds
    sentence = (
        f"Asked: {cost} and, for groups of up to {count(state.largest)}, "
        f"{counted(state.most_rounds, 'round')}"
        f"{', which was exceeded: the assumption fails here' if over else ''}."
    )
    return (sentence + share,)


def _notices(state: DuplicateRounds) -> Iterator[Notice]:
    if state.finished and len(state.rounds) > state.most_rounds:
        yield notice(
            "rounds_above_bound",
            "{rounds:count} rounds were needed where {bound:count} are enough for groups of up "
            "to {largest:count} if near duplicates of an item are closer to it than all else: "
            "they are not, and groups may be incomplete.",
            rounds=len(state.rounds),
            bound=state.most_rounds,
            largest=state.largest,
        )
    if state.judgements > state.most_judgements:
        yield notice(
            "judgements_above_bound",
            "{pairs:count} pairs were asked where {bound:count} are enough if near duplicates "
            "of an item are closer to it than all else.",
            pairs=state.judgements,
            bound=state.most_judgements,
        )
    if state.clusters.regrown:
        yield notice(
            "grew_after_refusal",
            "{clusters:count} clusters grew after they had been refused, which cannot happen "
            "if near duplicates of an item are closer to it than all else and answers are "
            "right; more patience finds more.",
            clusters=state.clusters.regrown,
        )
    closed = [round_ for round_ in state.rounds if round_.answers is not None]
    within = sum(_refused_within(state, round_) for round_ in closed)
    if within:
        yield notice(
            "refused_within_group",
            "{pairs:count} pairs were refused and yet lie in one group, because other pairs "
            "join them: look at these groups again.",
            pairs=within,
        )
    undecided = sum(int(np.sum(round_.answers == OPEN)) for round_ in closed)
    if undecided:
        yield notice(
            "undecided_pairs",
            "{pairs:count} pairs were undecided (tied votes, or nobody sure) and count as "
            "{rule}.",
            pairs=undecided,
            rule=state.judging.undecided,
        )
    if len(state.items) > EXACT_UP_TO:
        yield notice(
            "approximate_neighbours",
            "Neighbours of {items:count} items come from an index, which may miss a few.",
            items=len(state.items),
        )


def _refused_within(state: DuplicateRounds, round_: Round) -> int:
    labels, pairs = state.clusters.labels, round_.pairs
    same = labels[pairs.first] == labels[pairs.second]
    return int((same & (round_.answers == NO)).sum())


def _round_rows(state: DuplicateRounds) -> Iterator[dict[str, int | None]]:
    clusters = Clusters.single(len(state.items))
    for place, round_ in enumerate(state.rounds):
        row: dict[str, int | None] = {"round": place + 1, "pairs": len(round_.pairs)}
        if round_.answers is None:
            names = ("yes", "no", "undecided", "groups", "largest")
            yield {**row, **dict.fromkeys(names)}
            return
        clusters = clusters.after(round_.pairs, round_.confirmed(state.judging), state.patience)
        size = np.bincount(clusters.labels)
        answers = {"yes": YES, "no": NO, "undecided": OPEN}
        row |= {name: int((round_.answers == code).sum()) for name, code in answers.items()}
        yield {**row, "groups": int((size > 1).sum()), "largest": int(size.max())}


def _round_table(rows: list[dict[str, int | None]]) -> Table:
    return Table(
        name=KEY,
        caption="What was asked, and what was found",
        columns=columns("count", *(rows[0] if rows else ("round", "pairs"))),
        rows=rows,
        brief=[
            {key: "open" if cell is None else cell for key, cell in row.items()} for row in rows
        ],
        open=True,
    )


def _group_table(state: DuplicateRounds) -> Table:
    rows: list[Row] = [
        {"group": place + 1, "size": len(group), "items": group}
        for place, group in enumerate(state.groups)
    ]
    return Table(
        name="duplicate_groups",
        caption="Groups of near duplicates, the largest first",
        columns=(*columns("count", "group", "size"), Column("items", "items", "names")),
        rows=rows,
        brief=rows[:SHOWN],
        download=True,
    )


def _chart(rows: list[dict[str, int | None]]) -> Lines:
    def line(name: str, key: str) -> Line:
        points = [(float(row["round"] or 0), row[key]) for row in rows]
        return Line(name, [(x, float(y)) for x, y in points if y is not None])

    return Lines(
        name=KEY,
        caption="Questions fall from round to round",
        x="round",
        y="pairs",
        lines=[line("asked", "pairs"), line("confirmed", "yes")],
    )


def _methods(state: DuplicateRounds) -> str:
    judging = state.judging
    references = MODELS[judging.model].references
    return (
        f"Near duplicates were looked for in rounds{cite(*SOURCES)}: every item, and then "
        "every cluster that had grown, was compared with its nearest neighbour by cosine "
        f"distance until {counted(state.patience, 'refusal')}; votes were combined by "
        f"{model_title(judging.model).lower()}{cite(*references)} with a threshold of "
        f"{number(judging.threshold, 2)}, and undecided pairs counted as {judging.undecided}; "
        f"{counted(state.judgements, 'pair')} were judged in "
        f"{counted(len(state.rounds), 'round')}."
    )
