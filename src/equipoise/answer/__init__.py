"""The answer to a study: one sentence, what it rests on, and what would change it."""

from equipoise.answer.card import Sample, headline, make_card
from equipoise.answer.report import Asked, answer_report
from equipoise.answer.standing import Answer, Standing
from equipoise.nouns import Nouns

__all__ = [
    "Answer",
    "Asked",
    "Nouns",
    "Sample",
    "Standing",
    "answer_report",
    "headline",
    "make_card",
]
