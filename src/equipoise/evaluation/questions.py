"""The earlier names of `equipoise.evaluation.truth`."""

from equipoise.evaluation.truth import TaskTruth as Question
from equipoise.evaluation.truth import task_truths as questions

__all__ = ["Question", "questions"]
