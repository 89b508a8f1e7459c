"""Inference: one interval and one verdict, for items and annotators like these."""

from equipoise.inference.ballots import (
    Ballots,
    Design,
    Layout,
    joint_design,
    unit_design,
)
from equipoise.inference.families import Family, family
from equipoise.inference.mrmc import obuchowski_rockette
from equipoise.inference.spread import (
    Judgement,
    Population,
    Reason,
    Spread,
    check_margin,
    judge,
)
from equipoise.inference.two_way import (
    TwoWay,
    floor_of,
    normal_replicates,
    population_of,
    seed_means,
    two_way,
)

__all__ = [
    "Ballots",
    "Design",
    "Family",
    "Judgement",
    "Layout",
    "Population",
    "Reason",
    "Spread",
    "TwoWay",
    "check_margin",
    "family",
    "floor_of",
    "joint_design",
    "judge",
    "normal_replicates",
    "obuchowski_rockette",
    "population_of",
    "seed_means",
    "two_way",
    "unit_design",
]
