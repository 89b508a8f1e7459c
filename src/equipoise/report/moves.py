"""Moves: which models change rank between hard and soft labels, and how steady ranks are."""

from equipoise.report.numerals import count, defined, number, percent, rank
from equipoise.report.view import Panel


def movers(panel: Panel) -> list[tuple[str, float]]:
    """Models whose rank differs between the first and last labels; positive is upwards."""
    first, last = panel.view.labels[0], panel.view.labels[-1]
    steps = []
    for model in panel.order:
        before, after = panel.score(first, model).rank, panel.score(last, model).rank
        if before is not None and after is not None and before != after:
            steps.append((model, before - after))
    return steps


def moved_words(panel: Panel) -> str:
    """Say which model moves most between the two rankings."""
    if len(panel.view.labels) < 2 or len(panel.view.models) < 2:
        return ""
    steps = movers(panel)
    if blank := unranked_words(panel):
        return blank
    if not steps:
        return f"{_unmoved(panel)} the same rank with hard and with soft labels."
    if len(panel.view.models) == 2:
        return "The two models change places between hard and soft labels."
    model, step = max(steps, key=lambda pair: abs(pair[1]))
    before = panel.score(panel.view.labels[0], model).rank
    after = panel.score(panel.view.labels[-1], model).rank
    way = "up" if step > 0 else "down"
    return (
        f"{count(len(steps))} of {count(len(panel.view.models), 'model')} change rank; "
        f"{panel.view.listing([model])} moves most, {way} from {rank(before)} to {rank(after)}."
    )


def _unmoved(panel: Panel) -> str:
    """Name those of whom ranks can be compared."""
    whole = all(
        defined(panel.score(labels, model).rank)
        for labels in panel.view.labels
        for model in panel.view.models
    )
    return "Every model has" if whole else "Models with a defined score have"


def unranked_words(panel: Panel) -> str:
    """Say under which labels there are no ranks; nothing where there are."""
    missing = [labels for labels in panel.view.labels if not panel.ranked(labels)]
    title = panel.facts["title"]
    if len(missing) == len(panel.view.labels):
        return f"{title} is undefined for every model, so there are no ranks."
    if missing:
        return (
            f"{title} with {missing[0]} labels is undefined for every model, "
            "so there are no two rankings to compare."
        )
    return ""


def steady_words(panel: Panel) -> str:
    """Say how alike the two orders are, and which is steadier."""
    entry = panel.entry("rank_correlation") or {}
    if not defined(entry.get("spearman")):
        return "The agreement of the two orders is undefined."
    said = f"The hard and soft orders agree at Spearman {number(entry['spearman'], 2)}"
    share = entry.get("soft_win_rate")
    if not defined(share) or panel.unmoved("hard"):
        return f"{said}."
    return (
        f"{said}; under resampling the soft order stays nearer to its original than the hard "
        f"order in {percent(share)} of resamples."
    )
