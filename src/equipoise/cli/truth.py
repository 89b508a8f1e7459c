"""What `equipoise evaluate --truth` names: the votes, a model of them, or a file of draws.

What `--groups` does: classes put into groups, such as levels of risk.
"""

from collections.abc import Mapping, Sequence
from dataclasses import is_dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import typer

from equipoise.cli.options import Options, check_choice, flag, misused, words
from equipoise.cli.screen import progress
from equipoise.metrics import Metric, conditioned
from equipoise.read.files import content
from equipoise.read.plausibilities import read_plausibilities
from equipoise.read.sources import table_of
from equipoise.read.tables import code_ids, numbers
from equipoise.truth import MODELS, Chain
from equipoise.truth.choosing import model, recommended
from equipoise.types import (
    Annotations,
    Grouping,
    InputError,
    Models,
    Names,
    Plausibilities,
    Predictions,
    coarsened,
    estimate,
    expected_group_value,
    immutable,
    joined,
    listed,
    nearest,
    number,
    require_unique,
)
from equipoise.types.annotations import Kind

VOTES, AUTO = "votes", "auto"
ENDING = ".npz"
DRAWS, BURN_IN = 1000, 500
SHOWN = 3  # items with the highest expected values that are named


def check_truth(options: Options) -> None:
    """Refuse a truth that is none, and options that it would ignore."""
    if options.truth == VOTES:
        for name in ("draws", "burn_in", "reliability", "prior"):
            if getattr(options, name) is not None:
                got = f"{getattr(options, name)} with --truth votes"
                do = f"add --truth MODEL, or leave out {flag(name)}"
                raise InputError(flag(name), got, "a model of the truth", do)
    elif not options.truth.endswith(ENDING):
        check_word("truth", options.truth)
    if options.truth not in (VOTES, AUTO):
        refuse_unused_chain(options, options.truth, ("burn_in",))
    if options.resample is not None:
        _check_resampling(options.truth, options.resample)


def check_word(name: str, word: str) -> None:
    """Refuse a word that is neither votes nor a model of them."""
    check_choice(name, word, (VOTES, AUTO, *MODELS))


def refuse_unused_chain(options: Options, name: str, keys: Names) -> None:
    """Refuse settings of chains for a model without chains."""
    chained = [model.name for model in MODELS.values() if model.chains]
    for key in keys if name not in chained else ():
        if (value := getattr(options, key)) is not None:
            expected = f"a model whose draws come from chains: {joined(chained, 'or')}"
            raise InputError(
                flag(key), f"{value} with {name}", expected, f"leave out {flag(key)}"
            )


def chain(options: Options, seed: int) -> Chain:
    """Length and seed of chains, as the options say."""
    draws = DRAWS if options.draws is None else options.draws
    burn_in = BURN_IN if options.burn_in is None else options.burn_in
    return Chain(draws=draws, burn_in=burn_in, seed=seed)


def _check_resampling(truth: str, plan: str) -> None:
    """Refuse to resample votes under a model, and the model's draws without one."""
    resampled = plan.replace(" x ", "-x-").split("-x-")[-1]
    if truth == VOTES and resampled == "posterior":
        raise InputError(
            f"--resample {plan}",
            "no plausibilities: --truth is votes",
            "a model of the truth, whose draws are taken in turn",
            "add --truth MODEL, for example --truth auto",
        )
    if truth != VOTES and resampled in ("votes", "panel"):
        raise InputError(
            f"--resample {plan}",
            f"--truth {truth}, which has no votes to redraw",
            "items, posterior or items-x-posterior",
            "choose one, or leave out --truth",
        )


@immutable(kw_only=True)
class ScoredTruth:
    """What models are scored against.

    Attributes
    ----------
    given
        Votes, or plausibilities of every task.
    reason
        Why this truth, in a sentence; empty for votes.
    facts
        For the record: model, reason, method, parameters, draws and seed; empty for votes.
    """

    given: Annotations | tuple[Plausibilities, ...]
    reason: str = ""
    facts: Mapping[str, object]

    @property
    def parts(self) -> tuple[Plausibilities, ...]:
        """Plausibilities of every task; none for votes."""
        return self.given if isinstance(self.given, tuple) else ()

    @property
    def words(self) -> str:
        """How the truth was made, in a few words."""
        draws = self.parts[0].draws
        what = "one distribution per item" if draws == 1 else f"{draws:,} draws"
        return f"{self.parts[0].method}, {what}"


def model_name(table: Annotations, word: str) -> tuple[str, str]:
    """The model to fit, and why it."""
    return recommended(table) if word == AUTO else (word, f"{word} was asked for.")


def make_truth(table: Annotations, options: Options) -> ScoredTruth:
    """Make the truth that was asked for; one fit per task, which draws from a seed of its own.

    A truth about several classes is asked the yes/no question of the options.
    """
    seed = options.seed
    if options.truth == VOTES:
        return ScoredTruth(given=table, facts={})
    if options.truth.endswith(ENDING):
        name, reason = "file", f"the plausibilities in {options.truth} were asked for."
        parts = _stored(table, options)
    else:
        name, reason = model_name(table, options.truth)
        parts = _fitted(table, name, options)
    parts = tuple(_questioned(part, options) for part in parts)
    first = parts[0]
    facts = {
        "model": name,
        "reason": reason,
        "method": first.method,
        "parameters": {
            key: str(value) if is_dataclass(value) else value
            for key, value in first.parameters.items()
        },
        "draws": first.draws,
        "seed": seed,
        "tasks": [{"task": part.task, "method": part.method} for part in parts],
    }
    return ScoredTruth(given=parts, reason=reason, facts=facts)


def _fitted(table: Annotations, name: str, options: Options) -> tuple[Plausibilities, ...]:
    """Fit the model to every task; each draws from a seed of its own."""
    refuse_unused_chain(options, name, ("burn_in",))
    draws, seed = options.draws or DRAWS, options.seed
    threshold, reliability = _threshold(name, options), options.reliability
    fit = model(name, table, threshold=threshold, reliability=reliability, prior=options.prior)
    parts = []
    with progress("fitting") as tell:
        for place, task in enumerate(table.tasks):
            how: dict[str, Any] = {}
            if MODELS[name].chains:
                how["chain"] = chain(options, seed + place)
            truth = fit(table, task=task, **how)
            if MODELS[name].same_draws:
                truth = truth.averaged()
            parts.append(_drawn(truth, draws, seed + place))
            tell(place + 1, len(table.tasks))
    return tuple(parts)


def _threshold(name: str, options: Options) -> float | None:
    """Where ratings become positive, for a model that takes ratings."""
    if not MODELS[name].threshold:
        return None
    least = options.at_least
    try:
        return float(least or "")
    except ValueError:
        got = "nothing" if least is None else repr(least)
        expected = "a number on the scale of the ratings"
        do = "say where ratings become positive: --at-least 3"
        raise InputError("--truth normal, --at-least", got, expected, do) from None


def _drawn(truth: Plausibilities, draws: int, seed: int) -> Plausibilities:
    """Draw from the law, where there is one and nobody has yet."""
    if truth.law is None or truth.draws > 1:
        return truth
    return truth.drawn(draws, seed=seed)


def _stored(table: Annotations, options: Options) -> tuple[Plausibilities, ...]:
    """Read plausibilities, one file per task, that are about these annotations."""
    for name in ("reliability", "prior"):
        if getattr(options, name) is not None:
            do = "the file was made with its own; leave it out"
            raise InputError(flag(name), "a setting for a file", "a model to fit", do)
    parts, items = [], set(table.items)
    for place, path in enumerate(words(options.truth)):
        truth = read_plausibilities(path)
        strange = [name for name in truth.items if name not in items]
        if strange:
            got = f"{len(strange):,} items without annotations ({listed(strange)})"
            raise InputError(path, got, "items of the annotations", "aggregate this file again")
        parts.append(_drawn(truth, options.draws or DRAWS, options.seed + place))
    return tuple(parts)


def _questioned(truth: Plausibilities, options: Options) -> Plausibilities:
    """Ask a truth about several classes the yes/no question of the options."""
    positive, least = options.positive, options.at_least
    of_ratings = truth.law is not None and truth.law.name == "normal"
    if positive is not None:
        names = (f"not {positive}", positive)
        yes: Sequence[str] = (positive,)
    elif least is not None and not of_ratings:
        names = (f"below {least}", f"at least {least}")
        grades = truth.classes if truth.ordered else ()
        yes = grades[grades.index(least) :] if least in grades else (least,)
    else:
        return truth
    if truth.classes == names:
        return truth
    if not set(yes) <= set(truth.classes) or (least is not None and not truth.ordered):
        raise InputError(
            f"--positive or --at-least, {yes[0]!r}",
            f"a truth about {listed(truth.classes)}",
            "one of its classes, for --at-least one of its grades",
            nearest(yes[0], truth.classes),
        )
    sides = {name: names[name in yes] for name in truth.classes}
    return coarsened(truth, Grouping.of(sides, groups=names))


# ---- groups of classes, such as levels of risk --------------------------------------------


class ClassGroups(NamedTuple):
    """Groups of classes, and what each is worth where the file says so."""

    grouping: Grouping
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


def asked_groups(path: Path, options: Options) -> ClassGroups:
    """Read the groups, and refuse those that nothing would be done with."""
    groups = read_groups(path)
    if not (groups.values or options.by_group or options.within):
        raise misused(_unused("and it has no column 'value'"), "groups")
    return groups


def _unused(why: str) -> str:
    return (
        f"got a file without --by-group or --within, {why}, expected a use for the groups: "
        "--by-group scores groups, --within GROUP the cases of one"
    )


def read_groups(path: Path) -> ClassGroups:
    """Read a table with columns class and group, and perhaps value."""
    table = table_of(content(path))
    classes = code_ids(table, table.required("class", {}), of="row").by_row
    group = code_ids(table, table.required("group", {}), of="class")
    require_unique(classes, where=f"{table.name}, column 'class'", do="keep one row of each")
    groups = group.by_row
    mapping = dict(zip(classes, groups, strict=True))
    grouping = Grouping.of(mapping, groups=group.names, name=path.stem)
    if "value" not in table.columns:
        return ClassGroups(grouping, {})
    return ClassGroups(grouping, _values(path.name, groups, numbers(table, "value").tolist()))


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
    groups: ClassGroups,
    truth: ScoredTruth,
    models: Sequence[Predictions],
    *,
    by_group: bool,
) -> tuple[ScoredTruth, Models]:
    """Sum truth and predictions over the classes of each group, if that was asked for."""
    if not by_group:
        return truth, tuple(models)
    grouping = groups.grouping
    coarse = tuple(model.coarsened(grouping) for model in models)
    if isinstance(truth.given, Annotations):
        return replace(truth, given=_votes(truth.given, grouping)), coarse
    parts = tuple(coarsened(part, grouping) for part in truth.given)
    return replace(truth, given=parts), coarse


def _votes(table: Annotations, grouping: Grouping) -> Annotations:
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
    groups: ClassGroups, metrics: tuple[Metric, ...], text: str | None
) -> tuple[Metric, ...]:
    """The metrics on the cases of each group that was asked for."""
    chosen = words(text)
    if not chosen:
        return metrics
    return tuple(
        conditioned(metric, groups.grouping, name) for name in chosen for metric in metrics
    )


def with_groups(groups: ClassGroups, truth: ScoredTruth) -> tuple[ScoredTruth, list[str]]:
    """Add facts about the groups to the record, and say what is expected of their values.

    The truth must still be that of the classes.
    """
    if not truth.parts:
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
