"""Hypothesis strategies: small worlds full of ties, certain labels and empty counts."""

import inspect
from functools import wraps

import numpy as np
from hypothesis import strategies as st

SOFT = st.sampled_from([0.0, 1.0, 0.0, 1.0, 0.5, 0.25, 0.125, 0.75, 1 / 3, 0.9])
HARD = st.sampled_from([0.0, 1.0])
SCORE = st.integers(-3, 3).map(lambda k: k / 4)
FEW = st.integers(2, 4)
SHUFFLES = st.integers(0, 2**32 - 1).map(np.random.default_rng)


def law_of_all(things, name=lambda thing: thing.name):
    """A law of one thing and an example becomes a law of all things: one example serves all.

    Making an example costs more than looking at it, so `given` stands outside.
    """

    def over_all(law):
        first, *others = inspect.signature(law).parameters.values()

        @wraps(law)
        def every(*example, **named):
            for thing in things:
                try:
                    law(thing, *example, **named)
                except Exception as error:
                    error.add_note(f"{first.name}: {name(thing)}")
                    raise

        every.__signature__ = inspect.Signature(others)
        return every

    return over_all


def arrays(elements, size: int):
    """Float arrays of a given length."""
    return st.lists(elements, min_size=size, max_size=size).map(lambda x: np.array(x, float))


@st.composite
def scored(draw, labels=SOFT, least: int = 1, most: int = 9):
    """Labels and scores of a few items."""
    items = draw(st.integers(least, most))
    return draw(arrays(labels, items)), draw(arrays(SCORE, items))


@st.composite
def weighted(draw, labels=SOFT, weight=None, least: int = 1):
    """Labels, scores and one weight per item."""
    p, s = draw(scored(labels, least))
    each = st.integers(1, 12).map(lambda k: k / 8) if weight is None else weight
    return p, s, draw(arrays(each, len(p)))


@st.composite
def replicated(draw, labels=SOFT, width: int = 3):
    """Labels, scores and counts (items, replicates) of uint8."""
    p, s = draw(scored(labels))
    flat = draw(arrays(st.integers(0, 3), len(p) * width))
    return p, s, flat.reshape(len(p), width).astype(np.uint8)


@st.composite
def distributions(draw, items: int, classes: int):
    """Label distributions with certain rows among them, and rounded class scores."""
    rows = []
    for _ in range(items):
        votes = draw(
            st.lists(st.integers(0, 3), min_size=classes, max_size=classes).filter(any)
            | st.integers(0, classes - 1).map(lambda k: np.eye(classes)[k].tolist())
        )
        rows.append(np.array(votes, float) / sum(votes))
    return np.array(rows)


@st.composite
def classified(draw, classes=FEW):
    """Label distributions, class scores and counts of a few items."""
    items, number = draw(st.integers(1, 7)), draw(classes)
    counts = draw(arrays(st.integers(0, 3), items * 2)).reshape(items, 2).astype(np.uint8)
    return draw(distributions(items, number)), draw(distributions(items, number)), counts


def names(number: int, prefix: str = "item") -> tuple[str, ...]:
    """Names for a number of things."""
    return tuple(f"{prefix}-{k}" for k in range(number))
