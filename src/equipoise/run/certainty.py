"""Certainty: everything the page of one aggregation shows, as plain numbers and names.

The same annotations and the same fit give the same record; what is drawn is drawn from a fixed
seed, which the record names.
"""

from typing import Any

import numpy as np

from equipoise.annotations import Annotations
from equipoise.arrays import Ints
from equipoise.ballots import Ballots, ballots
from equipoise.evaluation.questions import questions
from equipoise.findings.json import plain
from equipoise.plausibilities import Plausibilities
from equipoise.run.ambiguity import certainty_row, ranked, voted
from equipoise.run.cases import SEED, cases
from equipoise.run.describe import annotator_rows
from equipoise.run.meaning import meaning
from equipoise.run.sweep import reliability_sweep


def truth_facts(
    annotations: Annotations, made: Plausibilities, *, task: str, sweep: bool = True
) -> dict[str, Any]:
    """Everything the page of one aggregation shows, ready for JSON.

    Parameters
    ----------
    annotations, made
        The annotations, and the plausibilities that a model made of them.
    task
        Which question.
    sweep
        Whether to fit again with other reliabilities, where the model has one.

    Examples
    --------
    >>> from equipoise.aggregate import dirichlet
    >>> votes = Annotations.from_counts(np.array([[3, 2], [9, 0]]))
    >>> facts = truth_facts(votes, dirichlet(votes), task="", sweep=False)
    >>> facts["certainty"]["below"], facts["certainty"]["ambiguous"][0]["item"]
    (1, '0')
    """
    votes = None if annotations.kind == "interval" else ballots(annotations, task)
    sizes = (
        _sizes(annotations, made, task) if votes is None else _votes(annotations, made, votes)
    )
    row = certainty_row(made, sizes)
    if votes is not None:
        names = annotations.classes, annotations.annotators or ()
        place = {annotations.items[code]: i for i, code in enumerate(votes.items)}
        for one in row["ambiguous"]:
            one |= voted(votes, names, place[one["item"]])
    return dict(
        plain(
            {
                "task": task,
                "kind": annotations.kind,
                "method": made.method,
                "law": None if made.law is None else made.law.name,
                "meaning": meaning(made).sentence,
                "items": len(made.items),
                "classes": len(made.classes),
                "votes": int(sizes.sum()),
                "seed": SEED,
                "certainty": row,
                "annotators": _people(annotations, made, task),
                "people": None
                if annotations.annotators is None
                else len(annotations.annotators),
                "draws": made.draws,
                "skill": None if made.skills is None else made.skills.meaning,
                "cases": cases(annotations, made, task, ranked(made.certainty, made.entropy)),
                "swept": sweep,
                "sweep": reliability_sweep(annotations, made, task) if sweep else None,
            }
        )
    )


def _votes(annotations: Annotations, made: Plausibilities, votes: Ballots) -> Ints:
    """Number of votes of each item."""
    size = dict(zip((annotations.items[i] for i in votes.items), votes.sizes, strict=True))
    return np.array([size[name] for name in made.items])


def _sizes(annotations: Annotations, made: Plausibilities, task: str) -> Ints:
    """Number of ratings of each item."""
    code = {name: number for number, name in enumerate(annotations.items)}
    rows = annotations.item[annotations.in_task(task)]
    total = np.bincount(rows, minlength=len(code))
    return total[[code[name] for name in made.items]]


def _people(annotations: Annotations, made: Plausibilities, task: str) -> list[dict[str, Any]]:
    """What is known of each annotator, with the skill that the model found."""
    if annotations.annotators is None or annotations.kind == "interval":
        return []
    asked = [one for one in questions(annotations) if one.task == task]
    rows = annotator_rows(asked, annotations.annotators)
    if made.skills is None:
        return rows
    place = {name: number for number, name in enumerate(made.skills.annotators)}
    columns = {"skill": made.skills.value, "low": made.skills.low, "high": made.skills.high}
    known = {name: values for name, values in columns.items() if values is not None}
    return [
        {
            **row,
            **{
                name: float(values[place[row["annotator"]]])
                for name, values in known.items()
                if row["annotator"] in place
            },
        }
        for row in rows
    ]
