"""Words: the sentences a reader came for, computed from the verdicts.

They say less than the numbers, never more: where an interval of a difference includes zero
the data do not separate the two models, and the sentence says so.
"""

from equipoise.report.gaps import missing
from equipoise.report.moves import movers
from equipoise.report.numerals import (
    EXACT,
    count,
    defined,
    interval,
    number,
    percent,
    signed_interval,
)
from equipoise.report.scope import opening, over
from equipoise.report.score import Lead
from equipoise.report.verdict import Verdict, blank_word, verdict
from equipoise.report.view import Panel
from equipoise.report.votes import by_most_votes, settled_words

DRAWN = {
    "hard": "mean plausibility, as if it were settled",
    "soft": "mean over the possible truths",
}


def verdicts(panel: Panel) -> list[Verdict]:
    """Verdict under each kind of labels."""
    return [verdict(panel, labels) for labels in panel.view.labels]


def truth_words(panel: Panel, labels: str) -> str:
    """Say what the labels are.

    The run names how votes became labels, for instance *strict majority*.
    """
    header = panel.view.header
    how = header["settings"].get(labels)
    if panel.facts.get("labels") == "draws":
        how = DRAWN.get(labels, how)
    elif labels == "hard" and by_most_votes(panel):
        how = "most plausible class" if header.get("truth_model") else "class with most votes"
    return f"{labels} labels ({how})" if how else f"{labels} labels"


def headline(panel: Panel) -> str:
    """Say the outcome in one breath."""
    found = [each for each in verdicts(panel) if each.best]
    if not found:
        blank = blank_word(panel, panel.view.labels[-1])
        return f"{panel.facts['title']} is {blank} for every model: no ranking."
    if len(panel.view.models) == 1:
        return "One model, so there is nothing to rank it against."
    if any(each.runner_up is None and len(each.best) == 1 for each in found):
        only = panel.view.listing(found[-1].best)
        return f"Only {only} has a defined score, so there is no ranking."
    if len(found) == 2 and found[0].unmoved and found[0].best == found[1].best:
        return f"{opening(panel)}{_beside(found[0], found[1])}"
    if len(found) == 2 and found[0].best != found[1].best:
        start = opening(panel)
        return f"{start}{'the' if start else 'The'} {_split(found[0], found[1])}"
    return f"{opening(panel)}{_agreed(found)}"


def _agreed(found: list[Verdict]) -> str:
    """Headline when the same models come first under all labels."""
    panel = found[-1].panel
    name, top = panel.view.listing(found[-1].best), "highest" if panel.sign > 0 else "best"
    ways = " and ".join(each.labels for each in found)
    if len(found[-1].best) > 1:
        same = all(each.identical for each in found)
        word = "identical" if same else "tied"
        others = "" if found[-1].runner_up else ", and no other model was given"
        return f"{name} are {word} and score {top} with {ways} labels{others}."
    clear = [each.labels for each in found if each.clear]
    if len(clear) == len(found):
        return f"{name} is the best model with {ways} labels."
    if clear:
        return f"{name} scores {top} with {ways} labels{_one_sided(found, clear[0])}."
    part = any(panel.unmoved(labels) for labels in panel.view.labels)
    only = f" with {ways} labels" if part else ""
    if all(each.blind for each in found):
        return f"{name} scores {top}{only}, but the interval of its lead cannot be computed."
    close = [model for each in found[::-1] for model in each.close]
    rest = panel.view.listing(list(dict.fromkeys(close)), most=3)
    return f"{name} scores {top}{only}, but the data do not separate it from {rest}."


def _beside(fixed: Verdict, moved: Verdict) -> str:
    """Headline when only one kind of labels is redrawn, and both have the same winner."""
    top = "highest" if fixed.panel.sign > 0 else "best"
    which = "scores" if len(fixed.best) == 1 else "score"
    who = "it" if len(fixed.best) == 1 else "they"
    also = f"with {fixed.labels} labels, which are not redrawn, {who} {which} {top} too"
    return f"{_agreed([moved]).removesuffix('.')}; {also}."


def _one_sided(found: list[Verdict], clear: str) -> str:
    """End of the headline when one kind of labels separates the best from all others."""
    blind = [each.labels for each in found if each.blind]
    if blind:
        return (
            f"; {clear} labels separate it from every other model, "
            f"but the interval of its {blind[0]} lead cannot be computed"
        )
    return f", but only {clear} labels separate it from every other model"


def _split(hard: Verdict, soft: Verdict) -> str:
    """Headline when the labels disagree about the winner, after its first word."""
    view = hard.panel.view
    start = (
        "winner depends on how disagreement is counted: "
        f"{view.listing(hard.best, most=2)} with {hard.labels} labels, "
        f"{view.listing(soft.best, most=2)} with {soft.labels} labels."
    )
    leads = [
        first.panel.lead(first.labels, first.best[0], second.best[0])
        for first, second in ((hard, soft), (soft, hard))
    ]
    if hard.unmoved:
        parts = "separate" if leads[1].separated else "do not separate"
        return f"{start} Hard labels are not redrawn; soft labels {parts} the two."
    if any(lead.separated for lead in leads):
        return start
    if not any(lead.defined for lead in leads):
        return f"{start} No interval of the difference between the two can be computed."
    return f"{start} Neither choice of labels separates the two."


def standing(found: Verdict) -> str:
    """Say who is ahead under one kind of labels, by how much and how surely."""
    panel, labels = found.panel, found.labels
    start = f"With {truth_words(panel, labels)}, "
    if not found.best:
        return f"{start}{panel.title(labels)} is {blank_word(panel, labels)} for every model."
    score, digits = panel.score(labels, found.best[0]), panel.digits
    dagger = "†" if score.outside else ""
    ends = "(not redrawn)" if found.unmoved else interval(score.low, score.high, digits)
    value = f"{number(score.value, digits)}{dagger} {ends}"
    name = panel.view.listing(found.best)
    if len(found.best) > 1:
        many = "identical in every resample" if found.identical else "tied"
        said = f"{start}{name} are {many} with the best {panel.title(labels)}, {value}"
    else:
        which = "has" if found.runner_up is None else "has the best"
        comma = "" if found.runner_up is None else ","
        said = f"{start}{name} {which} {panel.title(labels)}{comma} {value}"
    sentences = [f"{said}{_lead_words(found)}.", *_sureness(found)]
    if missing(score):
        share = percent(score.undefined_share, 1)
        sentences.append(f"{share} of resamples are undefined: no interval can be computed.")
    if found.unranked:
        sentences.append(f"Undefined for {panel.view.listing(found.unranked)}.")
    return " ".join(sentences)


def _lead_words(found: Verdict) -> str:
    """Say how far the runner-up is behind, and whether that is more than noise."""
    if found.runner_up is None:
        return ", and there is no other model to compare" if len(found.best) == 1 else ""
    lead, digits = found.lead, found.panel.digits
    second = found.panel.view.listing([found.runner_up])
    if found.unmoved:
        return f", ahead of {second} by {number_of(lead, digits)}"
    if not lead.defined:
        return f"; the lead over {second} has no defined interval"
    ends = signed_interval(lead.low, lead.high, digits)
    gap = f"{number_of(lead, digits)} {ends}"
    if lead.outside:
        gap = f"{number_of(lead, digits)}† {ends} († the lead lies outside its own interval)"
    if lead.separated:
        return f", ahead of {second} by {gap}: the interval excludes 0"
    if lead.reversed:
        return (
            f", ahead of {second} by {gap}, but in the resamples the order is reversed "
            "(see the shift in the forest plot): do not rely on this lead"
        )
    return f", ahead of {second} by {gap}: the data do not separate them"


def number_of(lead: Lead, digits: int) -> str:
    """Write the size of a lead without its sign, never rounding it to nothing."""
    value = abs(lead.value or 0.0)
    while EXACT < value < 0.5 * 10**-digits and digits < 12:
        digits += 1
    return number(value, digits)


def _sureness(found: Verdict) -> list[str]:
    """Say how often the best is best, and who else cannot be told from it."""
    score = found.panel.score(found.labels, found.best[0])
    said = []
    if found.runner_up is not None and defined(score.p_best):
        each = " each" if len(found.best) > 1 else ""
        share = f"{percent(score.p_best)}{each}{over(found.panel)}"
        said.append(f"P(best) is {share}{_rival(found)}.")
    return [*said, *_others(found)] if found.lead.separated else [*_others(found), *said]


def _others(found: Verdict) -> list[str]:
    """Say who else, after the runner-up, cannot be told from the best."""
    others = [
        model
        for model in found.close
        if model != found.runner_up
        and found.panel.lead(found.labels, found.best[0], model).defined
    ]
    if not others:
        return []
    also = (
        "Nor do they" if found.lead.defined and not found.lead.separated else "The data do not"
    )
    name = found.panel.view.listing
    return [f"{also} separate {name(found.best)} from {name(others)}."]


def _rival(found: Verdict) -> str:
    """Name a model that is best more often than the one with the best score."""
    panel, labels = found.panel, found.labels
    own = panel.score(labels, found.best[0]).p_best or 0.0
    shares = {model: panel.score(labels, model).p_best or 0.0 for model in panel.ranked(labels)}
    top = max(shares, key=lambda model: shares[model])
    if top in found.best or shares[top] <= own:
        return ""
    return (
        f", although {panel.view.listing([top])} is best more often, in {percent(shares[top])}"
    )


def change(panel: Panel) -> str:
    """Say whether counting disagreement changes the answer."""
    found = verdicts(panel)
    if len(found) < 2 or len(panel.view.models) < 2:
        return ""
    hard, soft = found[0], found[-1]
    if not hard.best or not soft.best:
        blank = blank_word(panel, (soft if hard.best else hard).labels)
        return f"Hard and soft labels cannot be compared where either score is {blank}."
    settled = settled_words(panel) if set(hard.best) == set(soft.best) else ""
    return settled or f"{_winner_words(hard, soft)}{_order_words(panel)}"


def _winner_words(hard: Verdict, soft: Verdict) -> str:
    """Say whether the winner changes, and whether that change is more than noise."""
    if set(hard.best) == set(soft.best):
        return "Counting disagreement does not change the winner"
    old, new = (each.panel.view.listing(each.best) for each in (hard, soft))
    said = f"Counting disagreement changes the winner from {old} to {new}"
    lead = soft.panel.lead(soft.labels, soft.best[0], hard.best[0])
    gap = signed_interval(lead.low, lead.high, soft.panel.digits)
    if soft.best[0] in hard.best or hard.best[0] in soft.best:
        return said
    if not lead.defined:
        return f"{said}, but the interval of the soft lead cannot be computed"
    if lead.separated:
        return f"{said}, and soft labels separate the two (lead {gap})"
    return f"{said}, but soft labels do not separate the two (lead {gap})"


def _order_words(panel: Panel) -> str:
    """Say how much of the order stays."""
    moved = movers(panel)
    entry = panel.entry("rank_correlation")
    spearman = entry["spearman"] if entry else None
    whole = f"{count(len(moved))} of {count(len(panel.view.models), 'model')} change rank"
    if len(panel.view.models) == 2:
        return "."
    if not moved:
        return "; no model changes rank."
    return f"; {whole} (Spearman {number(spearman, 2)} between the two orders)."
