"""Planning: from a pilot to how many items and annotators are needed, and which votes next."""

from equipoise.planning._findings import plan_report as plan_report
from equipoise.planning._tasks import TaskPlan as TaskPlan
from equipoise.planning._tasks import tasks_plan_report as tasks_plan_report
from equipoise.planning._tasks import write_next as write_next
from equipoise.planning.next_votes import NextForRanking as NextForRanking
from equipoise.planning.next_votes import NextItems as NextItems
from equipoise.planning.next_votes import next_for_ranking as next_for_ranking
from equipoise.planning.next_votes import next_items as next_items
from equipoise.planning.ranking import RankingDesign as RankingDesign
from equipoise.planning.ranking import RankingPlan as RankingPlan
from equipoise.planning.ranking import plan_ranking as plan_ranking
from equipoise.planning.size import Design as Design
from equipoise.planning.size import Size as Size
from equipoise.planning.size import plan_size as plan_size
