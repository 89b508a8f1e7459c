"""Sweep: how certain the truth would be if an annotation counted for more, or for less.

Reliability says how much one vote or reading is worth; nothing in the annotations tells it, so
a page shows what each of the published values would make of them. Models without a reliability
have no sweep.
"""

from collections.abc import Callable
from typing import Any

from equipoise.aggregate import Chain, dirichlet, plackett_luce, probabilistic_inverse_rank
from equipoise.annotations import Annotations
from equipoise.plausibilities import Plausibilities

COUNTS = (1.0, 2.0, 3.0, 5.0, 10.0)
FACTORS = (10.0, 20.0, 30.0, 50.0, 100.0)
QUICK = Chain(draws=200, burn_in=100)
SURE = 0.99

Fit = Callable[[float], Plausibilities]


def reliability_sweep(
    annotations: Annotations, made: Plausibilities, task: str
) -> dict[str, Any] | None:
    """Certainty over reliabilities, the one in use among them; None without a reliability.

    Examples
    --------
    >>> votes = Annotations.from_counts(np.array([[3, 2], [9, 0]]))
    >>> rows = reliability_sweep(votes, dirichlet(votes), "")["rows"]
    >>> [row["below"] for row in rows]
    [1, 1, 1, 1, 1]
    """
    found = _again(annotations, made, task)
    if found is None:
        return None
    fit, values, how = found
    used = float(made.parameters["reliability"])
    rows = []
    for reliability in sorted({*values, used}):
        certainty = fit(reliability).certainty
        rows.append(
            {
                "reliability": reliability,
                "mean": float(certainty.mean()),
                "below": int((certainty < SURE).sum()),
            }
        )
    return {"used": used, "items": len(made.items), "how": how, "rows": rows}


def _again(
    annotations: Annotations, made: Plausibilities, task: str
) -> tuple[Fit, tuple[float, ...], str] | None:
    """How to fit the same model with another reliability."""
    told: dict[str, Any] = dict(made.parameters)
    if "reliability" not in told:
        return None
    exact = "Each value is a fit of the same model; certainties are exact."
    if made.model == "dirichlet":
        prior = float(told["prior"])
        return (
            lambda r: dirichlet(annotations, reliability=r, prior=prior, task=task),
            COUNTS,
            exact,
        )
    if made.model == "probabilistic_inverse_rank":
        preset = str(told["preset"])
        return (
            lambda r: probabilistic_inverse_rank(
                annotations, reliability=r, preset=preset, task=task
            ),
            FACTORS,
            exact,
        )
    if made.model == "plackett_luce":
        how = (
            f"Each value is a fit of the same model with {QUICK.draws} draws after "
            f"{QUICK.burn_in} (seed {QUICK.seed}), fewer than elsewhere on this page, so the "
            "numbers at the reliability in use can differ a little from those above."
        )
        return (
            lambda r: plackett_luce(
                annotations, reliability=r, prior=told["prior"], chain=QUICK, task=task
            ),
            COUNTS,
            how,
        )
    return None
