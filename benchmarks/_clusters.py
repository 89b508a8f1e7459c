"""Studies whose readers come from schools, and whose items come from patients of sites."""

from typing import NamedTuple

import numpy as np

from equipoise import Annotations, Predictions, Settings, evaluate, resample


class Clusters(NamedTuple):
    """How many of what there are; the metric by which two equal models are compared."""

    name: str
    items: int
    readers: int
    schools: int = 0
    patients: int = 0
    sites: int = 0
    metric: str = "auroc"


SCHOOLS = (
    Clusters("12 readers of 3 schools", 200, 12, schools=3),
    Clusters("12 readers of 6 schools", 200, 12, schools=6),
)
SITES = (
    Clusters("100 patients of 6 sites", 300, 6, patients=100, sites=6, metric="sensitivity"),
)


class Drawing(NamedTuple):
    """Votes (items, readers), scores (models, items), and who or what is in which group."""

    votes: np.ndarray
    scores: np.ndarray
    patient: np.ndarray | None
    site: np.ndarray | None
    school: np.ndarray | None


def drawn(random, items, readers, *, schools=0, patients=0, sites=0):
    """Six equal models and a worse one.

    60 % of what readers differ by lies between schools; 15 % of what items differ by lies
    between sites, and 35 % between patients.
    """
    patient = site = school = None
    if sites:
        of = random.integers(0, sites, patients)
        of[:sites] = np.arange(sites)
        patient = np.r_[np.arange(patients), random.integers(0, patients, items - patients)]
        site = of[patient]
    if schools:
        school = np.arange(readers) % schools

    def of_items(*shape):
        alone = random.standard_normal((items, *shape))
        if site is None:
            return alone
        shared = random.standard_normal((sites, *shape))[site]
        inner = random.standard_normal((patients, *shape))[patient]
        return 0.15**0.5 * shared + 0.35**0.5 * inner + 0.5**0.5 * alone

    def of_readers(*shape):
        alone = random.standard_normal((readers, *shape))
        if school is None:
            return alone
        return 0.6**0.5 * random.standard_normal((schools, *shape))[school] + 0.4**0.5 * alone

    severity, traits = of_items(), of_items(7)
    seen = severity[:, None] + traits @ (0.3 * of_readers(7)).T
    noise = 0.7 * random.standard_normal((items, readers))
    votes = (seen + noise > 0.4 + 0.5 * of_readers()) * 1
    blur = np.full(7, 0.72)
    blur[6] += 1.2 * 0.9
    both = (of_items()[:, None] + of_items(7)) / 2**0.5
    scores = (severity[:, None] + 0.45 * traits + blur * both).T
    return Drawing(votes, scores, patient, site, school)


def annotated(drawing, *, outer=True):
    """The votes; in groups of the outer level, or of the inner one alone."""
    items, readers = drawing.votes.shape
    group = drawing.site if outer else drawing.patient
    school = drawing.school if outer else None
    return Annotations(
        kind="binary",
        items=tuple(f"i{i:04d}" for i in range(items)),
        classes=("no", "yes"),
        annotators=tuple(f"r{a:02d}" for a in range(readers)),
        item=np.repeat(np.arange(items), readers),
        annotator=np.tile(np.arange(readers), items),
        label=drawing.votes.ravel(),
        group=group,
        groups=None if group is None else tuple(f"g{k:03d}" for k in range(group.max() + 1)),
        annotator_group=school,
        annotator_groups=None
        if school is None
        else tuple(f"s{k}" for k in range(school.max() + 1)),
    )


def compared(design, seed, *, outer):
    """Estimates of two equal models and of a worse one."""
    random = np.random.default_rng([7, seed])
    sizes = {name: getattr(design, name) for name in ("schools", "patients", "sites")}
    drawing = drawn(random, design.items, design.readers, **sizes)
    votes = annotated(drawing, outer=outer)
    scores = drawing.scores
    if design.metric != "auroc":
        scores = (scores > 0.5) * 1.0
    models = [Predictions(f"m{k}", votes.items, scores[k]) for k in (0, 1, 6)]
    plan = resample(votes, "influence", replicates=2)
    how = {"metrics": [design.metric], "settings": Settings(workers=1)}
    found = evaluate(models, votes, resampling=plan, **how)
    return [found.estimate(f"m{k}", design.metric) for k in (0, 1, 6)]


def equal_pair_apart(design, studies):
    """How often two equal models are apart, by the level of groups that is used."""
    apart = {}
    for level in ("inner", "outer"):
        hits = 0
        for seed in range(studies):
            first, second, _ = compared(design, seed, outer=level == "outer")
            low, high = (first - second).interval()
            hits += not low <= 0 <= high
        apart[level] = hits / studies
    return apart
