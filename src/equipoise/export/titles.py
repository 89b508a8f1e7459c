"""Titles: metrics, aggregation models and kinds of labels as readers know them.

Tables for machines keep the names that options take. The titles are those of the catalogues.
"""

from equipoise.aggregate import model_title
from equipoise.metrics import hard_labels_rule as hard_words
from equipoise.metrics import title as metric_title

LOWER = " (lower is better)"

__all__ = ["LOWER", "hard_words", "metric_title", "model_title"]
