"""Stability: does the result survive other items, annotators, votes and choices?

One idea per file; every result has ``rows()`` for tables and a ``finding``, one sentence.
"""

from equipoise.stability.audit import Audit, Pool, Reevaluation, audit, reevaluate
from equipoise.stability.choices import Choices, aggregation_choices
from equipoise.stability.components import Components, variance_components
from equipoise.stability.critical_difference import CriticalDifference, critical_difference
from equipoise.stability.experts import Experts, experts
from equipoise.stability.flips import Flip, Flips, flips
from equipoise.stability.leave_one_out import LeaveOneOut, leave_one_out
from equipoise.stability.panel_size import PanelSize, panel_size
from equipoise.stability.ranking import RankStability, rank_stability
from equipoise.stability.sign_test import SignTest, sign_test
from equipoise.stability.subgroups import Attributes, Subgroups, read_attributes, subgroups
from equipoise.stability.threshold_sweep import Grid, ThresholdSweep, threshold_sweep
from equipoise.stability.thresholds import (
    ExpertSample,
    Rule,
    Threshold,
    expert_threshold,
    sampling_plan,
)
from equipoise.stability.vote_cutoffs import VoteCutoffs, vote_cutoffs

__all__ = [
    "Attributes",
    "Audit",
    "Choices",
    "Components",
    "CriticalDifference",
    "ExpertSample",
    "Experts",
    "Flip",
    "Flips",
    "Grid",
    "LeaveOneOut",
    "PanelSize",
    "Pool",
    "RankStability",
    "Reevaluation",
    "Rule",
    "SignTest",
    "Subgroups",
    "Threshold",
    "ThresholdSweep",
    "VoteCutoffs",
    "aggregation_choices",
    "audit",
    "critical_difference",
    "expert_threshold",
    "experts",
    "flips",
    "leave_one_out",
    "panel_size",
    "rank_stability",
    "read_attributes",
    "reevaluate",
    "sampling_plan",
    "sign_test",
    "subgroups",
    "threshold_sweep",
    "variance_components",
    "vote_cutoffs",
]
