"""Columns and lines that many analyses have: by kind, with an interval, one on the other."""

from collections.abc import Iterable, Sequence

import numpy as np

from equipoise.findings import Column, Kind, Line


def headed(**kinds: Kind) -> tuple[Column, ...]:
    """Columns that are headed by their keys, each of its kind.

    Examples
    --------
    >>> [(one.head, one.kind) for one in headed(model="model", net_benefit="number")]
    [('model', 'model'), ('net benefit', 'number')]
    """
    return tuple(Column(key, key.replace("_", " "), kind) for key, kind in kinds.items())


def spanned(key: str, head: str = "", kind: Kind = "number", *, brief: bool = True) -> Column:
    """A column with an interval, whose ends are ``low`` and ``high`` behind its key.

    Examples
    --------
    >>> spanned("gain", kind="change").ends
    ('gain_low', 'gain_high')
    """
    ends = (f"{key}_low", f"{key}_high")
    return Column(key, head or key.replace("_", " "), kind, ends, brief)


def distinct_lines(curves: Iterable[tuple[str, Sequence[tuple[float, float]]]]) -> list[Line]:
    """Lines of models, by name and points; those that lie on each other are one.

    Examples
    --------
    >>> up, down = [(0.0, 0.0), (1.0, 1.0)], [(0.0, 1.0), (1.0, 0.0)]
    >>> [one.name for one in distinct_lines([("a", up), ("b", down), ("c", up)])]
    ['a +1', 'b']
    """
    same: dict[bytes, tuple[Sequence[tuple[float, float]], list[str]]] = {}
    for name, points in curves:
        key = (np.array(points) + 0.0).tobytes()
        same.setdefault(key, (points, []))[1].append(name)
    return [
        Line(first if not more else f"{first} +{len(more)}", points, model=first, dots=False)
        for points, (first, *more) in same.values()
    ]
