"""AggregationModel: what every surface needs to know about a model of the truth.

Help texts, refusals, recommendations, titles and sources all read these records. A model is a
file with its record, and a line in `equipoise.truth`.
"""

from collections.abc import Callable

from equipoise.types import Annotations, Names, Notice, Notices, Plausibilities, immutable
from equipoise.types.annotations import Kind

LABELS: tuple[Kind, ...] = ("binary", "nominal", "ordinal")
CLASSES: tuple[Kind, ...] = (*LABELS, "ranking")


@immutable
class Reliability:
    """How much a vote or reading is worth: by default, and the values that were published."""

    default: float
    published: tuple[float, ...]


@immutable
class Prior:
    """What a model believes without votes.

    Attributes
    ----------
    expected
        What may be given, for refusals.
    help
        The same in a few words, for the help of an option.
    words
        Words that it knows; the first is the default.
    numbers
        Whether it takes a number, too.
    """

    expected: str
    help: str
    words: Names = ()
    numbers: bool = True


@immutable(kw_only=True)
class AggregationModel:
    """An aggregation model, and what is known about it.

    Attributes
    ----------
    name, title
        Name in options and files; title where people read.
    description
        What it does, in a line.
    fit
        ``fit(annotations, task=..., **settings)`` returns plausibilities.
    kinds, suits
        Kinds of annotations that it can take, and those for which it is proposed.
    rank
        Of several that suit the same annotations the lowest is recommended.
    because
        Why it is recommended, where it is; empty where it only is what is left.
    annotators
        Whether it needs several annotators with names, and a confusion matrix of each.
    least_annotators
        Fewest annotators with which it is fitted beside another model unasked.
    gold, weights
        Whether it can take known truths and weights of the annotations for which it is
        proposed.
    companions
        Models to fit beside it, where they suit: where they differ, look before trusting.
    reliability, prior
        Settings that it understands; None where it has none.
    limit
        The model that it becomes where annotators are fully trusted; empty where none.
    threshold
        Whether it needs to know where ratings become "at least".
    chains
        Whether its draws come from Markov chains, which take a `Chain` with seed and burn-in.
    same_draws
        Whether every draw would be the same, so that drawing adds nothing.
    decides_as
        Another model that decides alike, ties apart; empty where there is none.
    references
        Keys of its sources in the bibliography.
    """

    name: str
    title: str
    description: str
    fit: Callable[..., Plausibilities]
    kinds: tuple[Kind, ...]
    suits: tuple[Kind, ...]
    rank: int
    because: str = ""
    annotators: bool = False
    least_annotators: int = 0
    gold: bool = True
    weights: bool = True
    companions: Names = ()
    reliability: Reliability | None = None
    prior: Prior | None = None
    limit: str = ""
    threshold: bool = False
    chains: bool = False
    same_draws: bool = False
    decides_as: str = ""
    references: Names = ()


def unused_confidence(annotations: Annotations, model: str) -> Notices:
    """Say that a model does not look at confidences, if there are any."""
    if annotations.confidence is None:
        return ()
    text = "Confidences are not used by {model}; turn them into weights to use them."
    return (Notice("unused_confidences", text, (), {"model": model}),)
