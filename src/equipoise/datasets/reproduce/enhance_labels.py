"""ENHANCE, as Lionetti et al. label it: soft labels of three attributes beside hard ones.

Students' ratings on 0 to 1 of their group (`equipoise.datasets.enhance`) are averaged by image;
an attribute is present where the mean on the original scales is above 1. The features and
models of the paper's Table 2 are not public, so its AUROC and AP cannot be computed from these
files; what labels there are, and how far soft and hard ones part, can (Figure 4). The paper
speaks of the students of 2017 to 2020; the public file has 2017 to 2019.
"""

from collections.abc import Iterator

import numpy as np

from equipoise.datasets.enhance import group_of, load_enhance
from equipoise.datasets.reproduce import Reproduction, silent
from equipoise.types import Annotations, Bools, Floats, Line, Lines, Progress

BINS = 20


def reproduce(tell: Progress = silent) -> Reproduction:
    """Soft and hard labels of every attribute."""
    tell(0, 1)
    scaled, raw = load_enhance().annotations, load_enhance(raw=True).annotations
    rows: list[dict[str, str | float]] = []
    soft = {}
    for task in scaled.tasks:
        means, original = (_means(votes, task) for votes in (scaled, raw))
        soft[task] = means
        present = original > 1
        rows.append(
            {
                "attribute": task,
                "images": len(means),
                "present": float(present.mean()),
                "soft": float(means.mean()),
                "soft_where_present": float(means[present].mean()),
                "soft_where_absent": float(means[~present].mean()),
                "overlap": _overlap(means, present),
            }
        )
    return Reproduction(
        title="Labels of skin lesions from students' ratings",
        source="Lionetti et al., Clinical Uncertainty Impacts Machine Learning Evaluations, "
        "Section 2.1 and Figure 4",
        keys=("attribute",),
        columns=tuple(name for name in rows[0] if name != "attribute"),
        rows=rows,
        published={},
        tolerance=0.0,
        notes=(
            "present: share of images whose mean on the original scales is above 1. overlap: "
            "chance that an image without the attribute has the larger soft label than one "
            "with it, because a mean above 1 means different things on different scales.",
            "Only students' ratings count, as in the paper.",
        ),
        formats={"images": ("d", "g")},
        charts=tuple(_charts(soft)),
    )


def _means(votes: Annotations, task: str) -> Floats:
    """Mean rating of every image that students rated."""
    assert votes.annotator is not None and votes.value is not None
    names = votes.annotators or ()
    student = np.array([group_of(name).startswith("20") for name in names])
    rows = np.flatnonzero(votes.in_task(task))
    rows = rows[student[votes.annotator[rows]]]
    number = np.bincount(votes.item[rows], minlength=len(votes.items))
    total = np.bincount(votes.item[rows], votes.value[rows], len(votes.items))
    return np.asarray(total[number > 0] / number[number > 0])


def _overlap(means: Floats, present: Bools) -> float:
    from equipoise.metrics import auroc

    return 1 - auroc(present.astype(np.float64), means)


def _charts(soft: dict[str, Floats]) -> Iterator[Lines]:
    edges = np.linspace(0, 1, BINS + 1)
    middle = (edges[1:] + edges[:-1]) / 2
    counts = {task: np.histogram(values, edges)[0] for task, values in soft.items()}
    yield Lines(
        name="soft-labels",
        caption="Distribution of soft labels by attribute (Figure 4)",
        alternative="How many images have which soft label, a line for each attribute.",
        x="soft label",
        y="images",
        lines=[
            Line(task, [(float(x), float(n)) for x, n in zip(middle, number, strict=True)],
                 dots=False)
            for task, number in counts.items()
        ],
    )  # fmt: skip
