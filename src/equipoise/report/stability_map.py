r"""Map of annotators: those who judge alike stand close together.

Classical scaling of the distances :math:`d_{ab} = 1 - \kappa_{ab}`: the two leading
eigenvectors of :math:`-\frac12 J D^{\circ 2} J`, J taking out the mean. A pair without a kappa
gets the mean distance. The part of the distances that two dimensions hold is said.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from equipoise.arrays import Floats
from equipoise.report.lettering import width
from equipoise.report.markup import Html, element
from equipoise.report.numerals import apart, count, finite, number, percent, shorten
from equipoise.report.stability_rows import Entry, Part, value
from equipoise.report.svg import LETTER, NARROW, Scale, across, drawing, path, titled
from equipoise.report.tables import row, table

SIDE, EDGE = 330.0, 22.0
NAMED = 40  # with more annotators the points have no names
NOTE = (
    "Distances are 1 minus Cohen's kappa of two annotators on the items that both rated; the "
    "map shows them as well as two dimensions can. Directions have no meaning, only distances."
)


def placed(kappa: Any) -> tuple[Floats, float]:
    """Places in the plane, shape (annotators, 2), and the share of the distances they hold.

    Examples
    --------
    >>> places, held = placed([[None, 0.5], [0.5, None]])
    >>> float(abs(places[0, 0] - places[1, 0])), held
    (0.5, 1.0)
    """
    given = np.array([[np.nan if k is None else float(k) for k in line] for line in kappa])
    far = 1 - given
    np.fill_diagonal(far, np.nan)
    known = np.isfinite(far)
    mean = float(far[known].mean()) if known.any() else 0.0
    far = np.where(known, far, mean)
    np.fill_diagonal(far, 0.0)
    centre = np.eye(len(far)) - 1 / len(far)
    sizes, axes = np.linalg.eigh(-0.5 * centre @ far**2 @ centre)
    order = np.argsort(-sizes, kind="stable")[:2]
    lengths = np.maximum(sizes[order], 0.0)
    plane = axes[:, order] * np.sqrt(lengths)
    turn = np.sign(plane[np.argmax(np.abs(plane), axis=0), np.arange(len(order))])
    plane = plane * np.where(turn == 0, 1.0, turn)
    plane = np.hstack([plane, np.zeros((len(far), 2 - plane.shape[1]))])
    total = float(np.maximum(sizes, 0.0).sum())
    return plane, float(lengths.sum() / total) if total > 0 else 1.0


def part(entry: Entry) -> Part:
    """The section with the map; `entry` has names and the kappa of every pair."""
    names = [str(name) for name in entry["annotators"]]
    plane, held = placed(entry["kappa"])
    drawn = _draw(names, plane)
    return Part(
        _finding(names, entry["kappa"]),
        f"{count(len(names), 'annotator')}; the plane holds {percent(held)} of the distances",
        {"annotator-map": drawn}, _table(names, entry["kappa"]), NOTE,
    )  # fmt: skip


def _pairs(names: Sequence[str], kappa: Any) -> list[tuple[float, str, str]]:
    """Pairs with a kappa, the closest first."""
    known = [
        (value({"kappa": kappa[a][b]}, "kappa"), names[a], names[b])
        for a in range(len(names))
        for b in range(a)
    ]
    return sorted((one for one in known if finite(one[0])), key=lambda one: -one[0])


def _finding(names: Sequence[str], kappa: Any) -> str:
    """Name the pair that agrees most and the one that agrees least."""
    found = _pairs(names, kappa)
    if not found:
        return "No two annotators share enough items to be compared."
    said = []
    for (size, one, two), way in ((found[0], "most"), (found[-1], "least")):
        who = f"{shorten(two, 40)} and {shorten(one, 40)}"
        said.append(f"{who} agree {way} (kappa {number(size, 2)})")
    return f"{said[0]}; {said[1]}." if len(found) > 1 else f"{said[0]}."


def _draw(names: Sequence[str], plane: Floats) -> Html:
    """Draw a point per annotator, one scale for both directions."""
    middle = (plane.max(axis=0) + plane.min(axis=0)) / 2
    reach = float((plane.max(axis=0) - plane.min(axis=0)).max()) / 2 or 1.0
    right = Scale(middle[0] - reach, middle[0] + reach, EDGE, SIDE - EDGE)
    upward = Scale(middle[1] - reach, middle[1] + reach, SIDE - EDGE, EDGE)
    spots = [(right(x), upward(y)) for x, y in plane.tolist()]
    short = apart(tuple(names), 14)
    parts = [path("p", *(across(x, y) for x, y in spots))]
    if len(names) <= NAMED:
        for name, (x, y, side) in zip(names, _beside(spots, list(short.values())), strict=True):
            parts.append(titled(name, short[name], x=x, y=y, class_=f"{side} a".strip()))
    frame = element(
        "rect", x=1.0, y=1.0, width=NARROW - 2.0, height=SIDE - 2, class_="frame-line"
    )
    said = f"Map of {count(len(names), 'annotator')}: close points agree."
    return drawing((float(NARROW), SIDE), said, frame, *parts)


def _beside(
    spots: Sequence[tuple[float, float]], words: Sequence[str]
) -> list[tuple[float, float, str]]:
    """Place each name at its point so that it covers neither a point nor another name.

    Tried in turn: right, left, below, above; a name without a free place stands where it is
    whole.

    Examples
    --------
    >>> _beside([(50.0, 50.0), (60.0, 50.0)], ["a", "b"])
    [(42.0, 54.0, 'e'), (68.0, 54.0, '')]
    """
    taken = [(x - 5, y - 5, x + 5, y + 5) for x, y in spots]
    found = []
    for (x, y), word in zip(spots, words, strict=True):
        wide = LETTER * width(word)
        tries = [
            (x + 8, y + 4, "", x + 6), (x - 8, y + 4, "e", x - 6 - wide),
            (x, y + 18, "c", x - wide / 2), (x, y - 9, "c", x - wide / 2),
        ]  # fmt: skip
        inside = [one for one in tries if _within(_box(one, wide))]
        free = [
            one for one in inside
            if not any(_over(_box(one, wide), other) for other in taken)
        ]  # fmt: skip
        place = (free or inside or tries)[0]
        taken.append(_box(place, wide))
        found.append(place[:3])
    return found


def _box(
    place: tuple[float, float, str, float], wide: float
) -> tuple[float, float, float, float]:
    """Left, top, right and bottom of a name."""
    _, y, _, left = place
    return left, y - 9, left + wide, y + 3


def _within(box: Sequence[float]) -> bool:
    """Whether a name stays in the frame."""
    left, top, right, bottom = box
    return left > 2 and top > 2 and right < NARROW - 2 and bottom < SIDE - 2


def _over(one: Sequence[float], two: Sequence[float]) -> bool:
    """Whether two boxes overlap."""
    return one[0] < two[2] and two[0] < one[2] and one[1] < two[3] and two[1] < one[3]


def _table(names: Sequence[str], kappa: Any) -> Html:
    """List the pairs at both ends."""
    found = _pairs(names, kappa)
    some = found if len(found) <= 40 else [*found[:20], *found[-20:]]
    lines = [row(f"{two} and {one}", [number(size)], room=60) for size, one, two in some]
    few = "" if len(some) == len(found) else ", the twenty closest and the twenty furthest"
    return table(f"Cohen's kappa of pairs{few}", ["Pair", "kappa"], lines)
