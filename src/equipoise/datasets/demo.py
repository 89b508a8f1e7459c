"""A reading study that needs nothing but the installed package.

The tumours are real (569 fine-needle aspirates, Wisconsin 1995, as bundled with scikit-learn)
and so are the classifiers, trained here on the biopsies with cross-validation. The eight
readers are simulated: each looks at the same three real features of a tumour (concave points,
area, texture), with a skill and a leaning of their own, and never sees the biopsy.
"""

from functools import cache
from pathlib import Path

import numpy as np

from equipoise.read.writing import write_text
from equipoise.types import Annotations, Floats, Names, Predictions, csv_text, immutable

SEEN = ("worst concave points", "worst area", "worst texture")
SIMULATED = (
    "The eight readers of this study are simulated. The tumours are real (Wisconsin breast "
    "cancer data) and so are the classifiers."
)


@immutable
class Reader:
    """A simulated reader: how much they see, and which way they lean."""

    name: str
    skill: float
    leaning: float


_READERS = (
    Reader("Dr Abel", 4.0, 0.0),
    Reader("Dr Baker", 3.5, 0.4),
    Reader("Dr Chen", 3.0, -0.5),
    Reader("Dr Diaz", 2.5, 0.0),
    Reader("Dr Evans", 2.0, 1.0),
    Reader("Dr Fox", 2.0, -0.8),
    Reader("Dr Gray", 1.5, 0.2),
    Reader("Dr Hall", 1.0, 0.5),
)


def reading_study(seed: int = 0) -> tuple[Annotations, tuple[Predictions, ...]]:
    """Simulated readings of real tumours, and the scores of real classifiers.

    Examples
    --------
    >>> readings, scores = reading_study()
    >>> readings
    Annotations(binary, 569 items, 8 annotators, 4552 rows)
    >>> len(scores)
    7
    """
    from sklearn.datasets import load_breast_cancer

    data = load_breast_cancer()
    items = tuple(f"case-{number:03d}" for number in range(len(data.target)))
    seen = [list(data.feature_names).index(name) for name in SEEN]
    return _readings(data.data[:, seen], items, seed), _scores(items)


def _readings(seen: Floats, items: Names, seed: int) -> Annotations:
    random = np.random.default_rng(seed)
    evidence = ((seen - seen.mean(axis=0)) / seen.std(axis=0)).mean(axis=1) - 0.1
    noise = random.standard_normal((len(_READERS), len(items)))
    votes = np.stack(
        [
            reader.skill * evidence + reader.leaning + error > 0
            for reader, error in zip(_READERS, noise, strict=True)
        ]
    )
    annotator, item = (axis.ravel() for axis in np.indices(votes.shape))
    return Annotations(
        kind="binary",
        items=items,
        classes=("benign", "malignant"),
        annotators=tuple(reader.name for reader in _READERS),
        item=item,
        annotator=annotator,
        label=votes.ravel().astype(np.intp),
    )


@cache
def _scores(items: Names) -> tuple[Predictions, ...]:
    """Out-of-fold scores for malignancy, five folds; not all of them are probabilities."""
    from sklearn.datasets import load_breast_cancer
    from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import StratifiedKFold, cross_val_predict
    from sklearn.neighbors import KNeighborsClassifier
    from sklearn.neural_network import MLPClassifier
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler
    from sklearn.svm import SVC
    from sklearn.tree import DecisionTreeClassifier

    network = MLPClassifier((16,), alpha=1.0, max_iter=2000, random_state=0)
    models = {
        "logistic regression": LogisticRegression(max_iter=1000),
        "neural network": network,
        "linear discriminant": LinearDiscriminantAnalysis(),
        "support vectors": SVC(),
        "nearest neighbours": KNeighborsClassifier(15),
        "random forest": RandomForestClassifier(100, random_state=0),
        "decision tree": DecisionTreeClassifier(max_depth=3, random_state=0),
    }
    data = load_breast_cancer()
    malignant = (data.target == 0).astype(np.intp)
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    predictions = []
    for name, model in models.items():
        method = "decision_function" if name == "support vectors" else "predict_proba"
        pipe = make_pipeline(StandardScaler(), model)
        scores = cross_val_predict(pipe, data.data, malignant, cv=folds, method=method)
        values = scores if scores.ndim == 1 else scores[:, 1]
        digits = [float(f"{value:.8g}") for value in values]  # machines differ in the rest
        predictions.append(Predictions(name, items, np.array(digits)))
    return tuple(predictions)


def write_study(folder: Path, seed: int = 0) -> tuple[Path, Path]:
    """Write the study as the two files a user would have, and return their paths."""
    readings, scores = reading_study(seed)
    assert readings.annotator is not None and readings.label is not None
    assert readings.annotators is not None
    codes = zip(readings.item, readings.annotator, readings.label, strict=True)
    rows = (
        (readings.items[i], readings.annotators[a], readings.classes[k]) for i, a, k in codes
    )
    table = zip(scores[0].items, *(score.values.tolist() for score in scores), strict=True)
    folder.mkdir(parents=True, exist_ok=True)
    votes, models = folder / "annotations.csv", folder / "predictions.csv"
    write_text(votes, csv_text(("item", "annotator", "label"), rows))
    write_text(models, csv_text(("item", *(score.model for score in scores)), table))
    return votes, models
