"""Planning: from a pilot to how many items and votes are needed, and which votes come next."""

from equipoise.planning.next_items import NextItems, next_items
from equipoise.planning.size import Design, Size, plan_ranking, plan_size

__all__ = ["Design", "NextItems", "Size", "next_items", "plan_ranking", "plan_size"]
