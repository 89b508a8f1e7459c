"""What experts said of the items of a plan: one file of votes, or one filled-in file each."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from equipoise.arrays import InputError, listed
from equipoise.cli._chances import answers_to, read_table
from equipoise.cli._options import column_map

if TYPE_CHECKING:
    from equipoise.analyses.thresholds import ExpertSample
    from equipoise.annotations import Annotations

OWN = {"bin", "probability"}  # columns of a plan
TEXT = (".csv", ".tsv")


def read_experts(
    paths: Sequence[Path], options: dict[str, Any], sample: "ExpertSample"
) -> "Annotations":
    """Votes of all experts; a file without annotators is that of one expert, by its name."""
    columns = column_map(options["expert_columns"], "--expert-columns")
    told = {**options, "layout": "auto", "exchangeable": False}
    tables = []
    sure = options["key_items"] is not None
    for path in paths:
        seen = _check_bins(path, sample)
        sure |= seen
        table = answers_to(read_table(path, told, columns), options["task"], path)
        tables.append((path, table))
    votes = tables[0][1] if _alone(tables) else _joined(tables)
    _check_items(votes.items, sample, sure=sure)
    return votes


def _check_items(items: Sequence[str], sample: "ExpertSample", *, sure: bool) -> None:
    """Refuse answers on other items than those of the plan made now.

    Where a key or columns of bins show that it is the plan, it may be answered in part.
    """
    outside = set(items) - set(sample.items)
    lost = set(sample.items) - set(items)
    if not lost or (sure and not outside):
        return
    raise InputError(
        "--experts", f"answers on {len(items) - len(outside):,} of the {len(sample.items):,} "
        f"items of the plan made now, and on {len(outside):,} others",
        "answers on the items of the plan",
        "give the key of the plan (--plan plan.key.json), or repeat --truth, --bins, --per-bin "
        "and --seed of threshold-plan",
    )  # fmt: skip


def _alone(tables: Sequence[tuple[Path, "Annotations"]]) -> bool:
    """Whether there is one file that says who voted, or that holds several votes per item."""
    table = tables[0][1]
    return len(tables) == 1 and (table.annotators is not None or len(table) > len(table.items))


def _joined(tables: Sequence[tuple[Path, "Annotations"]]) -> "Annotations":
    """One table of all files."""
    from equipoise.annotations import Annotations

    first = tables[0][1]
    items = {name: None for _, one in tables for name in one.items}
    place = {name: number for number, name in enumerate(items)}
    people: dict[str, int] = {}
    rows: list[tuple[Any, Any, Any]] = []
    for path, one in tables:
        if one.kind != "binary" or one.classes != first.classes or one.count is not None:
            raise InputError(
                f"{path.name}", f"answers {listed(one.classes)}, kind {one.kind}",
                "one yes or no per item, in the same words in every file",
                "ask about one answer with --positive CLASS, or correct the file",
            )  # fmt: skip
        who = _people(path, one, people)
        item = np.array([place[name] for name in one.items])[one.item]
        rows.append((item, who, one.label))
    said = dict.fromkeys(n for _, one in tables for n in one.notices if not _of_plan(n))
    item, who, label = (np.concatenate(part) for part in zip(*rows, strict=True))
    return Annotations(
        kind="binary", items=tuple(items), classes=first.classes, annotators=tuple(people),
        item=item, annotator=who, label=label, notices=tuple(said),
    )  # fmt: skip


def _people(path: Path, one: "Annotations", people: dict[str, int]) -> Any:
    """Codes of the annotators of one file among all."""
    if one.annotators is not None and one.annotator is not None:
        codes = [people.setdefault(name, len(people)) for name in one.annotators]
        return np.array(codes)[one.annotator]
    if path.stem in people:
        raise InputError(
            f"{path}", f"a second file of {path.stem!r}", "one file per expert",
            "name files by their experts, or add a column annotator",
        )  # fmt: skip
    if len(one) > len(one.items):
        raise InputError(
            f"{path.name}", "several votes on one item, and no annotator",
            "one answer per item, or a column annotator", "say who voted",
        )  # fmt: skip
    return np.full(len(one.item), people.setdefault(path.stem, len(people)))


def _of_plan(notice: str) -> bool:
    """Whether a notice only says that the columns of a plan are not used."""
    known = [f"'{name}'" for name in sorted(OWN)]
    return notice.endswith("not used") and any(one in notice for one in known)


def _check_bins(path: Path, sample: "ExpertSample") -> bool:
    """Refuse a filled-in plan whose bins are others than those made now; whether it has any."""
    from equipoise.read.delimited import read_delimited
    from equipoise.read.files import content
    from equipoise.read.tables import words_of

    if path.suffix.lower() not in TEXT or not path.is_file():
        return False
    table = read_delimited(content(path))
    if not {"item", "bin"} <= set(table.columns):
        return False
    known = {row["item"]: str(row["bin"]) for row in sample.rows()}
    columns = []
    for name in ("item", "bin"):
        codes, spelt = words_of(table, name)
        columns.append([spelt[code] if code >= 0 else "" for code in codes])
    for item, number in zip(*columns, strict=True):
        if known.get(item) != number:
            got = f"item {item!r} in bin {number}"
            other = f"bin {known[item]}" if item in known else "an item of the plan made now"
            raise InputError(
                f"{path.name}", got, other,
                "repeat the file, --truth, --bins, --per-bin and --seed of threshold-plan",
            )  # fmt: skip
    return True
