"""What `equipoise evaluate --groups` does: classes put into groups, such as levels of risk."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import typer

from equipoise.cli.options import Options, misused, words
from equipoise.cli.truth import ScoredTruth
from equipoise.types.annotations import Annotations, Kind
from equipoise.types.arrays import InputError, listed
from equipoise.types.numbers import estimate, number
from equipoise.types.predictions import Predictions

if TYPE_CHECKING:
    from equipoise.metrics import Metric
    from equipoise.types.groupings import Grouping

SHOWN = 3  # items with the highest expected values that are named


class ClassGroups(NamedTuple):
    """Groups of classes, and what each is worth where the file says so."""

    grouping: "Grouping"
    values: Mapping[str, float]


def check_groups(options: Options) -> None:
    """Refuse options of groups that do not go together, or would do nothing."""
    wanted = options.by_group or options.within
    if wanted and options.groups is None:
        raise misused(
            "got no file, expected a table with class and group for --by-group and --within",
            "groups",
        )
    if options.by_group and options.within:
        raise typer.BadParameter(
            "got both, expected one: --by-group scores the groups, --within the classes "
            "of the cases of one group",
            param_hint="--by-group / --within",
        )
    if options.groups is not None and options.truth == "votes" and not wanted:
        raise misused(_unused("and --truth is votes"), "groups")


def asked_groups(options: Options) -> ClassGroups | None:
    """Read the groups, and refuse those that nothing would be done with."""
    groups = read_groups(options.groups)
    if groups is not None and not (groups.values or options.by_group or options.within):
        raise misused(_unused("and it has no column 'value'"), "groups")
    return groups


def _unused(why: str) -> str:
    return (
        f"got a file without --by-group or --within, {why}, expected a use for the groups: "
        "--by-group scores groups, --within GROUP the cases of one"
    )


def read_groups(path: Path | None) -> ClassGroups | None:
    """Read a table with columns class and group, and perhaps value."""
    if path is None:
        return None
    from equipoise.read.delimited import read_delimited
    from equipoise.read.files import content
    from equipoise.read.tables import numbers, words_of
    from equipoise.types.groupings import Grouping

    table = read_delimited(content(path))
    columns = []
    for name in ("class", "group"):
        codes, spelt = words_of(table, table.required(name, {}))
        columns.append([spelt[code] if code >= 0 else "" for code in codes])
        if "" in columns[-1]:
            row = columns[-1].index("")
            raise InputError(
                f"{table.where(row)}, column {name!r}", "nothing", "a name", "fill it in"
            )
    twice = [name for name in dict.fromkeys(columns[0]) if columns[0].count(name) > 1]
    if twice:
        raise InputError(
            f"{table.name}, column 'class'", f"{listed(twice)} more than once",
            "each class in one row", "keep one of them",
        )  # fmt: skip
    mapping = dict(zip(*columns, strict=True))
    order = tuple(dict.fromkeys(columns[1]))
    grouping = Grouping.of(mapping, groups=order, name=path.stem)
    if "value" not in table.columns:
        return ClassGroups(grouping, {})
    return ClassGroups(
        grouping, _values(path.name, columns[1], numbers(table, "value").tolist())
    )


def _values(name: str, groups: Sequence[str], values: Sequence[float]) -> dict[str, float]:
    """The one number of every group."""
    value_of: dict[str, float] = {}
    for group, value in zip(groups, values, strict=True):
        got = ""
        if not np.isfinite(value):
            got = "a blank value" if np.isnan(value) else f"value {value:g}"
        elif value_of.setdefault(group, value) != value:
            got = f"values {value_of[group]:g} and {value:g}"
        if got:
            raise InputError(
                f"{name}, group {group!r}", got,
                "one finite number per group", "correct the column 'value'",
            )  # fmt: skip
    return value_of


def regrouped(
    groups: ClassGroups | None,
    truth: ScoredTruth,
    models: "Sequence[Predictions]",
    *,
    by_group: bool,
) -> "tuple[ScoredTruth, tuple[Predictions, ...]]":
    """Sum truth and predictions over the classes of each group, if that was asked for."""
    from equipoise.types.groupings import coarsened

    if groups is None or not by_group:
        return truth, tuple(models)
    grouping = groups.grouping
    coarse = tuple(model.coarsened(grouping) for model in models)
    if isinstance(truth.given, Annotations):
        return replace(truth, given=_votes(truth.given, grouping)), coarse
    parts = tuple(coarsened(part, grouping) for part in truth.given)
    return replace(truth, given=parts), coarse


def _votes(table: Annotations, grouping: "Grouping") -> Annotations:
    """Votes for groups, from votes for classes."""
    if table.label is None or table.kind == "ranking":
        raise InputError(
            "--by-group", f"annotations of kind {table.kind} and --truth votes",
            "single labels, or a model of the truth",
            "add --truth auto: groups then have the mass of their classes",
        )  # fmt: skip
    code = grouping.codes(table.classes)
    kind: Kind = "binary" if len(grouping.groups) == 2 else "ordinal"
    return replace(table, kind=kind, classes=grouping.groups, label=code[table.label])


def within(
    groups: ClassGroups | None, metrics: "Sequence[Metric]", text: str | None
) -> "list[Metric]":
    """The metrics on the cases of each group that was asked for."""
    from equipoise.metrics import conditioned

    if groups is None or not words(text):
        return list(metrics)
    chosen = words(text)
    return [conditioned(metric, groups.grouping, name) for name in chosen for metric in metrics]


def with_groups(
    groups: ClassGroups | None, truth: ScoredTruth
) -> tuple[ScoredTruth, list[str]]:
    """Add facts about the groups to the record, and say what is expected of their values.

    The truth must still be that of the classes.
    """
    from equipoise.types.groupings import expected_group_value

    if groups is None or not truth.parts:
        return truth, []
    facts: dict[str, Any] = {
        "name": groups.grouping.name,
        "groups": list(groups.grouping.groups),
        "classes": dict(
            zip(groups.grouping.groups, np.bincount(groups.grouping.group), strict=True)
        ),
        "values": dict(groups.values),
    }
    sentences = []
    for part in truth.parts if groups.values else ():
        expected = expected_group_value(part, groups.values, groups.grouping)
        order = np.argsort(-expected.mean, kind="stable")[:SHOWN]
        facts.setdefault("expected", []).append(
            {"task": part.task, "mean": float(expected.mean.mean())}
        )
        task = f" of task {part.task!r}" if part.task else ""
        named = ", ".join(
            f"{expected.items[i]} "
            f"{estimate(expected.mean[i], expected.low[i], expected.high[i])}"
            for i in order
        )
        sentences.append(
            f"Expected {groups.grouping.name}{task}: {number(expected.mean.mean())} on "
            f"average; highest, with 5 to 95 % of draws: {named}."
        )
    return replace(truth, facts={**truth.facts, "groups": facts}), sentences
