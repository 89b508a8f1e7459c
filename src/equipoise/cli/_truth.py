"""What `equipoise evaluate --truth` names: the votes, a model of them, or a file of draws."""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from equipoise.arrays import InputError, listed, nearest
from equipoise.cli._dataset import study_name
from equipoise.cli._options import words
from equipoise.cli._screen import progress
from equipoise.cli._truth_words import BURN_IN, refuse_burn_in

if TYPE_CHECKING:
    from equipoise.annotations import Annotations
    from equipoise.arrays import Ints
    from equipoise.plausibilities import Plausibilities
    from equipoise.resampling import Resampling

VOTES, AUTO = "votes", "auto"
ENDING = ".npz"
MOST_BYTES = 4 * 2**30  # of draws


class Truth(NamedTuple):
    """What models are scored against.

    Attributes
    ----------
    given
        Votes, or plausibilities of every task.
    facts
        For the record: model, why, method, parameters, draws and seed; empty for votes.
    """

    given: "Annotations | tuple[Plausibilities, ...]"
    facts: dict[str, Any]

    @property
    def parts(self) -> "tuple[Plausibilities, ...]":
        """Plausibilities of every task; none for votes."""
        return self.given if isinstance(self.given, tuple) else ()

    @property
    def words(self) -> str:
        """How the truth was made, in a few words."""
        draws = self.parts[0].draws
        what = "one distribution per item" if draws == 1 else f"{draws:,} draws"
        return f"{self.parts[0].method}, {what}"


def known_truth(word: str) -> str:
    """Refuse a word that is neither votes nor a model nor files."""
    from equipoise.aggregate import MODELS
    from equipoise.arrays import choice

    if word.endswith(ENDING):
        return word
    return choice("--truth", word, (VOTES, AUTO, *MODELS))


def model_name(table: "Annotations", word: str) -> tuple[str, str]:
    """The model to fit, and why it."""
    from equipoise.choosing import recommended

    return recommended(table) if word == AUTO else (word, f"{word} was asked for.")


def truth(table: "Annotations", options: dict[str, Any]) -> Truth:
    """Make the truth that was asked for; one fit per task."""
    word = options["truth"]
    if word == VOTES:
        if options["reliability"] is not None:
            raise InputError(
                "--reliability", f"{options['reliability']:g} with --truth votes",
                "a model of the truth", "add --truth auto, or leave it out",
            )  # fmt: skip
        return Truth(table, {})
    if word.endswith(ENDING):
        name, reason = "file", f"the plausibilities in {word} were asked for."
        parts = _stored(table, options)
    else:
        name, reason = model_name(table, word)
        parts = _fitted(table, name, options)
    parts = tuple(_asked(one, options) for one in parts)
    facts = {
        "model": name,
        "reason": reason,
        "method": parts[0].method,
        "parameters": dict(parts[0].parameters),
        "draws": parts[0].draws,
        "seed": options["seed"],
        "tasks": [{"task": one.task, "method": one.method} for one in parts],
    }
    return Truth(parts, facts)


def _fitted(
    table: "Annotations", name: str, options: dict[str, Any]
) -> "tuple[Plausibilities, ...]":
    """Fit the model to every task; each draws from a seed of its own."""
    from equipoise.aggregate import MODELS, Chain
    from equipoise.choosing import Settings, model

    if options["burn_in"] is not None and not MODELS[name].chains:
        refuse_burn_in(options, name)
    fit = model(name, table, Settings(_threshold(name, options), options["reliability"]))
    parts = []
    with progress("fitting") as tell:
        for number, task in enumerate(table.tasks):
            seed = options["seed"] + number
            how: dict[str, Any] = {}
            if MODELS[name].chains:
                burn_in = BURN_IN if options["burn_in"] is None else options["burn_in"]
                how["chain"] = Chain(draws=options["draws"], burn_in=burn_in, seed=seed)
            made = fit(table, task=task, **how)
            if MODELS[name].same_draws:
                made = made.averaged()
            parts.append(_drawn(made, options["draws"], seed))
            tell(number + 1, len(table.tasks))
    return tuple(parts)


def _threshold(name: str, options: dict[str, Any]) -> float | None:
    """Where ratings become positive, for the model that takes ratings."""
    if name != "normal":
        return None
    try:
        return float(options["at_least"])
    except (TypeError, ValueError):
        got = "nothing" if options["at_least"] is None else repr(options["at_least"])
        raise InputError(
            "--truth normal, --at-least", got, "a number on the scale of the ratings",
            "say where ratings become positive: --at-least 3",
        ) from None  # fmt: skip


def _drawn(made: "Plausibilities", draws: int, seed: int) -> "Plausibilities":
    """Draw from the law, where there is one and nobody has yet."""
    if made.law is None or made.draws > 1:
        return made
    size = draws * (len(made.label) + len(made.items)) * 8
    if size > MOST_BYTES:
        most = MOST_BYTES * draws // size
        raise InputError(
            "--draws", f"{draws:,} draws of {len(made.items):,} items ({size / 2**30:.0f} GB)",
            f"at most {MOST_BYTES / 2**30:g} GB", f"ask for at most {most:,}",
        )  # fmt: skip
    return made.drawn(draws, seed=seed)


def _stored(table: "Annotations", options: dict[str, Any]) -> "tuple[Plausibilities, ...]":
    """Read plausibilities, one file per task, that are about these annotations."""
    from equipoise.io import read_plausibilities

    if options["reliability"] is not None:
        raise InputError(
            "--reliability", "a number for a file", "a model to fit",
            "the file was made with its own; leave it out",
        )  # fmt: skip
    parts, known = [], set(table.items)
    for number, path in enumerate(words(options["truth"])):
        made = read_plausibilities(path)
        strange = [name for name in made.items if name not in known]
        if strange:
            raise InputError(
                path, f"{len(strange):,} items without annotations ({listed(strange)})",
                f"items of {study_name(options)}", "aggregate this file again",
            )  # fmt: skip
        parts.append(_drawn(made, options["draws"], options["seed"] + number))
    return tuple(parts)


def _asked(made: "Plausibilities", options: dict[str, Any]) -> "Plausibilities":
    """Ask a truth about several classes the yes/no question of the options."""
    from equipoise.groupings import Grouping, coarsened

    positive, least = options["positive"], options["at_least"]
    if positive is not None:
        names = (f"not {positive}", positive)
        yes: Sequence[str] = (positive,)
    elif least is not None and not made.classes[-1].startswith("at least "):
        names = (f"below {least}", f"at least {least}")
        grades = made.classes if made.ordered else ()
        yes = grades[grades.index(least) :] if least in grades else (least,)
    else:
        return made
    if made.classes == names:
        return made
    if not set(yes) <= set(made.classes) or (least is not None and not made.ordered):
        raise InputError(
            f"--positive or --at-least, {yes[0]!r}", f"a truth about {listed(made.classes)}",
            "one of its classes, for --at-least one of its grades",
            nearest(yes[0], made.classes),
        )  # fmt: skip
    sides = {name: names[name in yes] for name in made.classes}
    return coarsened(made, Grouping.of(sides, groups=names))


def plan(made: Truth, table: "Annotations", options: dict[str, Any]) -> "Resampling":
    """What is drawn anew: one plan over the items of all tasks, whole groups where known."""
    from equipoise.annotations import Annotations
    from equipoise.resampling import resample

    how = {"replicates": options["replicates"], "seed": options["seed"]}
    if isinstance(made.given, Annotations):
        return resample(made.given, options["resample"], **how)
    items = tuple(dict.fromkeys(name for part in made.given for name in part.items))
    found = resample(made.given[0], options["resample"], **how)
    return replace(found, items=items, group=_groups(table, items))


def _groups(table: "Annotations", items: Sequence[str]) -> "Ints | None":
    """Group (patient, night) of every item, as the annotations have it."""
    if table.group is None:
        return None
    place = {name: number for number, name in enumerate(table.items)}
    return np.asarray(table.group[[place[name] for name in items]])
