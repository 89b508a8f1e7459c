"""The answer to a study: one sentence, what it rests on, and what would change it."""

from equipoise.answer.card import Sample, headline, make_card
from equipoise.answer.models import distance_chart, standings_chart
from equipoise.answer.report import (
    Asked,
    analyse_study,
    answer_report,
    evaluation_card,
    evaluation_report,
    require_models,
)
from equipoise.answer.standing import Answer, Column, Standing

__all__ = [
    "Answer",
    "Asked",
    "Column",
    "Sample",
    "Standing",
    "analyse_study",
    "answer_report",
    "distance_chart",
    "evaluation_card",
    "evaluation_report",
    "headline",
    "make_card",
    "require_models",
    "standings_chart",
]
