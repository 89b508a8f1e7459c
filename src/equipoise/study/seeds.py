"""Seeds: an evaluation of runs becomes one of methods, each the mean over its seeds.

Values, intervals, ranks and verdicts are of the mean of the metric over the runs of a method
(`equipoise.inference.intervals`). Resamples move by what other seeds would change, too. Scores
of items are means over the runs, which is what figures and analyses of single items see.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from equipoise.inference import seed_means
from equipoise.study.result import Evaluation, normal_values
from equipoise.types import (
    Floats,
    InputError,
    Notice,
    Notices,
    Predictions,
    duplicate_models,
    duplicate_notices,
    listed,
    name_order,
    nearest,
    notice,
)

_ONE_SEED = (
    "Chance has a part in {models:listed}, with one seed each: how far other seeds would move "
    "the values is unknown, and no part of the intervals. Give several seeds."
)
_MEANS = (
    "{models:listed}: values are means over {seeds} seeds; analyses that score items anew take "
    "the mean score over the seeds."
)
_REPEATED = "duplicate_models"


def average_runs(
    done: Evaluation, methods: Mapping[str, Sequence[str]], *, shared: bool = False
) -> Evaluation:
    """Methods in place of their runs; see `Evaluation.across_seeds`."""
    owner = _owners(done, methods)
    names = tuple(dict.fromkeys(owner.values()))
    place = {run: m for m, run in enumerate(done.models)}
    runs = [[place[run] for run in methods.get(name, (name,))] for name in names]
    members = {
        n: [done.models[m] for m in columns] for n, columns in zip(names, runs, strict=True)
    }
    cells = tuple(
        tuple(
            tuple(seed_means(cell, runs, shared=shared) for cell in both) for both in by_metric
        )
        for by_metric in done.cells
    )
    several = {name for name, method_runs in members.items() if len(method_runs) > 1}
    scores = tuple(_mean_scores(by_model, members) for by_model in done.scores)
    averaged = replace(
        done,
        models=names,
        values=np.stack([done.values[..., columns].mean(axis=-1) for columns in runs], axis=-1),
        replicates=_replicates(done, dict(zip(names, runs, strict=True)), shared=shared),
        cells=cells,
        scores=scores,
        decided=tuple(
            {owner[run]: yes for run, yes in decisions.items() if owner[run] not in several}
            for decisions in done.decided
        ),
        thresholds=tuple(
            row._replace(model=owner[row.model])
            for row in done.thresholds
            if owner[row.model] not in several
        ),
        predictions=_mean_predictions(done.predictions, members),
        notices=_notices(done, owner, scores, _seed_notices(methods)),
        _families={},
        _rows={},
    )
    if done.plan.kind != "influence":
        return averaged
    return replace(averaged, replicates=normal_values(cells, done.plan, names))


def _owners(done: Evaluation, methods: Mapping[str, Sequence[str]]) -> dict[str, str]:
    """The method of every run; a model that no method names is its own."""
    owner: dict[str, str] = {}
    for name, runs in methods.items():
        for run in runs:
            if run not in done.models or run in owner:
                raise InputError(
                    f"seeds of {name!r}",
                    f"{run!r}" + (" of two methods" if run in owner else ""),
                    f"runs among {listed(done.models, most=8)}, each of one method",
                    nearest(run, done.models),
                )
            owner[run] = name
        if not runs:
            raise InputError(f"seeds of {name!r}", "no run", "at least one", "name its runs")
    alone = [model for model in done.models if model not in owner]
    taken = [model for model in alone if model in methods]
    if taken:
        raise InputError(
            f"seeds of {taken[0]!r}",
            "a model of the same name that is none of its runs",
            "names of their own",
            "call the method otherwise, or count the model among its runs",
        )
    return {model: owner.get(model, model) for model in done.models}


def _mean_scores(
    scores: Mapping[str, Floats], members: Mapping[str, Sequence[str]]
) -> dict[str, Floats]:
    return {
        name: scores[runs[0]]
        if len(runs) == 1
        else np.mean([scores[run] for run in runs], axis=0)
        for name, runs in members.items()
    }


def _mean_predictions(
    predictions: Sequence[Predictions], members: Mapping[str, Sequence[str]]
) -> tuple[Predictions, ...]:
    """One per method and task: the mean over its runs, without a threshold of theirs."""
    means = []
    for name, runs in members.items():
        by_task: dict[str, list[Predictions]] = {}
        for model in predictions:
            if model.model in runs:
                by_task.setdefault(model.task, []).append(model)
        for parts in by_task.values():
            first = parts[0]
            if len(parts) == 1:
                means.append(replace(first, model=name))
                continue
            arrays = [model.aligned(first.items, first.classes) for model in parts]
            mean = np.mean(arrays, axis=0)
            means.append(replace(first, model=name, values=mean, threshold=None))
    return tuple(means)


def _replicates(done: Evaluation, runs: Mapping[str, Sequence[int]], *, shared: bool) -> Floats:
    """Means over runs, moved as far as the values of runs that are drawn anew.

    The stream belongs to the method's name, and its counts to the runs in the order of theirs;
    methods that share seeds share it, run by run as they are given. Counts n of K runs become
    weights (n - 1) / sqrt(K (K - 1)), which undoes that a sample drawn from K runs varies too
    little.
    """
    replicates = []
    for name, columns in runs.items():
        size = len(columns)
        if size == 1:
            replicates.append(done.replicates[..., columns[0], :])
            continue
        order = name_order([done.models[run] for run in columns])
        ordered = (
            columns if shared or order is None else [columns[place] for place in order.tolist()]
        )
        key = done.plan.key(f"seeds/{size}" if shared else f"seeds of {name}")
        random = np.random.default_rng(np.random.Philox(key=int(key)))
        drawn = random.multinomial(size, [1 / size] * size, size=done.plan.replicates)
        weight = (drawn - 1) / np.sqrt(size * (size - 1))
        mean = done.replicates[..., list(ordered), :].mean(axis=-2)
        replicates.append(mean + done.values[..., list(ordered)] @ weight.T)
    return np.stack(replicates, axis=-2)


def _seed_notices(methods: Mapping[str, Sequence[str]]) -> list[Notice]:
    alone = tuple(name for name, runs in methods.items() if len(runs) == 1)
    notices = [notice("one_seed", _ONE_SEED, models=alone)] if alone else []
    sizes = {len(runs): None for runs in methods.values() if len(runs) > 1}
    return notices + [
        notice(
            "seed_means",
            _MEANS,
            models=tuple(name for name, runs in methods.items() if len(runs) == size),
            seeds=size,
        )
        for size in sizes
    ]


def _notices(
    done: Evaluation,
    owner: Mapping[str, str],
    scores: Sequence[Mapping[str, Floats]],
    about_seeds: Sequence[Notice],
) -> Notices:
    """Notices of runs are those of their methods; copies are looked for among methods."""
    about_runs = [
        replace(
            earlier, about=tuple(dict.fromkeys(owner.get(word, word) for word in earlier.about))
        )
        for earlier in done.notices
        if earlier.code != _REPEATED
    ]
    tasks = [question.task for question in done.questions]
    copies = duplicate_notices(duplicate_models(zip(tasks, scores, strict=False)))
    return tuple(dict.fromkeys((*about_runs, *copies, *about_seeds)))
