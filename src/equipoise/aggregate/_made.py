"""Made: plausibilities from a law, the mean as their one draw and more on demand."""

from typing import Any

from equipoise.aggregate._entries import Entries
from equipoise.laws import Law
from equipoise.plausibilities import Plausibilities


def by_law(found: Entries, law: Law, *, method: str, task: str, **facts: Any) -> Plausibilities:
    """Plausibilities of the voted classes that follow a law."""
    mass, rest = law.mean(found.start)
    return Plausibilities(
        items=found.items,
        classes=found.classes,
        start=found.start,
        label=found.label,
        mass=mass[None],
        rest=rest[None],
        method=method,
        task=task,
        law=law,
        **facts,
    )
