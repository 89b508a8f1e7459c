"""Dawid-Skene on votes that stay on disk: one pass over them per step of EM.

The same model, start, prior and stop rule as `equipoise.aggregate.dawid_skene`. A pass takes
the class posterior of every item and adds it at once to the expected votes (annotators x
classes x classes), so that nothing is held per item. Sums of runs of partitions are added up in
their order: the result does not depend on how many workers there are, on which engine they run,
nor on whether the fit was killed in between. Not said on disk: whether the fit expects the
unanimity that is seen.
"""

import shutil
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from equipoise.aggregate._annotator_votes import decisions, decisions_notice, exact
from equipoise.aggregate.dawid_skene import FLOOR, Fit, Smoothing, checked_fit, confusions
from equipoise.arrays import Floats, require_whole, short_repr
from equipoise.disk.coded import Checkpoint, CodedVotes, Codes, code_votes, working_folder
from equipoise.disk.soft_labels import part_path, write_facts, write_items
from equipoise.disk.votes import VotesOnDisk
from equipoise.engine import Progress
from equipoise.notices import Notice
from equipoise.read.files import AnyPath
from equipoise.read.whole import whole_folder

EVERY = 10  # iterations between checkpoints


@dataclass(frozen=True, slots=True)
class OnDisk:
    """How a fit uses the disk.

    Attributes
    ----------
    work
        Folder of coded votes and checkpoints; by default the result's name with ``.work``.
    every
        Iterations between checkpoints.
    keep
        Whether the working folder stays, for another fit to the same votes.
    progress
        Called as ``progress(iterations, most)``.
    """

    work: Path | None = None
    every: int = EVERY
    keep: bool = False
    progress: Progress | None = None


@dataclass(frozen=True, slots=True, eq=False)
class FitOnDisk:
    """A fit to votes on disk, and where it was written.

    Attributes
    ----------
    folder
        ``items/part-*.parquet`` with item, votes and ``p_CLASS`` (and what else the model says
        of items), ``annotators.parquet`` and ``result.json``.
    model, method
        Name of the model, and in words.
    classes, annotators
        Names.
    skill
        Accuracy or ability of each annotator, shape (annotators,).
    items
        How many.
    trace, converged
        The bound after every iteration, and whether the last ones stood still.
    """

    folder: Path
    model: str
    method: str
    classes: tuple[str, ...]
    annotators: tuple[str, ...]
    skill: Floats
    items: int
    trace: tuple[float, ...]
    converged: bool
    notices: tuple[Notice, ...] = ()

    __repr__ = short_repr


@dataclass(frozen=True, slots=True, eq=False)
class _Sums:
    """Expected votes (codes, classes), class masses (classes,) and log-likelihood."""

    counts: Floats
    totals: Floats
    likelihood: float


def dawid_skene(
    votes: VotesOnDisk,
    out: AnyPath,
    *,
    variant: str = "full",
    smoothing: Smoothing | None = None,
    fit: Fit | None = None,
    disk: OnDisk | None = None,
) -> FitOnDisk:
    """Write the posterior class of every item, and the confusions of every annotator.

    Parameters
    ----------
    out
        A new folder, which appears once it is whole.
    variant, smoothing, fit
        As for `equipoise.aggregate.dawid_skene`.
    disk
        Where coded votes and checkpoints go, and how often; a killed fit goes on from there.
    """
    prior, stop = checked_fit(variant, smoothing, fit)
    how, target = disk or OnDisk(), Path(out)
    require_whole("dawid_skene, every", how.every, least=1)
    work = working_folder(target, how.work)
    known = code_votes(votes, work)
    settings = {"model": "dawid_skene", "variant": variant, "smoothing": asdict(prior)}
    checkpoint = Checkpoint(work, "dawid_skene", settings)
    sums, trace = _start(known, checkpoint)
    while True:
        counts = sums.counts.reshape(-1, known.size, known.size).transpose(0, 2, 1)
        confusion, penalty = confusions(counts, variant, prior)
        log = np.log(np.maximum(confusion, FLOOR))
        log = np.ascontiguousarray(exact(log).transpose(0, 2, 1).reshape(-1, known.size))
        classes = sums.totals / known.items
        following = _pass(known, log, _log_prior(classes))
        trace.append(following.likelihood + penalty)
        if how.progress is not None:
            how.progress(len(trace), stop.most)
        still = len(trace) > 1 and abs(trace[-1] - trace[-2]) <= stop.tolerance * abs(trace[-1])
        if still or len(trace) >= stop.most:
            break
        sums = following
        if len(trace) % how.every == 0:
            checkpoint.save(counts=sums.counts, totals=sums.totals, trace=np.array(trace))
    made = _written(known, target, (confusion, log, classes), trace, variant, converged=still)
    if not how.keep:
        shutil.rmtree(work)
    return made


def _start(known: CodedVotes, checkpoint: Checkpoint) -> tuple[_Sums, list[float]]:
    """The last checkpoint, or shares of votes in the place of posteriors."""
    held = checkpoint.load()
    if held is not None:
        return _Sums(held["counts"], held["totals"], 0.0), held["trace"].tolist()
    nothing = np.zeros(known.size)
    return _pass(known, np.zeros((0, known.size)), nothing), []


def _log_prior(classes: Floats) -> Floats:
    return exact(np.log(np.maximum(classes, 1e-300)))


def _pass(known: CodedVotes, log: Floats, prior: Floats) -> _Sums:
    """Read all votes once."""
    answers = len(known.annotators) * known.size
    one = partial(_add_up, known.codes, answers, log, prior)
    counts, totals, likelihood = np.zeros((answers, known.size)), np.zeros(known.size), 0.0
    for sums in known.map_groups(one, counts.size):
        counts += sums.counts
        totals += sums.totals
        likelihood += sums.likelihood
    return _Sums(counts, totals, likelihood)


def _add_up(codes: Codes, answers: int, log: Floats, prior: Floats, group: range) -> _Sums:
    """Read the votes of a run of partitions once."""
    from equipoise.kernels.disk import dawid_skene_pass

    size, likelihood = codes.size, 0.0
    counts, totals = np.zeros((answers, size)), np.zeros(size)
    for number in group:
        rows = codes.rows(number)
        likelihood += dawid_skene_pass(rows, log, prior, counts, totals)
    return _Sums(counts, totals, likelihood)


def _write_posteriors(
    codes: Codes, place: Path, log: Floats, prior: Floats, names: tuple[str, ...], number: int
) -> Any:
    """Write the posterior classes of one partition's items; how decisions moved."""
    from equipoise.kernels.disk import class_posteriors

    rows = codes.rows(number)
    shares = np.empty((len(rows[0]) - 1, codes.size))
    posterior = np.empty_like(shares)
    class_posteriors(rows, log, prior, shares, posterior)
    columns = {"votes": votes_of_items(rows)}
    columns |= {f"p_{name}": posterior[:, k] for k, name in enumerate(names)}
    write_items(part_path(place, number), codes.item_names(number), columns)
    return decisions(shares, posterior)


def _written(
    known: CodedVotes,
    target: Path,
    found: tuple[Floats, Floats, Floats],
    trace: list[float],
    variant: str,
    *,
    converged: bool,
) -> FitOnDisk:
    """Write posteriors, annotators and facts."""
    (confusion, log, classes), names = found, known.votes.classes
    with whole_folder(target) as scratch:
        place = scratch / "items"
        place.mkdir()
        prior = _log_prior(classes)
        one = partial(_write_posteriors, known.codes, place, log, prior, names)
        decided = np.sum(known.votes.map(one, known.folder, place), axis=0)
        notices = (*known.votes.notices, *decisions_notice(decided, names, "Dawid-Skene"))
        if not converged:
            text = "Dawid-Skene did not converge: raise the iterations."
            notices = (*notices, Notice("not_converged", text))
        accuracy = np.einsum("k,akk->a", classes, confusion)
        made = FitOnDisk(
            folder=target,
            model="dawid_skene",
            method=f"Dawid-Skene ({variant.replace('_', '-')})",
            classes=names,
            annotators=known.annotators,
            skill=accuracy,
            items=known.items,
            trace=tuple(trace),
            converged=converged,
            notices=notices,
        )
        every = [(t, a) for t in range(known.size) for a in range(known.size)]
        said = {f"{names[t]} as {names[a]}": confusion[:, t, a] for t, a in every}
        write_fit(scratch, known, made, {"accuracy": accuracy, **said}, classes)
    return made


def votes_of_items(rows: tuple[Any, Any, Any]) -> Any:
    """Weight of the votes of each item, given start, code and weight."""
    start, _, weight = rows
    if not len(weight):
        return np.diff(start)
    return np.diff(np.concatenate(([0.0], np.cumsum(weight)))[start])


def write_fit(
    folder: Path,
    known: CodedVotes,
    made: FitOnDisk,
    annotators: dict[str, Floats],
    classes: Floats | None = None,
) -> None:
    """Write what a fit says of annotators and of itself."""
    import pyarrow as pa
    from pyarrow import parquet

    columns = {name: pa.array(np.ascontiguousarray(one)) for name, one in annotators.items()}
    table = pa.table({"annotator": known.votes.annotators, **columns})
    parquet.write_table(table, folder / "annotators.parquet", write_page_checksum=True)
    facts: dict[str, Any] = {
        "model": made.model,
        "method": made.method,
        "classes": list(made.classes),
        "items": made.items,
        "annotators": len(made.annotators),
        "converged": made.converged,
        "iterations": len(made.trace),
        "trace": list(made.trace),
    }
    if classes is not None:
        facts["class_prior"] = classes.tolist()
    write_facts(folder / "result.json", facts)
