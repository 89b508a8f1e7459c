"""equipoise compare: two models, side by side on the same items.

Two models of one study; or one model of each of two evaluations, whose items, votes and
question must be the same, because differences are paired item by item.
"""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import typer

from equipoise.cli._screen import progress, say
from equipoise.cli.asked import EvaluateOptions, EvaluationRequest, RunOutput
from equipoise.cli.options import DataFiles, ReadingOptions, StudyFiles, command
from equipoise.cli.study import CliStudy, read_study
from equipoise.cli.targets import check_run_folder
from equipoise.types.annotations import Annotations
from equipoise.types.arrays import InputError, listed, nearest
from equipoise.types.predictions import Predictions
from equipoise.types.words import Option, hint

FORMS = "A B with -a and -p or --dataset, RUN A B, RUN_A RUN_B, or RUN_A A RUN_B B"
CODED = {"item": "items", "task": "tasks", "annotator": "annotators", "label": "classes"}
NUMBERS = ("value", "rank", "count", "weight")


Models = Annotated[
    list[str],
    typer.Argument(
        metavar="[RUN] A B",
        help="Two models, after the folder of their evaluation if there is one; else give "
        "-a and -p, or --dataset. Of two evaluations: `RUN_A A RUN_B B`, without A and B "
        "where each has one model.",
    ),
]


class _Named(NamedTuple):
    """What was named: runs and models, in their order; None where a run has one model."""

    runs: tuple[Path, ...]
    models: tuple[str | None, str | None]


@command(heavy="maps")
def compare(
    models: Models,
    files: DataFiles,
    scoring: EvaluateOptions,
    reading: ReadingOptions,
    results: RunOutput,
) -> None:
    """The former name of `equipoise evaluate --pair A B`.

    It also takes one model of each of two evaluations, if both were judged on the same items
    and votes.

    Example: equipoise evaluate -a votes.csv -p scores.csv --pair resnet vit

    Example: equipoise compare old-run resnet new-run resnet --out comparison
    """
    from equipoise.cli.evaluate import run_evaluation

    say("compare is now evaluate --pair A B; the former name works for one more version.")
    named = _named(models, files)
    check_run_folder(results.out, overwrite=results.overwrite)
    with progress("reading") as tell:
        sides = [
            read_study(
                StudyFiles(
                    study=None if run is None else [run],
                    annotations=files.annotations,
                    predictions=files.predictions,
                    dataset=files.dataset,
                ),
                reading,
                [one.name for one in scoring.chosen()],
                out=results.out,
            )
            for run in named.runs or (None,)
        ]
        pair, study = _paired(named, sides, reading.on_missing)
        tell(1, 1)
    whole = EvaluationRequest(
        files=StudyFiles(dataset=files.dataset),
        scoring=replace(scoring, pair=pair),
        reading=reading,
        results=results,
    )
    run_evaluation(whole, study)


def _named(words: Sequence[str], files: DataFiles) -> _Named:
    """Read the words: models, or folders of evaluations and models."""
    from equipoise.read.writing import RUN

    apart = files.annotations is None and files.dataset is None
    held = [apart and (Path(word) / RUN).is_file() for word in words]
    if len(words) == 2 and all(held):
        return _Named((Path(words[0]), Path(words[1])), (None, None))
    if len(words) == 2 and not any(held):
        return _Named((), (words[0], words[1]))
    if len(words) == 3 and not held[2]:
        return _Named((Path(words[0]),), (words[1], words[2]))
    if len(words) == 4:
        return _Named((Path(words[0]), Path(words[2])), (words[1], words[3]))
    got = " ".join(words) if len(words) < 5 else f"{len(words)} names"
    raise typer.BadParameter(f"got {got}, expected two models: {FORMS}", param_hint="A B")


def _paired(
    named: _Named, sides: Sequence[CliStudy], on_missing: str
) -> tuple[tuple[str, str], CliStudy]:
    """The names of the two models and the study that holds both."""
    if len(named.runs) < 2:
        first, second = named.models
        return (str(first), str(second)), sides[0]
    unlike = _unlike(*(side.annotations for side in sides))
    if unlike:
        raise InputError(
            f"{named.runs[0]} and {named.runs[1]}",
            unlike,
            "the same items, votes and question: differences are paired item by item",
            "evaluate both models with the same annotations and options",
        )
    names = [
        _model(run, side, name)
        for run, side, name in zip(named.runs, sides, named.models, strict=True)
    ]
    pair = (names[0], names[1])
    if names[0] == names[1]:
        pair = (f"{names[0]} ({named.runs[0]})", f"{names[1]} ({named.runs[1]})")
    both = tuple(
        replace(one, model=new)
        for side, old, new in zip(sides, names, pair, strict=True)
        for one in side.predictions
        if one.model == old
    )
    if on_missing != "drop":
        _require_scored(pair, both)
    a, b = sides
    return pair, replace(
        a,
        predictions=both,
        metrics=_metrics(named.runs, sides),
        inputs=tuple({str(one): one for one in (*a.inputs, *b.inputs)}.values()),
        name=f"{named.runs[0].name}, {named.runs[1].name}",
        notices=tuple(dict.fromkeys((*a.notices, *b.notices))),
        resample=a.resample if a.resample == b.resample else None,
    )


def _model(run: Path, side: CliStudy, name: str | None) -> str:
    """The model that was named, or the only one of a run."""
    known = list(dict.fromkeys(one.model for one in side.predictions))
    if name is None and len(known) > 1:
        raise InputError(
            f"{run}",
            f"{len(known)} models ({listed(known)})",
            "one to compare",
            f"name one after each folder: compare {run} {known[0]} RUN_B B, or two models of "
            f"it: compare {run} {known[0]} {known[1]}",
        )
    if name is not None and name not in known:
        raise InputError(
            f"{run}, model",
            f"{name!r}",
            f"one of {listed(known, most=8)}",
            nearest(name, known),
        )
    return known[0] if name is None else name


def _metrics(runs: tuple[Path, ...], sides: Sequence[CliStudy]) -> tuple[str, ...]:
    """Metrics of both evaluations."""
    common = tuple(name for name in sides[0].metrics if name in sides[1].metrics)
    if not common:
        first, second = (", ".join(side.metrics) for side in sides)
        raise InputError(
            f"{runs[0]} and {runs[1]}",
            f"no metric in common ({first}; {second})",
            "one by which to compare",
            hint("name it: {}", Option("metric", "auroc")),
        )
    return common


def _unlike(a: Annotations, b: Annotations) -> str:
    """What differs between two tables, in words; nothing if they say the same."""
    if set(a.items) != set(b.items):
        shared = len(set(a.items) & set(b.items))
        return f"different items ({len(a.items):,} and {len(b.items):,}, {shared:,} in both)"
    for what in ("kind", "classes", "tasks"):
        ours, theirs = getattr(a, what), getattr(b, what)
        if ours != theirs:
            shown = [one if what == "kind" else listed(one) for one in (ours, theirs)]
            return f"different {what} ({shown[0]}; {shown[1]})"
    same = len(a) == len(b) and _votes(a) == _votes(b)
    return "" if same else "the same items with different votes"


def _votes(table: Annotations) -> list[tuple[Any, ...]]:
    """Every vote by the names behind its codes, in an order of its own."""
    columns: list[list[Any]] = []
    for codes, names in CODED.items():
        coded = getattr(table, codes)
        known = getattr(table, names)
        columns.append([""] * len(table) if coded is None else [known[k] for k in coded])
    for name in NUMBERS:
        column = getattr(table, name)
        columns.append([0.0] * len(table) if column is None else column.tolist())
    return sorted(zip(*columns, strict=True))


def _require_scored(pair: tuple[str, str], both: "tuple[Predictions, ...]") -> None:
    """Refuse models that scored different items, unless that was asked for."""
    first, second = (
        {(one.task, item) for one in both if one.model == name for item in one.items}
        for name in pair
    )
    if first != second:
        raise InputError(
            f"{pair[0]} and {pair[1]}",
            f"different items were scored ({len(first):,} and {len(second):,}, "
            f"{len(first & second):,} by both)",
            "the same items: differences are paired",
            hint("score them all, or {}", Option("on_missing", "drop")),
        )
