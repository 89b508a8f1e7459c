r"""Label errors by a classifier (confident learning, BHN) and by where items lie.

**Out of sample** means: by a classifier that was not trained on the item. Items are split into
folds, each class spread over them as evenly as it goes; each fold is predicted by a classifier
that was trained on the others. A class that is not in the training folds has probability 0
there: a class with one member never supports its own label, so its member ranks as suspicious,
which is all that the data say of it. Features are standardised on the training folds; for the
logistic regression they are divided by the square root of their number besides, so that one
strength of the penalty suits few features and many.

One fit serves all detectors that ask for the same: the last results are kept by the content of
embeddings and labels.

**Confident learning**: how little a classifier that never saw an item believes in its label.
With :math:`\hat p` out of sample and :math:`y_i` the label, the three rankings are

.. math:: \text{self-confidence:} \quad s_i = 1 - \hat p(y_i \mid x_i)

.. math:: \text{normalised margin:} \quad m_i = \tfrac12 \bigl(1
          + \max_{j \ne y_i} \hat p(j \mid x_i) - \hat p(y_i \mid x_i)\bigr)

.. math:: \text{confident joint:} \quad s_i = \tfrac12 (o_i + m_i)

The confident joint: the threshold of a class is the mean probability of the class among the
items that carry it,

.. math:: t_j = \operatorname{mean}_{i : y_i = j} \hat p(j \mid x_i)

An item is confidently of the likeliest class j with :math:`\hat p(j \mid x_i) \ge t_j`; the
joint counts items by label and by that class, and what is off its diagonal, :math:`o_i = 1`, is
a label issue. The published method names a set; ours is a ranking with that set first, both
parts in the order of the margin, so that hardly any two items tie. Every item of the set scores
at least 1/2 and every other item at most 1/2. Classes without a member have no threshold and
are nobody's class.

**BHN**: how extreme a label looks beside labels that are known to be right. A classifier is
trained on the items whose label is not known to be right; the nonconformity of an item with a
label is one minus its probability, out of sample. Against the n items whose label is known, a
conformal p-value tests the hypothesis that a label is right:

.. math:: p_i = \frac{1 + \#\{c : a_c \ge a_i\}}{n + 1}, \qquad a = 1 - \hat p(y \mid x)

The Benjamini-Hochberg procedure rejects the smallest p-values, so that items are ranked by
them. P-values come in n + 1 steps; within a step items stand by their own nonconformity:

.. math:: s_i = 1 - p_i + \frac{a_i}{n + 1}

Our reading where the paper is silent: probabilities come from k folds of the items that are
not known, each tested against the known ones as seen by the very same classifier; an item
that is known is tested against the other known ones, with the mean over all classifiers; one
p-value for all classes.

**FINE**: how badly an item lines up with the main direction of its class. With z the embedding
at unit length and :math:`u_c` the first eigenvector of the Gram matrix :math:`\sum_{i : y_i =
c} z_i z_i^\top` of a class, the alignment of an item is

.. math:: f_i = \langle u_{y_i}, z_i \rangle^2

Within each class the alignments are a mixture of two normal distributions, the clean items and
the noisy ones, whose mean is lower; the score is the log-odds of being noisy,

.. math:: s_i = \log \frac{\pi_0 \, \phi(f_i; \mu_0, \sigma)}
                         {\pi_1 \, \phi(f_i; \mu_1, \sigma)}

Our reading where the paper is silent: embeddings have unit length; both components share one
variance, so that the odds never rise with alignment; the fit starts with the means at the
lowest and the highest alignment; a class with fewer than 4 members, or whose members all line
up alike, says nothing (log-odds 0).

**kNN disagreement**: the share of an item's nearest neighbours that carry another label,

.. math:: s_i = \frac1k \sum_{j \in N_k(i)} 1[y_j \ne y_i]

over the k = 20 nearest other items that have a label, by cosine. There are k + 1 values, so
that items tie; metrics count ties as what they are.

**NoiseRank**: how much the other items, as a random field, speak against a label. Every pair of
items is a clique of a Markov random field: similar items that agree on the label support each
other, and similar items that disagree speak against each other. With :math:`z_i = 1` for a
wrong label and everything else given, the posterior log-odds are

.. math:: s_i = \log \frac{P(z_i = 1 \mid D)}{P(z_i = 0 \mid D)}
          = \sum_{j \ne i} K(x_i, x_j) \, (1[y_j \ne y_i] - 1[y_j = y_i]), \qquad
          K(x, x') = \exp(-\lVert u - u' \rVert^2 / h)

with u the embedding at unit length and h = 1. Items are ranked by the log-odds; the
probabilities themselves would round to 1 and tie.

This is our reading of the paper's dependence model: pairs only, both kinds of pair with equal
weight, all pairs rather than near ones, and labels of others as given. What stands in for the
paper's potentials matters: with other kernels and other ways to weigh the two kinds of pair,
the AUROC on wrong labels of CIFAR-10N lies between 48 and 87 % (60.7 % as it is here). Sums
over all items favour dense regions and large classes, so that it is no strong method;
CleanPatrick says the same. Time grows with the square of the number of items, memory does
not.

Hyper-parameters: of what asks a classifier the `classifier`, the number of `folds` (as many as
items where there are fewer), inverse `strength` of the penalty and `steps` at most of the
logistic regression, and `stumps` of AdaBoost; of FINE `steps` at most and the `tolerance`, the
change of the mean log-likelihood below which the fit has converged, and `min_members`, below
which a class says nothing; of kNN disagreement `k` neighbours; of NoiseRank the `bandwidth`,
the squared distance, at unit length, at which similarity has fallen to 1/e.
"""

import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace

import numpy as np

from equipoise.clean.collection import MISSING, Collection
from equipoise.clean.detector import (
    SEEDS,
    CatalogueDetector,
    Hyper,
    Need,
    of_labels,
    silent,
)
from equipoise.clean.similarity import neighbours
from equipoise.scale.cells import digest
from equipoise.types import Floats, InputError, Ints, Progress, frozen, ratio

Predict = Callable[[Floats], Floats]  # features (items, features) to (items, classes)
CONFIDENT = "confident_learning_"  # and the name of a ranking
ALIKE = 1e-12  # variance of alignments below which all are the same
CELLS = 2**23  # of the kernel of NoiseRank at a time
_KEPT = 4
_results: dict[tuple[object, ...], Floats] = {}


def out_of_sample(
    rows: Floats, labels: Ints, how: Hyper, seed: int, *, progress: Progress = silent
) -> Floats:
    """Probabilities of the classes 0 to the largest label for every item, (items, classes)."""
    key = (digest([rows, labels]), *sorted(how.items()), seed)
    if key in _results:
        progress(how["folds"], how["folds"])
        return _results[key]
    probabilities = np.zeros((len(rows), int(labels.max()) + 1))
    for places, predict in held_out(rows, labels, how, seed, progress=progress):
        probabilities[places] = predict(rows[places])
    if len(_results) == _KEPT:
        del _results[next(iter(_results))]
    _results[key] = frozen(probabilities)
    return _results[key]


def held_out(
    rows: Floats, labels: Ints, how: Hyper, seed: int, *, progress: Progress = silent
) -> Iterator[tuple[Ints, Predict]]:
    """The items of each fold, and a function that predicts as if they had no labels.

    Probabilities are those of the classes 0 to the largest label.
    """
    if len(np.unique(labels)) < 2:
        raise InputError(
            "labels", "one class", "at least two classes", "label errors need a choice"
        )
    fold = _folds(labels, how["folds"], seed)
    total = int(fold.max()) + 1
    for number in range(total):
        progress(number, total)
        apart = fold == number
        trained = _trained_classifier(rows[~apart], labels[~apart], how, seed, labels.max())
        yield np.flatnonzero(apart), trained
    progress(total, total)


def _folds(labels: Ints, folds: int, seed: int) -> Ints:
    """The fold of every item: members of a class in random order, one fold after the other."""
    chance = np.random.default_rng(seed)
    order = np.lexsort((chance.random(len(labels)), labels))
    fold = np.empty(len(labels), dtype=np.int64)
    fold[order] = np.arange(len(labels)) % min(folds, len(labels))
    return fold


def _trained_classifier(
    rows: Floats, labels: Ints, how: Hyper, seed: int, largest: int
) -> Predict:
    """A classifier on standardised features, on one thread."""
    from sklearn.ensemble import AdaBoostClassifier
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.linear_model import LogisticRegression
    from threadpoolctl import threadpool_limits

    centre = rows.mean(axis=0)
    spread = rows.std(axis=0)
    spread[spread == 0] = 1
    model = AdaBoostClassifier(n_estimators=how["stumps"], random_state=seed % SEEDS)
    if how["classifier"] == "logistic_regression":
        model = LogisticRegression(C=how["strength"], max_iter=how["steps"])
        spread = spread * np.sqrt(rows.shape[1], dtype=spread.dtype)

    def standardised(features: Floats) -> Floats:
        return np.asarray((features - centre) / spread)

    classes = np.unique(labels)
    if len(classes) > 1:
        with threadpool_limits(limits=1), warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            model.fit(standardised(rows), labels)

    def predict(features: Floats) -> Floats:
        probabilities = np.zeros((len(features), int(largest) + 1))
        with threadpool_limits(limits=1):
            probabilities[:, classes] = (
                model.predict_proba(standardised(features)) if len(classes) > 1 else 1.0
            )
        return probabilities

    return predict


def _probability_of_label(probabilities: Floats, labels: Ints) -> Floats:
    """The probability of the label that each item has, shape (items,)."""
    return probabilities[np.arange(len(labels)), labels]


def self_confidence(probabilities: Floats, labels: Ints) -> Floats:
    """One minus the out-of-sample probability of the label."""
    return 1 - _probability_of_label(probabilities, labels)


def margin(probabilities: Floats, labels: Ints) -> Floats:
    """The best other label's probability less that of the label, put into [0, 1]."""
    others = probabilities.copy()
    others[np.arange(len(labels)), labels] = -np.inf
    return np.asarray(
        (1 + others.max(axis=1) - _probability_of_label(probabilities, labels)) / 2
    )


def confident_joint(probabilities: Floats, labels: Ints) -> Floats:
    """Half a point for being off the diagonal of the confident joint, half for the margin."""
    of_label = _probability_of_label(probabilities, labels)
    members = np.bincount(labels, minlength=probabilities.shape[1])
    sums = np.bincount(labels, weights=of_label, minlength=probabilities.shape[1])
    least = ratio(sums, members, np.inf)
    sure = np.where(probabilities >= least, probabilities, -1.0)
    off = (sure.max(axis=1) >= 0) & (sure.argmax(axis=1) != labels)
    return np.asarray((off + margin(probabilities, labels)) / 2)


RANKINGS: Mapping[str, tuple[str, Callable[[Floats, Ints], Floats]]] = {
    "self_confidence": ("self-confidence", self_confidence),
    "margin": ("normalised margin", margin),
    "joint": ("confident joint", confident_joint),
}


@of_labels
def _confidence(
    row: CatalogueDetector, rows: Floats, labels: Ints, seed: int, progress: Progress
) -> Floats:
    """How little the classifier believes in the label of each item; a fit serves all."""
    chances = out_of_sample(rows, labels, row.hyper, seed, progress=progress)
    return RANKINGS[row.name.removeprefix(CONFIDENT)][1](chances, labels)


def _conformal_scores(
    row: CatalogueDetector, data: Collection, seed: int, progress: Progress
) -> Floats:
    """One minus the p-value; nan for items without a label."""
    assert data.embeddings is not None and data.labels is not None and data.known is not None
    rows, labels, verified = data.embeddings, data.labels, data.known
    unsure = np.flatnonzero((verified == MISSING) & (labels != MISSING))
    clean = np.flatnonzero(verified != MISSING)
    for some, got, expected, do in (
        (clean, "no label that is known to be right", "some", "mark some labels as known"),
        (unsure, "every label known", "labels to be tested", "mark only some labels as known"),
    ):
        if not len(some):
            raise InputError(f"detector {row.name}", got, expected, do)
    both = clean[labels[clean] != MISSING]
    scores = np.full(len(labels), np.nan)
    scores[both], parts = 0.0, 0
    folds = held_out(rows[unsure], labels[unsure], row.hyper, seed, progress=progress)
    for places, predict in folds:
        apart = unsure[places]
        null = np.sort(_nonconformity(predict(rows[clean]), verified[clean]))
        here = _nonconformity(predict(rows[apart]), labels[apart])
        scores[apart] = (np.searchsorted(null, here) + here) / (len(null) + 1)
        again = _nonconformity(predict(rows[both]), labels[both])
        itself = _nonconformity(predict(rows[both]), verified[both]) < again
        scores[both] += (np.searchsorted(null, again) - itself + again) / len(null)
        parts += 1
    scores[both] /= parts
    return scores


def _nonconformity(probabilities: Floats, labels: Ints) -> Floats:
    """One minus the probability of a label; 1 for classes that the classifier never saw."""
    seen = labels < probabilities.shape[1]
    places = np.flatnonzero(seen)
    scores = np.ones(len(labels))
    scores[places] -= probabilities[places, labels[places]]
    return scores


def _unit_rows(rows: Floats) -> Floats:
    """Embeddings at unit length, in double precision; zeros stay zeros."""
    length = np.linalg.norm(rows.astype(np.float64), axis=1, keepdims=True)
    return rows / np.where(length > 0, length, 1)


@of_labels
def _out_of_line(
    row: CatalogueDetector, rows: Floats, labels: Ints, seed: int, progress: Progress
) -> Floats:
    """Log-odds that an item is out of line with its class."""
    del seed
    from threadpoolctl import threadpool_limits

    rows = _unit_rows(rows)
    values, codes = np.zeros(len(rows)), np.unique(labels)
    with threadpool_limits(limits=1):
        for done, code in enumerate(codes):
            members = np.flatnonzero(labels == code)
            if len(members) >= row.hyper["min_members"]:
                values[members] = _noisy(_alignments(rows[members]), row.hyper)
            progress(done + 1, len(codes))
    return values


def _noisy(aligned: Floats, how: Hyper) -> Floats:
    """Log-odds of the lower of two components, fitted by expectation-maximisation."""
    variance = aligned.var()
    if variance < ALIKE:
        return np.zeros(len(aligned))
    low, high = float(aligned.min()), float(aligned.max())
    share, before = 0.5, -np.inf
    for _ in range(how["steps"]):
        odds = _log_odds(aligned, (low, high), variance, share)
        noisy = 1 / (1 + np.exp(-np.clip(odds, -700, 700)))
        likely = _log_likelihood(aligned, (low, high), variance, share)
        if likely - before < how["tolerance"]:
            break
        before = likely
        share = float(np.clip(noisy.mean(), 1e-6, 1 - 1e-6))
        low = float(noisy @ aligned / max(noisy.sum(), ALIKE))
        high = float((1 - noisy) @ aligned / max((1 - noisy).sum(), ALIKE))
        spread = noisy * (aligned - low) ** 2 + (1 - noisy) * (aligned - high) ** 2
        variance = max(float(spread.mean()), ALIKE)
    return odds


def _alignments(rows: Floats) -> Floats:
    """Squared cosines with the first eigenvector of a class's Gram matrix."""
    few = len(rows) < rows.shape[1]
    vectors = np.linalg.eigh(rows @ rows.T if few else rows.T @ rows)[1][:, -1]
    main = rows.T @ vectors if few else vectors
    return np.asarray((rows @ (main / np.linalg.norm(main))) ** 2)


def _log_odds(
    aligned: Floats, means: tuple[float, float], variance: float, share: float
) -> Floats:
    low, high = means
    apart = ((aligned - high) ** 2 - (aligned - low) ** 2) / (2 * variance)
    return np.asarray(np.log(share / (1 - share)) + apart)


def _log_likelihood(
    aligned: Floats, means: tuple[float, float], variance: float, share: float
) -> float:
    """Mean over items, up to a constant."""
    parts = [
        np.log(weight) - (aligned - mean) ** 2 / (2 * variance)
        for weight, mean in zip((share, 1 - share), means, strict=True)
    ]
    return float(np.logaddexp(*parts).mean() - np.log(variance) / 2)


@of_labels
def _disagreement(
    row: CatalogueDetector, rows: Floats, labels: Ints, seed: int, progress: Progress
) -> Floats:
    """Share of neighbours with another label."""
    del seed
    _, places = neighbours(rows, row.hyper["k"], progress=progress)
    return np.asarray(np.mean(labels[places] != labels[:, None], axis=1))


@of_labels
def _field_odds(
    row: CatalogueDetector, rows: Floats, labels: Ints, seed: int, progress: Progress
) -> Floats:
    """Posterior log-odds in a random field of all pairs: sums of the kernel, row by row."""
    del seed
    from threadpoolctl import threadpool_limits

    unit = _unit_rows(rows).astype(np.float32)
    grouped = np.argsort(labels, kind="stable")
    codes, starts = np.unique(labels[grouped], return_index=True)
    others, step = unit[grouped].T.copy(), max(1, CELLS // len(unit))
    label_places = np.searchsorted(codes, labels)
    scale, log_odds = 2 / row.hyper["bandwidth"], np.empty(len(unit))
    with threadpool_limits(limits=1):
        for start in range(0, len(unit), step):
            part = slice(start, start + step)
            kernel = np.exp((unit[part] @ others - 1) * np.float32(scale))
            sums = np.add.reduceat(kernel, starts, axis=1, dtype=np.float64)
            itself = np.exp((np.einsum("if,if->i", unit[part], unit[part]) - 1.0) * scale)
            agree = np.take_along_axis(sums, label_places[part, None], axis=1)[:, 0] - itself
            log_odds[part] = sums.sum(axis=1) - itself - 2 * agree
            progress(min(start + step, len(unit)), len(unit))
    return log_odds


_NEEDS: tuple[Need, ...] = ("embeddings", "labels")
_CROSS_VALIDATED = CatalogueDetector(
    name="bhn",
    title="BHN",
    task="label_errors",
    needs=(*_NEEDS, "known"),
    compute=_conformal_scores,
    hyper={
        "classifier": "logistic_regression",
        "folds": 5,
        "strength": 1.0,
        "steps": 100,
        "stumps": 50,
    },
    packages=("sklearn",),
    seeded=True,
    bounded=True,
    references=("yu2023",),
)
LABEL_ERRORS = (
    *(
        replace(
            _CROSS_VALIDATED,
            name=f"{CONFIDENT}{ranking}",
            title=f"Confident learning, {title}",
            needs=_NEEDS,
            compute=_confidence,
            references=("northcutt2021",),
        )
        for ranking, (title, _) in RANKINGS.items()
    ),
    CatalogueDetector(
        name="noise_rank",
        title="NoiseRank",
        task="label_errors",
        needs=_NEEDS,
        compute=_field_odds,
        hyper={"bandwidth": 1.0},
        packages=("threadpoolctl",),
        references=("sharma2020",),
    ),
    CatalogueDetector(
        name="fine",
        title="FINE",
        task="label_errors",
        needs=_NEEDS,
        compute=_out_of_line,
        hyper={"steps": 500, "tolerance": 1e-9, "min_members": 4},
        packages=("threadpoolctl",),
        references=("kim2021",),
    ),
    _CROSS_VALIDATED,
    CatalogueDetector(
        name="knn_disagreement",
        title="kNN disagreement",
        task="label_errors",
        needs=_NEEDS,
        compute=_disagreement,
        hyper={"k": 20},
        bounded=True,
        references=("wilson1972",),
    ),
)
