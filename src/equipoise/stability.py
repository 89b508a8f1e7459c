"""Stability: does the result survive other items, annotators, votes and choices?

One idea per file; every result has ``rows()`` for tables and a ``finding``, one sentence.
"""

from equipoise.analyses.audit import Audit, Pool, Reevaluation, audit, reevaluate
from equipoise.analyses.choices import Choices, aggregation_choices
from equipoise.analyses.components import Components, variance_components
from equipoise.analyses.critical_difference import CriticalDifference, critical_difference
from equipoise.analyses.experts import Experts, experts
from equipoise.analyses.flips import Flip, Flips, flips
from equipoise.analyses.leave_one_out import LeaveOneOut, leave_one_out
from equipoise.analyses.panel_size import PanelSize, panel_size
from equipoise.analyses.ranking import RankStability, SignTest, rank_stability, sign_test
from equipoise.analyses.subgroups import Attributes, Subgroups, read_attributes, subgroups
from equipoise.analyses.threshold_sweep import Grid, ThresholdSweep, threshold_sweep
from equipoise.analyses.thresholds import (
    ExpertSample,
    Rule,
    Threshold,
    expert_threshold,
    sampling_plan,
)
from equipoise.analyses.vote_cutoffs import VoteCutoffs, vote_cutoffs

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
