"""Galdran's examples: what scoring rules say of single predictions of ordered grades.

Equations 3 to 6 and Figures 1 and 2 of the paper, with what they should be. Its equation 4
gives 9/32 and 9/16 for the predictions for which it prints 1/8 and 1/4, and the example of
equation 6 is the one of its figure: as printed in the text, (1/10, 5/10, 9/10) is no
distribution. The squared absolute RPS is not proper: with the truth (.2, .6, .2) it prefers
(0, 1, 0) to the truth itself.
"""

import numpy as np

from equipoise.datasets.reproduce import Reproduction, silent
from equipoise.metrics import item_scores
from equipoise.types import Floats, Line, Lines, Names, Progress

RULES = {
    "rps": "ranked_probability_score",
    "sa_rps": "squared_absolute_rps",
    "brier": "brier_score",
    "log": "log_score",
}
EXAMPLES: tuple[tuple[str, tuple[float, ...], tuple[float, ...], float | None], ...] = (
    ("eq. 3, p1", (0.25, 0.75, 0.0), (1, 0, 0), 1 / 8),
    ("eq. 3, p2", (0.25, 0.0, 0.75), (1, 0, 0), 1 / 4),
    ("eq. 5, right", (1.0, 0.0, 0.0), (1, 0, 0), 0.0),
    ("eq. 5, one off", (0.0, 1.0, 0.0), (1, 0, 0), 1 / 2),
    ("eq. 5, two off", (0.0, 0.0, 1.0), (1, 0, 0), 1.0),
    ("eq. 6, symmetric", (0.30, 0.40, 0.30), (0, 1, 0), 0.09),
    ("eq. 6, asymmetric", (0.45, 0.50, 0.05), (0, 1, 0), 0.1025),
    ("saying the truth", (0.2, 0.6, 0.2), (0.2, 0.6, 0.2), None),
    ("not saying it", (0.0, 1.0, 0.0), (0.2, 0.6, 0.2), None),
)


def reproduce(tell: Progress = silent) -> Reproduction:
    """Score the examples by every rule."""
    tell(0, 1)
    rows: list[dict[str, str | float]] = []
    for name, predicted, label, _ in EXAMPLES:
        scores = {
            short: float(item_scores(rule, [label], [predicted])[0])
            for short, rule in RULES.items()
        }
        rows.append({"example": name, "prediction": _words(predicted), **scores})
    return Reproduction(
        title="Scoring rules on predictions of three ordered grades",
        source="Galdran, Performance Metrics for Probabilistic Ordinal Classifiers, equations "
        "3 to 6",
        keys=("example", "prediction"),
        columns=tuple(RULES),
        rows=rows,
        published={
            (name, _words(predicted)): {"rps": figure}
            for name, predicted, _, figure in EXAMPLES
            if figure is not None
        },
        tolerance=0.0005,
        notes=(
            "The two that do not agree are slips of the paper: its own equation 4 gives "
            "9/32 = 0.28125 and 9/16 = 0.5625, not 1/8 and 1/4. The order is the same.",
            "sa_rps has 1/(K - 1) inside its square, so that it stays in [0, 1]; as printed "
            "in equation 7 it would be twice as large for three grades.",
            "It is not proper: of the truth (.2, .6, .2) it has 0.124 for saying so, and "
            "0.100 for saying (0, 1, 0). The other three rules prefer the truth.",
            "The retained-samples areas of the paper (its Tables 1 to 8) need predictions on "
            "TMED-2 and Eyepacs, which are not public: `equipoise evaluate --analyses "
            "retained` makes them of your own.",
        ),
        charts=tuple(_cumulative(name, of) for name, of in (("eq3", (0, 1)), ("eq6", (5, 6)))),
    )


def _words(predicted: tuple[float, ...]) -> str:
    return ", ".join(f"{x:g}" for x in predicted)


def _cumulative(name: str, places: tuple[int, ...]) -> Lines:
    """Cumulative distributions of predictions and their label, as in Figures 1 and 2."""
    label: Names = ("label",)
    rows: list[tuple[str, Floats]] = [
        (EXAMPLES[place][0], np.cumsum(EXAMPLES[place][1])) for place in places
    ]
    rows.append((label[0], np.cumsum(EXAMPLES[places[0]][2])))
    lines = [
        Line(
            title,
            [(float(k + 1), float(x)) for k, x in enumerate(steps)],
            dashed=title in label,
        )
        for title, steps in rows
    ]
    return Lines(
        name=f"cumulative-{name}",
        caption=f"Cumulative probabilities: {rows[0][0]}, and {rows[1][0].split(', ')[1]}",
        alternative="Chance of at most each grade, of two predictions and the label.",
        x="grade",
        y="chance of at most this grade",
        lines=lines,
        ticks=[(float(k), str(k)) for k in (1, 2, 3)],
        y_range=(0.0, 1.0),
    )
