"""Choosing: which aggregation models fit the annotations, and how far they can be trusted.

`suitable`, `recommended` and `companions` name models, `model` sets one up with `Settings`,
`fitted` fits several. `held_out` scores them on votes they have not seen, `disagreement`,
`decisions`, `contested` and `skill_ranks` show where they differ, `cautions` says what makes
the annotations hard to aggregate, and `remarks` what kind, prior and threshold do to them.
"""

from equipoise.choosing.cautions import cautions, refuse_too_many_classes, remarks
from equipoise.choosing.comparing import (
    Decisions,
    SkillRanks,
    contested,
    decisions,
    differ,
    disagreement,
    held_out,
    skill_ranks,
    verdict,
)
from equipoise.choosing.models import (
    Model,
    Settings,
    companions,
    fitted,
    model,
    recommended,
    suitable,
)

__all__ = [
    "Decisions",
    "Model",
    "Settings",
    "SkillRanks",
    "cautions",
    "companions",
    "contested",
    "decisions",
    "differ",
    "disagreement",
    "fitted",
    "held_out",
    "model",
    "recommended",
    "refuse_too_many_classes",
    "remarks",
    "skill_ranks",
    "suitable",
    "verdict",
]
