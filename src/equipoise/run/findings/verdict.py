"""The verdict: the sentences a reader came for, and all tasks at a glance.

They say less than the numbers, never more: where an interval of a difference includes zero
the data do not separate the two models, and the sentence says so.
"""

import math
from collections.abc import Sequence

import numpy as np

from equipoise.arrays import Floats
from equipoise.findings import Bar, Cell, Chart, Column, Finding, Histogram, Row, Table
from equipoise.inference import Judgement
from equipoise.numbers import (
    EXACT,
    UNDEFINED,
    change,
    count,
    interval,
    number,
    rank,
    resample_share,
)
from equipoise.run.findings.panels import Panel, RunView, Verdict, listing, noted_once
from equipoise.run.record import TruthRow
from equipoise.wording import capital

KEY, TITLE = "verdict", "Verdict"
NOTE = (
    "A lead is the paired difference in favour of the first model (the sign is turned where "
    "lower is better). Its interval is for this pair by itself; two models are separated only "
    "if that holds among all pairs at once. Bars of the figure are resamples, in the colour of "
    "the model that is ahead in them; their share is no probability of the truth."
)
DRAWN = {
    "hard": "mean plausibility, as if it were settled",
    "soft": "mean over the possible truths",
}
BARS = 24


def verdict_findings(view: RunView) -> list[Finding]:
    """The verdict of every task and metric, and per metric all tasks at a glance."""
    made = noted_once([panel.under(_finding(panel)) for panel in view.panels()])
    if len(view.record.tasks) > 1:
        made += [_glance(view, metric.name) for metric in view.record.metrics]
    return made


def _finding(panel: Panel) -> Finding:
    verdicts = panel.verdicts()
    return Finding(
        key=KEY,
        title=TITLE,
        sentence=headline(panel),
        more=tuple(filter(None, [*map(standing, verdicts), *conclusions(panel)])),
        charts=tuple(chart for one in verdicts if (chart := _leads(one))),
        note=NOTE,
    )


def _labels_words(panel: Panel, labels: str) -> str:
    """Say what the labels are; the run names how votes became labels."""
    record = panel.view.record
    how = record.settings.hard if labels == "hard" else record.settings.soft
    whole = panel.metric.labels == "distribution"
    if panel.metric.labels == "draws":
        how = DRAWN.get(labels, how)
    elif labels == "hard" and any(
        row.several and (whole or row.ties != "negative") for row in panel.truths
    ):
        how = "most plausible class" if record.truth_model else "class with most votes"
    return f"{labels} labels ({how})" if how else f"{labels} labels"


# ---- one breath ----------------------------------------------------------------------------


def headline(panel: Panel) -> str:
    """Say the outcome in one breath."""
    found = [each for each in panel.verdicts() if each.best]
    if not found:
        blank = panel.blank_word(panel.labels[-1])
        return f"{panel.metric.title} is {blank} for every model: no ranking."
    if len(panel.view.models) == 1:
        return "One model, so there is nothing to rank it against."
    if any(each.runner_up is None and len(each.best) == 1 for each in found):
        only = listing(found[-1].best)
        return f"Only {only} has a defined score, so there is no ranking."
    if not panel.view.record.settings.decides:
        return _no_verdict(found[-1])
    if len(found) == 2 and found[0].best != found[1].best:
        start = panel.opening
        return f"{start}{'the' if start else 'The'} {_split(found[0], found[1])}"
    return _agreed(found)


def _no_verdict(found: Verdict) -> str:
    """Headline when annotators are too few to speak for others like them."""
    top = "highest" if found.panel.sign > 0 else "best"
    which = "scores" if len(found.best) == 1 else "score"
    number_of = found.panel.view.record.settings.effective_annotators
    return (
        f"{found.panel.opening}{listing(found.best)} {which} {top} on these annotators' votes; "
        f"annotators are too few (effectively {number(number_of, 1)}) for a verdict on "
        "annotators like these."
    )


def _agreed(found: Sequence[Verdict]) -> str:
    """Headline when the same models come first under all labels."""
    panel = found[-1].panel
    best, top = listing(found[-1].best), "highest" if panel.sign > 0 else "best"
    name = f"{panel.opening}{best}"
    ways = " and ".join(each.labels for each in found)
    if len(found[-1].best) > 1:
        word = "identical" if all(each.identical for each in found) else "tied"
        others = "" if found[-1].runner_up else ", and no other model was given"
        return f"{name} are {word} and score {top} with {ways} labels{others}."
    clear = [each.labels for each in found if each.clear]
    if len(clear) == len(found):
        return _separated(found, best, f"with {ways} labels")
    if clear:
        return f"{name} scores {top} with {ways} labels{_one_sided(found, clear[0])}."
    close = [model for each in found[::-1] for model in each.close]
    rest = listing(list(dict.fromkeys(close)), most=3)
    if all(each.blind for each in found):
        lead = f"the interval of its lead over {rest} cannot be computed"
        return f"{name} scores {top}, but {lead}."
    return f"{name} scores {top}, but the data do not separate it from {rest}."


def _separated(found: Sequence[Verdict], best: str, ways: str) -> str:
    """Headline when all labels separate the best from every other model, and for whom."""
    panel = found[-1].panel
    whom = panel.view.record.settings.population
    start, end = ("", f", for {whom}") if whom else (panel.opening, "")
    if found[-1].matters:
        return f"{start}{best} is the best model {ways}{end}."
    top = "highest" if panel.sign > 0 else "best"
    return f"{start}{best} scores {top} {ways}{end}, but by no difference that matters."


def _one_sided(found: Sequence[Verdict], clear: str) -> str:
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
    start = (
        "winner depends on how disagreement is counted: "
        f"{listing(hard.best, most=2)} with {hard.labels} labels, "
        f"{listing(soft.best, most=2)} with {soft.labels} labels."
    )
    leads = [
        first.panel.lead(first.labels, first.best[0], second.best[0])
        for first, second in ((hard, soft), (soft, hard))
    ]
    if any(lead.separated for lead in leads):
        return start
    if not any(lead.defined for lead in leads):
        return f"{start} No interval of the difference between the two can be computed."
    return f"{start} Neither choice of labels separates the two."


# ---- under one kind of labels --------------------------------------------------------------


def standing(found: Verdict) -> str:
    """Say who is ahead under one kind of labels, by how much and how surely."""
    panel, labels = found.panel, found.labels
    start = f"With {_labels_words(panel, labels)}, "
    if not found.best:
        return f"{start}{panel.title(labels)} is {panel.blank_word(labels)} for every model."
    score = panel.score(labels, found.best[0])
    value = f"{number(score.value)} {interval(score.low, score.high)}"
    name = listing(found.best)
    if len(found.best) > 1:
        many = "identical in every resample" if found.identical else "tied"
        said = f"{start}{name} are {many} with the best {panel.title(labels)}, {value}"
    else:
        which = "has" if found.runner_up is None else "has the best"
        comma = "" if found.runner_up is None else ","
        said = f"{start}{name} {which} {panel.title(labels)}{comma} {value}"
    sentences = [f"{said}{_lead_words(found)}.", *_sureness(found)]
    if found.unranked:
        sentences.append(f"Undefined for {listing(found.unranked)}.")
    return " ".join(sentences)


def _lead_words(found: Verdict) -> str:
    """Say how far the runner-up is behind, and whether that is more than noise."""
    if found.runner_up is None:
        return ", and there is no other model to compare" if len(found.best) == 1 else ""
    lead, second = found.lead, listing([found.runner_up])
    size = number(abs(lead.value))
    if not lead.defined:
        return f"; the lead over {second} has no defined interval"
    ahead = f", ahead of {second} by {size} {interval(lead.low, lead.high, change)}"
    if lead.separated:
        small = "" if found.matters else ", but by no difference that matters"
        return f"{ahead}: it is better{small}"
    if lead.low > EXACT and not found.panel.view.record.settings.decides:
        return f"{ahead}: no verdict for annotators like these"
    if lead.low > EXACT:
        among = count(len(found.panel.view.models), "model")
        return f"{ahead}: apart as a single pair, but not among all pairs of {among}"
    return f"{ahead}: the data do not separate them"


def _sureness(found: Verdict) -> list[str]:
    """Say how often the best is best, and who else cannot be told from it."""
    score = found.panel.score(found.labels, found.best[0])
    said = []
    if found.runner_up is not None and not math.isnan(score.p_best):
        each = " each" if len(found.best) > 1 else ""
        best = f"best in {resample_share(score.p_best)} of resamples{each}"
        who = "They are" if len(found.best) > 1 else "It is"
        said.append(f"{who} {best}{_rival(found)}.")
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
    return [f"{also} separate {listing(found.best)} from {listing(others)}."]


def _rival(found: Verdict) -> str:
    """Name a model that is best more often than the one with the best score."""
    panel, labels = found.panel, found.labels
    shares = {model: panel.score(labels, model).p_best for model in panel.ranked(labels)}
    top = max(shares, key=lambda model: np.nan_to_num(shares[model]))
    if top in found.best or not shares[top] > np.nan_to_num(shares[found.best[0]]):
        return ""
    share = resample_share(shares[top])
    return f", although {listing([top])} is best more often, in {share}"


# ---- by a margin ---------------------------------------------------------------------------


def conclusions(panel: Panel) -> list[str]:
    """Say what disagreement changes, and what a margin makes of the others."""
    return [said for said in (disagreement(panel), _by_margin(panel)) if said]


def _by_margin(panel: Panel) -> str:
    """Say which models are no worse than the best by the margin, where there is one."""
    margin, found = panel.view.record.settings.margin, panel.verdicts()
    if margin is None or not any(each.best and each.runner_up for each in found):
        return ""
    ways: dict[str, list[str]] = {}
    for each in found:
        if each.best and each.runner_up:
            ways.setdefault(_judged(each), []).append(each.labels)
    said = [f"with {' and '.join(labels)} labels, {words}." for words, labels in ways.items()]
    return " ".join(
        [
            f"By a margin of {number(margin)}, each pair by itself, {said[0]}",
            *map(capital, said[1:]),
        ]
    )


def _judged(found: Verdict) -> str:
    """The other models by what the margin makes of each against the best."""
    groups: dict[str, list[str]] = {judgement.value: [] for judgement in Judgement}
    for model in found.panel.ranked(found.labels)[len(found.best) :]:
        judgement = found.panel.lead(found.labels, model, found.best[0]).judgement
        groups[judgement or Judgement.UNDECIDED.value].append(model)
    said: list[str] = []
    for judgement, models in groups.items():
        if models:
            to = " to" if judgement != Judgement.UNDECIDED.value else " against"
            whom = "" if said else f"{to} {found.best[0]}"
            said.append(
                f"{listing(models)} {'is' if len(models) == 1 else 'are'} {judgement}{whom}"
            )
    return "; ".join(said)


# ---- what disagreement changes -------------------------------------------------------------


def disagreement(panel: Panel) -> str:
    """Say whether counting disagreement changes the answer."""
    found = panel.verdicts()
    apart = len(found) > 1 and not panel.view.record.settings.by_annotator
    if not apart or len(panel.view.models) < 2:
        return ""
    hard, soft = found[0], found[-1]
    if not hard.best or not soft.best:
        blank = panel.blank_word((soft if hard.best else hard).labels)
        return f"Hard and soft labels cannot be compared where either score is {blank}."
    settled = _settled(panel.truths) if set(hard.best) == set(soft.best) else ""
    return settled or f"{_winner_words(hard, soft)}{_order_words(panel)}"


def _settled(truths: Sequence[TruthRow]) -> str:
    """Say that there is no disagreement, where the labels of every item are certain."""
    if not truths or any(row.unanimous != row.items for row in truths):
        return ""
    if all(row.from_model for row in truths):
        return "There is no disagreement to count: the truth of every item is certain."
    if all(row.gold == row.items for row in truths):
        return "There is no disagreement to count: adjudicated gold settles every item."
    if all(row.votes_per_item[-1] == 1 for row in truths):
        return "There is no disagreement to count: every item has a single vote."
    return (
        "There is no disagreement to count: the votes are unanimous on every item, "
        "so hard and soft labels are the same."
    )


def _winner_words(hard: Verdict, soft: Verdict) -> str:
    """Say whether the winner changes, and whether that change is more than noise."""
    if set(hard.best) == set(soft.best):
        return "Counting disagreement does not change the winner"
    old, new = listing(hard.best), listing(soft.best)
    said = f"Counting disagreement changes the winner from {old} to {new}"
    lead = soft.panel.lead(soft.labels, soft.best[0], hard.best[0])
    gap = interval(lead.low, lead.high, change)
    if soft.best[0] in hard.best or hard.best[0] in soft.best:
        return said
    if not lead.defined:
        return f"{said}, but the interval of the soft lead cannot be computed"
    if lead.separated:
        return f"{said}, and soft labels separate the two (lead {gap})"
    return f"{said}, but soft labels do not separate the two (lead {gap})"


def movers(panel: Panel) -> list[tuple[str, float]]:
    """Models whose rank differs between the first and last labels; positive is upwards."""
    first, last = panel.labels[0], panel.labels[-1]
    steps = {m: panel.score(first, m).rank - panel.score(last, m).rank for m in panel.order}
    return [(model, step) for model, step in steps.items() if abs(step) > 0]


def _order_words(panel: Panel) -> str:
    """Say how much of the order stays."""
    moved = movers(panel)
    if len(panel.view.models) == 2:
        return "."
    if not moved:
        return "; no model changes rank."
    whole = f"{count(len(moved))} of {count(len(panel.view.models), 'model')} change rank"
    spearman = number(panel.correlation.spearman, 2)
    return f"; {whole} (Spearman {spearman} between the two orders)."


# ---- resamples of the lead -----------------------------------------------------------------


def lead_replicates(found: Verdict) -> tuple[Floats, Floats]:
    """Resamples of the lead over the runner-up, and how much each counts.

    Both are empty where a lead is not a finite one.
    """
    if found.runner_up is None or not found.lead.defined:
        return np.empty(0), np.empty(0)
    panel = found.panel
    first = panel.resampled(found.labels, found.best[0])
    second = panel.resampled(found.labels, found.runner_up)
    with np.errstate(invalid="ignore"):  # of two infinite ones: undefined
        gap = panel.sign * (first - second)
    known, weights = ~np.isnan(gap), panel.view.record.settings.weights
    counts = np.ones(len(gap)) if weights is None else weights
    if np.isinf(gap[known]).any():
        return np.empty(0), np.empty(0)
    return gap[known], counts[known]


def _leads(found: Verdict) -> Chart | None:
    """The resamples of the lead as bars, in the colour of the model that is ahead in them."""
    leads, counts = lead_replicates(found)
    if not len(leads) or found.runner_up is None:
        return None
    reach = max(float(np.abs(leads).max()), abs(found.lead.value), EXACT)
    step = 2 * reach / BARS
    place = np.clip(np.floor((leads + reach) / step), 0, BARS - 1).astype(int)
    shares = np.bincount(place, counts, minlength=BARS) / counts.sum()
    used = np.flatnonzero(shares)
    low, high = min(int(used[0]), BARS // 2 - 1), max(int(used[-1]), BARS // 2)
    ahead = (found.runner_up, found.best[0])
    bars = [
        Bar(
            label=number(-reach + k * step),
            value=float(shares[k]),
            model=ahead[k >= BARS // 2],
            ends=(-reach + k * step, -reach + (k + 1) * step),
        )
        for k in range(low, high + 1)
    ]
    share = resample_share(found.lead.p_better)
    pair = f"{listing(found.best[:1])} over {found.runner_up}"
    return Histogram(
        name=f"lead-{found.labels}",
        caption=f"Lead of {pair}, {found.labels} labels: ahead in {share} of resamples",
        alternative=(
            f"Resamples of the lead of {pair} with {found.labels} labels; ahead in {share}."
        ),
        x=f"lead in {found.panel.title(found.labels)}",
        y="share of resamples",
        bars=bars,
        marks=((0.0, "0"), (found.lead.value, "in the data")),
    )


# ---- all tasks at a glance -----------------------------------------------------------------


def _glance(view: RunView, metric: str) -> Finding:
    """One row per task: the best model, its lead over the next, and how often it is best."""
    panels = [panel for panel in view.panels() if panel.metric.name == metric]
    columns = [Column("task", "task")]
    for labels in view.record.labels:
        columns += [
            Column(f"{labels}_best", f"best, {labels} labels"),
            Column(f"{labels}_lead", "lead over the next", "change"),
            Column(f"{labels}_p_best", "share of resamples", "resample_share"),
        ]
    if len(view.record.labels) > 1:
        columns.append(Column("winner", "winner"))
    title = panels[0].metric.title
    table = Table(
        name=f"glance_{metric}",
        caption=f"All tasks at a glance, {title} ({view.level} intervals of single pairs; "
        "● separated)",
        columns=columns,
        rows=[_glance_row(panel) for panel in panels],
        open=True,
        file=False,
    )
    return Finding(
        key=KEY,
        title=TITLE,
        sentence="",
        tables=(table,),
        metric=view.metric_names[metric],
        brief=False,
    )


def _glance_row(panel: Panel) -> Row:
    row: dict[str, Cell] = {"task": panel.task}
    verdicts = panel.verdicts()
    for found in verdicts:
        best, lead, p_best = _glance_cells(found)
        row |= {
            f"{found.labels}_best": best,
            f"{found.labels}_lead": lead,
            f"{found.labels}_p_best": p_best,
        }
    known = verdicts[0].best and verdicts[-1].best
    same = set(verdicts[0].best) == set(verdicts[-1].best)
    row["winner"] = ("same" if same else "changes") if known else UNDEFINED
    return row


def _glance_cells(found: Verdict) -> tuple[str, str, str | float]:
    """Winner, lead and certainty under one kind of labels."""
    if not found.best:
        return found.panel.blank_word(found.labels), UNDEFINED, UNDEFINED
    lead, gap = found.lead, "no other model"
    if found.runner_up is not None:
        ends = interval(lead.low, lead.high, change)
        gap = f"{change(lead.value)} {ends}{' ●' * lead.separated}"
    p_best = found.panel.score(found.labels, found.best[0]).p_best
    return listing(found.best, most=2), gap, p_best


def moved_words(panel: Panel) -> str:
    """Say which model moves most between the two rankings."""
    if len(panel.labels) < 2 or len(panel.view.models) < 2:
        return ""
    if blank := unranked_words(panel):
        return blank
    steps = movers(panel)
    if not steps:
        ranks = [panel.score(x, model).rank for x in panel.labels for model in panel.order]
        whole = not any(math.isnan(place) for place in ranks)
        who = "Every model has" if whole else "Models with a defined score have"
        return f"{who} the same rank with hard and with soft labels."
    if len(panel.view.models) == 2:
        return "The two models change places between hard and soft labels."
    model, step = max(steps, key=lambda pair: abs(pair[1]))
    before, after = (
        rank(panel.score(x, model).rank) for x in (panel.labels[0], panel.labels[-1])
    )
    return (
        f"{count(len(steps))} of {count(len(panel.view.models), 'model')} change rank; "
        f"{listing([model])} moves most, {'up' if step > 0 else 'down'} from {before} to "
        f"{after}."
    )


def unranked_words(panel: Panel) -> str:
    """Say under which labels there are no ranks; nothing where there are."""
    missing = [labels for labels in panel.labels if not panel.ranked(labels)]
    if len(missing) == len(panel.labels):
        return f"{panel.metric.title} is undefined for every model, so there are no ranks."
    if missing:
        return (
            f"{panel.metric.title} with {missing[0]} labels is undefined for every model, "
            "so there are no two rankings to compare."
        )
    return ""
