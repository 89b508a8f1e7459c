"""Appendix A of Stutz et al.: CIFAR-10H images whose label the votes leave uncertain.

How many of the 10,000 test images have a top-1 annotation certainty below 0.99 under a
Dirichlet posterior with reliability 1. The paper publishes 178 and does not state the prior.
The count is exact by quadrature; with draws, as published, it depends on the seed.
"""

from dataclasses import replace

import numpy as np

from equipoise.datasets import load_cifar10h
from equipoise.datasets.reproduce import Reproduction, silent
from equipoise.truth import dirichlet
from equipoise.truth.certainty import annotation_certainty
from equipoise.types import Line, Lines, Names, Plausibilities, Progress

PRIORS = (1.0, 0.5, 0.1)
PUBLISHED = 178
THRESHOLD = 0.99
DRAWS, SEEDS = 1000, 10
SHOWN, STEP = 1000, 5  # images that are drawn
CLEAR = 0.9999  # of 1,000 draws more than ten would have to miss: a chance below 1e-18


def reproduce(tell: Progress = silent) -> Reproduction:
    """Count exactly and with draws, for three priors."""
    annotations = load_cifar10h().annotations
    lines: list[Line] = []
    rows: list[dict[str, str | float]] = []
    steps = len(PRIORS) * SEEDS
    for place, prior in enumerate(PRIORS):
        exact = annotation_certainty(dirichlet(annotations, prior=prior)).value
        lowest = np.sort(exact)[:SHOWN:STEP].tolist()
        points = [(float(STEP * k), float(value)) for k, value in enumerate(lowest)]
        lines.append(Line(f"prior {prior:g}", points, dots=False))
        open_ = dirichlet(annotations.of_items(exact < CLEAR), prior=prior)
        counts = []
        for seed in range(SEEDS):
            tell(place * SEEDS + seed, steps)
            counts.append(_counts(open_, seed))
        below, at_most = np.array(counts).T
        rows.append(
            {
                "prior": f"{prior:g}",
                "exact": int((exact < THRESHOLD).sum()),
                "drawn": float(below.mean()),
                "sd_over_seeds": float(below.std(ddof=1)),
                "drawn_at_most": float(at_most.mean()),
            }
        )
    return Reproduction(
        title=f"CIFAR-10H images with top-1 certainty below {THRESHOLD:g}, of 10,000",
        source="Stutz et al., Evaluating medical AI systems in dermatology under uncertain "
        "ground truth, Appendix A (prior and number of draws not stated)",
        keys=("prior",),
        columns=("exact", "drawn", "sd_over_seeds", "drawn_at_most"),
        rows=rows,
        published={(str(row["prior"]),): {"drawn": PUBLISHED} for row in rows},
        tolerance={(str(row["prior"]),): 2 * float(row["sd_over_seeds"]) for row in rows},
        notes=_notes(),
        formats={"exact": ("d", "g")}
        | dict.fromkeys(("drawn", "sd_over_seeds", "drawn_at_most"), (".1f", "g")),
        figures=1,
        charts=(
            Lines(
                name="lowest-certainty",
                caption=f"Top-1 certainty of the {SHOWN:,} least certain images (Figure A.9)",
                alternative="Certainty rises to 1 within about two hundred images.",
                x="images, the least certain first",
                y="certainty",
                lines=lines,
                y_range=(0.0, 1.0),
            ),
        ),
    )


def _notes() -> Names:
    return (
        f"Drawn: mean of {SEEDS} seeds, {DRAWS:,} draws each; the tolerance is twice the "
        "standard deviation over seeds. There is one published figure, and no word on the "
        "prior: it is compared with three of them.",
        f"{DRAWS:,} draws find fewer images than there are because shares come in steps of "
        f"{1 / DRAWS:g}, and one that lands on {THRESHOLD:g} itself is not below it; counting "
        "those too finds more than there are.",
        f"Only images with an exact certainty below {CLEAR:g} are drawn: that any of the "
        "others falls below the threshold has a chance below 1e-14.",
    )


def _counts(plausibilities: Plausibilities, seed: int) -> tuple[int, int]:
    """How many images have a share of draws below the threshold, and at most it."""
    drawn = replace(plausibilities.drawn(DRAWS, seed=seed), law=None)
    share = drawn.certainty
    return int((share < THRESHOLD - 1e-9).sum()), int((share < THRESHOLD + 1e-9).sum())
