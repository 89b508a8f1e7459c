"""Where the doubt of a pilot comes from, in words."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from equipoise.planning import Size

SOURCES = {"items": "the items", "votes": "single votes", "annotators": "who votes"}


def components_finding(one: Size, rows: Sequence[Mapping[str, Any]]) -> str:
    """Where the doubt of the pilot comes from, and what would lessen it."""
    share = {str(row["source"]): float(row["pilot_share"]) for row in rows}
    pair = f"{one.a} and {one.b}"
    if all(math.isnan(part) for part in share.values()):
        return f"Every item of the pilot says the same about {pair}: no doubt to divide."
    if math.isnan(share["votes"]):
        return (
            "No item of the pilot has two votes, so what items and what single votes add to "
            f"the doubt about {pair} cannot be told apart."
        )
    most = max(share, key=lambda name: share[name])
    votes = f"{share['votes']:.0%} of it"
    cure = {
        "items": f"more votes on the same items could remove at most {votes}",
        "votes": f"more votes on the same items could remove up to {votes}",
        "annotators": "neither more items nor more votes of the same people lessen that; "
        "other people do",
    }
    return (
        f"Most of the doubt about {pair} in the pilot comes from {SOURCES[most]} "
        f"({share[most]:.0%} of the variance): {cure[most]}."
    )
