"""What `equipoise aggregate` found, as plain rows: what JSON prints and tables show."""

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from equipoise.annotations import Annotations
    from equipoise.plausibilities import Plausibilities

FOLDS = 5  # of held-out votes


class Fits(NamedTuple):
    """What was fitted: the chosen model's name, all models, and their held-out scores."""

    name: str
    task: str
    models: dict[str, "Plausibilities"]
    scores: dict[str, float]

    @property
    def made(self) -> "Plausibilities":
        """Plausibilities by the chosen model."""
        return self.models[self.name]


def facts(table: "Annotations", fits: Fits) -> dict[str, Any]:
    """Everything there is to show, as plain rows."""
    from equipoise.run.meaning import meaning

    made = fits.made
    sure, what = made.certainty, meaning(made)
    return {
        "kind": table.kind,
        "classes": list(made.classes),
        "gold_items": _gold(table, fits.task),
        "settings": settings(made.parameters),
        "certainty_is": what.words,
        "mean_certainty": float(sure.mean()) if what.doubt else None,
        "items_below_0.99": int((sure < 0.99).sum()),
        "items": _items(fits),
        "skill": None if made.skills is None else made.skills.meaning,
        "annotators": _annotators(table, made),
        "comparison": comparison(fits),
        "decisions": _decisions(fits),
        "skill_ranks": _skill_ranks(table, fits),
    }


def settings(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """What a model was told, as plain numbers and words.

    Examples
    --------
    >>> settings({"prior": "Smoothing(every=0.5, right=1.0)", "variant": "full"})
    {'prior': {'every': 0.5, 'right': 1.0}, 'variant': 'full'}
    """
    found: dict[str, Any] = {}
    for name, value in parameters.items():
        if isinstance(value, Mapping):
            found[name] = settings(value)
        elif isinstance(value, str) and re.fullmatch(r"\w+\((\w+=[^=,]+(, )?)+\)", value):
            pairs = re.findall(r"(\w+)=([^,)]+)", value)
            found[name] = {key: _number(text) for key, text in pairs}
        else:
            found[name] = value
    return found


def _number(text: str) -> float | str:
    try:
        return float(text)
    except ValueError:
        return text


def _gold(table: "Annotations", task: str) -> list[str]:
    """Items whose truth is known."""
    import numpy as np

    if table.is_gold is None:
        return []
    rows = table.in_task(task) & table.is_gold
    return [table.items[i] for i in np.unique(table.item[rows])]


def _items(fits: Fits) -> list[dict[str, Any]]:
    """A row per item: the classes that have any mass of their own, and all others together."""
    from equipoise.choosing import disagreement

    made = fits.made
    certainty, entropy = made.certainty, made.entropy
    mass, rest = made.mass.mean(axis=0), made.rest.mean(axis=0)
    apart = disagreement(fits.models) if len(fits.models) > 1 else None
    rows = []
    for i, item in enumerate(made.items):
        own = range(int(made.start[i]), int(made.start[i + 1]))
        rows.append(
            {
                "item": item,
                "certainty": float(certainty[i]),
                "entropy": float(entropy[i]),
                "models_apart": None if apart is None else float(apart[i]),
                "plausibility": {
                    made.classes[made.label[k]]: float(mass[k]) for k in own if mass[k] > 0
                },
                "others": max(0.0, float(rest[i])),
            }
        )
    return rows


def comparison(fits: Fits) -> list[dict[str, Any]]:
    """A row per model; a log-likelihood of minus infinity is the word -inf."""
    from equipoise.choosing import differ
    from equipoise.run.meaning import meaning

    rows = []
    for name, one in fits.models.items():
        score, what = fits.scores.get(name), meaning(one)
        rows.append(
            {
                "model": name,
                "held_out_log_likelihood": "-inf" if score == float("-inf") else score,
                "other_top_class": int(differ(one, fits.made).sum()),
                "mean_certainty": float(one.certainty.mean()) if what.doubt else None,
                "certainty_is": what.words,
            }
        )
    return rows


def _decisions(fits: Fits) -> list[dict[str, Any]]:
    from equipoise.choosing import decisions

    return [
        {"models": f"{one.first}, {one.second}", "items": one.items, "share": one.share}
        for one in decisions(fits.models)
    ]


def _skill_ranks(table: "Annotations", fits: Fits) -> list[dict[str, Any]]:
    """Rank correlations of skills, and who moves most: name, rank here, rank there."""
    from equipoise.choosing import skill_ranks
    from equipoise.choosing.cautions import FEW, vote_table

    if sum(one.skills is not None for one in fits.models.values()) < 2:
        return []
    judged = vote_table(table, fits.task).sum(axis=1) >= FEW
    return [
        {
            "models": f"{one.first}, {one.second}",
            "annotators": one.annotators,
            "rank_correlation": one.spearman,
            "move_most": [
                {"annotator": name, "ranks": [here, there]} for name, here, there in one.moved
            ],
        }
        for one in skill_ranks(fits.models, judged if judged.sum() > 2 else None)
    ]


def _annotators(table: "Annotations", made: "Plausibilities") -> list[dict[str, Any]]:
    from equipoise.evaluation.questions import questions
    from equipoise.run.describe import annotator_rows

    if table.annotators is None:
        return []
    if table.kind == "interval":
        return _raters(table, made.task)
    asked = [one for one in questions(table) if one.task == made.task]
    rows = annotator_rows(asked, table.annotators)
    skills = made.skills
    if skills is None:
        return rows
    found: dict[str, dict[str, float]] = {name: {} for name in skills.annotators}
    for title, values in (("skill", skills.value), ("low", skills.low), ("high", skills.high)):
        if values is not None:
            for name, value in zip(skills.annotators, values.tolist(), strict=True):
                found[name][title] = value
    return [{**row, **found[row["annotator"]]} for row in rows]


def _raters(table: "Annotations", task: str) -> list[dict[str, Any]]:
    """Number and mean of everybody's ratings, and how far they lie from those of all."""
    import numpy as np

    rows = np.flatnonzero(table.in_task(task))
    assert table.annotator is not None and table.value is not None
    who, item, value = table.annotator[rows], table.item[rows], table.value[rows]
    level = np.bincount(item, value) / np.maximum(np.bincount(item), 1)
    size = np.bincount(who)
    mean, lean = (
        np.bincount(who, one) / np.maximum(size, 1) for one in (value, value - level[item])
    )
    names = table.annotators or ()
    return [
        {
            "annotator": names[a],
            "votes": int(size[a]),
            "mean_rating": float(mean[a]),
            "above_the_item_mean": float(lean[a]),
        }
        for a in np.flatnonzero(size)
    ]
