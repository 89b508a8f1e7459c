"""The earlier home of a check in `equipoise.evaluation.alignment`."""

from equipoise.evaluation.alignment import refuse_plain_scores

__all__ = ["refuse_plain_scores"]
