"""The answer to a study: one sentence, what it rests on, and what would change it."""

from equipoise.answer.card import Sample, headline, make_card
from equipoise.answer.models import distance_chart, standings_chart
from equipoise.answer.report import (
    AnswerOptions,
    analyse_study,
    answer_report,
    evaluation_card,
    evaluation_report,
    require_models,
)
from equipoise.answer.standing import Answer, RankedModels, StandingColumn

__all__ = [
    "Answer",
    "AnswerOptions",
    "RankedModels",
    "Sample",
    "StandingColumn",
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
