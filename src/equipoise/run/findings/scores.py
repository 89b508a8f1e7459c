"""Scores: the leaderboard, intervals, ranks from hard to soft, rank probabilities, all pairs.

What depends on task and metric is one finding per panel, so that a page can show one at a time.
"""

import math
from dataclasses import asdict
from itertools import pairwise

import numpy as np

from equipoise.arrays import Floats
from equipoise.findings import (
    Cell,
    Chart,
    Column,
    Dot,
    Dots,
    Finding,
    Heat,
    Matrix,
    Row,
    Slopes,
    Table,
)
from equipoise.numbers import (
    UNDEFINED,
    change,
    count,
    interval,
    number,
    rank,
    resample_share,
)
from equipoise.run.findings.panels import Panel, RunView, listing, noted_once
from equipoise.run.findings.verdict import moved_words, unranked_words
from equipoise.run.record import Lead
from equipoise.wording import joined

MOST_LEADS = 4000  # with more pairs on the page, only those with leader and neighbours
BOARD_NOTE = (
    "Models stand in the order of their soft rank, here and in every figure of a metric. Ties "
    "share the mean of their ranks. Intervals are for each score by itself; the ranks in "
    "brackets are possible, for all models at once. ▲ means a better rank with soft labels."
)
FOREST_NOTE = "Mark: the score. Line: its interval, for this score by itself."
RANKS_NOTE = "Thick lines change rank."
PROBABILITIES_NOTE = (
    "Each row adds up to 100%. A steady ranking is a dark diagonal; a wide row is a model "
    "whose place the data leave open."
)
PAIRS_NOTE = (
    "Follow a cell's column up to one model and its row right to the other: the cell is the "
    "lead of the first. Orange means the order is the other way round. Intervals are of single "
    "pairs; a dot marks models that are separated among all pairs at once."
)


def score_findings(view: RunView) -> list[Finding]:
    """All that is said of scores, section by section."""
    makers = (_leaderboard, _forest, _ranks, _probabilities, _pairs)
    sections = ([panel.under(make(panel)) for panel in view.panels()] for make in makers)
    return [finding for section in sections for finding in noted_once(section)]


# ---- leaderboard ---------------------------------------------------------------------------


def _leaderboard(panel: Panel) -> Finding:
    """Hard next to soft, with interval, rank and the probability of being best."""
    better = "higher is better" if panel.sign > 0 else "lower is better"
    many = len(panel.view.models) > 1
    columns = [Column("model", "model", "model")]
    for labels in panel.labels:
        columns.append(Column(f"{labels}_value", f"{labels} labels", "number"))
        if many:
            ends = (f"{labels}_rank_low", f"{labels}_rank_high")
            last = labels == panel.labels[-1]
            columns.append(Column(f"{labels}_rank", "rank", "rank", ends))
            columns.append(Column(f"{labels}_p_best", "best in", "resample_share", brief=last))
    if many and len(panel.labels) > 1:
        columns.append(Column("rank_change", "rank change", brief=False))
    table = Table(
        name="leaderboard",
        caption=f"{panel.metric.title}, {better}; {panel.view.level} intervals",
        columns=columns,
        rows=[_board_row(panel, model) for model in panel.order],
        open=True,
        file=False,
    )
    return Finding(
        key="leaderboard",
        title="Leaderboard",
        sentence=moved_words(panel),
        more=(*_endless(panel), *_gaps(panel)),
        tables=(table,),
        note=BOARD_NOTE,
    )


def _board_row(panel: Panel, model: str) -> Row:
    row: dict[str, Cell] = {"model": model}
    for labels in panel.labels:
        score = panel.score(labels, model)
        ends = f" {interval(score.low, score.high)}" if math.isfinite(score.value) else ""
        row |= {
            f"{labels}_value": f"{number(score.value)}{ends}",
            f"{labels}_rank": score.rank,
            f"{labels}_rank_low": score.rank_low,
            f"{labels}_rank_high": score.rank_high,
            f"{labels}_p_best": resample_share(score.p_best),
        }
    row["rank_change"] = _moved(panel, model)
    return row


def _moved(panel: Panel, model: str) -> str:
    """How many ranks a model gains from hard to soft labels."""
    before, after = (
        panel.score(labels, model).rank for labels in (panel.labels[0], panel.labels[-1])
    )
    if math.isnan(before) or math.isnan(after):
        return UNDEFINED
    if before == after:
        return "0"
    return f"{'▲' if before > after else '▼'} {rank(abs(before - after))}"


def _gaps(panel: Panel) -> list[str]:
    """Say for which models no interval can be computed."""
    said = []
    for labels in panel.labels:
        scores = {model: panel.score(labels, model) for model in panel.order}
        found = [
            model
            for model, score in scores.items()
            if math.isfinite(score.value) and not score.has_interval
        ]
        if found:
            which = "its interval" if len(found) == 1 else "their intervals"
            said.append(f"With {labels} labels {listing(found)}: {which} cannot be computed.")
    return said


def _endless(panel: Panel) -> list[str]:
    """Say which scores are infinite, why, and what that means for the ranks."""
    found: dict[tuple[str, ...], list[str]] = {}
    for labels in panel.labels:
        which = [m for m in panel.order if math.isinf(panel.score(labels, m).value)]
        if which:
            found.setdefault(tuple(sorted(which)), []).append(labels)
    said = []
    for models, names in found.items():
        alone, why = len(models) == 1, ""
        if panel.metric.name.split(":")[0] == "log_score":
            gives = "it gives" if alone else "they give"
            why = f": {gives} probability 0 to what the labels say of at least one item"
        last = f" {'It ranks' if alone else 'They rank'} last."
        said.append(
            f"With {' and '.join(names)} labels the {panel.metric.title} of {listing(models)} "
            f"is infinite (∞){why}.{'' if len(models) == len(panel.view.models) else last}"
        )
    return said


# ---- intervals -----------------------------------------------------------------------------


def _forest(panel: Panel) -> Finding:
    """Every model's score with its interval."""
    level = panel.view.level
    several = len(panel.view.record.metrics) > 1
    many = len(panel.view.models) > 1
    ranks = [
        Column("rank", "rank", "rank", ("rank_low", "rank_high")),
        Column("p_best", "share of resamples in which it is best", "resample_share"),
    ]
    columns = (
        Column("model", "model", "model"),
        *panel.view.panel_columns,
        Column("labels", "labels"),
        Column("value", "score" if several else panel.metric.title, "number", ("low", "high")),
        *(ranks if many else []),
        Column("standard_error", "standard error", "figures", brief=False),
        Column("df", "degrees of freedom", "number", brief=False),
    )
    rows: list[Row] = [
        asdict(panel.stored(labels, model))
        for labels in panel.labels
        for model in panel.view.models
    ]
    return Finding(
        key="forest",
        title="Scores and their intervals",
        sentence=_widths(panel),
        more=(*_endless(panel), *_gaps(panel)),
        tables=(
            Table(
                name="values",
                caption=f"Scores and {level} intervals, each by itself; ranks of all at once",
                columns=columns,
                rows=rows,
                page=False,  # the leaderboard holds them
            ),
        ),
        charts=tuple(_forest_chart(panel, labels) for labels in panel.labels),
        note=FOREST_NOTE,
        brief=False,
    )


def _forest_chart(panel: Panel, labels: str) -> Chart:
    ranked = panel.ranked(labels)
    best = panel.score(labels, ranked[0]).value if ranked else math.nan
    side = "" if panel.sign > 0 else " (lower is better)"
    top = f"best {ranked[0]} {number(best)}" if ranked else "none defined"
    total = count(len(panel.order), "model")
    return Dots(
        name=f"scores-{labels}",
        caption=f"{panel.title(labels)}, {labels} labels",
        alternative=f"Intervals of {panel.title(labels)} for {total}; {top}.",
        axis=f"{panel.title(labels)}{side}",
        rows=[_dot(panel, labels, model) for model in panel.order],
        reference=best if math.isfinite(best) else None,
    )


def _dot(panel: Panel, labels: str, model: str) -> Dot:
    score = panel.score(labels, model)
    words = number(score.value)
    if math.isinf(score.value):
        words = f"infinite ({words})"
    return Dot(
        label=model,
        value=score.value,
        low=score.low,
        high=score.high,
        model=model,
        remark=words,
    )


def _widths(panel: Panel) -> str:
    """Say how wide the intervals are."""
    said = []
    for labels in panel.labels:
        scores = [panel.score(labels, model) for model in panel.order]
        widths = [s.high - s.low for s in scores if s.has_interval]
        widths = [width for width in widths if math.isfinite(width)]
        if widths:
            said.append(f"{number(float(np.median(widths)))} wide with {labels} labels")
    if not said:
        kind = "finite" if _endless(panel) else "defined"
        return f"{panel.metric.title} has no {kind} interval here."
    return f"The middle {panel.view.level} interval is {joined(said)}."


# ---- ranks ---------------------------------------------------------------------------------


def _ranks(panel: Panel) -> Finding:
    """How the order of the models changes from hard to soft labels."""
    first, last = panel.labels[0], panel.labels[-1]
    rows = [
        (model, panel.score(first, model).rank, panel.score(last, model).rank)
        for model in panel.view.models
    ]
    both = len(panel.labels) > 1 and len(panel.view.models) > 1
    ranked = both and all(panel.ranked(labels) for labels in panel.labels)
    slopes = Slopes(
        name="ranks",
        caption="Rank with hard labels, and with soft labels",
        alternative=(
            f"Order of {count(len(rows), 'model')} by {panel.title(first)} on the left and "
            f"{panel.title(last)} on the right; lines join the same model."
        ),
        left=f"{first} labels",
        right=f"{last} labels",
        rows=rows,
    )
    table = Table(
        name="rank_correlation",
        caption="How alike the two orders are",
        columns=(
            *panel.view.panel_columns,
            Column("spearman", "Spearman, hard against soft", "number"),
            Column("kendall_tau_b", "Kendall's tau-b", "number"),
        ),
        rows=[asdict(panel.correlation)],
        open=True,
    )
    none = unranked_words(panel) or "There are no two rankings to compare."
    return Finding(
        key="ranks",
        title="From hard to soft",
        sentence=_alike_words(panel) if ranked else none,
        tables=(table,) if panel.view.record.rank_correlation else (),
        charts=(slopes,) if ranked else (),
        note=RANKS_NOTE,
        brief=False,
    )


def _alike_words(panel: Panel) -> str:
    """Say how alike the two orders are."""
    found = panel.correlation.spearman
    if math.isnan(found):
        return "The agreement of the two orders is undefined."
    return f"The hard and soft orders agree at Spearman {number(found, 2)}."


# ---- rank probabilities --------------------------------------------------------------------


def _probabilities(panel: Panel) -> Finding:
    """How often each model comes in at each rank."""
    shares = {labels: panel.rank_shares(labels) for labels in panel.labels}
    if len(panel.view.models) < 2:
        shares = {}
    known = {labels: table for labels, table in shares.items() if table.size}
    places = [rank(place + 1.0) for place in range(len(panel.order))]
    charts = [
        Heat(
            name=f"rank-probabilities-{labels}",
            caption=f"Share of resamples in which a model comes in at a rank, {labels} labels",
            alternative=(
                f"Rank probabilities by {panel.title(labels)}, "
                f"{count(len(panel.order), 'model')}."
            ),
            rows=panel.order,
            columns=places,
            values=table.astype(np.float64),
            row_models=True,
        )
        for labels, table in known.items()
    ]
    columns = [
        Column("model", "model", "model"),
        *panel.view.panel_columns,
        Column("labels", "labels"),
        Column("likeliest", "likeliest rank"),
        Column("reach", "90% of ranks"),
    ]
    rows = [
        _rank_row(panel.task, panel.metric.name, labels, model, own)
        for labels, table in known.items()
        for model, own in zip(panel.order, table, strict=True)
    ]
    table = Table(
        name="rank_probabilities",
        caption="Share of resamples by rank",
        columns=columns,
        rows=rows,
    )
    return Finding(
        key="probabilities",
        title="How sure is each rank",
        sentence=_surest_words(panel, known),
        tables=(table,) if rows else (),
        charts=tuple(charts),
        note=PROBABILITIES_NOTE,
        brief=False,
    )


def _rank_row(task: str, metric: str, labels: str, model: str, shares: Floats) -> Row:
    row: dict[str, Cell] = {"task": task, "model": model, "metric": metric, "labels": labels}
    if np.isnan(shares).any():
        row |= {"likeliest": UNDEFINED, "reach": UNDEFINED}
    else:
        low, high = reach(shares)
        top = int(np.argmax(shares))
        row |= {
            "likeliest": f"{top + 1} ({resample_share(shares[top])})",
            "reach": f"{low} to {high}",
        }
    return row | {f"rank_{place}": float(share) for place, share in enumerate(shares, 1)}


def reach(shares: Floats) -> tuple[int, int]:
    """First and last rank of the middle nine tenths of the resamples.

    Examples
    --------
    >>> reach(np.array([0.02, 0.5, 0.46, 0.02]))
    (2, 3)
    """
    total = np.cumsum(shares)
    before = np.concatenate([[0.0], total[:-1]])
    low = np.flatnonzero((before <= 0.05) & (total > 0.05))
    high = np.flatnonzero((before < 0.95 - 1e-9) & (total >= 0.95 - 1e-9))
    return (
        int(low[0]) + 1 if len(low) else 1,
        int(high[-1]) + 1 if len(high) else len(shares),
    )


def _surest_words(panel: Panel, known: dict[str, Floats]) -> str:
    """Name the steadiest and the least steady place."""
    if len(panel.view.models) < 2:
        return "With one model there are no ranks."
    if not known:
        return "Ranks are undefined here."
    labels, table = list(known.items())[-1]
    shares = {
        model: own
        for model, own in zip(panel.order, table, strict=True)
        if not np.isnan(own).any()
    }
    spans = {model: reach(own) for model, own in shares.items()}
    best = max(shares, key=lambda model: float(shares[model].max()))
    loose = max(spans, key=lambda model: spans[model][1] - spans[model][0])
    place = int(np.argmax(shares[best]))
    said = (
        f"With {labels} labels the surest place is {listing([best])} at rank {place + 1} "
        f"({resample_share(float(shares[best][place]))} of resamples)"
    )
    low, high = spans[loose]
    if high - low < 2:
        said += f"; no model strays over more than {count(high - low + 1, 'rank')}."
    else:
        said += f"; {listing([loose])} ranges over ranks {low} to {high}."
    blank = [name for name in panel.labels if name not in known]
    if not blank:
        return said
    lack = UNDEFINED
    return f"{said} With {blank[0]} labels the ranks are {lack}."


# ---- pairs ---------------------------------------------------------------------------------


def _pairs(panel: Panel) -> Finding:
    """The lead of every model over every other, paired over the same resamples."""
    columns = (
        Column("a", "model", "model"),
        Column("b", "minus"),
        *panel.view.panel_columns,
        Column("labels", "labels"),
        Column("value", "difference", "change", ("low", "high")),
        Column("p_better", "P(better)", "resample_share"),
    )
    rows: list[Row] = [
        asdict(row)
        for row in panel.view.record.differences
        if (row.task, row.metric) == (panel.task, panel.metric.name)
    ]
    table = Table(
        name="differences",
        caption="Paired differences, the first model minus the second",
        columns=columns,
        rows=rows,
        page=False,
    )
    charts = [_matrix(panel, labels) for labels in panel.labels]
    return Finding(
        key="differences",
        title="Every pair of models",
        sentence=_separated_words(panel),
        tables=(table, _leads_table(panel)) if rows else (),
        charts=tuple(charts) if len(panel.view.models) > 1 else (),
        note=PAIRS_NOTE,
        brief=False,
    )


def _leads_table(panel: Panel) -> Table:
    """Leads in the order of the figure; of very many, those of the leader and of neighbours."""
    record, order = panel.view.record, panel.order
    pairs, caption = panel.pairs, "Paired leads of the first model over the second"
    if len(pairs) * len(record.tasks) * len(record.metrics) > MOST_LEADS:
        near = dict(pairwise(order))
        pairs = [(a, b) for a, b in pairs if a == order[0] or near.get(a) == b]
        caption += ": those of the leader and of neighbours"
    columns = [Column("a", "first", "model"), Column("b", "second")]
    for labels in panel.labels:
        columns.append(Column(f"{labels}_lead", f"lead, {labels}", "change"))
        columns.append(Column(f"{labels}_ahead", "ahead in", "resample_share"))
        if panel.view.record.settings.margin is not None:
            columns.append(Column(f"{labels}_judged", "by the margin"))
    rows: list[Row] = []
    for a, b in pairs:
        row: dict[str, Cell] = {"a": a, "b": b}
        for labels in panel.labels:
            lead = panel.lead(labels, a, b)
            mark = " ●" if lead.decided else ""
            ends = interval(lead.low, lead.high, change)
            row[f"{labels}_lead"] = f"{change(lead.value)} {ends}{mark}"
            row[f"{labels}_ahead"] = resample_share(lead.p_better)
            row[f"{labels}_judged"] = lead.judgement
        rows.append(row)
    return Table(name="leads", caption=caption, columns=columns, rows=rows, file=False)


def _matrix(panel: Panel, labels: str) -> Chart:
    total = len(panel.order)
    cells = np.full((3, total, total), np.nan)
    apart = np.zeros((total, total), dtype=bool)
    for i, a in enumerate(panel.order):
        for j, b in enumerate(panel.order):
            if i != j:
                lead = panel.lead(labels, a, b)
                cells[:, i, j] = lead.value, lead.low, lead.high
                apart[i, j] = lead.decided
    clear = sum(panel.lead(labels, a, b).decided for a, b in panel.pairs)
    return Matrix(
        name=f"pairs-{labels}",
        caption=(
            f"Lead of the model above a cell over the model to its right, {labels} labels"
        ),
        alternative=(
            f"Paired leads in {panel.title(labels)} between {count(total, 'model')}; {clear} "
            f"of {count(len(panel.pairs), 'pair')} are separated."
        ),
        models=panel.order,
        leads=cells[0],
        low=cells[1],
        high=cells[2],
        separated=apart,
    )


def _separated_words(panel: Panel) -> str:
    """Count the pairs that the data separate."""
    if len(panel.view.models) < 2:
        return "With one model there are no pairs."
    leads: dict[str, list[Lead]] = {}
    for labels in panel.labels:
        every = [panel.lead(labels, a, b) for a, b in panel.pairs]
        if any(not math.isnan(one.value) for one in every):
            leads[labels] = every
    if not leads:
        return "No difference between models is defined here."
    known = {labels: sum(one.decided for one in every) for labels, every in leads.items()}
    if len(panel.pairs) == 1:
        clear = [labels for labels, total in known.items() if total]
        how = f"are separated with {' and '.join(clear)}" if clear else "are separated with no"
        return f"The two models {how} labels."
    said = joined([f"{total} with {labels} labels" for labels, total in known.items()])
    same = sum(all(panel.identical(n, a, b) for n in known) for a, b in panel.pairs)
    twins = f"; {count(same, 'pair')} {'is' if same == 1 else 'are'} identical" if same else ""
    return f"Of {count(len(panel.pairs), 'pair')}, the data separate {said}{twins}."
