"""A run to make pages of: invented scores, and a header computed from them.

Ten models on five tasks and their macro average, two metrics, hard and soft labels, eight
readers. Three models are identical, one task is undefined, one name is hostile. Everything
in the header (intervals, ranks, probabilities, differences, correlations) is computed from
the same replicates, so the page can be checked against the numbers it was given.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from equipoise.run.findings import evaluation_report
from numpy.typing import NDArray

from equipoise import page
from equipoise.findings import Finding
from equipoise.numbers import EXACT
from equipoise.run import Run
from equipoise.run.record import decode

LIKE_THESE = "items and annotators like these"
THESE = f"these {LIKE_THESE}"
HOSTILE = '<b>x</b>&"'
MODELS = (
    "jfaboy", "ngango3", "uestc", "drnet", "sensexdr", "ngango2", "hieupham", "desmond",
    HOSTILE, "densenet121-chexpert-pretrained-frontal-augmented-v2",
)  # fmt: skip
TASKS = ("Atelectasis", "Cardiomegaly", "Consolidation", "Edema", "Pleural Effusion")
TWINS = ("uestc", "drnet", "sensexdr")
METRICS = (
    {
        "name": "auroc", "title": "AUROC", "soft_title": "soft AUROC", "better": "higher",
        "bounds": [0, 1],
        "definition": "Probability that a positive item is scored above a negative one: "
        "sum over i != j of p_i (1 - p_j) k_ij / (n+ n- - D), with k_ij = 1 if s_i > s_j and "
        "1/2 if tied, n+ = sum p, n- = sum (1 - p), D = sum p (1 - p).",
    },
    {
        "name": "brier_score", "title": "Brier score", "soft_title": "expected Brier score",
        "better": "lower", "bounds": [0, 1],
        "definition": "Mean squared distance between the probability and the label: "
        "mean of (s_i - p_i)^2.",
    },
)  # fmt: skip


@dataclass(frozen=True)
class Shape:
    """How large a run to invent."""

    models: tuple[str, ...] = MODELS
    tasks: tuple[str, ...] = TASKS
    metrics: tuple[Mapping[str, Any], ...] = METRICS
    labels: tuple[str, ...] = ("hard", "soft")
    annotators: int = 8
    items: int = 500
    replicates: int = 400
    undefined: str | None = "Cardiomegaly"
    classes: tuple[str, ...] = ("positive",)
    items_redrawn: bool = False
    seed: int = 0


STANDARD = Shape()


def opened(content: Mapping[str, Any], replicates: NDArray[np.float64]) -> Run:
    """A run of what run.json would hold."""
    return Run(decode(json.loads(json.dumps(content))), replicates)


def sample(shape: Shape = STANDARD) -> Run:
    values, replicates = scores(shape)
    return opened(header(shape, values, replicates), replicates)


def changed(
    run: Run, change: Callable[[dict[str, Any]], None] | None = None, **parts: Any
) -> Run:
    """A run whose record has some parts changed."""
    content = json.loads(json.dumps(run.header)) | parts
    if change is not None:
        change(content)
    return opened(content, run.replicates)


def render(run: Run) -> str:
    """The page of a run."""
    return page.render(evaluation_report(run))


def finding(run: Run, key: str, place: int = 0) -> Finding:
    """One of the findings of a section."""
    return [one for one in evaluation_report(run).findings if one.key == key][place]


def section(text: str, anchor: str) -> str:
    """A section of a page."""
    return text.split(f"<section id={anchor}")[1].split("</section>")[0]


def scores(shape: Shape) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Values (tasks, metrics, labels, models) and replicates (..., replicates)."""
    random = np.random.default_rng(shape.seed)
    tasks, metrics, models = len(shape.tasks), len(shape.metrics), len(shape.models)
    cells = (tasks, metrics, len(shape.labels))
    skill = random.normal(0, 0.012, (tasks, 1, 1, models))
    level = random.uniform(0.84, 0.92, (tasks, 1, 1, 1))
    change = random.normal(0, 0.004, (*cells, models))
    noise = random.normal(0, 0.006, (*cells, models, shape.replicates))
    together = random.normal(0, 0.008, (tasks, 1, 1, 1, shape.replicates))
    soft = np.array([label == "soft" for label in shape.labels])[:, None]
    better = np.array([m["better"] == "higher" for m in shape.metrics])[:, None, None]
    goodness = level + skill + change - 0.05 * soft
    values = np.where(better, goodness, 1 - goodness)
    spread = (noise + together) * np.where(soft, 0.6, 1.0)[..., None]
    drop = np.where(soft, 0.0, np.where(np.arange(models) % 3 == 0, -0.019, -0.005))
    turn = np.where(better, 1, -1)[..., None]
    replicates = values[..., None] + turn * (spread + drop[..., None])
    for twin in TWINS[1:]:
        if twin in shape.models:
            first, second = shape.models.index(TWINS[0]), shape.models.index(twin)
            values[..., second, None] = values[..., first, None]
            replicates[..., second, :] = replicates[..., first, :]
    if shape.undefined in shape.tasks:
        values[shape.tasks.index(shape.undefined)] = np.nan
        replicates[shape.tasks.index(shape.undefined)] = np.nan
    if tasks > 1:
        values = np.concatenate([values, np.nanmean(values, axis=0)[None]])
        replicates = np.concatenate([replicates, np.nanmean(replicates, axis=0)[None]])
    return values, replicates


def header(shape: Shape, values: Any, replicates: Any) -> dict[str, Any]:
    tasks = [*shape.tasks, "macro average"] if len(shape.tasks) > 1 else list(shape.tasks)
    whom = LIKE_THESE if shape.items_redrawn else THESE
    made: dict[str, Any] = {
        "schema": 1, "title": "Five findings on chest radiographs", "simulated": None,
        "equipoise": "0.1.0", "versions": {"python": "3.11.7", "numpy": "2.1.0"},
        "inputs": [
            {"role": "annotations", "name": "readers.csv", "sha256": "ab" * 32, "bytes": 91342},
            {"role": "predictions", "name": "models.csv", "sha256": "cd" * 32, "bytes": 813},
        ],
        "settings": {
            "resample": "items x panel" if shape.items_redrawn else "panel",
            "replicates": shape.replicates, "seed": 0, "level": 0.95,
            "resample_reason": "The same readers rated every item, so readers were drawn "
            "with replacement, the same draw for all items.",
            "interval": "two-way t", "plan": "9f2c61d07ab34e55", "soft": "mean vote",
            "hard": "majority, a tie counts 1/2", "group": None,
            "items_redrawn": shape.items_redrawn, "scope": f"The result speaks for {whom}.",
            "population": whom, "effective_annotators": float(shape.annotators),
            "decides": True,
        },
        "question": {
            "positive": None, "at_least": 3, "kind": "ordinal", "classes": list("01234"),
            "exchangeable": False, "columns": {"item": "image", "annotator": "reader"},
            "repeats": "keep", "on_missing": "error",
        },
        "tasks": tasks, "models": list(shape.models), "labels": list(shape.labels),
        "metrics": [dict(metric) for metric in shape.metrics],
        "rows": [], "differences": [], "rank_probabilities": [], "rank_correlation": [],
        "notices": ["Item 'view1_17' has one vote only.", "2 items without votes left out."],
        "replicates": {"file": "replicates.npy", "sha256": "", "shape": list(replicates.shape)},
    }  # fmt: skip
    for t, task in enumerate(tasks):
        for m, metric in enumerate(shape.metrics):
            here = {"task": task, "metric": metric["name"]}
            cell = values[t, m], replicates[t, m], metric["better"] == "higher"
            for number, labels in enumerate(shape.labels):
                one = cell[0][number], cell[1][number], cell[2]
                made["rows"] += rows(shape, {**here, "labels": labels}, one)
                made["differences"] += pairs(shape, {**here, "labels": labels}, one)
                matrix = rank_shares(one[1], higher=one[2]).tolist()
                made["rank_probabilities"].append(
                    {**here, "labels": labels, "matrix": cleaned(matrix)}
                )
            if len(shape.labels) == 2:
                made["rank_correlation"].append(
                    {**here, **correlation(cell[0], higher=cell[2])}
                )
    return made | readers(shape) | {"influential": list(influential(shape))}


def cleaned(thing: Any) -> Any:
    if isinstance(thing, list):
        return [cleaned(part) for part in thing]
    return None if np.isnan(thing) else float(thing)


def ranks(goodness: Any) -> Any:
    """Average ranks along the last axis, best first; nan stays nan."""
    order = goodness[..., :, None] < goodness[..., None, :]
    ties = goodness[..., :, None] == goodness[..., None, :]
    place = order.sum(-1) + (ties.sum(-1) + 1) / 2
    return np.where(np.isnan(goodness), np.nan, place)


def rank_shares(replicates: Any, *, higher: bool) -> Any:
    goodness = replicates if higher else -replicates
    if np.isnan(goodness).any():
        return np.full((len(goodness), len(goodness)), np.nan)
    place = (-goodness).argsort(axis=0, kind="stable").argsort(axis=0, kind="stable")
    return (place[..., None] == np.arange(len(goodness))).mean(axis=1)


def rows(shape: Shape, here: dict[str, str], cell: Any) -> Iterator[dict[str, Any]]:
    values, replicates, higher = cell
    place = ranks(values if higher else -values)
    best = ranks((replicates if higher else -replicates).T).T
    wins = (best == best.min(axis=0)) / (best == best.min(axis=0)).sum(axis=0).clip(1)
    possible = possible_ranks(values, replicates, higher=higher)
    for i, model in enumerate(shape.models):
        low, high = np.quantile(replicates[i], [0.025, 0.975])
        facts = {
            "value": values[i], "low": low, "high": high, "rank": place[i],
            "p_best": np.nan if np.isnan(values[i]) else wins[i].mean(),
            "standard_error": replicates[i].std(), "df": 40.0, "rank_low": possible[i][0],
            "rank_high": possible[i][1],
        }  # fmt: skip
        yield {**here, "model": model, **{key: cleaned(fact) for key, fact in facts.items()}}


def pairs(shape: Shape, here: dict[str, str], cell: Any) -> Iterator[dict[str, Any]]:
    values, replicates, higher = cell
    for a in range(len(values)):
        for b in range(a + 1, len(values)):
            gap = replicates[a] - replicates[b]
            gain = gap if higher else -gap
            low, high = np.quantile(gap, [0.025, 0.975])
            share = np.nan if np.isnan(gap).any() else ((gain > 0) + (gain == 0) / 2).mean()
            facts = {"value": values[a] - values[b], "low": low, "high": high}
            facts["p_better"] = share
            sure = low > EXACT if values[a] > values[b] else high < -EXACT
            facts["p_adjusted"] = 0.01 if sure else 0.5
            apart = {"separated": bool(sure)}
            names = {"a": shape.models[a], "b": shape.models[b]}
            plain = {key: cleaned(fact) for key, fact in facts.items()}
            yield {**here, **names, **plain, **apart}


def possible_ranks(values: Any, replicates: Any, *, higher: bool) -> Any:
    """First and last possible rank, when intervals of differences are all that is known."""
    turn, found = 1 if higher else -1, []
    for one, own in zip(replicates, values, strict=True):
        gaps = [np.quantile(turn * (other - one), [0.025, 0.975]) for other in replicates]
        above = sum(low > EXACT for low, _ in gaps)
        below = sum(high < -EXACT for _, high in gaps)
        known = (1 + above, len(values) - below)
        found.append((np.nan, np.nan) if np.isnan(own) else known)
    return found


def correlation(values: Any, *, higher: bool) -> dict[str, Any]:
    empty = dict.fromkeys(("spearman", "kendall_tau_b"))
    if np.isnan(values).any() or (np.ptp(values, axis=-1) == 0).any():
        return empty
    turn = 1 if higher else -1
    place = ranks(turn * values)
    signs = np.sign(place[:, :, None] - place[:, None, :]).reshape(2, -1)
    tau = (signs[0] @ signs[1]) / np.sqrt((signs[0] @ signs[0]) * (signs[1] @ signs[1]))
    found = (spearman(*place), tau)
    return dict(zip(empty, map(float, found), strict=True))


def spearman(first: Any, second: Any) -> float:
    if np.ptp(first) == 0 or np.ptp(second) == 0:
        return float("nan")
    return float(np.corrcoef(first, second)[0, 1])


def readers(shape: Shape) -> dict[str, list[dict[str, Any]]]:
    random = np.random.default_rng(shape.seed + 1)
    found: dict[str, list[dict[str, Any]]] = {"annotators": [], "truth": []}
    many = len(shape.classes) > 1
    for task in shape.tasks:
        rate = random.uniform(0.1, 0.35)
        votes = max(shape.annotators, 3)
        soft = (
            random.binomial(votes, random.beta(0.35, 0.35 / rate - 0.35, shape.items)) / votes
        )
        soft = np.maximum(soft, 1 - soft) if many else soft
        bins = np.ceil(np.round(soft * 20, 9)).astype(int).clip(1) - 1
        counts, edges = np.bincount(bins, minlength=20), np.linspace(0, 1, 21)
        for reader in range(shape.annotators):
            agreement = float(random.normal(0.8, 0.05)) if reader != 5 else None
            found["annotators"].append(
                {"task": task, "annotator": f"reader {reader + 1}", "votes": shape.items,
                 "base_rate": None if many else float(rate * random.uniform(0.6, 1.5)),
                 "agreement": agreement}
            )  # fmt: skip
        found["truth"].append(
            {"task": task, "items": shape.items, "votes": shape.items * votes,
             "votes_per_item": [votes, votes, votes], "positives_hard": int((soft > 0.5).sum()),
             "mean_soft": float(soft.mean()), "unanimous": int(np.isin(soft, (0, 1)).sum()),
             "classes": list(shape.classes), "single_vote": 0,
             "no_majority": int((soft == 0.5).sum()),
             "histogram": {"edges": edges.tolist(), "counts": counts.tolist()}}
        )  # fmt: skip
    return found


def influential(shape: Shape) -> Iterator[dict[str, Any]]:
    random = np.random.default_rng(shape.seed + 2)
    if len(shape.models) < 2:
        return
    for task in shape.tasks:
        for metric in shape.metrics:
            items = [
                {"item": "<script>alert(1)</script>" if i == 1 else f"view1_frontal_{i:04d}",
                 "soft_label": float(random.integers(0, 9) / 8), "votes": 8,
                 "position_a": float(random.random()), "position_b": float(random.random()),
                 "influence": float(0.004 / (i + 1) * (-1) ** i)}
                for i in range(10)
            ]  # fmt: skip
            yield {"task": task, "metric": metric["name"], "labels": "soft",
                   "a": shape.models[0], "b": shape.models[1], "items": items}  # fmt: skip
