"""Stutz et al.: how certain 9,602 differential diagnoses leave 1,947 skin cases.

Plackett-Luce with every reading repeated (the prior of the public notebook, 1,000 draws after
500) and probabilistic inverse ranks (the prior of the notebook, exact). Medium reliability
is three repetitions; the paper does not say which factor of the inverse ranks goes with it, so
the correlation is shown for 20 and 30. Agreement counts ties in full, on cases with at least
three readings. The paper shows mean certainties in a figure without numbers.
"""

from collections.abc import Iterator, Mapping

import numpy as np

from equipoise.datasets import DermatologyDataset, load_dermatology_ddx
from equipoise.datasets.reproduce import Key, Reproduction, silent
from equipoise.truth import Chain, plackett_luce, probabilistic_inverse_rank
from equipoise.truth.agreement import ReadingAgreement, reading_agreement
from equipoise.truth.certainty import annotation_certainty, group_certainty
from equipoise.types import (
    Floats,
    Line,
    Lines,
    Point,
    Progress,
    expected_group_value,
)
from equipoise.types.groupings import expected_mass_value

REPETITIONS = (1, 2, 3, 5, 10)
FACTORS = (10, 20, 30, 50, 100)
MEDIUM = 3
THRESHOLD = 0.99
LEAST_READINGS = 3
CHAIN = Chain(draws=1000, burn_in=500)

BELOW = f"share of cases with top-1 certainty below {THRESHOLD:g}"
MEAN = "mean top-1 certainty"
CORRELATION = "correlation of certainties"
AGREEMENT = "correlation of certainty and agreement"
SET_MEAN = "mean certainty of sets, cases with so many conditions"
RISK = "mean expected risk"
SETS = (2, 3)
VALUES = {"low": 0.0, "medium": 1.0, "high": 2.0}
BINS = 20
DRAWN = 10  # every so many of the sorted cases are drawn

# Published figure; half a unit of its last digit; twice the Monte Carlo error of a difference
# (over seeds ours have 0.0016, 0.0009, and 0.0006 for correlations); eight cases of 1,939.
PUBLISHED: Mapping[Key, tuple[float, float, float, float]] = {
    (BELOW, "conditions, PL 3"): (0.59, 0.005, 0.005, 0.004),
    (BELOW, "risk, PL 3"): (0.382, 0.0005, 0.003, 0.004),
    (CORRELATION, "PL 3 and PrIRN 20"): (0.9, 0.05, 0.002, 0.0),
    (CORRELATION, "PL 3 and PrIRN 30"): (0.9, 0.05, 0.002, 0.0),
    (AGREEMENT, "PL 3"): (0.85, 0.005, 0.002, 0.0),
}


def reproduce(tell: Progress = silent, chain: Chain = CHAIN) -> Reproduction:
    """Recompute from the raw rankings.

    Parameters
    ----------
    chain
        Draws of Plackett-Luce; the tolerances are for the default.
    """
    study = load_dermatology_ddx()
    agreed = reading_agreement(study.annotations, ties="full")
    certainty = _certainties(study, chain, tell)
    risk = _expected_risk(study, chain)
    rows = [*_rows(certainty, agreed), *_mean_rows(certainty, risk)]
    return Reproduction(
        title="Certainty of differential diagnoses on the public dermatology cases",
        source="Stutz et al., Evaluating medical AI systems in dermatology under uncertain "
        "ground truth, Section 3.3 and Appendix E, on 1,939 test cases; here the 1,947 "
        "public ones",
        keys=("quantity", "of"),
        columns=("value",),
        rows=[{"quantity": what, "of": of, "value": x} for (what, of), x in rows],
        published={key: {"value": figures[0]} for key, figures in PUBLISHED.items()},
        tolerance={key: round(sum(figures[1:]), 6) for key, figures in PUBLISHED.items()},
        notes=(
            "Tolerance: half a unit of the last published digit, twice the Monte Carlo error "
            "(0.005, 0.003 and 0.002 for correlations), and for shares 0.004, the most that "
            "eight more cases can move them if the published ones are among the public.",
            f"PL n: Plackett-Luce, each reading n times, prior of the public notebook, "
            f"{chain.draws:,} draws after {chain.burn_in:,}. PrIRN g: probabilistic inverse "
            "ranks with factor g, prior of the notebook, exact.",
            "Expected risk: low 0, medium 1, high 2, over the mass of the conditions; by the "
            "most plausible condition alone it is lower, because rarer ones are the riskier.",
            "The paper's models A to D are not public: what Figures 6 and 7 show of them "
            "needs predictions (`equipoise evaluate --dataset dermatology_ddx`).",
            f"Agreement: on cases with at least {LEAST_READINGS} readings, ties in full.",
        ),
        formats={"value": (".4f", "g")},
        charts=tuple(_charts(certainty, agreed, risk)),
    )


def _certainties(study: DermatologyDataset, chain: Chain, tell: Progress) -> dict[Key, Floats]:
    """Top-1 certainty per case, of conditions and of risk, by model and reliability."""
    readings, certainty = study.annotations, dict[Key, Floats]()
    for number, times in enumerate(REPETITIONS):
        tell(number, len(REPETITIONS))
        truth = plackett_luce(readings, reliability=times, prior="notebook", chain=chain)
        certainty["conditions", f"PL {times}"] = annotation_certainty(truth).value
        certainty["risk", f"PL {times}"] = group_certainty(truth, study.risk).value
        for size in SETS:
            found = annotation_certainty(truth, j=size)
            posed = np.where(found.well_posed, found.value, np.nan)
            certainty[f"top {size}", f"PL {times}"] = posed
    for factor in FACTORS:
        truth = probabilistic_inverse_rank(readings, reliability=factor, prior="notebook")
        certainty["conditions", f"PrIRN {factor}"] = annotation_certainty(truth).value
    return certainty


def _rows(certainty: Mapping[Key, Floats], agreed: ReadingAgreement) -> list[tuple[Key, float]]:
    """Published quantities first, then the same over all published reliabilities."""
    enough = agreed.readings >= LEAST_READINGS
    of_conditions = {
        model: values for (what, model), values in certainty.items() if what == "conditions"
    }
    rows = {
        (CORRELATION, f"PL {n} and PrIRN {g}"): _correlation(
            of_conditions[f"PL {n}"], of_conditions[f"PrIRN {g}"]
        )
        for n, g in [(MEDIUM, 20), *zip(REPETITIONS, FACTORS, strict=True)]
    }
    for (what, model), values in certainty.items():
        rows[BELOW, f"{what}, {model}"] = float((values < THRESHOLD).mean())
    for n in REPETITIONS:
        values = of_conditions[f"PL {n}"]
        rows[AGREEMENT, f"PL {n}"] = _correlation(agreed.value[enough], values[enough])
    for model, values in of_conditions.items():
        rows[MEAN, model] = float(values.mean())
    rows = {key: value for key, value in rows.items() if "top " not in key[1]}
    return sorted(rows.items(), key=lambda row: row[0] not in PUBLISHED)


def _mean_rows(certainty: Mapping[Key, Floats], risk: Floats) -> list[tuple[Key, float]]:
    """Mean certainties of sets, and what risk is expected by mass and by top condition."""
    rows: list[tuple[Key, float]] = [
        ((SET_MEAN, f"{what}, {model}"), float(np.nanmean(values)))
        for (what, model), values in certainty.items()
        if what.startswith("top ")
    ]
    by_way = zip(("mass", "top condition"), risk[:2].mean(axis=1), strict=True)
    return rows + [((RISK, f"{way}, PL {MEDIUM}"), float(mean)) for way, mean in by_way]


def _expected_risk(study: DermatologyDataset, chain: Chain) -> Floats:
    """Expected risk by mass, by top condition, and 5 and 95 % of draws by mass: (4, cases)."""
    truth = plackett_luce(study.annotations, reliability=MEDIUM, prior="notebook", chain=chain)
    mass = expected_mass_value(truth, VALUES, study.risk)
    top = expected_group_value(truth, VALUES, study.risk)
    return np.stack([mass.mean, top.mean, mass.low, mass.high])


def _charts(
    certainty: Mapping[Key, Floats], agreed: ReadingAgreement, risk: Floats
) -> Iterator[Lines]:
    """Figures 6 to 8, E.14 and E.15, as far as they need no models."""
    means = {
        "PL, condition": [certainty["conditions", f"PL {n}"] for n in REPETITIONS],
        "PrIRN, condition": [certainty["conditions", f"PrIRN {g}"] for g in FACTORS],
        "PL, risk": [certainty["risk", f"PL {n}"] for n in REPETITIONS],
        **{
            f"PL, set of {j}": [certainty[f"top {j}", f"PL {n}"] for n in REPETITIONS]
            for j in SETS
        },
    }
    yield Lines(
        name="certainty-reliability",
        caption="Mean annotation certainty by reliability (Figures 6 and E.15)",
        alternative="Mean certainty rises with reliability; sets are less certain.",
        x="reliability: repetitions of PL, factor of PrIRN",
        y="mean certainty",
        lines=[
            Line(name, [(float(k), float(np.nanmean(part))) for k, part in enumerate(parts)])
            for name, parts in means.items()
        ],
        ticks=[
            (float(k), f"{n} / {g}")
            for k, (n, g) in enumerate(zip(REPETITIONS, FACTORS, strict=True))
        ],
    )
    yield from _case_charts(certainty, agreed)
    yield _risk_chart(risk)


def _case_charts(certainty: Mapping[Key, Floats], agreed: ReadingAgreement) -> Iterator[Lines]:
    """Certainty of every case: sorted, by both models, of risks, and beside agreement."""
    medium, inverse = f"PL {MEDIUM}", "PrIRN 30"
    first = certainty["conditions", medium]
    order = np.argsort(-first, kind="stable")
    pairs = {
        "certainty-sorted": (
            inverse,
            certainty["conditions", inverse][order],
            "Figure 7, left",
        ),
        "risk-certainty": ("risk, PL 3", np.sort(certainty["risk", medium])[::-1], "Figure 8"),
    }
    for name, (title, other, figure) in pairs.items():
        dots = _sorted_points(other)
        scattered = title == inverse
        yield Lines(
            name=name,
            caption=f"Top-1 certainty of every case, most certain first ({figure})",
            alternative=f"Sorted certainty of conditions beside that of {title}.",
            x="cases",
            y="certainty",
            lines=[
                Line(f"conditions, {medium}", _sorted_points(first[order]), dots=False),
                *([] if scattered else [Line(title, dots, dots=False)]),
            ],
            points=[Point(title, x, y, labelled=False) for x, y in dots if scattered],
            y_range=(0.0, 1.0),
        )
    enough = np.flatnonzero(agreed.readings >= LEAST_READINGS)[::DRAWN]
    yield Lines(
        name="certainty-agreement",
        caption="Certainty and agreement of cases with at least three readings (Figure E.14)",
        alternative="Cases on which dermatologists agree are the certain ones.",
        x="agreement",
        y=f"top-1 certainty, {medium}",
        points=[
            Point(f"case {i}", float(agreed.value[i]), float(first[i]), labelled=False)
            for i in enough
        ],
        x_range=(0.0, 1.0),
        y_range=(0.0, 1.0),
    )


def _sorted_points(values: Floats) -> list[tuple[float, float]]:
    return [(float(k), float(values[k])) for k in range(0, len(values), DRAWN)]


def _risk_chart(risk: Floats) -> Lines:
    """Histogram of expected risk: mean, and 5 and 95 % of draws."""
    edges = np.linspace(0.0, 2.0, BINS + 1)
    middle = (edges[1:] + edges[:-1]) / 2
    lines = [
        Line(
            name,
            [
                (float(x), float(n))
                for x, n in zip(middle, np.histogram(risk[row], edges)[0], strict=True)
            ],
            dots=False,
        )
        for name, row in (("mean of draws", 0), ("5 % of draws", 2), ("95 % of draws", 3))
    ]
    return Lines(
        name="expected-risk",
        caption="Expected risk of the cases: 0 low, 1 medium, 2 high (Figure 8, right)",
        alternative="How many cases have which expected risk, by mean and ends of draws.",
        x="expected risk",
        y="cases",
        lines=lines,
    )


def _correlation(first: Floats, second: Floats) -> float:
    return float(np.corrcoef(first, second)[0, 1])
