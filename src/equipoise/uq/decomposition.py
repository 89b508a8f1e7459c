r"""Decomposition: how much of the uncertainty of a probability is disagreement of members.

M members (networks of an ensemble, passes with dropout, samples of weights) give an item M
probabilities of a label. With :math:`h` the binary entropy in nats and :math:`\bar p` their
mean (the prediction), the *information* decomposition is

.. math:: PU = h(\bar p), \qquad AU = \frac1M \sum_m h(p_m), \qquad EU = PU - AU \ge 0

total (predictive) uncertainty, the part that every member has (aleatoric), and the mutual
information of label and member (epistemic). ``reverse_mi`` is the other one that the literature
has for Beta methods: the roles of mean and member change places,

.. math:: PU = \frac1M \sum_m \mathrm{CE}(\bar p, p_m), \quad AU = h(\bar p), \quad
    EU = \frac1M \sum_m \mathrm{KL}(\bar p \,\|\, p_m)

where members are kept 1e-12 away from 0 and 1, or one sure member would make it infinite. Both
have PU = AU + EU. One member has EU = 0 and AU = PU: nothing can be told apart.

A method that predicts Beta(a, b) needs no members: with :math:`S = a + b, m = a/S`,

.. math:: PU = h(m), \quad AU = \psi(S+1) - m\,\psi(a+1) - (1-m)\,\psi(b+1), \quad EU = PU - AU

and besides vacuity :math:`2/S`, variance :math:`m(1-m)/(S+1)` and the reverse mutual
information :math:`1/S - EU`.

M members see too little of the disagreement: the mean of EU over draws of M members is about
(1 - 1/M) of what infinitely many would show, so that methods with different M are not compared
by the size of EU, only by the order that it gives.

References
----------
Depeweg et al. (2018), *Decomposition of uncertainty in Bayesian deep learning*.

Examples
--------
>>> PU, AU, EU = decompose(np.array([[[0.0]], [[1.0]]]))
>>> PU, AU, EU
(array([[0.693]]), array([[0.]]), array([[0.693]]))
>>> whole = decompose(Beta(1.0, 1.0))
>>> float(whole.PU), float(whole.AU), float(whole.EU)
(0.693, 0.5, 0.193)
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from equipoise.scale.engine import threads
from equipoise.types import Floats, InputError, choice, immutable

DECOMPOSITIONS = ("information", "reverse_mi")
IMAGE_LEVEL: dict[str, Callable[..., Floats]] = {"mean": np.mean, "max": np.max, "sum": np.sum}
_CHUNK = 2**18  # numbers that are looked at together
_LARGEST = np.finfo(np.float64).max  # of a logit
_LEAST = 1e-12  # distance of members from 0 and 1, of the reverse decomposition


class Decomposition(NamedTuple):
    """Total, aleatoric and epistemic uncertainty in nats, all (items, classes)."""

    PU: Floats
    AU: Floats
    EU: Floats


@immutable(eq=False)
class Beta:
    """A Beta distribution for every item and label: parameters above 0, (items, classes).

    Examples
    --------
    >>> Beta([[1.0, 3.0]], [[1.0, 1.0]]).mean
    array([[0.5 , 0.75]])
    """

    a: Any
    b: Any

    def __post_init__(self) -> None:
        a, b = _parameters(self.a, self.b)
        object.__setattr__(self, "a", a)
        object.__setattr__(self, "b", b)

    @property
    def mean(self) -> Floats:
        """Predicted probabilities."""
        return np.asarray(self.a / (self.a + self.b))


def decompose(
    probs: Any, *, decomposition: str = "information", logits: bool = False
) -> Decomposition:
    """Total, aleatoric and epistemic uncertainty of every item and label, in nats.

    Parameters
    ----------
    probs
        Probabilities of the members, (members, items, classes); (items, classes) is a single
        member; or `Beta`, of any shape.
    decomposition
        ``information``, or ``reverse_mi``; see above.
    logits
        Whether `probs` holds logits of probabilities in place of them.
    """
    choice("decompose, decomposition", decomposition, DECOMPOSITIONS)
    if isinstance(probs, Beta):
        return _beta_parts(probs, decomposition)
    members = as_members(probs, logits=logits)
    parts = np.empty((3, *members.shape[1:]))
    split = _information if decomposition == "information" else _reverse

    def fill(rows: slice) -> None:
        parts[:, rows] = split(_probabilities(members[:, rows], logits=logits))

    threads().map(fill, _slices(members.shape))
    return Decomposition(*parts)


def _information(members: Floats) -> tuple[Floats, Floats, Floats]:
    whole = _entropy(members.mean(axis=0))
    inside = _entropy(members).mean(axis=0) if len(members) > 1 else whole
    return whole, inside, np.maximum(whole - inside, 0.0)


def _reverse(members: Floats) -> tuple[Floats, Floats, Floats]:
    mean = members.mean(axis=0)
    whole = _entropy(mean)
    if len(members) == 1:
        return whole, whole, np.zeros_like(whole)
    held = np.clip(members, _LEAST, 1 - _LEAST)
    total = -mean * np.log(held).mean(axis=0) - (1 - mean) * np.log1p(-held).mean(axis=0)
    total = np.maximum(total, whole)
    return total, whole, total - whole


def mean_probabilities(probs: Any, *, logits: bool = False) -> Floats:
    """The prediction: the mean over members, (items, classes)."""
    members = as_members(probs, logits=logits)
    mean = np.empty(members.shape[1:])
    for rows in _slices(members.shape):
        mean[rows] = _probabilities(members[:, rows], logits=logits).mean(axis=0)
    return mean


def as_members(probs: Any, *, logits: bool = False, where: str = "probs") -> Any:
    """Members as an array of floating numbers (members, items, classes), looked through once.

    The kind of number stays as it is: float16 is not made larger as a whole.
    """
    array = np.asarray(probs)
    if array.dtype.kind not in "fiub":
        got, do = f"{array.dtype} values", "give numbers"
        raise InputError(where, got, "an array of numbers", do)
    array = array if array.dtype.kind == "f" else array.astype(np.float64)
    array = array[None] if array.ndim == 2 else array
    if array.ndim != 3 or 0 in array.shape:
        got, do = f"shape {np.shape(probs)}", "add a last axis where there is one label"
        raise InputError(where, got, "(members, items, classes) or (items, classes)", do)
    low, high = (-_LARGEST, _LARGEST) if logits else (0.0, 1.0)
    least, most = float(array.min()), float(array.max())  # nan where there is one
    if low <= least and most <= high:
        return array
    inside = (array >= low) & (array <= high)
    member, item, label = (int(place) for place in np.argwhere(~inside)[0])
    value = float(array[member, item, label])
    what = "finite logits" if logits else "probabilities in [0, 1]"
    spot = f"{where}, member {member}, item {item}, class {label}"
    raise InputError(spot, f"{value:g}", what, _advice(value, least, most, logits=logits))


def _advice(value: float, least: float, most: float, *, logits: bool) -> str:
    """What to do about a number that is no probability, or no logit."""
    if np.isnan(value):
        return "leave out items without an answer"
    if logits:
        return "save logits of a larger type, or keep them within +-60000"
    if least >= 0 and 1.5 < most <= 100:
        return "these look like percentages: divide by 100"
    if least < 0:
        return (
            "these look like logits: name the array logits in place of probs (in Python, "
            "Prediction(..., logits=True)), or apply the sigmoid"
        )
    return "give probabilities"


def _slices(shape: tuple[int, int, int]) -> list[slice]:
    """Items that are looked at together."""
    number, items, classes = shape
    width = max(_CHUNK // (number * classes), 1)
    return [slice(first, min(first + width, items)) for first in range(0, items, width)]


def _probabilities(members: Any, *, logits: bool) -> Floats:
    """Members in full precision, as probabilities."""
    from scipy.special import expit

    full = members.astype(np.float64)
    return np.asarray(expit(full)) if logits else full


def _entropy(probability: Floats) -> Floats:
    """Binary entropy in nats; 0 at 0 and 1."""
    other = 1 - probability
    tiny = np.finfo(np.float64).tiny
    negative = probability * np.log(np.maximum(probability, tiny))
    negative += other * np.log(np.maximum(other, tiny))
    return np.asarray(np.abs(negative))


def _beta_parts(law: Beta, decomposition: str) -> Decomposition:
    """Closed forms for Beta(a, b) predictions."""
    from scipy.special import digamma

    a, b, mean = law.a, law.b, law.mean
    total = a + b
    whole = _entropy(mean)
    inside = digamma(total + 1) - mean * digamma(a + 1) - (1 - mean) * digamma(b + 1)
    inside = np.clip(inside, 0.0, whole)
    between = whole - inside
    if decomposition == "information":
        return Decomposition(whole, inside, between)
    reverse = np.maximum(1 / total - between, 0.0)
    return Decomposition(whole + reverse, whole, reverse)


def _parameters(a: Any, b: Any) -> tuple[Floats, Floats]:
    first, second = np.asarray(a, dtype=np.float64), np.asarray(b, dtype=np.float64)
    if first.shape != second.shape:
        got, do = f"shapes {first.shape} and {second.shape}", "align them"
        raise InputError("Beta parameters", got, "two arrays of one shape", do)
    for name, array in (("a", first), ("b", second)):
        if not (np.isfinite(array) & (array > 0)).all():
            bad = array[~(np.isfinite(array) & (array > 0))].flat[0]
            do = "give evidence plus one"
            raise InputError(f"Beta parameters, {name}", f"{bad:g}", "numbers above 0", do)
    return first, second


def image_level(scores: Floats, how: str = "mean") -> Floats:
    """One score per item of scores per label (items, classes): their mean, max or sum.

    Examples
    --------
    >>> image_level(np.array([[0.1, 0.3]]), "max")
    array([0.3])
    """
    choice("image level", how, tuple(IMAGE_LEVEL))
    return np.asarray(IMAGE_LEVEL[how](scores, axis=1))
