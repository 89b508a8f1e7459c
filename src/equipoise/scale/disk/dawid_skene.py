"""Dawid-Skene on votes that stay on disk: one pass over them per step of EM.

The same model, start, prior and stop rule as `equipoise.truth.dawid_skene`. A pass takes
the class posterior of every item and adds it at once to the expected votes (annotators x
classes x classes), so that nothing is held per item. Sums of runs of partitions are added up in
their order: the result does not depend on how many workers there are, on which engine they run,
nor on whether the fit was killed in between. Not said on disk: whether the fit expects the
unanimity that is seen.
"""

import shutil
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from equipoise.read.files import AnyPath
from equipoise.read.writing import whole_folder
from equipoise.scale.disk.coded import Checkpoint, CodedVotes, Codes, code_votes, working_folder
from equipoise.scale.disk.soft_labels import part_path, write_facts, write_items
from equipoise.scale.disk.votes import VotesOnDisk
from equipoise.scale.engine import Progress
from equipoise.truth._annotator_votes import decisions, decisions_notice, exact
from equipoise.truth.dawid_skene import FLOOR, Fit, Smoothing, checked_fit, confusions
from equipoise.types.arrays import Floats, require_whole, short_repr
from equipoise.types.notices import Notice

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
        As for `equipoise.truth.dawid_skene`.
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
    made = FitOnDisk(
        folder=target,
        model="dawid_skene",
        method=f"Dawid-Skene ({variant.replace('_', '-')})",
        classes=votes.classes,
        annotators=known.annotators,
        skill=np.einsum("k,akk->a", classes, confusion),
        items=known.items,
        trace=tuple(trace),
        converged=still,
        notices=votes.notices,
    )
    made = _written(known, made, confusion, log, classes)
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


def _written(
    known: CodedVotes, made: FitOnDisk, confusion: Floats, log: Floats, classes: Floats
) -> FitOnDisk:
    """Write posteriors, annotators and facts."""
    every = [(t, a) for t in range(known.size) for a in range(known.size)]
    names = made.classes
    said = {f"{names[t]} as {names[a]}": confusion[:, t, a] for t, a in every}
    people = {"accuracy": made.skill, **said}
    one = partial(_write_posteriors, known.codes, log, _log_prior(classes), names)
    made = write_fit(known, made, one, people, "Dawid-Skene", classes)
    if made.converged:
        return made
    text = "Dawid-Skene did not converge: raise the iterations."
    return replace(made, notices=(*made.notices, Notice("not_converged", text)))


def _write_posteriors(
    codes: Codes, log: Floats, prior: Floats, names: tuple[str, ...], place: Path, number: int
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


def votes_of_items(rows: tuple[Any, Any, Any]) -> Any:
    """Weight of the votes of each item, given start, code and weight."""
    start, _, weight = rows
    if not len(weight):
        return np.diff(start)
    return np.diff(np.concatenate(([0.0], np.cumsum(weight)))[start])


def write_fit(
    known: CodedVotes,
    made: FitOnDisk,
    posteriors: Callable[[Path, int], Any],
    annotators: Mapping[str, Floats],
    title: str,
    classes: Floats | None = None,
) -> FitOnDisk:
    """Write what a fit says of items, annotators and itself; the fit, with its notices.

    Parameters
    ----------
    posteriors
        Writes those of one partition's items to a folder, and says how decisions moved.
    title
        What notices call the model.
    """
    import pyarrow as pa
    from pyarrow import parquet

    columns = {name: pa.array(np.ascontiguousarray(one)) for name, one in annotators.items()}
    table = pa.table({"annotator": known.votes.annotators, **columns})
    facts: dict[str, Any] = {
        "model": made.model,
        "method": made.method,
        "classes": made.classes,
        "items": made.items,
        "annotators": len(made.annotators),
        "converged": made.converged,
        "iterations": len(made.trace),
        "trace": made.trace,
    }
    if classes is not None:
        facts["class_prior"] = classes
    with whole_folder(made.folder) as scratch:
        place = scratch / "items"
        place.mkdir()
        found = known.votes.map(partial(posteriors, place), known.folder, place)
        parquet.write_table(table, scratch / "annotators.parquet", write_page_checksum=True)
        write_facts(scratch / "result.json", facts)
    decided = decisions_notice(np.sum(found, axis=0), made.classes, title)
    return replace(made, notices=(*made.notices, *decided))
