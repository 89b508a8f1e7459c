"""Votes and predictions larger than memory: folders of Parquet partitions that stay on disk."""

from equipoise.scale.disk.coded import repartition
from equipoise.scale.disk.evaluation import EvaluationOnDisk, evaluate
from equipoise.scale.disk.fits import FitOnDisk, OnDisk, dawid_skene, glad
from equipoise.scale.disk.label_files import (
    Agreement,
    SoftLabels,
    agreement,
    rating_moments,
    soft_labels,
)
from equipoise.scale.disk.ranking import ScoresOnDisk, open_scores
from equipoise.scale.disk.votes import VotesOnDisk, open_votes
