"""Stability: does the result survive other items, annotators, votes and choices?

One idea per file; every result has ``rows()`` for tables and a ``finding``, one sentence.
"""

from equipoise.study.analyses.annotators import confusions as confusions
from equipoise.study.analyses.audits import Audit as Audit
from equipoise.study.analyses.audits import Pool as Pool
from equipoise.study.analyses.audits import audit as audit
from equipoise.study.analyses.calibration_curves import Calibration as Calibration
from equipoise.study.analyses.calibration_curves import calibration as calibration
from equipoise.study.analyses.components import Components as Components
from equipoise.study.analyses.components import variance_components as variance_components
from equipoise.study.analyses.fragility import Flip as Flip
from equipoise.study.analyses.fragility import Flips as Flips
from equipoise.study.analyses.fragility import flips as flips
from equipoise.study.analyses.operating_curves import curves as curves
from equipoise.study.analyses.panels import PanelSize as PanelSize
from equipoise.study.analyses.panels import panel_size as panel_size
from equipoise.study.analyses.ranking import RankStability as RankStability
from equipoise.study.analyses.ranking import rank_stability as rank_stability
from equipoise.study.analyses.readers import readers_finding as readers_finding
from equipoise.study.analyses.thresholds import ExpertSample as ExpertSample
from equipoise.study.analyses.thresholds import Rule as Rule
from equipoise.study.analyses.thresholds import Threshold as Threshold
from equipoise.study.analyses.thresholds import expert_threshold as expert_threshold
from equipoise.study.analyses.thresholds import sampling_plan as sampling_plan
