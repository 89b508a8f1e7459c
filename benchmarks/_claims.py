r"""Cells of the table of claims: what a sentence beside a verdict promises, and what it keeps.

A cell draws studies whose truth is known and returns, of each, numbers whose mean over studies
is what the table shows: whether an interval covers, whether something false is claimed. Items
and annotators are drawn anew in every study. ``shares`` runs a cell; ``CELLS`` names them all,
with what each column promises.
"""

from collections.abc import Callable, Sequence
from functools import cache, partial
from typing import Any, NamedTuple

import numpy as np
import pyarrow
from scipy.special import expit, ndtr

from benchmarks._clusters import SCHOOLS, SITES, Clusters, annotated, drawn
from benchmarks._readers import EQUAL, Design, study, truth
from equipoise import Annotations, Predictions, Settings, evaluate, resample
from equipoise import metrics as metrics_of
from equipoise.inference.looks import Look
from equipoise.metrics import auroc
from equipoise.read.attributes import Attributes
from equipoise.study import Study
from equipoise.study.questions import answer_study
from equipoise.study.questions.subgroups import QUESTION as SUBGROUPS

COVERS, PROPORTION, FALSE, MARGIN = (0.93, 0.97), (0.93, 0.99), (0.0, 0.06), (0.0, 0.03)
ANY = (0.0, 1.0)


class Cell(NamedTuple):
    """What is drawn, and what its columns promise.

    Attributes
    ----------
    columns
        Names, each with the lowest and highest mean that keeps the promise.
    study
        Numbers of one study, given its seed; nan where nothing is said.
    """

    name: str
    columns: dict[str, tuple[float, float]]
    study: Callable[[int], Sequence[float]]


def shares(cell: Cell, studies: int, first: int = 0) -> tuple[Any, Any]:
    """Mean of every column over studies, and its Monte Carlo error."""
    rows = np.array([cell.study(seed) for seed in range(first, first + studies)], float)
    number = np.maximum(np.isfinite(rows).sum(axis=0), 1)
    return np.nanmean(rows, axis=0), np.nanstd(rows, axis=0) / np.sqrt(number)


def evaluated(models: Any, votes: Annotations, metrics: Sequence[str], **more: Any) -> Any:
    """An evaluation without resamples."""
    settings = Settings(workers=1, **more)
    plan = resample(votes, "influence", replicates=2)
    return evaluate(models, votes, metrics=metrics, resampling=plan, settings=settings)


def table_of(votes: Any, *, gold: bool = False, read: Any = None) -> Any:
    """Votes (items, readers) as annotations, or gold (items,)."""
    votes = votes[:, None] if votes.ndim == 1 else votes
    item, who = np.nonzero(np.ones(votes.shape, bool) if read is None else read)
    people = {} if gold else {
        "annotators": tuple(f"r{r:02d}" for r in range(votes.shape[1])), "annotator": who
    }  # fmt: skip
    return Annotations(
        kind="binary",
        items=names(len(votes)),
        classes=("no", "yes"),
        item=item,
        label=votes[item, who],
        is_gold=np.ones(len(item), bool) if gold else None,
        **people,
    )


def names(items: int) -> tuple[str, ...]:
    """Names of items."""
    return tuple(f"i{i:05d}" for i in range(items))


def models_of(scores: Any, task: str = "") -> list[Predictions]:
    """Scores (models, items) as predictions."""
    return [
        Predictions(f"m{m}", names(len(score)), score, task=task)
        for m, score in enumerate(scores)
    ]


# ---- clusters ------------------------------------------------------------------------------


def clusters(design: Clusters) -> Cell:
    """Schools of annotators, or sites of patients: a pair of equal models and six of them."""

    def one(seed: int) -> tuple[float, ...]:
        random = np.random.default_rng([11, seed])
        sizes = {name: getattr(design, name) for name in ("schools", "patients", "sites")}
        drawing = drawn(random, design.items, design.readers, **sizes)
        scores = drawing.scores if design.metric == "auroc" else (drawing.scores > 0.5) * 1.0
        votes = annotated(drawing)
        models = [Predictions(f"m{m}", votes.items, score) for m, score in enumerate(scores)]
        done = evaluated(models, votes, [design.metric])
        gaps = [done.estimate("m0", design.metric) - done.estimate(f"m{k}", design.metric)
                for k in (1, 6)]  # fmt: skip
        low, high = gaps[0].interval()
        below, above = gaps[1].interval()
        better = done.family(design.metric).better[:6, :6]
        return below <= cluster_gap(design) <= above, not low <= 0 <= high, better.any()

    columns = {"difference": COVERS, "equal pair apart": FALSE, "any of six apart": FALSE}
    return Cell(design.name, columns, one)


@cache
def cluster_gap(design: Clusters) -> float:
    """By how much the worse model is worse, over groups like these."""
    gaps, metric = [], getattr(metrics_of, design.metric)
    for seed in range(400):
        random = np.random.default_rng([12, seed])
        sizes = {"schools": design.schools, "patients": 1000, "sites": 400}
        if not design.sites:
            sizes |= {"patients": 0, "sites": 0}
        drawing = drawn(random, 2000, design.readers, **sizes)
        scores = drawing.scores if design.metric == "auroc" else (drawing.scores > 0.5) * 1.0
        share = drawing.votes.mean(axis=1)
        gaps.append(metric(share, scores[0]) - metric(share, scores[6]))
    return float(np.mean(gaps))


# ---- rare positives ------------------------------------------------------------------------


def rare(readers: int, metrics: Sequence[str] = ("auroc", "average_precision")) -> Cell:
    """About 4 % positive votes: soft AUROC and average precision."""
    design = Design(f"rare positives: 500 items, {readers} annotators", 500, readers, shift=2.0)

    def one(seed: int) -> list[float]:
        votes, models = study(design, 7_000_000 + seed)
        done = evaluated([models[k] for k in (0, EQUAL // 2, EQUAL)], votes, metrics)
        columns: list[float] = []
        for metric in metrics:
            right = _rare_truth(design)[design.metrics.index(metric)]
            first, opposite, worse = (done.estimate(name, metric) for name in done.models)
            apart = (first - opposite).interval()
            gap = (first - worse).interval()
            value = first.interval()
            decides = done.two_way(metric).population.decides
            columns += [
                value[0] <= right[0] <= value[1] if decides else np.nan,
                gap[0] <= right[0] - right[1] <= gap[1] if decides else np.nan,
                decides and not apart[0] <= 0 <= apart[1],
            ]
        return columns

    columns = {}
    for metric in metrics:
        columns |= {f"{metric} value": (0.93, 1.0), f"{metric} difference": (0.93, 1.0),
                    f"{metric} apart": FALSE}  # fmt: skip
    return Cell(design.name, columns, one)


@cache
def _rare_truth(design: Design) -> Any:
    return truth(design, panels=200, batches=5)[:, 1]


# ---- tasks ---------------------------------------------------------------------------------


def tasks(number: int = 8, models: int = 6) -> Cell:
    """Equal models on several questions about the same items by the same annotators."""

    def one(seed: int) -> tuple[float, float]:
        random = np.random.default_rng([13, seed])
        items, readers = 150, 6
        shared = random.standard_normal(items)
        labels, predictions = [], []
        for task in range(number):
            z = 0.6 * shared + 0.8 * random.standard_normal(items)
            tastes = random.standard_normal((items, models))
            liking = 0.3 * random.standard_normal((models, readers))
            seen = z[:, None] + tastes @ liking + 0.7 * random.standard_normal((items, readers))
            labels.append((seen > 0.4 + 0.4 * random.standard_normal(readers)) * 1)
            scores = z + 0.45 * tastes.T + 0.7 * random.standard_normal((models, items))
            predictions += models_of(scores, f"t{task}")
        code = np.repeat(np.arange(number), items * readers)
        item, who = (np.tile(x.ravel(), number) for x in np.indices((items, readers)))
        votes = Annotations(
            kind="binary", items=names(items), classes=("no", "yes"),
            annotators=tuple(f"r{r}" for r in range(readers)), item=item, annotator=who,
            label=np.concatenate([x.ravel() for x in labels]),
            tasks=tuple(f"t{t}" for t in range(number)), task=code,
        )  # fmt: skip
        done = evaluated(predictions, votes, ["auroc"])
        apart = [done.family("auroc", task=f"t{t}").better.any() for t in range(number)]
        return any(apart), done.family("auroc").better.any()

    columns = {"any task separates some": FALSE, "macro average separates some": FALSE}
    return Cell(f"{number} tasks, {models} equal models", columns, one)


# ---- margins -------------------------------------------------------------------------------


def margin() -> Cell:
    """A model that is truly worse by exactly the margin; and several such at once."""
    items, readers = 300, 8

    def one(seed: int) -> tuple[float, ...]:
        random = np.random.default_rng([14, seed])
        votes, scores = _margin_world(random, items, readers)
        worse = _margin_truth()
        models = models_of(scores)
        done = evaluated(models, table_of(votes), ["auroc"], margin=worse)
        alone = evaluated(models[:2], table_of(votes), ["auroc"], margin=worse)
        (against,) = alone.differences("auroc")
        judged = against.judgement if against.a == "m1" else against.reverse
        shown = {"superior", "non-inferior", "equivalent"}
        from equipoise.report.answer.models import Answer

        within = Answer(done).front.within(worse)
        false = any(f"m{k}" in within for k in range(1, 6))
        two = judged in shown | {"equivalent by two one-sided tests"}
        return judged in shown, two, false

    columns = {"non-inferior, two models": MARGIN, "or by two one-sided tests": (0.0, 0.065),
               "any of five within the margin": FALSE}  # fmt: skip
    return Cell(f"{items} items, {readers} annotators, worse by the margin", columns, one)


def _margin_world(random: Any, items: int, readers: int, models: int = 6) -> tuple[Any, Any]:
    """Votes; the first model, and others that are alike worse than it."""
    z, taste = random.standard_normal(items), random.standard_normal((items, models))
    seen = z[:, None] + taste @ (0.2 * random.standard_normal((models, readers)))
    seen += 0.7 * random.standard_normal((items, readers))
    votes = (seen > 0.5 + 0.4 * random.standard_normal(readers)) * 1
    blur = np.full(models, 0.8)
    blur[1:] = 1.0
    noise = random.standard_normal((models, items))
    return votes, z + 0.3 * taste.T + blur[:, None] * noise


@cache
def _margin_truth() -> float:
    gaps = []
    for seed in range(300):
        votes, scores = _margin_world(np.random.default_rng([15, seed]), 5000, 8)
        value = [auroc(votes.mean(axis=1), score) for score in scores]
        gaps.append(value[0] - np.mean(value[1:]))
    return float(np.mean(gaps))


# ---- gold ----------------------------------------------------------------------------------


def gold_shares(positives: int, right: float) -> Cell:
    """Sensitivity of a model against a reference standard."""

    def one(seed: int) -> tuple[float, ...]:
        random = np.random.default_rng([16, seed])
        label = np.repeat([1, 0], [positives, 3 * positives])
        called = np.where(random.random(len(label)) < np.where(label == 1, right, 0.1), 1.0, 0)
        done = evaluated(models_of(called[None]), table_of(label, gold=True), ["sensitivity"])
        low, high = done.estimate("m0", "sensitivity").interval()
        return (low <= right <= high,)

    name = f"sensitivity {right:g} of {positives} positives against gold"
    return Cell(name, {"value": (0.93, 1.0)}, one)


def gold_readers(readers: int = 8) -> Cell:
    """Six models that are as good as the mean reader by the reference standard."""
    items = 200

    def one(seed: int) -> tuple[float, ...]:
        random = np.random.default_rng([17, seed])
        disease = (random.random(items) < 0.4) * 1
        z = 1.4 * disease + random.standard_normal(items)
        skill = np.exp(0.3 * random.standard_normal(readers))
        cut = 0.7 + 0.3 * random.standard_normal(readers)
        yes = random.random((items, readers)) < ndtr(skill * (z[:, None] - cut))
        hit = gold_truth()
        calls = np.where(disease == 1, hit[0], 1 - hit[1])
        called = (random.random((6, items)) < calls) * 1.0
        votes = yes * 1
        item, who = (x.ravel() for x in np.indices(votes.shape))
        table = Annotations(
            kind="binary", items=names(items), classes=("no", "yes"),
            annotators=(*(f"r{r}" for r in range(readers)), "gold"),
            item=np.r_[item, np.arange(items)], annotator=np.r_[who, np.full(items, readers)],
            label=np.r_[votes.ravel(), disease],
            is_gold=np.r_[np.zeros(len(item), bool), np.ones(items, bool)],
        )  # fmt: skip
        from equipoise.study.competitors import reader_tables

        study = Study.of(models_of(called), table, metrics=["balanced_accuracy"],
                         settings=Settings(workers=1))  # fmt: skip
        by_gold = next(t for t in reader_tables(study) if t.truth == "gold")
        claims = by_gold.claims(by_gold.models)
        like = [c for (_, whom), c in claims.items() if whom.name == "LIKE_THESE"]
        first = max(like, key=lambda claim: claim.value)
        return first.low > 0, any(c.low > 0 or c.high < 0 for c in like)

    columns = {"the leader of six better": MARGIN, "any of six better or worse": FALSE}
    return Cell(f"gold, {readers} readers, six models as good as they", columns, one)


@cache
def gold_truth(readers: int = 400) -> tuple[float, float]:
    """Sensitivity and specificity of the mean reader."""
    random = np.random.default_rng(18)
    items = 20_000
    disease = (random.random(items) < 0.4) * 1
    z = 1.4 * disease + random.standard_normal(items)
    skill = np.exp(0.3 * random.standard_normal(readers))
    cut = 0.7 + 0.3 * random.standard_normal(readers)
    chance = ndtr(skill * (z[:, None] - cut))
    return float(chance[disease == 1].mean()), float(1 - chance[disease == 0].mean())


# ---- few events ----------------------------------------------------------------------------

FEW = ("cohen_kappa", "f1", "mcc", "sensitivity")


def _few_positives(
    random: Any, items: int, *, share: float, right: tuple[float, float], readers: int
) -> tuple[Any, Any]:
    """Votes (items, readers), or gold (items,), and what two equal models call."""
    label = (random.random(items) < share) * 1
    hit = np.where(label == 1, right[0], 1 - right[1])
    called = np.stack([random.random(items) < hit for _ in range(2)]) * 1.0
    if not readers:
        return label, called
    wrong = 0.1 * random.random(readers) * random.random(readers)
    chance = np.where(label[:, None] == 1, 2 * wrong, wrong / 4)
    flip = random.random((items, readers)) < chance
    return np.where(flip, 1 - label[:, None], label[:, None]), called


def few_events(items: int, share: float, sens: float, spec: float, readers: int = 0) -> Cell:
    """Kappa, F1, MCC and sensitivity where few items are positive, by gold or three votes."""
    draw = partial(_few_positives, share=share, right=(sens, spec), readers=readers)

    @cache
    def right() -> Any:
        values = []
        for seed in range(40):
            votes, called = draw(np.random.default_rng([20, seed]), 20_000)
            votes = votes if votes.ndim == 1 else votes.mean(axis=1) > 0.5
            values.append([getattr(metrics_of, name)(votes * 1.0, called[0]) for name in FEW])
        return np.mean(values, axis=0)

    def one(seed: int) -> list[float]:
        random = np.random.default_rng([19, seed])
        votes, called = draw(random, items)
        hard = votes if votes.ndim == 1 else votes.mean(axis=1) > 0.5
        if not 0 < hard.sum() < items or not called.sum(axis=1).all():
            return [np.nan] * (3 * len(FEW))
        table = table_of(votes, gold=not readers)
        done = evaluated(models_of(called), table, FEW)
        columns = []
        for metric, value in zip(FEW, right(), strict=True):
            two = [done.estimate(name, metric, labels="hard") for name in done.models]
            low, high = two[0].interval()
            below, above = (two[0] - two[1]).interval()
            columns += [low <= value <= high if low == low else np.nan,
                        not below <= 0 <= above if below == below else np.nan,
                        low == low]  # fmt: skip
        return columns

    columns = {}
    for metric in FEW:
        columns |= {f"{metric}": PROPORTION, f"{metric} apart": FALSE, f"{metric} given": ANY}
    who = f"{readers} annotators" if readers else "gold"
    return Cell(f"{share:.0%} of {items} positive, {sens:g}/{spec:g}, {who}", columns, one)


# ---- agreement -----------------------------------------------------------------------------


def alpha(items: int, readers: int) -> Cell:
    """Krippendorff's alpha for items and annotators like these."""

    def draw(random: Any, items: int, readers: int) -> Any:
        z, w = random.standard_normal((2, items))
        seen = z[:, None] + np.outer(w, 0.4 * random.standard_normal(readers))
        seen += (
            0.7
            * np.exp(0.4 * random.standard_normal(readers))
            * random.standard_normal((items, readers))
        )
        return (seen > 0.4 + 0.5 * random.standard_normal(readers)) * 1

    @cache
    def right() -> float:
        from equipoise.truth.agreement import krippendorff_alpha

        tables = [draw(np.random.default_rng([22, k]), 2000, 60) for k in range(20)]
        return float(np.mean([
            krippendorff_alpha(t, plan=resample(t, "items", replicates=1)).value
            for t in map(table_of, tables)
        ]))  # fmt: skip

    def one(seed: int) -> tuple[float, ...]:
        from equipoise.truth.agreement import agreement_summaries

        table = table_of(draw(np.random.default_rng([21, seed]), items, readers))
        found = next(c for c in agreement_summaries(table)[0].coefficients if "alpha" in c.name)
        return (found.low <= right() <= found.high,)

    return Cell(f"alpha, {items} items, {readers} annotators", {"value": COVERS}, one)


# ---- calibration ---------------------------------------------------------------------------


def slope(items: int, readers: int) -> Cell:
    """Slope of a model that is calibrated for annotators like these."""

    def one(seed: int) -> tuple[float, ...]:
        from equipoise.study.analyses.calibration_curves import analyse

        random = np.random.default_rng([23, seed])
        z = 1.5 * random.standard_normal(items)
        lean = random.standard_normal((20_000, 1)) * 0.7
        chance = expit(z + lean[:200]).mean(axis=0)
        votes = random.random((items, readers)) < expit(
            z[:, None] + 0.7 * random.standard_normal(readers)
        )
        study = Study.of(models_of(chance[None]), table_of(votes * 1))
        (found,) = analyse(study).tables[0].rows
        return (found["slope_low"] <= 1 <= found["slope_high"],)

    return Cell(f"slope, {items} items, {readers} annotators", {"slope": COVERS}, one)


# ---- subgroups -----------------------------------------------------------------------------


def subgroups(items: int = 400, readers: int = 8) -> Cell:
    """Two models that are as good at both sites; readers are noisier at one of them."""

    def one(seed: int) -> tuple[float, ...]:
        random = np.random.default_rng([24, seed])
        site = np.arange(items) % 2
        z, taste = random.standard_normal(items), random.standard_normal((items, 2))
        noise = np.where(site == 1, 1.6, 0.6)[:, None]
        seen = z[:, None] + taste @ (0.25 * random.standard_normal((2, readers)))
        seen += noise * random.standard_normal((items, readers))
        votes = table_of((seen > 0.4 + 0.4 * random.standard_normal(readers)) * 1)
        scores = z + 0.35 * taste.T + 0.7 * random.standard_normal((2, items))
        frame = pyarrow.table({"item": list(votes.items), "site": [f"s{k}" for k in site]})
        study = Study.of(
            models_of(scores),
            votes,
            metrics=["auroc"],
            settings=Settings(workers=1),
            attributes=[Attributes.from_dataframe(frame)],
        )
        lines = answer_study(SUBGROUPS, study).lines
        changed = any(x.change_low > 0 or x.change_high < 0 for x in lines)
        return changed, any(line.gap_p < 0.05 for line in lines)

    columns = {"a value differs (not claimed)": ANY, "a gap is said to differ": FALSE}
    return Cell(f"two sites, {readers} annotators, noisier at one", columns, one)


# ---- looks ---------------------------------------------------------------------------------


def looks(planned: int = 4, items: int = 400, readers: int = 12) -> Cell:
    """Two equal models in a study that grows, until they are apart."""

    def one(seed: int) -> tuple[float, ...]:
        random = np.random.default_rng([25, seed])
        z, taste = random.standard_normal(items), random.standard_normal((items, 2))
        seen = z[:, None] + taste @ (0.15 * random.standard_normal((2, readers)))
        seen += 0.7 * random.standard_normal((items, readers))
        votes = (seen > 0.4 + 0.4 * random.standard_normal(readers)) * 1
        scores = z + 0.35 * taste.T + 0.7 * random.standard_normal((2, items))
        earlier: tuple[Look, ...] = ()
        apart = []
        for number in range(1, planned + 1):
            size = items * number // planned
            grown = models_of(scores[:, :size]), table_of(votes[:size]), ["auroc"]
            look = evaluated(*grown, look=f"{number}/{planned}", looks=earlier)
            earlier = look.looks
            gap = look.estimate("m0", "auroc") - look.estimate("m1", "auroc")
            apart.append([not low <= 0 <= high for low, high in (
                gap.interval(look.level), gap.interval(0.95))])  # fmt: skip
        spent, plain = np.any(apart, axis=0)
        return spent, plain

    columns = {"any look": FALSE, "any look, unplanned (said)": ANY}
    return Cell(f"{planned} looks, two equal models", columns, one)


CELLS = (
    *map(clusters, (*SCHOOLS, *SITES)),
    rare(5),
    rare(8),
    tasks(),
    margin(),
    *(gold_shares(n, p) for n in (34, 16) for p in (0.8, 0.94)),
    gold_readers(),
    few_events(400, 0.05, 0.8, 0.98),
    few_events(400, 0.05, 0.5, 0.98),
    few_events(400, 0.05, 0.8, 0.98, readers=5),
    alpha(100, 5),
    alpha(200, 8),
    slope(300, 5),
    slope(300, 8),
    subgroups(),
    looks(),
)
