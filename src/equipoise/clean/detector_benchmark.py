"""Benchmark: detectors of data problems compared on a study, task by task.

Every detector, task and seed is a cell (`scale.cells`) that is computed once. Detectors
are then competitors of an ordinary evaluation: the value of one is the mean over its seeds,
intervals and verdicts speak for items and annotators like these, and every analysis can be
asked for. The chance level is .5 for AUROC, the share of positives for average precision and
P@k, and k over the number of items for R@k.

Pairs that share an image are not independent. Pairs that hang together, directly or through
others, are therefore one unit of resampling; where they all hang together, pairs are the units,
and a notice says that intervals are too narrow to the degree that pairs depend.

Scores that are kept are never stale: a cell is known by all that decides them. Beside the data
these are the settings by their content, the code (every file of `equipoise.clean`, and for a
detector of the user's own every file of theirs that is loaded), and the versions of packages.
Code that lies in no file (a notebook, standard input) and settings that have no lasting form (a
function) are refused, and their scores are not kept.
"""

import inspect
import site
import sys
import sysconfig
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, replace
from functools import cache, partial
from importlib.metadata import PackageNotFoundError, packages_distributions, version
from itertools import chain, islice
from json import dumps
from pathlib import Path

import numpy as np

from equipoise.clean.collection import (
    TASKS,
    Collection,
    JudgedCollection,
    Task,
    components,
    split_pair,
)
from equipoise.clean.detector import Detector, LeftOut, scores_of, silent
from equipoise.clean.detectors import DETECTORS
from equipoise.metrics import parsed
from equipoise.read import codec
from equipoise.read.files import file_sha256
from equipoise.read.user_code import user_file
from equipoise.scale.cells import Arrays, Cell, Outcome, digest, run_cells
from equipoise.study import Evaluation, Settings, Study
from equipoise.study.study import report_replicates
from equipoise.types import (
    Annotations,
    InputError,
    Names,
    Notice,
    Notices,
    Predictions,
    Progress,
    choice,
    immutable,
    notice,
    positions,
    require_drawn,
    require_unique,
    short_repr,
)

TOP = (100, 500, 1000)  # items that are looked at first
FEWER = (10,)  # where there are not so many
UNITS = 10  # groups of pairs from which on they are the units
NOT_KEPT = (
    "Scores of {detector} are not kept, and are made again every time, as nobody could tell "
    "whether they are stale: {reason}."
)
OURS = Path(__file__).parent
DISTRIBUTIONS = {
    "PIL": "pillow",
    "faiss": "faiss-cpu",
    "skimage": "scikit-image",
    "sklearn": "scikit-learn",
}  # packages that are not called as their modules
CHAIN = Notice(
    "chained_pairs",
    "Nearly all pairs hang together by images that they share, so that pairs count as "
    "independent: intervals are too narrow to the degree that pairs of one image depend.",
)
_distributions = cache(packages_distributions)  # looks at every file that is installed


@immutable(eq=False)
class TaskBenchmark:
    """All detectors of one task.

    Attributes
    ----------
    study
        Detectors as models, votes, and their evaluation, in which seeds are averaged.
    seeds
        By detector, how many runs its values are the mean of.
    """

    task: Task
    study: Study
    seeds: Mapping[str, int]

    __repr__ = short_repr

    @property
    def evaluation(self) -> Evaluation:
        """Values, intervals and verdicts."""
        return self.study.evaluation

    def prevalence(self, labels: str) -> float:
        """Share of positives by hard or soft labels."""
        question = self.evaluation.questions[0]
        return float((question.hard if labels == "hard" else question.shares)[0].mean())

    def chance(self, metric: str, labels: str) -> float:
        """What scores without information would reach on average; nan where nobody knows."""
        name, parameters = parsed(metric)
        if name == "auroc":
            return 0.5
        if name in ("average_precision", "precision_at_k"):
            return self.prevalence(labels)
        if name == "recall_at_k":
            return float(parameters["k"]) / len(self.evaluation.questions[0].items)
        return float("nan")


@immutable(eq=False)
class BenchmarkResult:
    """What `Benchmark.run` returns.

    Attributes
    ----------
    data, detectors
        What was compared on what.
    tasks
        One per task in which at least one detector could be scored.
    left_out
        Detectors without a result, with reasons.
    notices
        What is said of the whole benchmark, such as scores that are not kept.
    """

    data: JudgedCollection
    detectors: tuple[Detector, ...]
    tasks: tuple[TaskBenchmark, ...]
    left_out: tuple[LeftOut, ...] = ()
    notices: Notices = ()

    __repr__ = short_repr

    def rows(self) -> list[dict[str, str | float | int]]:
        """Every value with its interval, by task, detector, metric and labels."""
        return [
            {
                "task": compared.task,
                "detector": row.model,
                "metric": row.metric,
                "labels": row.labels,
                "value": row.value,
                "low": row.low,
                "high": row.high,
                "chance": compared.chance(row.metric, row.labels),
                "rank_low": row.rank_low,
                "rank_high": row.rank_high,
                "seeds": compared.seeds[row.model],
            }
            for compared in self.tasks
            for row in compared.evaluation.table()
        ]


@immutable(eq=False)
class Benchmark:
    """Detectors, what they are compared on, and how.

    Attributes
    ----------
    data
        A collection with votes on its problems.
    detectors
        Those of other tasks are passed over. One that fails is left out with its reason.
    tasks
        Some of the tasks; empty is every task that has votes.
    seeds
        How often a detector in which chance has a part is run.
    metrics
        Names; empty is AUROC, average precision, and precision and recall at 100, 500 and
        1,000 as far as there are items.
    store
        Folder of the finished cells; None keeps nothing.
    replicates, seed, level
        As in `evaluate`.
    """

    data: JudgedCollection
    detectors: Sequence[Detector] = DETECTORS
    _: KW_ONLY
    tasks: Sequence[Task] = ()
    seeds: int = 3
    metrics: Sequence[str] = ()
    store: Path | None = None
    replicates: int | None = None
    seed: int = 0
    level: float = 0.95

    __repr__ = short_repr

    def __post_init__(self) -> None:
        require_drawn("benchmark, seeds", self.seeds, least=1, do="3 are usual")
        require_unique([detector.name for detector in self.detectors], where="detectors")
        for task in self.tasks:
            choice("benchmark, tasks", task, TASKS)
            if task not in self.data.truths:
                raise InputError(
                    f"study {self.data.name}, task {task}",
                    "no votes",
                    f"one of {', '.join(self.data.truths)}",
                    "choose a task that it has votes for",
                )

    def run(self, progress: Progress = silent) -> BenchmarkResult:
        """Compare the detectors on every task.

        Parameters
        ----------
        progress
            Called as ``progress(done, all)`` over all cells.
        """
        wanted = set(self.tasks or self.data.truths)
        used = [detector for detector in self.detectors if detector.task in wanted]
        by_task = {task: [d for d in used if d.task == task] for task in TASKS}
        by_task = {task: some for task, some in by_task.items() if some}
        votes_of = {task: self._votes(task) for task in by_task}  # refused before anything runs
        facts = {detector.name: _facts_or_notice(detector) for detector in used}
        cells = _cells(self.data, by_task, facts, self.seeds)
        outcomes = iter(run_cells(cells, self.store, progress))
        compared, missing = [], []
        for task, detectors in by_task.items():
            scores = {}
            for detector in detectors:
                runs = list(islice(outcomes, _runs(detector, self.seeds)))
                predictions = _predictions(detector, runs, votes_of[task])
                if isinstance(predictions, str):
                    missing.append(LeftOut(task, predictions, detector.name))
                else:
                    scores[detector.name] = predictions
            if scores:
                compared.append(self._compared(task, votes_of[task], scores))
        if not compared:
            raise InputError(
                f"benchmark of {self.data.name}",
                f"every detector was left out: {missing[0].detector}: {missing[0].reason}"
                if missing
                else "no detector",
                "a detector that can score the items",
                "choose others, or install what they need",
            )
        unkept = [fact for fact in facts.values() if isinstance(fact, Notice) and self.store]
        whole = [_in_family(one, len(compared)) for one in compared]
        return BenchmarkResult(
            self.data, tuple(used), tuple(whole), tuple(missing), tuple(unkept)
        )

    def _votes(self, task: Task) -> Annotations:
        votes = self.data.visible_votes(task)
        return _in_components(votes) if task == "near_duplicates" else votes

    def _compared(
        self,
        task: Task,
        votes: Annotations,
        scores: Mapping[str, Sequence[Predictions]],
    ) -> TaskBenchmark:
        """Evaluate the detectors of a task, seeds averaged."""
        study = Study.of(
            [run for runs in scores.values() for run in runs],
            votes,
            metrics=self.metrics or _metrics_for(len(votes.items)),
            settings=Settings(
                level=self.level,
                replicates=self.replicates or report_replicates(len(votes.items)),
                seed=self.seed,
            ),
        )
        names = {name: [run.model for run in runs] for name, runs in scores.items()}
        seeded = {name: runs for name, runs in names.items() if runs != [name]}
        if seeded:
            study = study.with_evaluation(study.evaluation.across_seeds(seeded))
        return TaskBenchmark(task, study, {name: len(runs) for name, runs in scores.items()})


def _in_family(compared: TaskBenchmark, kinds: int) -> TaskBenchmark:
    """The same, where all pairs of detectors of so many kinds of problem are one family."""
    study = compared.study
    together = replace(study.evaluation, together=kinds, _families={}, _rows={})
    return replace(compared, study=study.with_evaluation(together))


# ---- cells ---------------------------------------------------------------------------------


def _runs(detector: Detector, seeds: int) -> int:
    return seeds if detector.seeded else 1


def _facts_or_notice(detector: Detector) -> dict[str, object] | Notice:
    """What decides the scores of a detector; a notice where that cannot be known."""
    try:
        return detector_facts(detector)
    except InputError as error:
        reason = f"{error.where}: {error.got}"
        return notice("not_kept", NOT_KEPT, detector=detector.name, reason=reason)


def _cells(
    judged: JudgedCollection,
    by_task: Mapping[Task, Sequence[Detector]],
    facts: Mapping[str, dict[str, object] | Notice],
    seeds: int,
) -> list[Cell]:
    """One per detector and seed, task by task."""
    whole, cells = collection_digest(judged.collection), []
    for task, detectors in by_task.items():
        data = judged.collection_for(task)
        pairs = data.pairs
        seen = digest([] if pairs is None else [pairs.first, pairs.second])
        for detector in detectors:
            fact = facts[detector.name]
            for seed in range(_runs(detector, seeds)):
                name = f"{detector.name}, seed {seed}"
                decides = None
                if not isinstance(fact, Notice):
                    decides = {"data": whole, "pairs": seen, **fact, "seed": seed}
                cells.append(Cell(name, decides, partial(_score_cell, detector, data, seed)))
    return cells


def _score_cell(detector: Detector, data: Collection, seed: int, tell: Progress) -> Arrays:
    detector.check(data)
    predictions = scores_of(detector, data, seed, tell)
    return {"items": np.array(predictions.items), "values": predictions.values}


# ---- what is compared ----------------------------------------------------------------------


def _in_components(votes: Annotations) -> Annotations:
    """Votes on pairs, grouped by what hangs together; ungrouped where nearly all does."""
    pairs = [split_pair(name) for name in votes.items]
    images = tuple(dict.fromkeys(chain.from_iterable(pairs)))
    ends = positions([*chain.from_iterable(pairs)], images, where="pairs")
    first = components(ends[::2], ends[1::2], len(images))
    codes = np.unique(first[ends[::2]], return_inverse=True)[1]
    number = np.bincount(codes)
    effective = len(codes) ** 2 / float((number.astype(float) ** 2).sum())
    if len(number) == len(codes):
        return votes
    if effective < UNITS:
        return replace(votes, notices=(*votes.notices, CHAIN))
    groups = tuple(f"component {place}" for place in range(len(number)))
    return replace(votes, groups=groups, group=np.asarray(codes, dtype=np.int64))


def _predictions(
    detector: Detector, outcomes: Sequence[Outcome], votes: Annotations
) -> list[Predictions] | str:
    """The runs of a detector on the judged items, or why there are none."""
    runs = []
    for seed, outcome in enumerate(outcomes):
        if outcome.arrays is None:
            return outcome.reason
        items = tuple(outcome.arrays["items"].tolist())
        missing = set(votes.items) - set(items)
        if missing:
            return (
                f"no score for {len(missing):,} of {len(votes.items):,} judged items, such as "
                f"{min(missing)!r}"
            )
        name = f"{detector.name}#{seed}" if detector.seeded else detector.name
        scores = Predictions(name, items, outcome.arrays["values"])
        runs.append(scores.of_items(votes.items))
    return runs


def _metrics_for(items: int) -> Names:
    """The usual metrics for so many items.

    Examples
    --------
    >>> _metrics_for(600)[2:]
    ('precision_at_100', 'recall_at_100', 'precision_at_500', 'recall_at_500')
    """
    top = [k for k in TOP if k < items] or [k for k in FEWER if k < items]
    at = (f"{what}_at_{k}" for k in top for what in ("precision", "recall"))
    return ("auroc", "average_precision", *at)


def collection_digest(data: Collection) -> str:
    """Hash of everything that detectors see of a collection, pairs apart."""
    images = None
    if data.images is not None:
        images = [data.images.digest(place) for place in range(len(data))]
    return digest(
        [data.items, data.embeddings, images, data.labels, data.classes, data.known, data.split]
    )


def detector_facts(detector: Detector) -> dict[str, object]:
    """What decides the scores of a detector beside the data, as JSON can hold it.

    A detector of which that cannot be known is refused.
    """
    where = f"detector {detector.name}"
    return {
        "detector": detector.name,
        "task": detector.task,
        "settings": lasting(detector.settings, where),
        "code": _code_digest(detector, where),
        "versions": versions(("equipoise", "numpy", "scipy", *detector.packages)),
    }


def lasting(settings: Mapping[str, object], where: str) -> object:
    """Settings by their content, the same in every process, as JSON holds them.

    Examples
    --------
    >>> lasting({"weights": np.ones(2), "k": 5}, "a detector")
    {'weights': [1.0, 1.0], 'k': 5}
    """
    try:
        content = codec.encode(settings)
        dumps(content, allow_nan=False)
    except (TypeError, ValueError) as error:
        do = "choose it by its name"
        expected = "numbers, words, arrays, or lists of them"
        raise InputError(where, f"a setting of another kind ({error})", expected, do) from error
    return content


# ---- code ----------------------------------------------------------------------------------


def _code_digest(detector: Detector, where: str) -> str:
    """Hash of all the code that a detector may run, apart from packages that are installed."""
    used: set[Path] = set()
    if user_file(detector):
        score = getattr(inspect.unwrap(type(detector).score), "__code__", None)
        if score is None or not Path(score.co_filename).is_file():
            got, do = "code that lies in no file", "write it to a file"
            raise InputError(where, got, "a class in a file", do)
        used = {Path(score.co_filename).resolve(), *_files_of_user()}
    return digest([_package_digests(), sorted(map(file_sha256, used))])


def _files_of_user() -> Iterator[Path]:
    """Files of modules that are loaded, but of Python, of installed packages and of ours."""
    places = [*site.getsitepackages(), site.getusersitepackages()]
    places += [sysconfig.get_path("stdlib"), str(OURS.parent)]
    installed = [Path(place).resolve() for place in places]
    for module in list(sys.modules.values()):
        path = Path(getattr(module, "__file__", None) or "").resolve()
        ours = any(path.is_relative_to(place) for place in installed)
        if path.suffix == ".py" and path.is_file() and not ours:
            yield path


@cache
def _package_digests() -> list[str]:
    """Hashes of all files of `equipoise.clean`."""
    return [
        f"{path.relative_to(OURS).as_posix()} {file_sha256(path)}"
        for path in sorted(OURS.rglob("*.py"))
    ]


# ---- packages ------------------------------------------------------------------------------


def versions(modules: Sequence[str]) -> dict[str, str]:
    """Versions of the packages that modules come from; empty where nobody knows."""
    installed = {}
    for module in modules:
        name = DISTRIBUTIONS.get(module, module)
        try:
            installed[module] = version(name)
        except PackageNotFoundError:
            names = _distributions().get(module, ())
            installed[module] = " ".join(version(distribution) for distribution in names)
    return installed
