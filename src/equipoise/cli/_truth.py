"""What `equipoise evaluate --truth` names: the votes, a model of them, or a file of draws."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import numpy as np
import typer

from equipoise.arrays import InputError, listed, nearest
from equipoise.cli._screen import progress
from equipoise.cli.options import QuestionReading, checked, flag, words

if TYPE_CHECKING:
    from equipoise.annotations import Annotations
    from equipoise.arrays import Ints
    from equipoise.plausibilities import Plausibilities
    from equipoise.resampling import Resampling

TRUTH = "What is true"
VOTES, AUTO = "votes", "auto"
ENDING = ".npz"
CHAINS = (AUTO, "plackett_luce")  # what may run chains
DRAWS, BURN_IN = 1000, 500
MOST_BYTES = 4 * 2**30  # of draws


@dataclass(frozen=True, slots=True, kw_only=True)
class TruthOptions:
    """What models are scored against; refuses what would be ignored."""

    truth: Annotated[
        str,
        typer.Option(
            rich_help_panel=TRUTH,
            help="`votes` themselves, a model of them (`auto`, or a name that `aggregate "
            "--model` takes), or a file written by `aggregate --out` (.npz; several tasks: "
            "comma-separated).",
        ),
    ] = VOTES
    draws: Annotated[
        int | None,
        typer.Option(
            min=2, rich_help_panel=TRUTH, help="Possible truths of the model. Default: 1,000."
        ),
    ] = None
    burn_in: Annotated[
        int | None,
        typer.Option(
            min=0,
            rich_help_panel=TRUTH,
            help="Draws of each chain thrown away first (plackett_luce). Default: 500.",
        ),
    ] = None
    reliability: Annotated[
        float | None,
        typer.Option(rich_help_panel=TRUTH, help="How much a vote is worth to the model."),
    ] = None

    def __post_init__(self) -> None:
        """Refuse unknown words, and options of a model without one."""
        checked("--truth", known_truth, self.truth)
        if self.truth == VOTES:
            for name in ("draws", "burn_in"):
                if getattr(self, name) is not None:
                    raise InputError(
                        flag(name),
                        f"{getattr(self, name)} with --truth votes",
                        "a model of the truth",
                        f"add --truth MODEL, or leave out {flag(name)}",
                    )
        elif self.truth not in CHAINS:
            self.refuse_burn_in(self.truth)

    def refuse_burn_in(self, name: str) -> None:
        """Refuse a burn-in for a model without chains."""
        if self.burn_in is not None:
            raise InputError(
                "--burn-in",
                f"{self.burn_in} with --truth {name}",
                "a model whose draws come from chains: plackett_luce",
                "leave out --burn-in",
            )

    def check_resampling(self, kind: str) -> None:
        """Refuse to redraw votes under a model, and the model's draws without one."""
        redrawn = kind.replace(" x ", "-x-").split("-x-")[-1]
        if self.truth == VOTES and redrawn == "posterior":
            raise InputError(
                f"--resample {kind}",
                "no plausibilities: --truth is votes",
                "a model of the truth, whose draws are taken in turn",
                "add --truth MODEL, for example --truth auto",
            )
        if self.truth != VOTES and redrawn in ("votes", "panel"):
            raise InputError(
                f"--resample {kind}",
                f"--truth {self.truth}, which has no votes to redraw",
                "items, posterior or items-x-posterior",
                "choose one, or leave out --truth",
            )


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
    from equipoise.aggregate import CATALOGUE
    from equipoise.arrays import choice

    if word.endswith(ENDING):
        return word
    return choice("--truth", word, (VOTES, AUTO, *CATALOGUE, "normal"))


def model_name(table: "Annotations", word: str) -> tuple[str, str]:
    """The model to fit, and why it."""
    from equipoise.choosing import recommended

    return recommended(table) if word == AUTO else (word, f"{word} was asked for.")


def truth(
    table: "Annotations",
    asked: TruthOptions,
    reading: QuestionReading,
    *,
    seed: int,
    study: str,
) -> Truth:
    """Make the truth that was asked for; one fit per task.

    Parameters
    ----------
    study
        Name of the annotations, for refusals.
    """
    word = asked.truth
    if word == VOTES:
        if asked.reliability is not None:
            raise InputError(
                "--reliability",
                f"{asked.reliability:g} with --truth votes",
                "a model of the truth",
                "add --truth auto, or leave it out",
            )
        return Truth(table, {})
    if word.endswith(ENDING):
        name, reason = "file", f"the plausibilities in {word} were asked for."
        parts = _stored(table, asked, seed, study)
    else:
        name, reason = model_name(table, word)
        parts = _fitted(table, name, asked, reading.at_least, seed)
    parts = tuple(_as_question(one, reading) for one in parts)
    facts = {
        "model": name,
        "reason": reason,
        "method": parts[0].method,
        "parameters": dict(parts[0].parameters),
        "draws": parts[0].draws,
        "seed": seed,
        "tasks": [{"task": one.task, "method": one.method} for one in parts],
    }
    return Truth(parts, facts)


def _fitted(
    table: "Annotations", name: str, asked: TruthOptions, at_least: str | None, seed: int
) -> "tuple[Plausibilities, ...]":
    """Fit the model to every task; each draws from a seed of its own."""
    from equipoise.aggregate import Chain
    from equipoise.choosing import Settings, model

    if name != "plackett_luce":
        asked.refuse_burn_in(name)
    draws = asked.draws or DRAWS
    fit = model(name, table, Settings(_threshold(name, at_least), asked.reliability))
    parts = []
    with progress("fitting") as tell:
        for number, task in enumerate(table.tasks):
            how: dict[str, Any] = {}
            if name == "plackett_luce":
                burn_in = BURN_IN if asked.burn_in is None else asked.burn_in
                how["chain"] = Chain(draws=draws, burn_in=burn_in, seed=seed + number)
            made = _advised(fit(table, task=task, **how))
            if name == "majority_vote":  # every draw would be the same
                made = made.averaged()
            parts.append(_drawn(made, draws, seed + number))
            tell(number + 1, len(table.tasks))
    return tuple(parts)


def _advised(made: "Plausibilities") -> "Plausibilities":
    """Name the options that make chains longer, where the model says that they are short."""
    said = tuple(
        f"{one} Raise --draws and --burn-in." if "chain" in one else one for one in made.notices
    )
    return made if said == made.notices else replace(made, notices=said)


def _threshold(name: str, at_least: str | None) -> float | None:
    """Where ratings become positive, for the model that takes ratings."""
    if name != "normal":
        return None
    try:
        return float(at_least or "")
    except ValueError:
        got = "nothing" if at_least is None else repr(at_least)
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


def _stored(
    table: "Annotations", asked: TruthOptions, seed: int, study: str
) -> "tuple[Plausibilities, ...]":
    """Read plausibilities, one file per task, that are about these annotations."""
    from equipoise.io import read_plausibilities

    if asked.reliability is not None:
        raise InputError(
            "--reliability", "a number for a file", "a model to fit",
            "the file was made with its own; leave it out",
        )  # fmt: skip
    parts, known = [], set(table.items)
    for number, path in enumerate(words(asked.truth)):
        made = read_plausibilities(path)
        strange = [name for name in made.items if name not in known]
        if strange:
            raise InputError(
                path, f"{len(strange):,} items without annotations ({listed(strange)})",
                f"items of {study}", "aggregate this file again",
            )  # fmt: skip
        parts.append(_drawn(made, asked.draws or DRAWS, seed + number))
    return tuple(parts)


def _as_question(made: "Plausibilities", reading: QuestionReading) -> "Plausibilities":
    """Ask a truth about several classes the yes/no question of the options."""
    from equipoise.groupings import Grouping, coarsened

    positive, least = reading.positive, reading.at_least
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


def plan(
    made: Truth, table: "Annotations", kind: str | None, *, replicates: int, seed: int
) -> "Resampling":
    """What is drawn anew: one plan over the items of all tasks, whole groups where known."""
    from equipoise.annotations import Annotations
    from equipoise.resampling import resample

    if isinstance(made.given, Annotations):
        return resample(made.given, kind, replicates=replicates, seed=seed)
    items = tuple(dict.fromkeys(name for part in made.given for name in part.items))
    found = resample(made.given[0], kind, replicates=replicates, seed=seed)
    return replace(found, items=items, group=_groups(table, items))


def _groups(table: "Annotations", items: Sequence[str]) -> "Ints | None":
    """Group (patient, night) of every item, as the annotations have it."""
    if table.group is None:
        return None
    place = {name: number for number, name in enumerate(table.items)}
    return np.asarray(table.group[[place[name] for name in items]])
