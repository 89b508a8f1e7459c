"""Record: turn an evaluation into the header of a run.

Nothing in it depends on when or where it was made: the same inputs and seed give the same
bytes, as long as the files lie in the same way around the folder of the run.
"""

import hashlib
import math
import os
import platform
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from equipoise.analyses.annotators import annotator_rows
from equipoise.analyses.certainty import vote_certainty
from equipoise.evaluation import LABELS, Evaluation
from equipoise.run.describe import truth_row
from equipoise.run.distributions import distributions
from equipoise.run.folder import SCHEMA, Run


@dataclass(frozen=True, slots=True)
class Provenance:
    """Where an evaluation comes from.

    Attributes
    ----------
    title
        Heading of the page.
    inputs
        What was read: role, name, hash and size of each, see `hashed`.
    annotators
        Names behind the annotator codes; empty for anonymous votes.
    soft, hard
        How soft and hard labels were made.
    simulated
        A sentence to show first when any part of the data is simulated.
    question
        How the labels were read, for the record: kind, classes, positive class, and so on.
    truth_model
        How the truth was made where it is not the votes themselves: method, parameters.
    dataset
        The public data set that was read in place of files: name, title, licence, citation.
    """

    title: str = "Evaluation"
    inputs: tuple[dict[str, Any], ...] = ()
    annotators: tuple[str, ...] = ()
    soft: str = "mean vote"
    hard: str = "strict majority"
    simulated: str | None = None
    question: Mapping[str, Any] = field(default_factory=dict)
    truth_model: Mapping[str, Any] = field(default_factory=dict)
    dataset: Mapping[str, Any] = field(default_factory=dict)


def hashed(
    role: str, paths: Sequence[Path], home: Path | None = None
) -> tuple[dict[str, Any], ...]:
    """Name, hash and size of the files that were read.

    Parameters
    ----------
    home
        The folder that results are written to, if they are: each row then has the ``path``
        from there to its file, so that the file is found again.
    """
    rows = []
    for path in paths:
        data = Path(path).read_bytes()
        digest = hashlib.sha256(data).hexdigest()
        facts = {"role": role, "name": path.name, "sha256": digest, "bytes": len(data)}
        rows.append(facts if home is None else facts | {"path": route(home, path)})
    return tuple(rows)


def route(home: Path, path: Path) -> str:
    """The way from a folder to a file, with slashes; absolute only where there is no other.

    Examples
    --------
    >>> route(Path("pages/study"), Path("data/votes.csv"))
    '../../data/votes.csv'
    """
    try:
        return Path(os.path.relpath(path, home)).as_posix()
    except ValueError:  # on another drive
        return Path(path).absolute().as_posix()


def record(evaluation: Evaluation, provenance: Provenance) -> Run:
    """Make the run of an evaluation."""
    names = [metric.name for metric in evaluation.metrics]
    where = [(task, name) for task in evaluation.tasks for name in names]
    header: dict[str, Any] = {
        "schema": 1,
        "title": provenance.title,
        "simulated": provenance.simulated,
        "equipoise": version("equipoise"),
        "versions": _versions(),
        **({"dataset": dict(provenance.dataset)} if provenance.dataset else {}),
        "inputs": list(provenance.inputs),
        "question": dict(provenance.question),
        "truth_model": dict(provenance.truth_model),
        "settings": _settings(evaluation, provenance),
        "tasks": list(evaluation.tasks),
        "models": list(evaluation.models),
        "labels": list(LABELS),
        "metrics": [_metric(evaluation, name) for name in names],
        "rows": _rows(evaluation),
        "differences": [
            one._asdict()
            for task, name in where
            for labels in LABELS
            for one in evaluation.differences(name, labels=labels, task=task)
        ],
        "rank_probabilities": _rank_probabilities(evaluation, where),
        "rank_correlation": [
            evaluation.rank_correlation(name, task=task)._asdict() for task, name in where
        ],
        "annotators": annotator_rows(evaluation.questions, provenance.annotators),
        "truth": [truth_row(question) for question in evaluation.questions],
        "certainty": _certainty(evaluation, provenance),
        "influential": _influential(evaluation),
        **distributions(evaluation, provenance.annotators),
        "notices": list(evaluation.notices),
    }
    header["schema"] = SCHEMA if endless(header) else 1
    return Run(plain(header), evaluation.replicates.astype(np.float64, copy=False))


def plain(value: Any) -> Any:
    """Make a value JSON can hold: arrays become lists, undefined numbers null.

    Infinite numbers become the words "inf" and "-inf".

    Examples
    --------
    >>> plain({"a": np.array([1.0, np.nan, np.inf])})
    {'a': [1.0, None, 'inf']}
    """
    if type(value) is str or type(value) is int:  # most values of a long table
        return value
    if isinstance(value, dict):
        return {key: plain(one) for key, one in value.items()}
    if isinstance(value, np.ndarray | list | tuple):
        return [plain(one) for one in value]
    if isinstance(value, np.generic):
        return plain(value.item())
    if isinstance(value, float) and not math.isfinite(value):
        return None if math.isnan(value) else str(value)
    return value


def endless(value: Any) -> bool:
    """Whether a value holds an infinite number.

    Examples
    --------
    >>> endless({"a": [np.array([1.0, np.inf])]}), endless(["inf", math.nan])
    (True, False)
    """
    if isinstance(value, dict):
        return any(endless(one) for one in value.values())
    if isinstance(value, np.ndarray):
        return value.dtype.kind == "f" and bool(np.isinf(value).any())
    if isinstance(value, list | tuple):
        return any(endless(one) for one in value)
    return isinstance(value, float) and math.isinf(value)


def _versions() -> dict[str, str]:
    packages = ("numpy", "numba", "scipy", "pyarrow")
    return {"python": platform.python_version(), **{name: version(name) for name in packages}}


def _settings(evaluation: Evaluation, provenance: Provenance) -> dict[str, Any]:
    plan = evaluation.plan
    redrawn = plan.over_items or plan.kind == "influence"
    group = None
    if redrawn and plan.group is not None:
        group = f"{int(plan.group.max()) + 1} groups of items"
    return {
        "resample": plan.kind,
        "resample_reason": plan.reason,
        "replicates": plan.replicates,
        "seed": plan.seed,
        "plan": plan.fingerprint,
        "level": evaluation.level,
        "interval": evaluation.interval,
        "soft": provenance.soft,
        "hard": provenance.hard,
        "group": group,
        "scope": plan.scope,
        "items_redrawn": redrawn,
    }


def _metric(evaluation: Evaluation, name: str) -> dict[str, Any]:
    metric = next(one for one in evaluation.metrics if one.name == name)
    facts = ("name", "title", "soft_title", "better", "bounds", "definition", "labels")
    return {fact: getattr(metric, fact) for fact in facts}


def _rows(evaluation: Evaluation) -> list[dict[str, Any]]:
    rows = []
    for row in evaluation.table():
        estimate = evaluation.estimate(row.model, row.metric, labels=row.labels, task=row.task)
        extra = {"shift": estimate.shift, "undefined_share": estimate.undefined}
        rows.append({**row._asdict(), **extra})
    return rows


def _rank_probabilities(
    evaluation: Evaluation, where: list[tuple[str, str]]
) -> list[dict[str, Any]]:
    return [
        {
            "task": task,
            "metric": name,
            "labels": labels,
            "matrix": evaluation.rank_probabilities(name, labels=labels, task=task),
        }
        for task, name in where
        for labels in LABELS
    ]


def _certainty(evaluation: Evaluation, provenance: Provenance) -> list[dict[str, Any]]:
    every = [vote_certainty(one, provenance.annotators) for one in evaluation.questions]
    return [one.as_json() for one in every if one is not None]


def _influential(evaluation: Evaluation) -> list[dict[str, Any]]:
    found = []
    for one in evaluation.influential:
        facts = asdict(one)
        columns = ("items", "soft_label", "votes", "position_a", "position_b", "influence")
        table = zip(*(facts[name] for name in columns), strict=True)
        keys = ("item", *columns[1:])
        found.append(
            {
                **{key: facts[key] for key in ("task", "metric", "a", "b")},
                "labels": "soft",
                "items": [dict(zip(keys, row, strict=True)) for row in table],
            }
        )
    return found
