"""What the rounds leave behind: a folder to go on from, and a finding.

The folder holds their state, from which they go on after any interruption:

``rounds.json``
    Settings, the items in the order of their names, a hash of items and embeddings, and of
    every round what was asked, what was said, and what that comes to once it is closed; sealed.
``embeddings.npy``
    The embeddings of the items.

The folder is put in its place whole when the rounds start; later ``rounds.json`` is replaced in
one step. What follows from it, such as the pairs of the next round, is made again, with the
same bytes, where an interruption came before it was written.

The finding compares what was found with the bounds of the lemma of `equipoise.clean.rounds`.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np

from equipoise.clean.collection import Collection
from equipoise.clean.rounds import (
    NO,
    OPEN,
    YES,
    Clusters,
    DuplicateRounds,
    Judging,
    Round,
)
from equipoise.read import codec
from equipoise.read.files import content, read_array
from equipoise.read.writing import write_folder, write_text
from equipoise.truth import MODELS, model_title
from equipoise.types import (
    Column,
    Finding,
    InputError,
    Names,
    Notice,
    Row,
    Table,
    cite,
    columns,
    count,
    counted,
    immutable,
    listed,
    notice,
    number,
)

MARK = "rounds.json"
VERSION = 2
OURS = (MARK, "embeddings", "pairs.csv")
AGAIN = "use the folder as it was written, or start again"  # one that was changed by hand
KEY = "duplicate_rounds"
SOURCES = ("groger2025", "boruvka1926")
SHOWN = 12  # groups that a terminal shows


def save(state: DuplicateRounds, folder: Path, beside: Mapping[str, str] | None = None) -> Path:
    """Write a state; in a folder that holds an earlier one of these rounds, what is new.

    Parameters
    ----------
    beside
        Further texts by their names.
    """
    stored = _Stored(
        fingerprint=state.fingerprint,
        patience=state.patience,
        judging=state.judging,
        items=state.items,
        rounds=state.rounds,
    )
    text = json.dumps(codec.sealed(codec.encode(stored)), ensure_ascii=False) + "\n"
    if not (folder / MARK).exists():
        check_start(folder)
        out = BytesIO()
        np.save(out, state.embeddings, allow_pickle=False)
        texts: dict[str, str | bytes] = {"embeddings.npy": out.getvalue(), MARK: text}
        return write_folder(folder, {**texts, **(beside or {})}, mark=MARK)
    there, ours = _read_facts(folder), json.loads(text)
    if there["fingerprint"] != ours["fingerprint"]:
        raise InputError(
            f"{folder}", "rounds about other items, or the same with other embeddings",
            "the items and embeddings that the rounds were started with",
            "give the same features, or images and encoder, or start rounds in a new folder",
        )  # fmt: skip
    if any(there[name] != ours[name] for name in ("patience", "judging")):
        raise InputError(
            f"{folder}", "rounds with other settings", "the same settings",
            "name another folder",
        )  # fmt: skip
    if there != ours:
        write_text(folder / MARK, text)
    for name, words in (beside or {}).items():
        write_text(folder / name, words)
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


def load(folder: Path) -> DuplicateRounds:
    """Take a state up again, and what follows from it."""
    stored = codec.read(_Stored, _read_facts(folder), f"{folder / MARK}")
    embeddings, items = read_array(content(folder / "embeddings.npy")), stored.items
    if embeddings.ndim != 2 or len(embeddings) != len(items):
        raise InputError(
            f"{folder}", f"embeddings of {embeddings.shape}", f"rows for {len(items)} items",
            AGAIN,
        )  # fmt: skip
    state = DuplicateRounds.before_first_round(
        Collection(items=items, embeddings=embeddings), stored.judging, stored.patience
    )
    if state.fingerprint != stored.fingerprint:
        raise InputError(
            f"{folder}", "items or embeddings that are not those of its rounds",
            "those that the rounds were started with", AGAIN,
        )  # fmt: skip
    for round_ in stored.rounds:
        state = replace(state, rounds=(*state.rounds, round_))
        if round_.answers is None:
            return state.closed_if_complete()
        state = state.with_answers(round_.answers.astype(np.int64))
    return state.with_next_round()


@immutable(kw_only=True)
class _Stored:
    """What ``rounds.json`` holds."""

    version: int = VERSION
    fingerprint: str
    patience: int
    judging: Judging
    items: Names
    rounds: tuple[Round, ...]


def _read_facts(folder: Path) -> Mapping[str, Any]:
    """What ``rounds.json`` says, as it was written."""
    path = folder / MARK
    if not path.is_file():
        raise InputError(
            f"{folder}",
            "a folder without rounds" if folder.is_dir() else "no such folder",
            f"a folder with {MARK}",
            "name a folder that rounds start wrote",
        )
    facts = codec.read_facts(path, AGAIN)
    if facts.get("version") != VERSION:
        raise InputError(
            f"{path}", "another kind of record", f"rounds of version {VERSION}",
            "start again with this version of equipoise",
        )  # fmt: skip
    return facts


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
        note="A cluster asks about the closest pair between it and the nearest other cluster "
        "that was not judged yet, and rests once it is refused until it grows. Under the "
        "assumption that near duplicates of an item are closer to it than all else, and for "
        "right answers, no group is missed.",
        methods=_methods(state),
        references=(*SOURCES, *MODELS[state.judging.model].references),
        notices=tuple(_notices(state)),
    )


def _cost_sentence(state: DuplicateRounds) -> Names:
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
