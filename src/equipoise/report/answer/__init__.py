"""The answer to a study: one sentence, what it rests on, and what would change it."""

from equipoise.report.answer.card import Sample, headline, make_card
from equipoise.report.answer.models import (
    Answer,
    RankedModels,
    distance_chart,
    standings_chart,
)
from equipoise.report.answer.report import (
    AnswerContent,
    analyse_study,
    answer_report,
    evaluation_card,
    evaluation_report,
    require_models,
)

__all__ = [
    "Answer",
    "AnswerContent",
    "RankedModels",
    "Sample",
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
