"""Planning: from a pilot to how many items and annotators are needed, and which votes next."""

from equipoise.study.planning.findings import plan_report as plan_report
from equipoise.study.planning.findings import tasks_plan_report as tasks_plan_report
from equipoise.study.planning.next_votes import NextItems as NextItems
from equipoise.study.planning.next_votes import TaskPlan as TaskPlan
from equipoise.study.planning.next_votes import next_items as next_items
from equipoise.study.planning.next_votes import write_next as write_next
from equipoise.study.planning.size import Design as Design
from equipoise.study.planning.size import SizePlan as SizePlan
from equipoise.study.planning.size import plan_size as plan_size
