"""Folders of Parquet partitions that stay on disk: what the verbs do with them.

A folder is left on disk with `--on-disk`, or where its partitions lie in folders ``key=value``
or hold more votes than one reads at once. What needs all votes in memory is refused.
"""

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, cast

import equipoise
from equipoise.cli.help import metric_names
from equipoise.cli.options import (
    DEFAULTS,
    Options,
    class_names,
    column_map,
    flag,
    non_default,
)
from equipoise.cli.screen import note, output, print_json, progress, say
from equipoise.metrics import named
from equipoise.read.files import file_sha256
from equipoise.read.writing import check_folder, way_to, write_text
from equipoise.report.terminal import show
from equipoise.scale import disk
from equipoise.scale.disk import EvaluationOnDisk, VotesOnDisk, open_votes
from equipoise.truth.agreement import krippendorff_words
from equipoise.types import (
    Column,
    Finding,
    InputError,
    Report,
    Table,
    columns,
    count,
    estimate,
    listed,
    number,
    plain,
)
from equipoise.types.annotations import Kind

OF_READING = ("kind", "classes", "columns")
OF_AGGREGATE = ("model", "reliability", "prior", "tasks", "out", "overwrite", "as_json")
OF_AGREEMENT = ("alpha_level", "task", "as_json")
OF_EVALUATE = ("metrics", "level", "positive", "out", "overwrite", "as_json")
ALWAYS = (
    *("study", "annotations", "predictions", "files", "dataset", "on_disk"),
    *("engine", "address", "workers"),
)  # what is read, and where it is worked on
_RESULT = "evaluation.json"


def _refuse(options: Options, allowed: Sequence[str]) -> None:
    """Refuse options that need all votes in memory."""
    for name in non_default(options, [name for name in DEFAULTS if name not in ALWAYS]):
        if name in allowed or getattr(options, name) in (None, False, [], ()):
            continue
        can = ", ".join(flag(name) for name in allowed if name != "as_json") or "--json"
        do = "leave it out, or give files that fit in memory"
        raise InputError(flag(name), "votes that stay on disk", f"only {can}", do)


def _open(paths: Sequence[Path] | None, options: Options, task: str | None) -> VotesOnDisk:
    """Open the one folder of votes."""
    if not paths or len(paths) != 1:
        got = f"{len(paths or ())} of them"
        raise InputError("votes on disk", got, "one folder of partitions", "name the folder")
    with progress("looking at the votes"):
        return open_votes(
            paths[0],
            classes=class_names(options.classes) or None,
            columns=column_map(options.columns, "columns"),
            kind=cast("Kind | None", options.kind),
            task=task,
        )


def aggregate_on_disk(options: Options) -> None:
    """Write what is plausibly true of every item of a folder of votes."""
    _refuse(options, (*OF_AGGREGATE, *OF_READING))
    folder = None if options.out is None or options.out.suffix else options.out
    if folder is None:
        got = "nothing" if options.out is None else f"a file, {options.out.name}"
        do = "add --out FOLDER: votes on disk have results on disk"
        raise InputError("--out", got, "a folder for the partitions of items", do)

    check_folder(folder, ("result.json",), overwrite=options.overwrite)
    if len(options.tasks or ()) > 1:
        got, do = f"{len(options.tasks or ())} tasks", "ask for one after another"
        raise InputError("--task", got, "one task of votes on disk", do)
    name = "dirichlet" if options.model == "auto" else options.model
    if name not in ("mean_vote", "dirichlet", "dawid_skene", "glad"):
        expected = "mean_vote, dirichlet, dawid_skene or glad"
        do = "choose one of these, or give files that fit in memory"
        raise InputError(f"--model {name}", "votes that stay on disk", expected, do)
    if name != "dirichlet" and (options.reliability, options.prior) != (None, None):
        which = "--reliability" if options.reliability is not None else "--prior"
        raise InputError(which, f"the model {name}", "dirichlet", "leave it out")
    votes = _open(options.annotations, options, options.tasks[0] if options.tasks else None)
    with progress(name) as tell:
        if name in ("mean_vote", "dirichlet"):
            fitted: Any = disk.soft_labels(
                votes,
                folder,
                model=name,
                reliability=1.0 if options.reliability is None else options.reliability,
                prior=_prior(options.prior),
                progress=tell,
            )
        else:
            fit = disk.dawid_skene if name == "dawid_skene" else disk.glad
            fitted = fit(votes, folder, disk=disk.OnDisk(progress=tell))
    note(fitted.notices)
    facts = json.loads((folder / "result.json").read_text(encoding="utf-8"))
    facts["folder"] = str(folder)
    _deliver(options, votes, _aggregated(fitted), facts, fitted.items)
    if not options.as_json:
        wrote = sorted({path.name for path in folder.iterdir() if path.is_file()})
        say(f"Wrote {folder}: items/part-*.parquet, {', '.join(wrote)}")


def _prior(prior: str | None) -> str | float:
    if prior is None:
        return "empirical"
    try:
        return float(prior)
    except ValueError:
        return prior


def _aggregated(fitted: Any) -> Finding:
    """What a fit to votes on disk says in a sentence."""
    if hasattr(fitted, "agreement"):
        agreement = fitted.agreement
        sentence = (
            f"{fitted.method}: soft labels of {count(fitted.items, 'item')} from "
            f"{count(fitted.votes, 'vote')}; Krippendorff’s alpha ({agreement.level}) "
            f"{estimate(agreement.alpha, agreement.low, agreement.high)}."
        )
    else:
        state = "converged" if fitted.converged else "did not converge"
        skill = "accuracy" if fitted.model == "dawid_skene" else "ability"
        ends = " to ".join(number(one, 2) for one in (fitted.skill.min(), fitted.skill.max()))
        sentence = (
            f"{fitted.method} {state} after {count(len(fitted.trace), 'iteration')}: "
            f"{count(fitted.items, 'item')}, {count(len(fitted.annotators), 'annotator')} with "
            f"{skill} {ends}."
        )
    return Finding(key="truth", title="What is plausibly true?", sentence=sentence)


def agreement_on_disk(options: Options) -> None:
    """Measure Krippendorff's alpha of a folder of votes."""
    _refuse(options, (*OF_AGREEMENT, *OF_READING))
    votes = _open(options.annotations, options, options.task)
    with progress("agreement") as tell:
        alpha = disk.agreement(votes, level=options.alpha_level, progress=tell)
    note(votes.notices)
    sentence = (
        f"Krippendorff’s alpha ({alpha.level}) is "
        f"{estimate(alpha.alpha, alpha.low, alpha.high)}: {krippendorff_words(alpha.alpha)}. "
        f"It rests on {count(alpha.votes, 'vote')} on {count(alpha.items, 'item')} with at "
        "least two."
    )
    title = "How far do annotators agree?"
    finding = Finding(key="agreement", title=title, sentence=sentence)
    _deliver(options, votes, finding, {"task": votes.task, **alpha._asdict()}, alpha.items)


def evaluate_on_disk(options: Options, paths: Sequence[Path]) -> None:
    """Score the models of a folder of scores against a folder of votes."""
    _refuse(options, (*OF_EVALUATE, *OF_READING))
    if len(paths) != 2:
        do = "equipoise evaluate VOTES SCORES, or -a VOTES -p SCORES"
        got = f"{len(paths)} folders"
        raise InputError("evaluate on disk", got, "one of votes and one of scores", do)
    if options.out is not None:
        check_folder(options.out, (_RESULT,), overwrite=options.overwrite)
    votes = _open(paths[:1], options, None)
    scores = disk.open_scores(paths[1], item=votes.columns["item"])
    level = options.level
    with progress("merging scores"):
        evaluation = disk.evaluate(
            votes,
            scores,
            metrics=metric_names(options.metrics) or ["auroc"],
            positive=options.positive,
            level=level,
        )
    note(evaluation.notices)
    facts = _evaluation_json(evaluation) | {
        "level": level,
        "equipoise": equipoise.__version__,
        "votes": _listed(votes.folder),
        "scores": _listed(Path(paths[1])),
    }
    if options.out is not None:
        text = json.dumps(plain(facts), indent=1, allow_nan=False)
        with way_to(options.out / _RESULT):
            write_text(options.out / _RESULT, f"{text}\n")
    _deliver(options, votes, _evaluated(evaluation), facts, evaluation.items)
    if options.out is not None and not options.as_json:
        say(f"Wrote {options.out / _RESULT}; pages need votes that fit in memory")


def _listed(folder: Path) -> list[dict[str, str | int]]:
    """The files of a folder by their content, by which a result can be told to be of them."""
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    return [
        {
            "file": path.relative_to(folder).as_posix(),
            "bytes": path.stat().st_size,
            "sha256": file_sha256(path),
        }
        for path in files
    ]


def check_on_disk(paths: Sequence[Path] | None, options: Options) -> None:
    """Say how a folder of votes is read, and whether its partitions are cut by item."""
    _refuse(options, (*OF_READING, "as_json", "verbose"))
    votes = _open(paths, options, None)
    named = "annotator" in votes.columns
    sizes = [part.rows for part in votes.partitions]
    facts = {
        "partitions": len(sizes),
        "rows": votes.rows,
        "largest_partition": max(sizes),
        "kind": votes.scale.kind,
        "classes": list(votes.classes),
        "annotators": len(votes.annotators) if named else None,
        "columns": dict(votes.columns),
        "cut_by_item": votes.apart(),
    }
    note(votes.notices)
    cut = (
        "By their footers no item lies in two partitions."
        if facts["cut_by_item"]
        else "Whether an item lies in two partitions is seen when the votes are read."
    )
    people = f", {count(len(votes.annotators), 'annotator')}" if named else ", anonymous"
    sentence = (
        f"{count(votes.rows, 'row')} in {count(len(sizes), 'partition')} of at most "
        f"{count(max(sizes), 'row')}: {votes.scale.kind} votes for "
        f"{', '.join(votes.classes)}{people}. {cut}"
    )
    finding = Finding(key="votes", title="How are the votes read?", sentence=sentence)
    _deliver(options, votes, finding, facts)


def _evaluation_json(evaluation: EvaluationOnDisk) -> dict[str, Any]:
    people = evaluation.population
    return {
        "labels": "soft",
        "positive": evaluation.positive,
        "items": evaluation.items,
        "models": [row._asdict() for row in evaluation.models],
        "differences": [row._asdict() for row in evaluation.gaps],
        "population": {**asdict(people), "reason": people.reason.value, "whom": people.whom},
    }


def _evaluated(evaluation: EvaluationOnDisk) -> Finding:
    """All models, best first by every metric in turn."""
    rows = []
    for name in evaluation.cells:
        metric = named(name)
        sign = -1 if metric.better == "higher" else 1
        scores = sorted(
            (score for score in evaluation.models if score.metric == name),
            key=lambda score: sign * score.value,
        )
        rows += [{**score._asdict(), "metric": metric.soft_title} for score in scores]
    several, title = len(evaluation.cells) > 1, rows[0]["metric"]
    table = Table(
        name="models",
        caption=f"{'Soft labels' if several else title[0].upper() + title[1:]}, best first",
        columns=(
            *([Column("metric", "metric", "text")] if several else []),
            Column("model", "model", "model"),
            Column("value", "value" if several else title, "number", ("low", "high")),
            *columns(best_rank="count", worst_rank="count"),
        ),
        rows=rows,
    )
    return Finding(
        key="models",
        title="Which model is better?",
        sentence=f"{_verdict(evaluation)} {evaluation.population.scope} Soft labels: shares of "
        f"votes for {evaluation.positive}. Ranks are the best and the worst that no pair of "
        "models rules out.",
        tables=(table,),
    )


def _verdict(evaluation: EvaluationOnDisk) -> str:
    """Which models may be the best, by the first metric."""
    first = next(iter(evaluation.cells))
    scores = [score for score in evaluation.models if score.metric == first]
    best = [score.model for score in scores if score.best_rank == 1]
    by = f"by {named(first).soft_title}"
    if len(scores) == 1:
        return ""
    if len(best) == 1:
        return f"{best[0]} is the best of {len(scores)} models {by}."
    if len(best) == len(scores):
        return f"The {len(scores)} models cannot be told apart {by}."
    return f"{len(best)} of {len(scores)} models may be the best {by}: {listed(best)}."


def _deliver(
    options: Options,
    votes: VotesOnDisk,
    finding: Finding,
    facts: dict[str, Any],
    items: int | None = None,
) -> None:
    """Print what was found of a folder of votes, or its facts as JSON."""
    if options.as_json:
        print_json(facts)
        return
    question = f"{finding.title[:1].lower()}{finding.title[1:]}"
    known = () if items is None else (count(items, "item"),)
    title = f"{votes.folder.name}: {question}"
    show(output(), Report(title=title, findings=(finding,), known=known))
