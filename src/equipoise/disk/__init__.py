"""Votes and predictions larger than memory: folders of Parquet partitions that stay on disk."""

from equipoise.disk.partitions import repartition
from equipoise.disk.soft_labels import Agreement, SoftLabels, agreement, soft_labels
from equipoise.disk.votes import VotesOnDisk, open_votes

__all__ = [
    "Agreement",
    "SoftLabels",
    "VotesOnDisk",
    "agreement",
    "open_votes",
    "repartition",
    "soft_labels",
]
