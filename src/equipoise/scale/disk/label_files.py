r"""Soft labels and agreement of votes on disk, in one reading of them.

Every partition is counted by item and class. The mean vote of an item is the share of its
votes; the Dirichlet posterior mean adds a prior, by default estimated from how often each
number of votes occurs (`equipoise.truth.dirichlet` has the formulas):

.. math:: p_{ik} = \frac{r\, c_{ik} + \alpha_k}{r\, n_i + \sum_l \alpha_l}

Krippendorff's alpha follows from the coincidences of pairs of votes on one item, K x K sums.
They are kept for 200 blocks of items, cut by the hash of the item's name, and the interval is
the jackknife's: alpha without each block in turn, Student's t.

Ratings are summed per item as number, mean and squares (`rating_moments`): all that
`equipoise.truth.normal_of_moments` and `krippendorff_alpha_of_moments` need.
"""

import math
import tempfile
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from equipoise.read.files import AnyPath
from equipoise.read.writing import whole_folder
from equipoise.scale.disk.coded import (
    ItemCheck,
    arrow_batches,
    part_path,
    write_facts,
    write_items,
)
from equipoise.scale.disk.votes import VotesOnDisk, parquet_partitions
from equipoise.truth.agreement.coefficients import alpha_of_coincidences, class_values
from equipoise.truth.blocks import added
from equipoise.truth.counts import (
    VotePrior,
    VoteTally,
    given_prior,
    posterior_mean,
    prior_of_tally,
)
from equipoise.truth.ratings import Moments, moments_of
from equipoise.types import (
    Annotations,
    Floats,
    InputError,
    Ints,
    Names,
    Notices,
    Progress,
    choice,
    immutable,
    name_order,
    require_unique,
    short_repr,
    unknown_name,
)

MODELS = ("mean_vote", "dirichlet")
BLOCKS = 200  # of items, that the jackknife leaves out in turn
_LEVEL = 0.95
DISTINCT = 1_000_000  # ratings remembered to find the smallest difference between two


class Agreement(NamedTuple):
    """Krippendorff's alpha and its interval over items.

    Attributes
    ----------
    alpha, low, high
        The number and its 95 % interval; nan where undefined.
    level
        How far apart two classes are.
    items, votes
        Items with at least two votes, and their votes.
    """

    alpha: float
    low: float
    high: float
    level: str
    items: int
    votes: int


@immutable(eq=False)
class SoftLabels:
    """What was written of votes on disk.

    Attributes
    ----------
    folder
        Where: ``items/part-*.parquet`` with item, votes and a column ``p_CLASS`` per class.
    model, method
        Name of the model, and the same with its settings in words.
    classes, items, votes
        Names of classes, number of items and of votes.
    agreement
        Krippendorff's alpha of the same votes.
    """

    folder: Path
    model: str
    method: str
    classes: Names
    items: int
    votes: int
    agreement: Agreement
    notices: Notices = ()

    __repr__ = short_repr


class _Sums(NamedTuple):
    """Sums of some partitions: pairs of votes, items and votes, also where several."""

    pairs: Floats
    items: int
    votes: int
    several: int
    paired: int
    tallies: list[VoteTally]


def soft_labels(
    votes: VotesOnDisk,
    out: AnyPath,
    *,
    model: str = "mean_vote",
    reliability: float = 1.0,
    prior: str | float = "empirical",
    progress: Progress | None = None,
) -> SoftLabels:
    """Write the mean vote or the Dirichlet posterior mean of every item, and measure agreement.

    Parameters
    ----------
    out
        A new folder, which appears once it is whole.
    model
        ``mean_vote`` or ``dirichlet``.
    reliability, prior
        Of ``dirichlet``, as for `equipoise.truth.dirichlet`.
    """
    choice("soft_labels, model", model, MODELS)
    size = len(votes.classes)
    fine = isinstance(prior, str) or 0 <= prior < math.inf
    if not (0 < reliability < math.inf and fine):
        raise InputError(
            "dirichlet",
            f"reliability {reliability:g}, prior {prior}",
            "a positive reliability and a prior of at least 0, finite",
            "leave both at their defaults",
        )
    vote_prior = (
        given_prior(prior, size) if model == "dirichlet" else VotePrior(np.zeros(size), "")
    )
    with whole_folder(Path(out)) as scratch:
        place = scratch / "items"
        place.mkdir()
        with tempfile.TemporaryDirectory(dir=scratch) as held:
            hashes = Path(held)
            first = None if vote_prior is None else (reliability, vote_prior)
            sums = _counted(votes, hashes, place if first else hashes, first, progress)
            if vote_prior is None:
                vote_prior = prior_of_tally(VoteTally.merged(sums.tallies))
                finish = partial(_finish, hashes, place, reliability, vote_prior, votes.classes)
                votes.map(finish, hashes, place)
        words = f"Dirichlet (reliability {reliability:g}, {vote_prior.words})"
        labels = SoftLabels(
            Path(out),
            model,
            words if model == "dirichlet" else "mean vote",
            votes.classes,
            sums.items,
            sums.votes,
            _agreement(votes, sums, None),
            votes.notices,
        )
        names = ("model", "method", "classes", "items", "votes")
        facts = {name: getattr(labels, name) for name in names}
        facts["agreement"] = labels.agreement._asdict()
        write_facts(scratch / "result.json", facts)
    return labels


def agreement(
    votes: VotesOnDisk, *, level: str | None = None, progress: Progress | None = None
) -> Agreement:
    """Krippendorff's alpha of votes on disk; nothing is written."""
    class_values(votes.classes, votes.scale.kind, level)
    with tempfile.TemporaryDirectory() as scratch:
        sums = _counted(votes, Path(scratch), None, None, progress)
    return _agreement(votes, sums, level)


def _counted(
    votes: VotesOnDisk,
    scratch: Path,
    place: Path | None,
    settings: tuple[float, VotePrior] | None,
    progress: Progress | None,
) -> _Sums:
    """Count all partitions; write their soft labels, or counts where the prior comes later."""
    check = ItemCheck(votes, scratch)
    count = partial(_count, votes, check, place, settings)
    used = [scratch] if place is None else [scratch, place]
    whole = added(votes.map(count, *used, progress=progress))
    check.finish()
    if not whole.votes:
        raise InputError(
            f"{votes.folder.name}, task {votes.task!r}", "no votes", "at least one", "check it"
        )
    return whole


def _count(
    votes: VotesOnDisk,
    check: ItemCheck,
    place: Path | None,
    settings: tuple[float, VotePrior] | None,
    number: int,
) -> _Sums:
    """Count one partition, and write what is known of its items."""
    from equipoise.kernels.blocks import coincidences

    rows, size = votes.read(number), len(votes.classes)
    answer = rows.item.astype(np.int64) * size + rows.label
    times = rows.times if len(rows.times) else None
    counts = np.bincount(answer, times, len(rows.items) * size).reshape(-1, size)
    counts = counts.astype(np.int32)
    hashes = rows.hashes()
    check.add(number, hashes)
    pairs = np.zeros((BLOCKS, size, size))
    coincidences(counts, (hashes % np.uint64(BLOCKS)).astype(np.uint8), pairs)
    sums = _tallied(counts, pairs, tally=place is not None and settings is None)
    if place is not None:
        shares = None if settings is None else posterior_mean(counts, *settings)
        _write(place, number, rows.items, counts, shares, votes.classes)
    return sums


def _tallied(counts: Ints, pairs: Floats, *, tally: bool) -> _Sums:
    total = counts.sum(axis=1)
    several = total[total >= 2]
    tallies = []
    if tally:
        item, label = np.nonzero(counts)
        votes = counts[item, label].astype(float)
        tallies = [VoteTally.of(label, votes, total.astype(float), counts.shape[1])]
    sizes = len(counts), int(total.sum()), len(several), int(several.sum())
    return _Sums(pairs, *sizes, tallies)


def _agreement(votes: VotesOnDisk, sums: _Sums, level: str | None) -> Agreement:
    from scipy.special import stdtrit

    name, value = class_values(votes.classes, votes.scale.kind, level)
    whole = sums.pairs.sum(axis=0)
    alpha = float(alpha_of_coincidences(whole, name, value))
    used = sums.pairs[sums.pairs.sum(axis=(1, 2)) > 0]
    ends = (math.nan, math.nan)
    if len(used) > 1 and math.isfinite(alpha):
        without = alpha_of_coincidences(whole - used, name, value)
        number = len(used)
        error = math.sqrt(
            (number - 1) / number * float(((without - without.mean()) ** 2).sum())
        )
        half = float(stdtrit(number - 1, 0.5 + _LEVEL / 2)) * error
        ends = (max(alpha - half, -1.0), min(alpha + half, 1.0))
    return Agreement(alpha, *ends, name, sums.several, sums.paired)


# ---- files ---------------------------------------------------------------------------------


def _write(
    place: Path,
    number: int,
    items: Any,
    counts: Ints,
    shares: Floats | None,
    classes: Names,
) -> None:
    columns = {"votes": counts.sum(axis=1)}
    table, prefix = (counts, "n") if shares is None else (shares, "p")
    columns |= {f"{prefix}_{name}": table[:, k] for k, name in enumerate(classes)}
    write_items(part_path(place, number), items, columns)


def _finish(
    counted: Path,
    place: Path,
    reliability: float,
    prior: VotePrior,
    classes: Names,
    number: int,
) -> None:
    """Turn the counts of one partition into soft labels."""
    from pyarrow import parquet

    source, target = part_path(counted, number), part_path(place, number)
    if target.exists() and not source.exists():
        return  # a worker did it, and was killed before it could say so
    table = parquet.read_table(source, use_threads=False)
    counts = np.stack([np.asarray(table[f"n_{name}"]) for name in classes], axis=1)
    shares = posterior_mean(counts, reliability, prior)
    items = table["item"].combine_chunks()
    _write(place, number, items, counts, shares, classes)
    source.unlink(missing_ok=True)


def rating_moments(
    folder: AnyPath, *, task: str = "", columns: Mapping[str, str] | None = None
) -> Moments:
    """Number, mean and squares of the ratings of each item, a partition at a time.

    The smallest difference between two unequal ratings is exact up to a million distinct
    ratings; with more, every other one of them is forgotten as often as needed.

    Parameters
    ----------
    folder
        Parquet partitions, all ratings of an item in one: `repartition` makes them.
    task
        Which question, where there is a column of tasks.
    columns
        As for `equipoise.read_annotations`.
    """
    import pyarrow as pa

    parts: list[Moments] = []
    tasks: dict[str, None] = {}
    ratings, step = np.zeros(0), np.inf
    for partition in parquet_partitions(Path(folder))[0]:
        rows = pa.Table.from_batches(list(arrow_batches(partition)))
        table = Annotations.from_dataframe(rows, kind="interval", columns=columns or {})
        tasks |= dict.fromkeys(table.tasks)
        if task not in table.tasks:
            continue
        parts.append(moments_of(table, task))
        assert table.value is not None  # as moments were made of it
        ratings = np.union1d(ratings, table.value[table.in_task(task)])
        step = min(step, np.diff(ratings).min(initial=np.inf))
        while len(ratings) > DISTINCT:
            ratings = ratings[::2]
    if not parts:
        raise unknown_name("rating_moments, task", f"{task!r}", task, tasks, most=3)
    names = [name for part in parts for name in part.items]
    do = "cut the ratings by item with disk.repartition"
    require_unique(names, where=f"{folder}, items in several partitions", do=do)
    order = name_order(names)
    place = np.arange(len(names)) if order is None else np.asarray(order)
    number, mean, squares = (
        np.concatenate([getattr(part, name) for part in parts])[place]
        for name in ("number", "mean", "squares")
    )
    items = tuple(names[i] for i in place.tolist())
    return Moments(items, number, mean, squares, float(step) if step < np.inf else 0.0, task)
