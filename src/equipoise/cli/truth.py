"""What `equipoise evaluate --truth` names: the votes, a model of them, or a file of draws."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, is_dataclass
from typing import Annotated, Any

from equipoise.cli._screen import progress
from equipoise.cli.options import QuestionReading, checked, flag, panel, words
from equipoise.types.annotations import Annotations
from equipoise.types.arrays import InputError, choice, listed, nearest
from equipoise.types.plausibilities import Plausibilities
from equipoise.types.words import joined

VOTES, AUTO = "votes", "auto"
ENDING = ".npz"
DRAWS, BURN_IN = 1000, 500
_truth = panel(
    "What the truth is",
    truth="`votes` themselves, a model of them (`auto`, or a name that `aggregate "
    "--model` takes), or a file written by `aggregate --out` (.npz; several tasks: "
    "comma-separated).",
    draws="Possible truths of the model. Default: 1,000.",
    burn_in="Draws of each chain thrown away first (plackett_luce). Default: 500.",
    reliability="How much a vote counts.",
    prior="What the model believes without votes; see `aggregate --help`.",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class TruthOptions:
    """What models are scored against, and how it is inferred."""

    truth: Annotated[str, _truth("truth")] = VOTES
    draws: Annotated[int | None, _truth("draws", min=2)] = None
    burn_in: Annotated[int | None, _truth("burn_in", min=0)] = None
    reliability: Annotated[float | None, _truth("reliability")] = None
    prior: Annotated[str | None, _truth("prior")] = None

    def __post_init__(self) -> None:
        """Refuse unknown words, and what would be ignored."""
        checked("--truth", known_truth, self.truth)
        if self.truth == VOTES:
            for name in ("draws", "burn_in"):
                if getattr(self, name) is not None:
                    got = f"{getattr(self, name)} with --truth votes"
                    do = f"add --truth MODEL, or leave out {flag(name)}"
                    raise InputError(flag(name), got, "a model of the truth", do)
        elif self.truth not in (AUTO, *_chained()):
            self.refuse_burn_in(self.truth)

    @property
    def of_votes(self) -> bool:
        """Whether the votes themselves are the truth."""
        return self.truth == VOTES

    @property
    def stored(self) -> bool:
        """Whether the truth is read from files."""
        return self.truth.endswith(ENDING)

    def refuse_burn_in(self, model: str) -> None:
        """Refuse a burn-in for a model without chains."""
        if self.burn_in is not None:
            got = f"{self.burn_in} with --truth {model}"
            expected = f"a model whose draws come from chains: {joined(_chained(), 'or')}"
            raise InputError("--burn-in", got, expected, "leave out --burn-in")

    def check_plan(self, plan: str) -> None:
        """Refuse to resample votes under a model, and the model's draws without one."""
        resampled = plan.replace(" x ", "-x-").split("-x-")[-1]
        if self.of_votes and resampled == "posterior":
            raise InputError(
                f"--resample {plan}",
                "no plausibilities: --truth is votes",
                "a model of the truth, whose draws are taken in turn",
                "add --truth MODEL, for example --truth auto",
            )
        if not self.of_votes and resampled in ("votes", "panel"):
            raise InputError(
                f"--resample {plan}",
                f"--truth {self.truth}, which has no votes to redraw",
                "items, posterior or items-x-posterior",
                "choose one, or leave out --truth",
            )


@dataclass(frozen=True, slots=True, kw_only=True)
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

    given: "Annotations | tuple[Plausibilities, ...]"
    reason: str = ""
    facts: Mapping[str, object]

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
    from equipoise.truth import MODELS

    if word.endswith(ENDING):
        return word
    return choice("--truth", word, (VOTES, AUTO, *MODELS))


def _chained() -> list[str]:
    """Models whose draws come from chains."""
    from equipoise.truth import MODELS

    return [name for name, model in MODELS.items() if model.chains]


def model_name(table: Annotations, word: str) -> tuple[str, str]:
    """The model to fit, and why it."""
    from equipoise.truth.choosing import recommended

    return recommended(table) if word == AUTO else (word, f"{word} was asked for.")


def make_truth(
    table: Annotations, options: TruthOptions, question: QuestionReading, *, seed: int = 0
) -> ScoredTruth:
    """Make the truth that was asked for; one fit per task.

    Parameters
    ----------
    question
        The yes/no question that a truth about several classes is asked.
    seed
        Of draws; each task draws from a seed of its own.
    """
    if options.of_votes:
        for name in ("reliability", "prior"):
            if getattr(options, name) is not None:
                got = f"{getattr(options, name)} with --truth votes"
                do = "add --truth auto, or leave it out"
                raise InputError(flag(name), got, "a model of the truth", do)
        return ScoredTruth(given=table, facts={})
    if options.stored:
        name, reason = "file", f"the plausibilities in {options.truth} were asked for."
        parts = _stored(table, options, seed)
    else:
        name, reason = model_name(table, options.truth)
        parts = _fitted(table, name, options, question, seed)
    parts = tuple(_asked(one, question) for one in parts)
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
        "tasks": [{"task": one.task, "method": one.method} for one in parts],
    }
    return ScoredTruth(given=parts, reason=reason, facts=facts)


def _fitted(
    table: Annotations, name: str, options: TruthOptions, question: QuestionReading, seed: int
) -> "tuple[Plausibilities, ...]":
    """Fit the model to every task; each draws from a seed of its own."""
    from equipoise.truth import MODELS, Chain
    from equipoise.truth.choosing import Settings, model

    if not MODELS[name].chains:
        options.refuse_burn_in(name)
    draws = options.draws or DRAWS
    told = Settings(_threshold(name, question), options.reliability, prior=options.prior)
    fit = model(name, table, told)
    parts = []
    with progress("fitting") as tell:
        for place, task in enumerate(table.tasks):
            how: dict[str, Any] = {}
            if MODELS[name].chains:
                burn_in = BURN_IN if options.burn_in is None else options.burn_in
                how["chain"] = Chain(draws=draws, burn_in=burn_in, seed=seed + place)
            made = fit(table, task=task, **how)
            if MODELS[name].same_draws:
                made = made.averaged()
            parts.append(_drawn(made, draws, seed + place))
            tell(place + 1, len(table.tasks))
    return tuple(parts)


def _threshold(name: str, question: QuestionReading) -> float | None:
    """Where ratings become positive, for a model that takes ratings."""
    from equipoise.truth import MODELS

    if not MODELS[name].threshold:
        return None
    least = question.at_least
    try:
        return float(least or "")
    except ValueError:
        got = "nothing" if least is None else repr(least)
        expected = "a number on the scale of the ratings"
        do = "say where ratings become positive: --at-least 3"
        raise InputError("--truth normal, --at-least", got, expected, do) from None


def _drawn(made: Plausibilities, draws: int, seed: int) -> Plausibilities:
    """Draw from the law, where there is one and nobody has yet."""
    if made.law is None or made.draws > 1:
        return made
    return made.drawn(draws, seed=seed)


def _stored(
    table: Annotations, options: TruthOptions, seed: int
) -> "tuple[Plausibilities, ...]":
    """Read plausibilities, one file per task, that are about these annotations."""
    from equipoise.read.plausibilities import read_plausibilities

    for name in ("reliability", "prior"):
        if getattr(options, name) is not None:
            do = "the file was made with its own; leave it out"
            raise InputError(flag(name), "a setting for a file", "a model to fit", do)
    parts, known = [], set(table.items)
    for place, path in enumerate(words(options.truth)):
        made = read_plausibilities(path)
        strange = [name for name in made.items if name not in known]
        if strange:
            got = f"{len(strange):,} items without annotations ({listed(strange)})"
            raise InputError(path, got, "items of the annotations", "aggregate this file again")
        parts.append(_drawn(made, options.draws or DRAWS, seed + place))
    return tuple(parts)


def _asked(made: Plausibilities, question: QuestionReading) -> Plausibilities:
    """Ask a truth about several classes the yes/no question of the options."""
    from equipoise.types.groupings import Grouping, coarsened

    positive, least = question.positive, question.at_least
    of_ratings = made.law is not None and made.law.name == "normal"
    if positive is not None:
        names = (f"not {positive}", positive)
        yes: Sequence[str] = (positive,)
    elif least is not None and not of_ratings:
        names = (f"below {least}", f"at least {least}")
        grades = made.classes if made.ordered else ()
        yes = grades[grades.index(least) :] if least in grades else (least,)
    else:
        return made
    if made.classes == names:
        return made
    if not set(yes) <= set(made.classes) or (least is not None and not made.ordered):
        raise InputError(
            f"--positive or --at-least, {yes[0]!r}",
            f"a truth about {listed(made.classes)}",
            "one of its classes, for --at-least one of its grades",
            nearest(yes[0], made.classes),
        )
    sides = {name: names[name in yes] for name in made.classes}
    return coarsened(made, Grouping.of(sides, groups=names))
