"""Planning: from a pilot to how many items and annotators are needed, and which votes next."""

from equipoise.planning._findings import plan_report
from equipoise.planning._tasks import TaskPlan, tasks_plan_report, write_next
from equipoise.planning.next_votes import (
    NextForRanking,
    NextItems,
    next_for_ranking,
    next_items,
)
from equipoise.planning.ranking import RankingDesign, RankingPlan, plan_ranking
from equipoise.planning.size import Design, Size, plan_size

__all__ = [
    "Design",
    "NextForRanking",
    "NextItems",
    "RankingDesign",
    "RankingPlan",
    "Size",
    "TaskPlan",
    "next_for_ranking",
    "next_items",
    "plan_ranking",
    "plan_report",
    "plan_size",
    "tasks_plan_report",
    "write_next",
]
