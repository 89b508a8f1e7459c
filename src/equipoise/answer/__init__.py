"""The answer to a study: one sentence, what it rests on, and what would change it."""

from equipoise.answer.card import Sample, headline, make_card
from equipoise.answer.report import Asked, analyse_study, answer_report, require_models
from equipoise.answer.standing import Answer, Standing

__all__ = [
    "Answer",
    "Asked",
    "Sample",
    "Standing",
    "analyse_study",
    "answer_report",
    "headline",
    "make_card",
    "require_models",
]
