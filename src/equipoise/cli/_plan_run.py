"""What `plan` plans, for two models or a whole order, and the folder it writes."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from equipoise.cli._stability_options import Given

if TYPE_CHECKING:
    from equipoise.planning import NextForRanking, NextItems, RankingPlan, Size

MARK = "plan.json"
AIM = (
    "power", "level", "votes", "difference", "price_item", "price_vote", "simulations", "seed",
    "task",
)  # fmt: skip


def planned(
    study: Given, asked: Mapping[str, Any], tell: Callable[[int, int], None]
) -> "tuple[Size | RankingPlan, NextItems | NextForRanking | None]":
    """Size of the study, for two models or the whole order, and the items that come next."""
    from equipoise.planning import next_for_ranking, next_items, plan_ranking, plan_size

    given = (study.predictions, study.annotations)
    metric, number = study.metrics[0], asked["number"]
    how: dict[str, Any] = {name: asked[name] for name in AIM} | {"progress": tell}
    choice: dict[str, Any] = {name: how[name] for name in ("task", "seed", "progress")}
    if asked["ranking"]:
        plan = plan_ranking(*given, metric=metric, **how)
        return plan, next_for_ranking(*given, metric, number, **choice) if number else None
    size = plan_size(*given, metric=metric, models=asked["models"], **how)
    pair = (size.a, size.b)
    wanted = next_items(*given, metric, number, models=pair, **choice) if number else None
    return size, wanted


def write_plan(folder: Path, facts: Mapping[str, Any], study: Given, title: str) -> None:
    """Make every text, then write the folder in one go."""
    from equipoise.cli._findings_folder import write_findings
    from equipoise.export.plan_texts import plan_texts
    from equipoise.report.plan_page import PlanPage, figures, render_plan

    inputs, source = list(study.inputs), dict(study.dataset)
    names = source.get("title") or ", ".join(one["name"] for one in inputs)
    texts = plan_texts(facts)
    texts |= {f"figures/{name}.svg": text for name, text in figures(facts).items()}
    texts["report.html"] = render_plan(facts, PlanPage(title, f"From {names}."))
    known = {"title": title, **({"dataset": source} if source else {}), "inputs": inputs}
    write_findings(folder, MARK, texts, {**known, **facts})
