"""Card: the answer in one sentence, whom it holds for, what would settle it, one caveat."""

from collections.abc import Iterator, Sequence

import numpy as np

from equipoise.inference import Reason
from equipoise.report.answer.models import Answer, RankedModels
from equipoise.study import MACRO
from equipoise.study.alignment import takes_threshold
from equipoise.types import (
    Card,
    Notice,
    Nouns,
    bound,
    capital,
    chosen,
    count,
    counted,
    estimate,
    immutable,
    in_words,
    joined,
    number,
    some,
    worded,
)

NAMED = 3  # models that a sentence names
SEEN = 0.0005  # a gap that is printed as one
# notices that may change the decision
DECISIVE = ("threshold_assumed", "circular", "order_reversed")


@immutable(kw_only=True)
class Sample:
    """How much was looked at.

    Attributes
    ----------
    items, groups
        How many items were scored, and groups of them; 0 without groups.
    annotators
        How many people voted under their names; 0 for anonymous votes.
    votes_per_item
        Fewest, median and most; all 0 where the truth is not made of votes.
    """

    items: int
    groups: int = 0
    annotators: int = 0
    votes_per_item: tuple[int, float, int] = (0, 0.0, 0)


def make_card(
    answer: Answer,
    sample: Sample,
    nouns: Nouns,
    notices: Sequence[Notice] = (),
    *,
    command: bool = False,
) -> Card:
    """The card of an evaluation; `command` gives advice in the words of the command line."""
    front = answer.front
    cautions = worded(_decisive(answer, notices), command=command)
    return Card(
        answer=headline(answer, nouns),
        lede=_lede(answer, nouns),
        standing=tuple(
            (name, bool(inside))
            for name, inside in zip(front.models, front.inside, strict=True)
            if name in (*front.best_group, *front.behind)
        )
        if front.decides
        else (),
        holds_for=_holds_for(front, sample, nouns),
        settled_by=_settled_by(answer, nouns, command=command),
        caveat=next(_caveats(answer, nouns, cautions), ""),
        claims=tuple(
            claim for standing in (front, *_other_metrics(answer)) for claim in standing.claims
        ),
    )


def headline(answer: Answer, nouns: Nouns) -> str:
    """The answer in one sentence, and in a second one where other metrics give another."""
    front = answer.front
    what = front.title if answer.judged else f"{front.title} against {_whose(front, nouns)}"
    units = nouns.items if front.population.units == "items" else nouns.groups
    whom = _whom(front, units, nouns).partition(",")[0]
    if not front.known:
        none = f"No {nouns.model} has a{_finite(front)} value of {what}"
        return f"{none}, so there is nothing to decide."
    first = front.models[0]
    if len(front.models) == 1:
        value = estimate(float(front.values[0]), float(front.low[0]), float(front.high[0]))
        return f"{first} reaches {value} in {what}, for {whom}."
    end = _without_value(front, nouns)
    if front.known == 1:
        return f"{first} is the only {nouns.model} with a{_finite(front)} value of {what}."
    if not front.decides:
        top = "highest" if answer.metric.better == "higher" else "best"
        top += f" in {what}"
        why = f"{front.population.people} are too few to say for others like them"
        if front.population.decides:
            why = "how sure that is, is undefined"
        return f"{first} scores {top}, but {why}{end}."
    if front.population.effective and not answer.judged:  # whom it is for says who votes
        what = f"{front.title} against {front.whose.replace('the votes', 'their votes')}"
    sentence = f"For {whom}, by {what}, {decided_words(answer, front, nouns.models)}{end}."
    others: dict[str, list[str]] = {}
    for standing in _other_metrics(answer):
        others.setdefault(decided_words(answer, standing, nouns.models), []).append(
            standing.title
        )
    more = "; ".join(f"by {joined(titles)}, {words}" for words, titles in others.items())
    return f"{sentence} {capital(more)}." if more else sentence


def _whose(front: RankedModels, nouns: Nouns) -> str:
    """Whose truth it is, in the words of those who asked."""
    people = f" of {nouns.annotators}" if front.population.effective else ""
    return front.whose.replace("votes", f"votes{people}")


def _other_metrics(answer: Answer) -> list[RankedModels]:
    """The other metrics that put other models into the best group."""
    front = answer.front
    standings = (
        answer.standing(front.task, metric, answer.labels)
        for metric in answer.evaluation.metrics[1:]
    )
    return [
        standing
        for standing in standings
        if front.decides
        and standing.decides
        and set(standing.best_group) != set(front.best_group)
    ]


def _finite(front: RankedModels) -> str:
    return " finite" if np.isinf(front.values).any() else ""


def _without_value(front: RankedModels, nouns: Nouns) -> str:
    """Who has no value; nothing where all have."""
    missing = front.models[front.known :]
    if not missing:
        return ""
    who = missing[0] if len(missing) == 1 else some(len(missing), nouns.model)
    return f"; {who} {'has' if len(missing) == 1 else 'have'} no{_finite(front)} value"


def decided_words(answer: Answer, front: RankedModels, models: str = "models") -> str:
    """Who is in the best group, and who is not, within a sentence."""
    group, behind = front.best_group, front.behind
    if len(group) == 1:
        if len(behind) == 1:
            return f"{group[0]} is better than {behind[0]}"
        return f"{group[0]} is the best; the other {in_words(len(behind))} fall behind"
    if _alike(answer, group):
        return f"{joined(group, most=NAMED)} give the same scores"
    if not behind:
        if len(group) == 2:
            return f"{group[0]} and {group[1]} cannot be told apart"
        return f"the {in_words(len(group))} {models} cannot be told apart"
    if len(behind) > NAMED:
        fall = f"{in_words(len(behind))} fall behind"
    else:
        fall = f"{joined(behind)} {'falls' if len(behind) == 1 else 'fall'} behind"
    if len(group) == 2:
        return f"{group[0]} and {group[1]} cannot be told apart; {fall}"
    how_many = in_words(front.known)
    return f"{in_words(len(group))} of {how_many} {models} cannot be told apart; {fall}"


def _alike(answer: Answer, group: Sequence[str]) -> bool:
    """Whether a group is copies of one model in every task."""
    return any(
        duplicate.everywhere and set(group) <= set(duplicate.models)
        for duplicate in answer.duplicates
    ) and len(group) == len(answer.evaluation.models)


def _lede(answer: Answer, nouns: Nouns) -> str:
    """The numbers behind the answer."""
    front, tasks = answer.front, answer.tasks
    if front.known < 2:
        return ""
    many = ""
    if len(tasks) > 1:
        many = f", {front.task}"
        if front.task == MACRO:
            many = f", mean of {answer.mean_of} {nouns.tasks}"
    lower = "; lower is better" if answer.metric.better == "lower" else ""
    group, behind = (
        [m for m in range(front.known) if bool(front.inside[m]) is side]
        for side in (True, False)
    )
    parts = [_range(front, group, f"the {in_words(len(group))}")]
    parts += [_range(front, behind, "those behind")] if behind else []
    sentence = f"{capital(answer.front.title)}{many}: {', '.join(parts)}{lower}."
    if not front.decides:
        return sentence
    most = float(front.most[: front.known].max())
    if most < SEEN:
        return sentence
    side = "below" if answer.metric.better == "higher" else "above"
    return f"{sentence} None is more than {bound(most)} {side} the best."


def _range(front: RankedModels, group: Sequence[int], name: str) -> str:
    """The values of some models, from the lowest to the highest."""
    values = [float(front.values[m]) for m in group]
    low, high = number(min(values)), number(max(values))
    who = front.models[group[0]] if len(group) == 1 else name
    return f"{low if low == high else f'{low} to {high}'} for {who}"


def _holds_for(front: RankedModels, sample: Sample, nouns: Nouns) -> str:
    """Whom the answer speaks for, and on how much it rests."""
    whom = front.population
    units = nouns.items if whom.units == "items" or not sample.groups else nouns.groups
    people = _people(front, nouns)
    read = _read_by(sample, nouns)
    if whom.items and whom.annotators:
        few = ""
        if whom.few:
            few = f" So few {people} make wide intervals."
        return f"{capital(units)} and {people} like these. {read}; both count as samples.{few}"
    if whom.reason is Reason.TOO_FEW:
        return (
            f"{capital(units)} like these and these {nouns.annotators} alone: "
            f"{'they' if whom.people == 'annotators' else people} are too few to stand for "
            f"others. {read}."
        )
    return f"{capital(_whom(front, units, nouns))}. {read}."


def _whom(front: RankedModels, units: str, nouns: Nouns) -> str:
    """Whom it speaks for, in the words of those who asked."""
    named = {"annotators": nouns.annotators, "annotator": nouns.annotator}
    whom = front.population
    words = whom.whom.replace(whom.units, units, 1).split(" ")
    return " ".join(named.get(word, word) for word in words)


def _people(front: RankedModels, nouns: Nouns) -> str:
    """What annotators are random by, as a reader calls them."""
    return front.population.people.replace("annotators", nouns.annotators)


def _read_by(sample: Sample, nouns: Nouns) -> str:
    """How many items there are, and who read how many of them."""
    size = counted(sample.items, nouns.item)
    if sample.groups:
        inside = "in" if nouns.model == "model" else "of"
        size += f" {inside} {counted(sample.groups, nouns.group)}"
    fewest, median, most = sample.votes_per_item
    if not most:
        return size
    votes = f"{fewest} to {most} votes" if fewest != most else count(most, "vote")
    if not sample.annotators:
        half = f" ({count(median)} in the middle)" if fewest != most else ""
        return f"{size}, {votes} each{half}, nobody knows by whom"
    people = some(sample.annotators, nouns.annotator)
    if sample.annotators == most == 1:
        return f"{size}, all {nouns.read} by {people}"
    if fewest == most == sample.annotators:
        return f"{size}, each {nouns.read} by the same {people}"
    return f"{size}, {votes} each, by {people}"


# ---- what would settle it ------------------------------------------------------------------


def _settled_by(answer: Answer, nouns: Nouns, *, command: bool) -> str:
    """What would settle what the answer leaves open; empty where nothing is."""
    front = answer.front
    if front.known < 2:
        return ""
    if not front.population.decides:
        fixed = "--annotators fixed" if command else 'Settings(annotators="fixed")'
        return (
            f"Votes of more {_people(front, nouns)}, from effectively three on (now "
            f"{number(front.population.effective, 1)}); or taking these {nouns.annotators} as "
            f"the standard ({fixed})."
        )
    if not front.decides:
        return ""
    if answer.evaluation.margin is None and (
        len(front.best_group) < 2 or _alike(answer, front.best_group)
    ):
        return ""
    return _by_margin(answer, nouns, command=command)


def _by_margin(answer: Answer, nouns: Nouns, *, command: bool) -> str:
    """How many models are good enough at the margin, or at one that might be named."""
    front, margin = answer.front, answer.evaluation.margin
    most = float(front.most[: front.known].max())
    all_of_them = "both" if front.known == 2 else f"all {in_words(front.known)}"
    if margin is not None:
        inside = front.within(margin)
        if len(inside) == front.known:
            return f"Within the margin of {chosen(margin)} of the best: {all_of_them}."
        if not inside:
            none = f"No {nouns.model} is shown to be within the margin"
            return f"{none} of {chosen(margin)} of the best."
        return (
            f"Shown to be within the margin of {chosen(margin)} of the best: "
            f"{joined(inside, most=6)}."
        )
    named = front.telling_margin
    option = "--margin" if command else "Settings(margin=...)"
    start = f"Naming the smallest difference that matters ({option}): "
    whole = f"at {bound(most)}, {all_of_them} {'are' if front.known > 1 else 'is'} good enough"
    if named is None:
        return f"{start}{whole}."
    good = len(front.within(named))
    return (
        f"{start}at {chosen(named)}, {some(good, nouns.model)} "
        f"{'is' if good == 1 else 'are'} good enough; at {bound(most)}, {all_of_them}."
    )


# ---- the caveat ----------------------------------------------------------------------------


def _decisive(answer: Answer, notices: Sequence[Notice]) -> list[Notice]:
    """Notices of things that may change the decision, the gravest first."""
    cut = takes_threshold(answer.metric) and len(answer.evaluation.models) > 1
    codes = [code for code in DECISIVE if code != "threshold_assumed" or cut]
    return [note for code in codes for note in notices if note.code == code][:1]


def _caveats(answer: Answer, nouns: Nouns, cautions: Sequence[str]) -> Iterator[str]:
    """What may change the decision, the gravest first."""
    yield from cautions
    yield from _below_chance(answer)
    yield from _mixed(answer)
    yield from _copies(answer, nouns)
    yield from _labels_disagree(answer)


def _below_chance(answer: Answer) -> Iterator[str]:
    """Models that are surely worse than guessing, whose scores may be reversed."""
    front = answer.front
    if not answer.metric.name.startswith("auroc"):
        return
    low = [name for name, high in zip(front.models, front.high, strict=True) if high < 0.5]
    if low:
        are = "is" if len(low) == 1 else "are"
        yield f"{joined(low, most=NAMED)} {are} below chance: are the scores reversed?"


def _mixed(answer: Answer) -> Iterator[str]:
    """Models that only decide, judged by a metric of scores beside others that give scores."""
    done = answer.evaluation
    if answer.metric.decides or not done.predictions or answer.rated:
        return
    scoring = {model.model for model in done.predictions if not model.decides}
    deciding = [name for name in answer.front.models if name not in scoring]
    if deciding and scoring:
        yield (
            f"{joined(deciding, most=NAMED)} only say{'s' * (len(deciding) == 1)} yes or no, "
            f"others give scores: {answer.front.title} favours scores. Compare decisions."
        )


def _copies(answer: Answer, nouns: Nouns) -> Iterator[str]:
    """Models in the best group that give the same scores as others."""
    group = set(answer.front.best_group)
    if _alike(answer, answer.front.best_group):
        return
    tasks = {
        duplicate.models: sum(
            len(other.tasks)
            for other in answer.duplicates
            if set(duplicate.models) <= set(other.models)
        )
        for duplicate in answer.duplicates
        if len(group & set(duplicate.models)) > 1
    }
    if not tasks:
        return
    most = max(tasks, key=lambda models: (tasks[models], len(models)))
    more = [
        f"{joined([n for n in models if n not in most])}{_where(number, answer, nouns)}"
        for models, number in tasks.items()
        if set(models) > set(most)
    ]
    yield (
        f"{capital(in_words(len(group)))} is fewer than it looks: {joined(most, most=NAMED)} "
        f"give the same scores{'; '.join([_where(tasks[most], answer, nouns), *more[:1]])}."
    )


def _where(number: int, answer: Answer, nouns: Nouns) -> str:
    """In how many of the tasks."""
    number_of_tasks = len(answer.tasks)
    if number_of_tasks < 2:
        return ""
    if number == number_of_tasks:
        return f" in all {in_words(number_of_tasks)} {nouns.tasks}"
    return f" in {in_words(number)} of {in_words(number_of_tasks)}"


def _labels_disagree(answer: Answer) -> Iterator[str]:
    """Whether hard labels put other models into the best group."""
    front = answer.front
    if front.labels != "soft" or not front.decides or answer.rated:
        return
    hard = answer.standing(front.task, front.metric, "hard")
    if not hard.decides or set(hard.best_group) & set(front.best_group):
        return
    yield (
        f"Majority labels give another answer: {joined(hard.best_group, most=NAMED)} "
        f"{'leads' if len(hard.best_group) == 1 else 'lead'} there. Disagreement among "
        "annotators decides."
    )
