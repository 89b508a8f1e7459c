"""Votes and predictions larger than memory: folders of Parquet partitions that stay on disk."""

from equipoise.disk.dawid_skene import FitOnDisk, OnDisk, dawid_skene
from equipoise.disk.evaluation import EvaluationOnDisk, evaluate
from equipoise.disk.glad import glad
from equipoise.disk.partitions import repartition
from equipoise.disk.scores import ScoresOnDisk, open_scores
from equipoise.disk.soft_labels import Agreement, SoftLabels, agreement, soft_labels
from equipoise.disk.votes import VotesOnDisk, open_votes

__all__ = [
    "Agreement",
    "EvaluationOnDisk",
    "FitOnDisk",
    "OnDisk",
    "ScoresOnDisk",
    "SoftLabels",
    "VotesOnDisk",
    "agreement",
    "dawid_skene",
    "evaluate",
    "glad",
    "open_scores",
    "open_votes",
    "repartition",
    "soft_labels",
]
