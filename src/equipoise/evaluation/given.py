"""The earlier names of `equipoise.evaluation.arguments`."""

from equipoise.evaluation.arguments import as_annotations as given_annotations
from equipoise.evaluation.arguments import as_metrics as given_metrics
from equipoise.evaluation.arguments import as_predictions as given_predictions

__all__ = ["given_annotations", "given_metrics", "given_predictions"]
