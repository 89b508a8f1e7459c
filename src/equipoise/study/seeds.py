"""Seeds: an evaluation of runs becomes one of methods, each the mean over its seeds.

Values, intervals, ranks and verdicts are of the mean of the metric over the runs of a method
(`equipoise.inference.intervals`). Resamples move by what other seeds would change, too. Scores
of items are means over the runs, which is what figures and analyses of single items see.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from equipoise.inference import seed_means
from equipoise.study.alignment import Aligned
from equipoise.study.influence import influential_of_tasks
from equipoise.study.result import Evaluation, normal_values
from equipoise.types.arrays import Floats, InputError, listed, name_order, nearest
from equipoise.types.notices import Notice, notice
from equipoise.types.predictions import Predictions, duplicate_models, duplicate_notices

_ONE_SEED = (
    "Chance has a part in {models:listed}, with one seed each: how far other seeds would move "
    "the values is unknown, and no part of the intervals. Give several seeds."
)
_MEANS = (
    "{models:listed}: values are means over {seeds} seeds; analyses that score items anew take "
    "the mean score over the seeds."
)
_SAID_ANEW = "duplicate_models"


def average_runs(
    done: Evaluation, methods: Mapping[str, Sequence[str]], *, shared: bool = False
) -> Evaluation:
    """Methods in place of their runs; see `Evaluation.across_seeds`."""
    owner = _owners(done, methods)
    names = tuple(dict.fromkeys(owner.values()))
    place = {run: m for m, run in enumerate(done.models)}
    runs = [[place[run] for run in methods.get(name, (name,))] for name in names]
    members = {n: [done.models[m] for m in own] for n, own in zip(names, runs, strict=True)}
    cells = tuple(
        tuple(tuple(seed_means(one, runs, shared=shared) for one in both) for both in each)
        for each in done.cells
    )
    several = {name for name, own in members.items() if len(own) > 1}
    scores = tuple(_mean_scores(each, members) for each in done.scores)
    made = replace(
        done,
        models=names,
        values=np.stack([done.values[..., own].mean(axis=-1) for own in runs], axis=-1),
        replicates=_replicates(done, dict(zip(names, runs, strict=True)), shared=shared),
        cells=cells,
        scores=scores,
        decided=tuple(
            {owner[run]: yes for run, yes in each.items() if owner[run] not in several}
            for each in done.decided
        ),
        thresholds=tuple(
            one._replace(model=owner[one.model])
            for one in done.thresholds
            if owner[one.model] not in several
        ),
        predictions=_mean_predictions(done.predictions, members),
        influential=(),
        notices=_notices(done, owner, scores, _said_of_seeds(methods)),
        _families={},
        _rows={},
    )
    if done.plan.kind == "influence":
        made = replace(made, replicates=normal_values(made.cells, made.plan, names))
    aligned = [Aligned(*one) for one in zip(made.questions, made.scores, strict=False)]
    found = influential_of_tasks(
        aligned,
        made.metrics,
        made.values,
        lambda t, metric: [metric.prepare(aligned[t].scores[name]) for name in names],
    )
    return replace(made, influential=found)


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
        name: scores[own[0]] if len(own) == 1 else np.mean([scores[run] for run in own], axis=0)
        for name, own in members.items()
    }


def _mean_predictions(
    given: Sequence[Predictions], members: Mapping[str, Sequence[str]]
) -> tuple[Predictions, ...]:
    """One per method and task: the mean over its runs, without a threshold of theirs."""
    made = []
    for name, own in members.items():
        by_task: dict[str, list[Predictions]] = {}
        for one in given:
            if one.model in own:
                by_task.setdefault(one.task, []).append(one)
        for parts in by_task.values():
            first = parts[0]
            if len(parts) == 1:
                made.append(replace(first, model=name))
                continue
            every = [one.aligned(first.items, first.classes) for one in parts]
            mean = np.mean(every, axis=0)
            made.append(replace(first, model=name, values=mean, threshold=None))
    return tuple(made)


def _replicates(done: Evaluation, runs: Mapping[str, Sequence[int]], *, shared: bool) -> Floats:
    """Means over runs, moved as far as the values of runs that are drawn anew.

    The stream belongs to the method's name, and its counts to the runs in the order of theirs;
    methods that share seeds share it, run by run as they are given. Counts n of K runs become
    weights (n - 1) / sqrt(K (K - 1)), which undoes that a sample drawn from K runs varies too
    little.
    """
    made = []
    for name, given in runs.items():
        size = len(given)
        if size == 1:
            made.append(done.replicates[..., given[0], :])
            continue
        order = name_order([done.models[run] for run in given])
        own = given if shared or order is None else [given[place] for place in order.tolist()]
        key = done.plan.key(f"seeds/{size}" if shared else f"seeds of {name}")
        random = np.random.default_rng(np.random.Philox(key=int(key)))
        drawn = random.multinomial(size, [1 / size] * size, size=done.plan.replicates)
        weight = (drawn - 1) / np.sqrt(size * (size - 1))
        mean = done.replicates[..., list(own), :].mean(axis=-2)
        made.append(mean + done.values[..., list(own)] @ weight.T)
    return np.stack(made, axis=-2)


def _said_of_seeds(methods: Mapping[str, Sequence[str]]) -> list[Notice]:
    alone = tuple(name for name, runs in methods.items() if len(runs) == 1)
    said = [notice("one_seed", _ONE_SEED, models=alone)] if alone else []
    sizes = {len(runs): None for runs in methods.values() if len(runs) > 1}
    return said + [
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
    said: Sequence[Notice],
) -> tuple[Notice, ...]:
    """Notices of runs are those of their methods; copies are looked for among methods."""
    kept = [
        replace(one, about=tuple(dict.fromkeys(owner.get(word, word) for word in one.about)))
        for one in done.notices
        if one.code != _SAID_ANEW
    ]
    tasks = [one.task for one in done.questions]
    copies = duplicate_notices(duplicate_models(zip(tasks, scores, strict=False)))
    return tuple(dict.fromkeys((*kept, *copies, *said)))
