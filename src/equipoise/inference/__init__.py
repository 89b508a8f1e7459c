"""Inference: one interval and one verdict, for items and annotators like these."""

from equipoise.inference.ballots import (
    CROWD,
    DENSE,
    Ballots,
    Crossing,
    Design,
    Layout,
    crossed_design,
    crowd_square,
    dense_traces,
    joint_design,
    ranking_design,
    single_design,
    unit_design,
)
from equipoise.inference.intervals import (
    Family,
    TwoWay,
    family,
    floor_of,
    gap_sums,
    item_degrees,
    normal_replicates,
    population_of,
    seed_means,
    two_way,
)
from equipoise.inference.ranks import mid_ranks
from equipoise.inference.reader_study import obuchowski_rockette
from equipoise.inference.spread import (
    Population,
    Reason,
    Spread,
    judge,
)

__all__ = [
    "CROWD",
    "DENSE",
    "Ballots",
    "Crossing",
    "Design",
    "Family",
    "Layout",
    "Population",
    "Reason",
    "Spread",
    "TwoWay",
    "crossed_design",
    "crowd_square",
    "dense_traces",
    "family",
    "floor_of",
    "gap_sums",
    "item_degrees",
    "joint_design",
    "judge",
    "mid_ranks",
    "normal_replicates",
    "obuchowski_rockette",
    "population_of",
    "ranking_design",
    "seed_means",
    "single_design",
    "two_way",
    "unit_design",
]


def __dir__() -> list[str]:
    """The public names alone."""
    return sorted(__all__)
