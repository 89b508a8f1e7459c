"""Titles: metrics, aggregation models and kinds of labels as readers know them.

Tables for machines keep the names that options take.
"""

from collections.abc import Iterable

from equipoise.arrays import InputError
from equipoise.metrics import named

MODELS = {
    "mean_vote": "mean vote",
    "majority_vote": "majority vote",
    "dirichlet": "Dirichlet",
    "dawid_skene": "Dawid-Skene",
    "dawid_skene_ordinal": "ordinal Dawid-Skene",
    "glad": "GLAD",
    "inverse_rank": "inverse rank",
    "probabilistic_inverse_rank": "probabilistic inverse rank",
    "plackett_luce": "Plackett-Luce",
    "plackett_luce_ml": "Plackett-Luce (maximum likelihood)",
    "normal": "normal",
}
LOWER = " (lower is better)"


def metric_title(name: str) -> str:
    """Title of a metric; a name that is none stays as it is.

    Examples
    --------
    >>> metric_title("auroc"), metric_title("brier_score"), metric_title("certainty")
    ('AUROC', 'Brier score', 'certainty')
    """
    try:
        return named(name).title
    except InputError:
        return name


def model_title(name: str) -> str:
    """Title of an aggregation model, with underscores as blanks where it has none.

    Examples
    --------
    >>> model_title("dawid_skene"), model_title("my_model")
    ('Dawid-Skene', 'my model')
    """
    return MODELS.get(name, name.replace("_", " "))


def hard_words(kinds: Iterable[str], *, classes: int) -> str:
    """How hard labels are made of votes, for metrics of some kinds of labels.

    Parameters
    ----------
    kinds
        What the metrics look at: ``classes``, ``distribution`` or ``draws``.
    classes
        Number of scored classes: one for a yes/no question.

    Examples
    --------
    >>> hard_words(["classes"], classes=1)
    'strict majority (a tie is negative)'
    >>> hard_words(["distribution"], classes=5)
    'the class with most votes, shared by classes with equally many'
    """
    if classes == 1:
        return "strict majority (a tie is negative)"
    known, said = set(kinds), []
    if "classes" in known:
        said.append("for each class, whether more than half of the votes are for it")
    if known - {"classes"}:
        whole = " (for metrics of whole distributions)" if said else ""
        said.append(f"the class with most votes, shared by classes with equally many{whole}")
    return ", and ".join(said)
