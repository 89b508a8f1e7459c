"""Dawid-Skene and GLAD on votes that stay on disk: one pass over them per step.

The fits are those of `equipoise.truth`, over blocks of coded votes. Sums of runs of partitions
are added up in their order: the result does not depend on how many workers there are, on which
engine they run, nor on whether the fit was killed in between. Dawid-Skene holds nothing per
item. Items of GLAD have two numbers each, mean and variance, in files beside the coded votes; a
sweep reads one set of them and writes another, so that what a killed worker had begun can be
done again. A checkpoint is a set that no later sweep touches, and the annotators that belong to
it. Not said on disk: whether the fit expects the unanimity that is seen.
"""

import shutil
from collections.abc import Callable, Mapping
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from equipoise.read import codec
from equipoise.read.files import AnyPath, content
from equipoise.read.writing import whole_folder
from equipoise.scale.disk.coded import (
    AGAIN,
    Checkpoint,
    CodedVotes,
    Codes,
    code_votes,
    part_path,
    working_folder,
    write_facts,
    write_items,
)
from equipoise.scale.disk.votes import VotesOnDisk
from equipoise.truth.ability import (
    GladClimb,
    GladFit,
    GladPrior,
    ItemStates,
    VoteGraph,
    checked_glad_fit,
    checked_prior,
    climb_notices,
    difficulty,
    item_parts,
    scaled_items,
    separate_groups,
    small_panel,
)
from equipoise.truth.blocks import Block, decisions, decisions_notice
from equipoise.truth.confusion import (
    Expected,
    Fit,
    Smoothing,
    checked_fit,
    climb_votes,
    confusions,
    log_confusions,
)
from equipoise.types import (
    ONE_CLASS,
    Floats,
    InputError,
    Names,
    Notice,
    Notices,
    Progress,
    hint,
    immutable,
    require_whole,
    short_repr,
)

EVERY = 10  # iterations between checkpoints


@immutable
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

    def tell(self, done: int, most: int) -> None:
        """Tell how far a fit is."""
        if self.progress is not None:
            self.progress(done, most)


@immutable(eq=False)
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
    classes: Names
    annotators: Names
    skill: Floats
    items: int
    trace: tuple[float, ...]
    converged: bool
    notices: Notices = ()

    __repr__ = short_repr


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
    with working_folder(target, how.work, keep=how.keep) as work:
        blocks = code_votes(votes, work)
        settings = {"model": "dawid_skene", "variant": variant, "smoothing": asdict(prior)}
        settings["votes"] = blocks.reader.source
        checkpoint = Checkpoint(work, "dawid_skene", settings)

        def step(expected: Expected, trace: list[float]) -> None:
            how.tell(len(trace), stop.most)
            if len(trace) % how.every == 0:
                checkpoint.save(
                    counts=expected.votes, totals=expected.classes, trace=np.array(trace)
                )

        begin, stored = None, checkpoint.load()
        if stored is not None:
            begin = Expected(stored["counts"], stored["totals"], 0.0), stored["trace"].tolist()
        maximise = partial(log_confusions, variant=variant, prior=prior)
        climb = climb_votes(blocks, stop, maximise, begin, step)
        how.tell(len(climb.trace), stop.most)
        confusion, _ = confusions(climb.expected_votes, variant, prior)
        skill, names = np.einsum("k,akk->a", climb.classes, confusion), votes.classes
        text = "Dawid-Skene did not converge: raise the iterations."
        answers = {
            f"{true} as {answer}": confusion[:, t, a]
            for t, true in enumerate(names)
            for a, answer in enumerate(names)
        }
        posteriors = partial(_posteriors, climb.log, climb.prior)
        result = _write_fit(
            blocks,
            posteriors,
            {"accuracy": skill, **answers},
            {"class_prior": climb.classes},
            folder=target,
            model="dawid_skene",
            method=f"Dawid-Skene ({variant.replace('_', '-')})",
            skill=skill,
            trace=climb.trace,
            converged=climb.converged,
            notices=votes.notices,
        )
        if not climb.converged:
            result = replace(result, notices=(*result.notices, Notice("not_converged", text)))
    return result


def _posteriors(log: Floats, prior: Floats, block: Block, number: int) -> dict[str, Floats]:
    """What Dawid-Skene says of the items of a partition."""
    del number
    return {"p": block.posteriors(log, prior)}


# ---- GLAD ----------------------------------------------------------------------------------


def glad(
    votes: VotesOnDisk,
    out: AnyPath,
    *,
    prior: str | GladPrior | None = None,
    fit: GladFit | None = None,
    disk: OnDisk | None = None,
) -> FitOnDisk:
    """Write the chance of yes and the difficulty of every item, and abilities of annotators.

    Parameters
    ----------
    out
        A new folder, which appears once it is whole.
    prior, fit
        As for `equipoise.truth.glad` with ``inference="cavi"``.
    disk
        Where coded votes and checkpoints go, and how often; a killed fit goes on from there.
    """
    chosen, stop, how = checked_prior(prior), checked_glad_fit(fit, "cavi"), disk or OnDisk()
    require_whole("glad, every", how.every, least=1)
    if votes.scale.kind != "binary":
        do = hint("choose dawid_skene, or declare yes/no votes with {}", ONE_CLASS)
        got = f"votes of kind {votes.scale.kind}"
        raise InputError("glad", got, "yes/no votes (kind binary)", do)
    target = Path(out)
    with working_folder(target, how.work, keep=how.keep) as work:
        blocks = code_votes(votes, work)
        settings = {"model": "glad", "prior": asdict(chosen), "rescale": stop.rescale}
        settings["votes"] = blocks.reader.source
        checkpoint = Checkpoint(blocks.folder, "glad", settings)
        states = partial(_states_after, blocks.folder, checkpoint.settings, how.every)
        climb = GladClimb(blocks, chosen, stop, states, partial(_after_sweep, how, checkpoint))
        _resume(climb, checkpoint, blocks.folder)
        climb.run()
        graph = climb.graph
        return _write_fit(
            blocks,
            partial(_chances, climb.items, graph, climb.factor, climb.mean),
            {"ability": climb.mean, "votes": graph.load},
            {},
            folder=target,
            model="glad",
            method="GLAD (CAVI)",
            skill=climb.mean,
            trace=tuple(climb.trace),
            converged=climb.converged,
            notices=(
                *votes.notices,
                *separate_groups(graph.parts, 0),
                *climb_notices(int(climb.turned.sum()), graph.parts, converged=climb.converged),
                *small_panel(graph.median, "cavi", 0),
            ),
        )


@immutable
class _StateFiles(ItemStates):
    """Items of GLAD in files of a folder, for one setting of the fit and these votes.

    With `flush`, what is written reached the disk.
    """

    folder: Path
    settings: str
    flush: bool = False

    @property
    def folders(self) -> tuple[Path, ...]:
        """Where they lie."""
        return (self.folder,)

    def read(self, number: int, items: int) -> Floats:
        """Mean and variance of the items of one partition, (2, items)."""
        path = self._path(number)
        file = codec.read_sealed(content(path), AGAIN, self._source(number))
        state: Floats = file.arrays["state"]
        if state.shape != (2, items):
            got, expected = f"shape {state.shape}", f"(2, {items}), as the votes have items"
            raise InputError(str(path), got, expected, AGAIN)
        return state

    def write(self, number: int, state: Floats) -> None:
        """Keep those of one partition."""
        path, facts = self._path(number), {"source": self._source(number)}
        codec.write_sealed(path, facts, {"state": state}, packed=False, flush=self.flush)

    def _source(self, number: int) -> str:
        return f"partition {number}, {self.settings}"

    def _path(self, number: int) -> Path:
        return self.folder / f"state-{number:05d}.npz"


def _states_after(folder: Path, settings: str, every: int, sweep: int) -> _StateFiles:
    """Where a sweep writes items: never where it reads them."""
    target = folder / ("glad-even", "glad-odd")[sweep % 2]
    target.mkdir(exist_ok=True)
    return _StateFiles(target, settings, flush=(sweep + 1) % every == 0)


def _after_sweep(how: OnDisk, checkpoint: Checkpoint, climb: GladClimb) -> None:
    """Put the files of items aside, then say that they are the state to go on from."""
    how.tell(len(climb.heights), climb.fit.most)
    if climb.sweeps % how.every or climb.converged:
        return
    (source,) = climb.items.folders
    aside = source.with_name(f"glad-{climb.sweeps}")
    shutil.rmtree(aside, ignore_errors=True)
    source.rename(aside)
    climb.items = _StateFiles(aside, checkpoint.settings)
    checkpoint.save(
        mean=climb.mean,
        variance=climb.variance,
        factor=climb.factor,
        heights=np.array(climb.heights),
        turned=climb.turned,
        numbers=np.array([climb.sweeps, climb.round]),
    )
    for other in aside.parent.glob("glad-*"):
        if other.is_dir() and other != aside:
            shutil.rmtree(other)


def _resume(climb: GladClimb, checkpoint: Checkpoint, folder: Path) -> None:
    """Go on from the last checkpoint, if there is one."""
    stored = checkpoint.load()
    if stored is None:
        return
    climb.mean, climb.variance, climb.factor = (
        stored[name] for name in ("mean", "variance", "factor")
    )
    climb.heights, climb.turned = stored["heights"].tolist(), stored["turned"]
    climb.sweeps, climb.round = map(int, stored["numbers"])
    climb.items = _StateFiles(folder / f"glad-{climb.sweeps}", checkpoint.settings)


def _chances(
    states: ItemStates,
    graph: VoteGraph,
    factor: Floats,
    ability: Floats,
    block: Block,
    number: int,
) -> dict[str, Floats]:
    """What GLAD says of the items of a partition."""
    from scipy.special import ndtr

    state, parts = states.read(number, block.items), item_parts(block, graph.part)
    mean, variance, *_ = scaled_items(block, state, parts, factor)
    chance = ndtr(mean / np.sqrt(variance))
    both = np.stack([1 - chance, chance], axis=1)
    return {"p": both, "difficulty": difficulty(graph, ability, mean)}


# ---- files ---------------------------------------------------------------------------------


def _write_fit(
    blocks: CodedVotes,
    posteriors: Callable[[Block, int], dict[str, Floats]],
    annotators: Mapping[str, Floats],
    more: Mapping[str, Any],
    **of_fit: Any,
) -> FitOnDisk:
    """Write what a fit says of items, annotators and itself; the fit, with its notices.

    Parameters
    ----------
    posteriors
        Class posteriors ``p`` of the items of one partition, and further columns.
    """
    import pyarrow as pa
    from pyarrow import parquet

    result = FitOnDisk(
        classes=blocks.classes,
        annotators=blocks.annotators,
        items=blocks.number_of_items,
        **of_fit,
    )
    columns = {
        name: pa.array(np.ascontiguousarray(column)) for name, column in annotators.items()
    }
    table = pa.table({"annotator": blocks.votes.annotators, **columns})
    facts: dict[str, Any] = {
        "model": result.model,
        "method": result.method,
        "classes": result.classes,
        "items": result.items,
        "annotators": len(result.annotators),
        "converged": result.converged,
        "iterations": len(result.trace),
        "trace": result.trace,
        **more,
    }
    with whole_folder(result.folder) as scratch:
        place = scratch / "items"
        place.mkdir()
        write = partial(_write_block, blocks.reader, posteriors, result.classes, place)
        decided = blocks.votes.map(write, blocks.folder, place)
        parquet.write_table(table, scratch / "annotators.parquet", write_page_checksum=True)
        write_facts(scratch / "result.json", facts)
    title = "GLAD" if result.model == "glad" else "Dawid-Skene"
    moved = decisions_notice(np.sum(decided, axis=0), result.classes, title)
    return replace(result, notices=(*result.notices, *moved))


def _write_block(
    reader: Codes,
    posteriors: Callable[[Block, int], dict[str, Floats]],
    classes: Names,
    place: Path,
    number: int,
) -> Any:
    """Write what a fit says of one partition's items; how decisions moved."""
    block = reader.block(number)
    further = posteriors(block, number)
    chance = further.pop("p")
    columns = {"votes": block.votes_of_items}
    columns |= {f"p_{name}": chance[:, k] for k, name in enumerate(classes)}
    write_items(part_path(place, number), reader.item_names(number), columns | further)
    return decisions(block.shares(len(classes)), chance)
