"""Parts: which part of the data, such as train or test, each item belongs to, from a table."""

from collections.abc import Sequence

from equipoise.arrays import InputError, listed
from equipoise.read.delimited import read_delimited
from equipoise.read.files import AnyPath, content
from equipoise.read.tables import words_of

COLUMNS = ("split", "part", "set", "fold")  # what the second column may be called


def read_parts(path: AnyPath, items: Sequence[str]) -> tuple[str, ...]:
    """The part of every item; rows of other items are passed over.

    Parameters
    ----------
    path
        A table with a column `item` and one called split, part, set or fold.
    """
    table = read_delimited(content(path))
    named = next((one for one in COLUMNS if one in table.columns), "split")
    columns = []
    for name in (table.required("item", {}), table.required(named, {})):
        codes, spelt = words_of(table, name)
        columns.append([spelt[code] if code >= 0 else "" for code in codes])
    known: dict[str, str] = {}
    for row, (item, part) in enumerate(zip(*columns, strict=True)):
        if known.setdefault(item, part) != part or not part:
            raise InputError(
                f"{table.where(row)}, item {item!r}",
                f"{part!r} after {known[item]!r}" if part else "nothing",
                "one part per item",
                "correct the row",
            )
    missing = [one for one in items if one not in known]
    if missing:
        raise InputError(
            f"{table.name}",
            f"no part for {listed(missing)}",
            f"a row for each of the {len(items):,} items",
            "add them; items are called as in the lists of a scan",
        )
    return tuple(known[one] for one in items)
