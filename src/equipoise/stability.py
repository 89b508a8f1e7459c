"""Stability: does the result survive other items, annotators, votes and choices?

One idea per file; every result has ``rows()`` for tables and a ``finding``, one sentence.
"""

from equipoise.analyses.audit import Audit as Audit
from equipoise.analyses.audit import Pool as Pool
from equipoise.analyses.audit import audit as audit
from equipoise.analyses.calibration import Calibration as Calibration
from equipoise.analyses.calibration import calibration as calibration
from equipoise.analyses.choices import Choices as Choices
from equipoise.analyses.choices import aggregation_choices as aggregation_choices
from equipoise.analyses.components import Components as Components
from equipoise.analyses.components import variance_components as variance_components
from equipoise.analyses.confusions import Confusion as Confusion
from equipoise.analyses.confusions import confusions as confusions
from equipoise.analyses.curves import Curves as Curves
from equipoise.analyses.curves import curves as curves
from equipoise.analyses.experts import Experts as Experts
from equipoise.analyses.experts import experts as experts
from equipoise.analyses.flips import Flip as Flip
from equipoise.analyses.flips import Flips as Flips
from equipoise.analyses.flips import flips as flips
from equipoise.analyses.gold import Gold as Gold
from equipoise.analyses.gold import gold as gold
from equipoise.analyses.leave_one_out import LeaveOneOut as LeaveOneOut
from equipoise.analyses.leave_one_out import leave_one_out as leave_one_out
from equipoise.analyses.panel_size import PanelSize as PanelSize
from equipoise.analyses.panel_size import panel_size as panel_size
from equipoise.analyses.ranking import RankStability as RankStability
from equipoise.analyses.ranking import rank_stability as rank_stability
from equipoise.analyses.reevaluation import Reevaluation as Reevaluation
from equipoise.analyses.reevaluation import reevaluate as reevaluate
from equipoise.analyses.subgroups import Attributes as Attributes
from equipoise.analyses.subgroups import Subgroups as Subgroups
from equipoise.analyses.subgroups import read_attributes as read_attributes
from equipoise.analyses.subgroups import subgroups as subgroups
from equipoise.analyses.threshold_sweep import Grid as Grid
from equipoise.analyses.threshold_sweep import ThresholdSweep as ThresholdSweep
from equipoise.analyses.threshold_sweep import threshold_sweep as threshold_sweep
from equipoise.analyses.thresholds import ExpertSample as ExpertSample
from equipoise.analyses.thresholds import Rule as Rule
from equipoise.analyses.thresholds import Threshold as Threshold
from equipoise.analyses.thresholds import expert_threshold as expert_threshold
from equipoise.analyses.thresholds import sampling_plan as sampling_plan
from equipoise.analyses.vote_cutoffs import VoteCutoffs as VoteCutoffs
from equipoise.analyses.vote_cutoffs import vote_cutoffs as vote_cutoffs
