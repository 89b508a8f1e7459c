"""Systems whose outputs people rate or compare: values, variances, strengths by loops."""

import csv
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from equipoise import InputError, evaluate
from equipoise.read.headers import is_judged
from equipoise.read.judged import judged_study, results_study
from equipoise.read.tables import from_frame
from equipoise.study import Settings, Study
from equipoise.study.analyses import strengths
from equipoise.study.analyses.catalogue import ANALYSES

DATA = Path(__file__).parents[3] / "shared" / "datasets" / "judged"
HUMAN = DATA / "dialsummeval_human.csv"


def frame(**columns: object) -> pa.Table:
    return pa.table(columns)


def ratings(
    items: int, systems: int, raters: int, seed: int = 0
) -> tuple[pa.Table, np.ndarray]:
    """A complete design and its ratings, (items, systems, raters)."""
    random = np.random.default_rng(seed)
    values = (
        random.normal(0, 1, (items, 1, 1))
        + random.normal(0, 0.6, (1, systems, raters))
        + random.normal(0, 1, (items, systems, raters))
        + np.linspace(0, 0.5, systems)[None, :, None]
    )
    item, system, rater = (axis.ravel() for axis in np.indices(values.shape))
    table = frame(
        item=[f"i{k:03}" for k in item],
        system=[f"s{k}" for k in system],
        annotator=[f"r{k}" for k in rater],
        rating=values.ravel(),
    )
    return table, values


def anova_variance(gap: np.ndarray) -> float:
    """Variance of a mean over items and raters, both random, by mean squares."""
    n, m = gap.shape
    mean, by_item, by_rater = gap.mean(), gap.mean(axis=1), gap.mean(axis=0)
    of_items = m * ((by_item - mean) ** 2).sum() / (n - 1)
    of_raters = n * ((by_rater - mean) ** 2).sum() / (m - 1)
    rest = gap - by_item[:, None] - by_rater[None, :] + mean
    noise = (rest**2).sum() / ((n - 1) * (m - 1))
    return float((of_items + max(of_raters - noise, 0.0)) / (n * m))  # no negative part


@pytest.mark.parametrize("seed", range(3))
def test_means_and_variances_are_those_of_an_analysis_of_variance(seed: int) -> None:
    table, values = ratings(30, 4, 5, seed)
    done = evaluate(table)
    assert done.models == ("s0", "s1", "s2", "s3")
    expected = values.mean(axis=(0, 2))
    assert done.values[0, 0, 1] == pytest.approx(expected, abs=1e-12)
    for gap in done.differences("mean_rating"):
        a, b = int(gap.a[1]), int(gap.b[1])
        variance = anova_variance(values[:, a] - values[:, b])
        assert gap.value == pytest.approx(expected[a] - expected[b], abs=1e-12)
        assert gap.standard_error**2 == pytest.approx(variance, rel=1e-9)


@pytest.mark.skipif(not HUMAN.is_file(), reason="the judged summaries are not here")
def test_three_raters_who_disagree_leave_two_systems_far_from_told_apart() -> None:
    lines = HUMAN.read_text().splitlines()
    rows = [row for row in csv.DictReader(lines) if row["dimension"] == "relevance"]
    table = frame(**{name: [row[name] for row in rows] for name in rows[0]})
    done = evaluate(table)
    (gap,) = (row for row in done.differences("mean_rating") if (row.a, row.b) == ("A", "C"))
    assert gap.value == pytest.approx(0.2167, abs=1e-4)
    assert gap.standard_error == pytest.approx(0.25201210488804104, rel=1e-9)
    assert (gap.high - gap.low) / 2 > 0.9  # .16 where raters count as nothing
    assert not gap.separated


def preferences(
    seed: int = 0, items: int = 60
) -> tuple[pa.Table, list[tuple[str, str, float]]]:
    random = np.random.default_rng(seed)
    rows, said = [], []
    for item in range(items):
        a, b = (int(k) for k in random.choice(5, 2, replace=False))
        for rater in random.choice(6, 2, replace=False):
            lead = (b - a) * 0.4 + random.logistic()
            side = "tie" if abs(lead) < 0.3 else "a" if lead > 0 else "b"
            rows.append((f"i{item}", f"s{a}", f"s{b}", f"r{rater}", side))
            said.append((f"s{a}", f"s{b}", {"a": 1.0, "b": 0.0, "tie": 0.5}[side]))
    names = ("item", "system_a", "system_b", "annotator", "preference")
    return frame(**dict(zip(names, map(list, zip(*rows, strict=True)), strict=True))), said


def win_rates(said: list[tuple[str, str, float]]) -> dict[str, float]:
    points: dict[str, list[float]] = {}
    for a, b, share in said:
        points.setdefault(a, []).append(share)
        points.setdefault(b, []).append(1 - share)
    return {name: float(np.mean(won)) for name, won in points.items()}


def strengths_by_iteration(said: list[tuple[str, str, float]]) -> dict[str, float]:
    """Zermelo's iteration, the slow twin."""
    names = sorted({name for a, b, _ in said for name in (a, b)})
    power = dict.fromkeys(names, 1.0)
    for _ in range(5000):
        for name in names:
            won = sum(p if a == name else 1 - p for a, b, p in said if name in (a, b))
            met = sum(1 / (power[a] + power[b]) for a, b, _ in said if name in (a, b))
            power[name] = won / met
    log = {name: np.log(value) for name, value in power.items()}
    middle = np.mean(list(log.values()))
    return {name: float(value - middle) for name, value in log.items()}


def test_win_rates_and_strengths_are_those_of_a_loop() -> None:
    table, said = preferences()
    study = Study.of(table)
    done = study.evaluation
    expected = win_rates(said)
    assert dict(zip(done.models, done.values[0, 0, 1], strict=True)) == pytest.approx(expected)
    rows = strengths.analyse(study).tables[0].rows
    by_hand = strengths_by_iteration(said)
    assert {row["model"]: row["strength"] for row in rows} == pytest.approx(by_hand, abs=1e-6)


def test_win_rates_vary_as_an_analysis_of_variance_says() -> None:
    random = np.random.default_rng(2)
    leaning = random.normal(0.3, 0.8, 6)
    won = (random.logistic(size=(40, 6)) + leaning > 0).astype(float)
    item, rater = (axis.ravel() for axis in np.indices(won.shape))
    first = random.random(len(item)) < 0.5  # on whichever side it stands
    table = frame(
        item=[f"i{k:02}" for k in item],
        system_a=["x" if side else "y" for side in first],
        system_b=["y" if side else "x" for side in first],
        annotator=[f"r{k}" for k in rater],
        preference=[
            "a" if x == side else "b" for x, side in zip(won.ravel(), first, strict=True)
        ],
    )
    (gap,) = evaluate(table).differences("win_rate")
    assert gap.value == pytest.approx(2 * won.mean() - 1)
    assert gap.standard_error**2 == pytest.approx(4 * anova_variance(won), rel=1e-9)


def test_one_annotator_an_output_still_tells_annotators_apart() -> None:
    random = np.random.default_rng(4)
    severity = random.normal(0, 1, (8, 3))
    rows = []
    for k in range(120):
        rater = int(random.integers(8))
        values = severity[rater] + random.normal(0, 0.5, 3)
        rows += [(f"i{k}", f"s{s}", f"r{rater}", v) for s, v in enumerate(values)]
    names = ("item", "system", "annotator", "rating")
    table = frame(**dict(zip(names, map(list, zip(*rows, strict=True)), strict=True)))
    done = evaluate(table)
    assert done.population.annotators
    errors = [gap.standard_error for gap in done.differences("mean_rating")]
    by_items = np.sqrt((2 * 1 + 2 * 0.25) / 120)  # what items alone would make it
    assert min(errors) > 1.5 * by_items


def test_the_same_two_in_either_order_are_the_same() -> None:
    table, _ = preferences()
    turned = {"a": "b", "b": "a", "tie": "tie"}
    other = frame(
        item=table["item"],
        system_a=table["system_b"],
        system_b=table["system_a"],
        annotator=table["annotator"],
        preference=[turned[side] for side in table["preference"].to_pylist()],
    )
    first, second = evaluate(table), evaluate(other)
    assert first.values[0, 0, 1] == pytest.approx(second.values[0, 0, 1], abs=1e-15)
    assert [gap.p for gap in first.differences("win_rate")] == pytest.approx(
        [gap.p for gap in second.differences("win_rate")]
    )


def test_a_preference_may_be_the_name_of_a_system() -> None:
    table, _ = preferences()
    columns = {name: table[name].to_pylist() for name in table.column_names}
    columns["preference"] = [
        {"a": a, "b": b, "tie": "Tie (both bad)"}[side]
        for a, b, side in zip(
            columns["system_a"], columns["system_b"], columns["preference"], strict=True
        )
    ]
    named = evaluate(frame(**columns))
    assert named.values[0, 0, 1] == pytest.approx(evaluate(table).values[0, 0, 1])


def test_strengths_stay_finite_where_a_system_wins_everything() -> None:
    table = frame(
        item=list("abcdef") * 2,
        system_a=["x"] * 12,
        system_b=["y", "z"] * 6,
        annotator=["ana"] * 6 + ["bo"] * 6,
        preference=["a"] * 12,
    )
    study = Study.of(table)
    finding = strengths.analyse(study)
    assert all(np.isfinite(row["strength"]) for row in finding.tables[0].rows)
    assert [note.code for note in finding.notices] == ["virtual_ties"]


def test_results_long_and_wide_are_the_same_and_speak_for_items_alone() -> None:
    random = np.random.default_rng(1)
    x, y = random.normal(0.4, 0.2, 40), random.normal(0.5, 0.2, 40)
    items = [f"q{k}" for k in range(40)]
    votes, systems = results_study(from_frame(frame(item=items, x=x, y=y)), {})
    wide = evaluate(systems, votes)
    long = evaluate(frame(item=items * 2, model=["x"] * 40 + ["y"] * 40, score=[*x, *y]))
    for done in (wide, long):
        (gap,) = done.differences("mean_score")
        assert gap.value == pytest.approx(x.mean() - y.mean())
        paired = (x - y).std(ddof=1) / np.sqrt(40)
        assert gap.standard_error == pytest.approx(paired, rel=1e-9)
        assert done.population.whom == "groups of items like these"


def test_columns_tell_what_was_judged() -> None:
    assert is_judged(from_frame(frame(doc=[1], system=["x"], rater=["a"], score=[3])), {})
    assert is_judged(
        from_frame(frame(item=[1], model_a=["x"], model_b=["y"], winner=["a"])), {}
    )
    assert not is_judged(from_frame(frame(item=[1], annotator=["a"], label=["yes"])), {})
    assert not is_judged(from_frame(frame(item=[1], model=["x"], score=[0.3])), {})


BAD = {
    "a single system": (
        {"item": [1, 2], "system": ["x", "x"], "annotator": ["a", "b"], "rating": [1, 2]},
        "a single system",
    ),
    "a system compared with itself": (
        {"item": [1], "system_a": ["x"], "system_b": ["x"], "preference": ["a"]},
        "single system",
    ),
    "another word for a side": (
        {
            "item": [1, 2], "system_a": ["x", "x"], "system_b": ["y", "y"],
            "preference": ["a", "the blue one"],
        },
        "a, b, tie, or the name of one of the two systems",
    ),
    "parts that never meet": (
        {
            "item": [1, 2], "system_a": ["x", "u"], "system_b": ["y", "v"],
            "preference": ["a", "b"],
        },
        "2 parts that never meet",
    ),
    "ratings that are words": (
        {"item": [1, 2], "system": ["x", "y"], "annotator": ["a", "b"], "rating": ["A", "B"]},
        "number",
    ),
    "a system without a rating in a task": (
        {
            "item": [1, 1, 1], "system": ["x", "y", "x"], "annotator": ["a", "a", "a"],
            "rating": [1, 2, 3], "task": ["t", "t", "u"],
        },
        "judgements of all systems in every task",
    ),
}  # fmt: skip


@pytest.mark.parametrize("what", BAD)
def test_bad_tables_are_refused_in_four_parts(what: str) -> None:
    columns, words = BAD[what]
    with pytest.raises(InputError) as error:
        judged_study(from_frame(frame(**columns)))
    assert words in str(error.value)
    assert error.value.do


def test_all_ties_part_nobody() -> None:
    table = frame(
        item=[f"i{k}" for k in range(20)] * 2,
        system_a=["x"] * 40,
        system_b=["y"] * 40,
        annotator=["ana"] * 20 + ["bo"] * 20,
        preference=["tie"] * 40,
    )
    done = evaluate(table)
    assert done.values[0, 0, 1].tolist() == [0.5, 0.5]
    assert not any(gap.separated for gap in done.differences("win_rate"))


def test_blank_ratings_are_left_out_and_said() -> None:
    table, values = ratings(6, 2, 3)
    column = table["rating"].to_pylist()
    column[0] = None
    votes, _ = judged_study(from_frame(table.set_column(3, "rating", pa.array(column))))
    assert len(votes) == values.size - 1
    assert [note.code for note in votes.notices] == ["blank_labels"]
    assert str(votes.notices[0]).startswith("1 row without")


def test_what_is_uneven_repeated_or_endless_is_said() -> None:
    rows = {
        "item": ["a", "a", "a", "b"], "system": ["x", "x", "y", "x"],
        "annotator": ["ana"] * 4, "rating": [5.0, 1.0, 2.0, 4.0],
    }  # fmt: skip
    votes, _ = judged_study(from_frame(frame(**rows)))
    assert [note.code for note in votes.notices] == ["outputs_missing", "repeats_kept"]
    assert "y on 1 of 2" in str(votes.notices[0])
    assert "1 judgement repeats" in str(votes.notices[1])
    with pytest.raises(InputError, match="inf"):
        judged_study(from_frame(frame(**{**rows, "rating": [5.0, float("inf"), 2.0, 4.0]})))


def test_nothing_depends_on_the_order_of_rows_or_the_scale() -> None:
    table, _ = ratings(12, 3, 4)
    order = np.random.default_rng(3).permutation(len(table))
    stretched = table.set_column(
        3, "rating", pa.array(100 + 7 * np.asarray(table["rating"], dtype=float))
    )
    plain, moved, wide = map(evaluate, (table, table.take(pa.array(order)), stretched))
    assert moved.values.tolist() == plain.values.tolist()
    assert wide.values[0, 0, 1] == pytest.approx(100 + 7 * plain.values[0, 0, 1])
    both = zip(plain.differences("mean_rating"), wide.differences("mean_rating"), strict=True)
    for a, b in both:
        assert b.value == pytest.approx(7 * a.value)
        assert b.standard_error == pytest.approx(7 * a.standard_error)
        assert b.p == pytest.approx(a.p)


def test_a_table_of_results_with_words_is_refused() -> None:
    with pytest.raises(InputError, match="no votes"):
        evaluate(frame(item=["a", "b"], x=["good", "bad"], y=[1, 2]))
    with pytest.raises(InputError):
        results_study(from_frame(frame(name=["a", "b"])), {})


def test_analyses_of_predictions_say_that_they_are_none_of_outputs() -> None:
    table, _ = ratings(8, 3, 6)
    study = Study.of(table, settings=Settings(replicates=20))
    for name, analysis in ANALYSES.items():
        finding = analysis.attempt(study)
        if study.judged not in analysis.of_outputs:
            assert finding.left_out, name
        elif name not in ("subgroups", "alone"):  # which need attributes or groups
            assert not finding.left_out, finding.sentence
