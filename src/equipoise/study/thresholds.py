r"""Thresholds: from which score on an item is called positive, model by model and task by task.

They are for metrics of decisions on yes/no questions, where a model gives one score per item;
of several classes the most probable is decided for. A threshold is given, or chosen by a rule
(see below) against the mean votes of items that are not scored with it:

- a **tuning split**: items named by the caller, or a fraction drawn by a hash of the seed and
  the item's name (the group's, where items have groups), so that no order matters. All models
  and all metrics are then scored on the other items only.
- **cross-fitting**: items fall into folds by the same hash, and the threshold of each fold is
  chosen on all others.

A rule without either is refused: a threshold chosen on the items that are scored flatters.
Probabilities that nobody gave a threshold for are cut at .5, and a notice says so; other scores
are refused then (`require_cuts`). Intervals hold thresholds as they are.

Operating points: the threshold that a rule chooses, given scores and labels.

An item is called positive where its score is at least t. With soft labels p, the mean votes,

.. math:: \mathrm{sens}(t) = \frac{\sum_i p_i [s_i \ge t]}{\sum_i p_i}, \quad
    \mathrm{spec}(t) = \frac{\sum_i (1 - p_i) [s_i < t]}{\sum_i (1 - p_i)}

====================  ==========================================================================
youden                the largest sens + spec - 1
f1                    the largest F1, the harmonic mean of precision and sensitivity
prevalence            as large a share of items called positive as votes are
sensitivity=0.9       the largest specificity where the sensitivity is at least 0.9
specificity=0.9       the largest sensitivity where the specificity is at least 0.9
====================  ==========================================================================

Thresholds are scores of items, or infinite where nothing may be called positive; of several
that do equally well the highest is taken, so that a rising transformation of the scores
transforms the threshold and changes no decision.

References
----------
Youden (1950), *Index for rating diagnostic tests*.

Examples
--------
>>> scores, labels = np.array([0.1, 0.2, 0.3, 0.4]), np.array([0.0, 0.5, 0.0, 1.0])
>>> [Rule.parse(word).choose(scores, labels) for word in ("youden", "sensitivity=0.9")]
[0.4, 0.2]
>>> Thresholds.parse(["0.3", "resnet/Edema=0.4"]).named
{'resnet/Edema': 0.4}
>>> Thresholds("youden", tuning=Tuning(folds=2))
Thresholds(every='youden', named={}, tuning=Tuning(items=(), fraction=None, folds=2, seed=0))
"""

import hashlib
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from equipoise.study.alignment import require_yes_no, takes_threshold
from equipoise.study.truth import TaskTruth
from equipoise.types import (
    Annotations,
    Bools,
    Column,
    Floats,
    InputError,
    Ints,
    Names,
    Notice,
    Option,
    PerItem,
    Plausibilities,
    Predictions,
    Table,
    columns,
    count,
    hint,
    immutable,
    joined,
    listed,
    nearest,
    notice,
    number,
    percent,
    require_number,
    require_whole,
    wrong_type,
)

if TYPE_CHECKING:
    from equipoise.study.study import Study

RULES = ("youden", "f1", "prevalence")
TARGETS = ("sensitivity", "specificity")
ROUNDING = 1e-12
_WORDS = {
    "youden": "Youden's index",
    "f1": "the largest F1",
    "prevalence": "the prevalence of the votes",
}


@immutable
class Rule:
    """How a threshold is chosen: a name, and for some what must be reached."""

    name: str
    target: float | None = None

    @classmethod
    def parse(cls, word: str) -> "Rule":
        """Read ``youden`` or ``sensitivity=0.9``."""
        name, _, text = word.partition("=")
        if name in RULES and not text:
            return cls(name)
        if name in TARGETS and 0 < _number(text) <= 1:
            return cls(name, float(text))
        if name in TARGETS:
            raise InputError(
                f"threshold {word!r}",
                repr(text) if text else "no number",
                "a share above 0 and up to 1",
                f"write {name}=0.9",
            )
        words = (*RULES, *(f"{target}=0.9" for target in TARGETS))
        expected = "a number or a rule"
        raise InputError("threshold", repr(word), expected, nearest(word, words))

    @property
    def word(self) -> str:
        """As `parse` reads it."""
        return self.name if self.target is None else f"{self.name}={self.target:g}"

    def __str__(self) -> str:
        if self.target is None:
            return _WORDS[self.name]
        return f"{self.name} of at least {number(self.target, 2)}"

    def choose(self, scores: PerItem, labels: PerItem) -> float:
        """The threshold for these scores, given soft labels; both (items,)."""
        yes, no = float(labels.sum()), float((1 - labels).sum())
        if min(yes, no) <= ROUNDING * max(len(labels), 1):
            raise InputError(
                f"threshold by {self}",
                f"{len(labels)} items whose votes are all {'no' if no > yes else 'yes'}",
                "both classes among the items that it is chosen on",
                "choose on more items, or give the threshold",
            )
        order = np.argsort(-scores, kind="stable")
        ranked = scores[order]
        last = np.append(ranked[1:] != ranked[:-1], True)
        called = np.append(0.0, np.flatnonzero(last) + 1)
        hits = np.append(0.0, np.cumsum(labels[order])[last])
        points = np.append(np.inf, ranked[last])
        value = self._value(hits / yes, 1 - (called - hits) / no, called, yes)
        best = np.flatnonzero(value >= value.max() - ROUNDING)[0]
        return float(points[best])

    def _value(self, sens: Floats, spec: Floats, called: Floats, yes: float) -> Floats:
        """What is as large as can be, at every threshold from the highest down."""
        if self.name == "youden":
            return sens + spec
        if self.name == "f1":
            return 2 * sens * yes / (called + yes)
        if self.name == "prevalence":
            return np.asarray(-np.abs(called - yes))
        assert self.target is not None
        reached, other = (sens, spec) if self.name == "sensitivity" else (spec, sens)
        return np.where(reached >= self.target - ROUNDING, other, -1.0)


def _number(text: str) -> float:
    """A number, or nan."""
    try:
        return float(text)
    except ValueError:
        return math.nan


HALF = 0.5  # where scores are cut when nobody says
FROM_ROWS = ("thresholds", "threshold_assumed")  # notices on the thresholds that are used
FAR = 4  # times rarer, from which a cut is far from what the votes say
SHOWN = 6  # models and tasks in a notice
THRESHOLD = Option("threshold", python="Settings(thresholds=...)")
TUNING = Option("tuning", "0.3", python="tuning=Tuning(fraction=0.3)")
CROSS_FIT = Option("tuning", "folds=5", python="tuning=Tuning(folds=5)")
Choice = float | str
Truth = Annotations | Plausibilities


@immutable
class Tuning:
    """Which items thresholds are chosen on: one of the first three.

    Attributes
    ----------
    items
        Their names; they are not scored.
    fraction
        How many are drawn by name; they are not scored.
    folds
        Number of folds for cross-fitting: all items are scored, each with a threshold that
        was chosen on the other folds.
    seed
        Of the draw.
    """

    items: Names = ()
    fraction: float | None = None
    folds: int | None = None
    seed: int = 0

    def __post_init__(self) -> None:
        sources = [bool(self.items), self.fraction is not None, self.folds is not None]
        if sum(sources) != 1:
            do = hint("choose one, such as {}", TUNING)
            raise InputError(
                "tuning", f"{sum(sources)} of items, fraction and folds", "one of them", do
            )
        if self.fraction is not None:
            require_number("tuning, fraction", self.fraction, above=0, below=1, do="try 0.3")
        if self.folds is not None:
            require_whole("tuning, folds", self.folds, least=2, do="try 5")
        require_whole("tuning, seed", self.seed, do="try 0")

    @classmethod
    def parse(
        cls, word: str, where: Callable[[str, str], Sequence[str]] | None = None, seed: int = 0
    ) -> "Tuning":
        """Read ``0.3``, ``folds=5``, ``split=dev`` or the name of a file of item names.

        Parameters
        ----------
        where
            Gives the items of which an attribute (``split``) has a value (``dev``).

        Examples
        --------
        >>> Tuning.parse("folds=5").folds, Tuning.parse("0.3").fraction
        (5, 0.3)
        """
        key, _, value = word.partition("=")
        if key == "folds" and value.isdecimal():
            return cls(folds=int(value), seed=seed)
        if value and where is not None:
            return cls(items=tuple(where(key, value)), seed=seed)
        try:
            return cls(fraction=float(word), seed=seed)
        except ValueError as error:
            if isinstance(error, InputError):
                raise
        return cls(items=_names_in(word), seed=seed)

    def fold_of(self, names: Sequence[str]) -> Ints:
        """Fold of every name; for a split 0 is scored and 1 is for choosing, (names,)."""
        if self.items:
            chosen = set(self.items)
            return np.array([name in chosen for name in names], dtype=np.int64)
        digests = (
            hashlib.sha256(f"{self.seed}/{name}".encode("utf-8", "surrogatepass")).digest()[:8]
            for name in names
        )
        lots = np.frombuffer(b"".join(digests), dtype="<u8")
        if self.folds is not None:
            return (lots % np.uint64(self.folds)).astype(np.int64)
        assert self.fraction is not None
        return (lots / 2.0**64 < self.fraction).astype(np.int64)


@immutable
class Thresholds:
    """What was asked: for all, and for some by name.

    Attributes
    ----------
    every
        A number or a rule, such as ``youden`` or ``sensitivity=0.9``; None leaves those that
        are not named at .5, with a notice.
    named
        The same by model (``resnet``), task (``Edema``), or both (``resnet/Edema``), which
        wins; a model and a task that both say something of one pair are refused.
    tuning
        Where rules look.
    """

    every: Choice | None = None
    named: Mapping[str, Choice] = field(default_factory=dict)
    tuning: Tuning | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.named, Mapping):
            do = "try {'resnet': 0.4}"
            raise wrong_type("thresholds, named", self.named, "thresholds by name", do)
        object.__setattr__(self, "named", dict(self.named))
        choices = [*self.named.values(), *([] if self.every is None else [self.every])]
        if not choices:
            raise InputError("thresholds", "none", "a number or a rule", "try 0.5 or youden")
        for choice in choices:
            if isinstance(choice, str):
                Rule.parse(choice)
            else:
                require_number("threshold", choice, do="give a score, or a rule such as youden")
        rules = [choice for choice in choices if isinstance(choice, str)]
        if rules and self.tuning is None:
            raise InputError(
                "thresholds",
                f"{rules[0]!r} chosen on the items that are scored",
                "items to choose them on",
                hint("set some aside with {}, or cross-fit with {}", TUNING, CROSS_FIT),
            )

    @classmethod
    def parse(cls, words: Iterable[str], tuning: Tuning | None = None) -> "Thresholds":
        """Read words such as ``0.3``, ``Edema=0.3``, ``youden``, ``resnet=sensitivity=0.9``.

        Whether names are known is seen when the thresholds are used.
        """
        for_all: Choice | None = None
        named: dict[str, Choice] = {}
        for word in words:
            name, choice = _split(word.strip())
            if name in named or (not name and for_all is not None):
                what = f"{name!r} twice" if name else "two for all"
                raise InputError("thresholds", what, "one each", "leave one out")
            if name:
                named[name] = choice
            else:
                for_all = choice
        return cls(for_all, named, tuning)

    def of(self, model: str, task: str) -> Choice | None:
        """What was asked for one model in one task."""
        pair = f"{model}/{task}"
        if pair in self.named:
            return self.named[pair]
        names = [name for name in dict.fromkeys((model, task)) if name in self.named]
        if len(names) > 1:
            raise InputError(
                "thresholds",
                f"one for {model!r} and one for {task!r}",
                f"one for {model!r} in {task!r}",
                f"add {pair}=0.5",
            )
        return self.named[names[0]] if names else self.every

    def check_names(self, models: Sequence[str], tasks: Sequence[str]) -> None:
        """Refuse names that are neither a model, nor a task, nor both."""
        pairs = [f"{model}/{task}" for model in models for task in tasks if task]
        names = [*models, *filter(None, tasks), *pairs]
        for name in self.named:
            if name not in names:
                expected = "a model, a task, or MODEL/TASK"
                raise InputError("thresholds", f"{name!r}", expected, nearest(name, names))
            if name in models and name in tasks:
                do = "say which with MODEL/TASK"
                got = f"{name!r}, which is a model and a task"
                raise InputError("thresholds", got, "a name of one of them", do)


def _split(word: str) -> tuple[str, Choice]:
    """Name and threshold; a rule with a target is no name."""
    if word.partition("=")[0] in (*RULES, *TARGETS):
        return "", Rule.parse(word).word
    for name, choice in (("", word), word.partition("=")[::2], word.rpartition("=")[::2]):
        try:
            return name, float(choice)
        except ValueError:
            pass
        if choice.partition("=")[0] in (*RULES, *TARGETS):
            return name, Rule.parse(choice).word
    return "", Rule.parse(word.partition("=")[2] or word).word  # no rule: refused


def _names_in(path: str) -> Names:
    """Names of items in a file: a column ``item`` of a table, or one name a line."""
    from equipoise.read import delimited
    from equipoise.read.files import content
    from equipoise.read.tables import words_of

    if Path(path).suffix in (".csv", ".tsv"):
        table = delimited.read_delimited(content(path))
        codes, words = words_of(table, table.required("item", {}))
        return tuple(dict.fromkeys(words[code] for code in codes if code >= 0))
    lines = content(path).data.decode("utf-8-sig").splitlines()
    names = (line.strip() for line in lines if not line.startswith("#"))
    return tuple(dict.fromkeys(filter(None, names)))


class UsedThreshold(NamedTuple):
    """One model in one task (and fold): the threshold, and where it comes from.

    Attributes
    ----------
    how
        ``given``, ``assumed``, or the rule with where it was used.
    items
        On how many items it was chosen; 0 where it was not.
    above, votes
        Share of the scored items that score at least that, and mean share of yes votes there.
    low, high
        The smallest and the largest score.
    """

    model: str
    task: str
    threshold: float
    how: str
    items: int
    above: float
    votes: float
    low: float
    high: float

    @property
    def cell(self) -> str:
        """Model and task, as options name them."""
        return f"{self.model}/{self.task}" if self.task else self.model


def with_thresholds(study: "Study", thresholds: Thresholds | None = None) -> "Study":
    """The study whose models have thresholds, where any metric looks at decisions.

    Scores that nobody gave a threshold for are cut at .5; a tuning split is left out of the
    truth, of the predictions and of the plan.
    """
    if not any(takes_threshold(metric) for metric in study.metrics):
        if thresholds is None:
            return study
        text = "No metric looks at decisions: thresholds are for the comparison with readers."
        unused = Notice("thresholds_unused", text)
        return replace(study, thresholds=thresholds, notices=(*study.notices, unused))
    rules = thresholds or Thresholds(HALF)
    rules.check_names(
        [model.model for model in study.predictions], [truth.task for truth in study.truths]
    )
    folds, notices = _folds(rules.tuning, study.parts)
    predictions, used = _apply_thresholds(study, thresholds, folds)
    others = [note for note in study.notices if note.code not in FROM_ROWS]
    cut = study.with_cuts(
        predictions,
        used=tuple(used),
        notices=(*others, *notices, *_threshold_notices(used)),
    )
    if rules.tuning is None or rules.tuning.folds is not None:
        return cut
    scored = [name for model in predictions for name in model.items if not folds.get(name, 0)]
    return cut.of_items([*scored, *(name for name in study.items if not folds[name])])


def require_cuts(study: "Study") -> "Study":
    """The study; refuses scores that are no probabilities and that nobody gave a cut for."""
    odd = [row for row in study.used if row.how == "assumed" and (row.low < 0 or row.high > 1)]
    if not odd:
        return study
    models = list(dict.fromkeys(row.model for row in odd))
    low, high = min(row.low for row in odd), max(row.high for row in odd)
    raise InputError(
        f"scores of {listed(models)}",
        f"{number(low)} to {number(high)}, and nobody said from which on they say yes",
        "probabilities, or a threshold, for metrics of decisions",
        hint("give {} or name metrics of scores", Option("threshold", f"{models[0]}=...")),
    )


def _apply_thresholds(
    study: "Study", thresholds: Thresholds | None, folds: Mapping[str, int]
) -> tuple[list[Predictions], list[UsedThreshold]]:
    """Predictions with thresholds, and those thresholds."""
    truths = {truth.task: truth for truth in study.truths}
    rules = thresholds or Thresholds(HALF)
    assumed = {(row.model, row.task) for row in study.used if row.how == "assumed"}
    predictions, used = [], list[UsedThreshold]()
    for model in study.predictions:
        if (model.model, model.task) in assumed:
            model = replace(model, threshold=None)  # nobody gave it
        truth = truths.get(model.task)
        several = truth is not None and len(truth.classes) > 1
        if truth is None or model.decides or (thresholds is None and several):
            predictions.append(model)
            continue
        cut = _Cut(model, truth, folds, rules.tuning)
        rule = None if thresholds is None else rules.of(model.model, model.task)
        threshold, rows = cut.default_thresholds() if rule is None else cut.by_choice(rule)
        used += rows
        predictions.append(replace(model, threshold=threshold))
    return predictions, used


def _folds(
    tuning: Tuning | None, parts: Sequence[Truth]
) -> tuple[dict[str, int], Iterable[Notice]]:
    """Fold of every item by name; whole groups have one."""
    unit = {name: name for part in parts for name in part.items}
    for part in parts:
        if isinstance(part, Annotations) and part.group is not None:
            names = part.groups or ()
            unit |= {
                item: names[code] for item, code in zip(part.items, part.group, strict=True)
            }
    if tuning is None:
        return dict.fromkeys(unit, 0), []
    keys = list(unit) if tuning.items else list(unit.values())
    fold_by_item = {
        name: int(fold) for name, fold in zip(unit, tuning.fold_of(keys), strict=True)
    }
    need = tuning.folds or 2
    if len(set(fold_by_item.values())) < need:
        what = "a fold without items" if tuning.folds else "no item for choosing, or all"
        raise InputError(
            "tuning",
            f"{what}, of {count(len(fold_by_item), 'item')}",
            "items to choose thresholds on, and others to score",
            "name items of the annotations, or try another fraction or seed",
        )
    return fold_by_item, _split_notices(tuning, unit, fold_by_item)


def _split_notices(
    tuning: Tuning, unit: Mapping[str, str], fold: Mapping[str, int]
) -> Iterator[Notice]:
    """How large the split is, and what is odd about named items."""
    if tuning.folds is not None:
        text = (
            "Thresholds are cross-fitted: items fall into {folds:count} folds, and those of "
            "each are decided by thresholds chosen on the others."
        )
        yield notice("cross_fitted", text, folds=tuning.folds)
        return
    chosen = [name for name, split in fold.items() if split]
    text = (
        "Thresholds are chosen on {chosen:count} items, which are not scored; {left:count} are."
    )
    yield notice("tuning_split", text, chosen=len(chosen), left=len(fold) - len(chosen))
    unknown = [name for name in tuning.items if name not in fold]
    if unknown:
        text = "{number:count} items named for choosing thresholds have no votes ({names})."
        yield notice("tuning_unknown", text, number=len(unknown), names=listed(unknown))
    both = {unit[item] for item in chosen} & {
        unit[item] for item, split in fold.items() if not split
    }
    if tuning.items and both:
        text = (
            "{groups:count} groups have items both among those for choosing thresholds and "
            "those that are scored ({names}): thresholds may look better than they are."
        )
        yield notice("tuning_groups", text, groups=len(both), names=listed(sorted(both)))


class _Cut:
    """One model in one task: its scores and the mean votes, by fold."""

    def __init__(
        self,
        model: Predictions,
        truth: TaskTruth,
        folds: Mapping[str, int],
        tuning: Tuning | None,
    ) -> None:
        require_yes_no(model, truth)
        self.model, self.tuning = model, tuning
        place = {name: row for row, name in enumerate(truth.items)}
        self.truth_row = np.array([place.get(name, -1) for name in model.items])
        self.fold = np.array([folds.get(name, -1) for name in model.items])
        self.scores = model.values
        if model.classes:
            self.scores = model.aligned(model.items, truth.classes)[:, 0]
        self.votes = np.where(self.truth_row >= 0, truth.shares[0][self.truth_row], np.nan)

    @property
    def _cross_fitted(self) -> bool:
        return self.tuning is not None and self.tuning.folds is not None

    def _row(self, threshold: float, how: str, items: int, use: Bools) -> UsedThreshold:
        use = use & (self.truth_row >= 0)
        if not use.any():
            above = votes = math.nan
        else:
            above = float((self.scores[use] >= threshold).mean())
            votes = float(self.votes[use].mean())
        ends = float(self.scores.min()), float(self.scores.max())
        names = self.model.model, self.model.task
        return UsedThreshold(*names, threshold, how, items, above, votes, *ends)

    @property
    def _scored_rows(self) -> Bools:
        return np.ones(len(self.fold), bool) if self._cross_fitted else self.fold == 0

    def default_thresholds(self) -> tuple[Floats | None, list[UsedThreshold]]:
        """What is used where nobody asked: the model's own thresholds, or .5."""
        thresholds = self.model.threshold
        if thresholds is None:
            plain = (
                [] if self.model.classes else [self._row(HALF, "assumed", 0, self._scored_rows)]
            )
            inside = self.scores.min() >= 0 and self.scores.max() <= 1
            return None if inside else np.full(len(self.fold), HALF), plain
        return thresholds, [
            self._row(float(t), "given", 0, self._scored_rows & (thresholds == t))
            for t in np.unique(thresholds)
        ]

    def by_choice(self, choice: Choice) -> tuple[Floats, list[UsedThreshold]]:
        """The threshold of every item, and what was used."""
        if not isinstance(choice, str):
            row = self._row(float(choice), "given", 0, self._scored_rows)
            return np.full(len(self.fold), float(choice)), [row]
        rule = Rule.parse(choice)
        if not self._cross_fitted:
            threshold, items = self._choose(rule, self.fold == 1)
            row = self._row(threshold, f"{rule}, tuning split", items, self._scored_rows)
            return np.full(len(self.fold), threshold), [row]
        assert self.tuning is not None and self.tuning.folds is not None
        thresholds, rows = np.full(len(self.fold), HALF), []
        for fold in range(self.tuning.folds):
            threshold, items = self._choose(rule, (self.fold >= 0) & (self.fold != fold))
            thresholds[self.fold == fold] = threshold
            how = f"{rule}, fold {fold + 1} of {self.tuning.folds}"
            rows.append(self._row(threshold, how, items, self.fold == fold))
        return thresholds, rows

    def _choose(self, rule: Rule, use: Bools) -> tuple[float, int]:
        rows = use & (self.truth_row >= 0)
        try:
            return rule.choose(self.scores[rows], self.votes[rows]), int(rows.sum())
        except InputError as error:
            where = f"{self.model.where}, {error.where}"
            raise InputError(where, error.got, error.expected, error.do) from None


def _threshold_notices(used: Sequence[UsedThreshold]) -> Iterator[Notice]:
    """What was used, and in the strongest terms where a cut that nobody asked for is odd."""
    explicit = [row for row in used if row.how != "assumed"]
    assumed = [row for row in used if row.how == "assumed"]
    if explicit:
        text = "Decisions are scores of at least the threshold: {rows}."
        yield notice("thresholds", text, rows=_listed_rows(explicit, len(used)))
    if not assumed:
        return
    names = tuple(dict.fromkeys(row.model for row in assumed))
    shares = _range([row.above for row in assumed], percent)
    text = (
        "Scores of {models:listed} are cut at 0.5, because no threshold was given: {shares} of "
        "items are called positive. Another cut can order the models otherwise; give {option}."
    )
    yield notice("threshold_assumed", text, models=names, shares=shares, option=THRESHOLD)
    odd = [row for row in assumed if _far(row)]
    if odd:
        text = (
            "0.5 is not a threshold of {cells}: metrics of decisions say more about this cut "
            "than about the models. Do not rank them by it; give {option}."
        )
        cells = joined([_oddity(row) for row in odd], most=SHOWN)
        yield notice("threshold_assumed", text, cells=cells, option=THRESHOLD)


def _far(row: UsedThreshold) -> bool:
    """Whether a cut calls far fewer items yes than votes do, or no."""
    return FAR * row.above < row.votes or FAR * (1 - row.above) < 1 - row.votes


def _oddity(row: UsedThreshold) -> str:
    """Model and task, with what is wrong."""
    share, votes = percent(row.above), percent(row.votes)
    return f"{row.cell} (calls {share} of items positive, the votes {votes})"


def _listed_rows(rows: Sequence[UsedThreshold], total: int) -> str:
    """Thresholds with whose they are, equal ones together; of many, how far they range."""
    same: dict[tuple[float, str, int], list[str]] = {}
    for row in rows:
        same.setdefault((row.threshold, row.how, row.items), []).append(row.cell)
    if len(same) > SHOWN:
        ways: dict[str, list[float]] = {}
        for threshold, how, _ in same:
            ways.setdefault(how.partition(", fold")[0], []).append(threshold)
        return joined([f"{_range(values)} ({how})" for how, values in ways.items()])
    parts = []
    for (threshold, how, items), cells in same.items():
        on = f" on {count(items, 'item')}" if items else ""
        whose = "all" if len(cells) == total else joined(cells, most=SHOWN)
        parts.append(f"{number(threshold)} for {whose} ({how}{on})")
    return joined(parts)


def _range(values: Sequence[float], write: Callable[[float], str] = number) -> str:
    """The smallest and the largest, or the one there is."""
    low, high = write(min(values)), write(max(values))
    return low if low == high else f"{low} to {high}"


def threshold_table(used: Sequence[UsedThreshold]) -> Table:
    """What was used, as a table."""
    return Table(
        name="thresholds",
        caption="Thresholds by which scores became decisions",
        columns=(
            *columns(model="model", task="text", threshold="number"),
            Column("how", "how it was chosen"),
            Column("items", "on items", "count"),
            Column("above", "called positive", "percent"),
            Column("votes", "yes votes", "percent"),
        ),
        rows=[row._asdict() for row in used],
        legend="Called positive: share of the scored items; yes votes: their mean share there.",
    )
