"""Reader studies against a reference standard: arms, models alone, and bad input."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose

from equipoise import evaluate
from equipoise.inference.reader_study import between_arms, between_readers
from equipoise.read.annotations import read_annotations
from equipoise.study.analyses.readers import arms_finding, readers_finding
from equipoise.study.reader_arms import TIME, baseline_first, reader_study
from equipoise.study.study import Settings, Study
from equipoise.types import Annotations, Decision, InputError, Predictions, Whom


def arms_study(seed=0, *, items=80, people=5, aid=0.6, skill=1.6, nested=False, **settings):
    """Readers of two arms and two models against gold; `nested` readers read in one arm."""
    random = np.random.default_rng(seed)
    sick = np.arange(items) % 5 < 2
    signal = np.where(sick, 0.5, -0.5)
    hard = 0.5 * random.standard_normal(items)
    lean = 0.3 * random.standard_normal(2 * people)
    rows = [(i, people * (1 + nested), int(sick[i]), 0, 1.0) for i in range(items)]
    for arm in range(2):
        for reader in range(people):
            who = reader + people * arm * nested
            noise = 0.8 * random.standard_normal(items)
            seen = (1.2 + aid * arm + lean[who]) * signal + hard + noise
            sure = np.minimum(np.round(np.abs(seen), 1) / 3, 1)
            rows += [(i, who, int(seen[i] > 0), 1 - arm, sure[i]) for i in range(items)]
    item, who, label, arm, sure = (np.array(column) for column in zip(*rows, strict=True))
    names = tuple(f"case {i:03}" for i in range(items))
    votes = Annotations(
        kind="binary", items=names, classes=("no", "yes"), item=item, label=label,
        annotator=who, annotators=(*(f"r{i}" for i in range(who.max())), "pathology"),
        arm=arm, arms=("aided", "unaided"), confidence=sure,
        is_gold=np.arange(len(item)) < items,
    )  # fmt: skip
    models = [
        Predictions(name, names, 1 / (1 + np.exp(-(s * signal + 0.6 * hard + noise))))
        for name, s, noise in zip(
            ("net", "tree"),
            (skill, skill),
            0.8 * random.standard_normal((2, items)),
            strict=True,
        )
    ]
    how = Settings(replicates=20, inference="mrmc", **settings)
    return Study.of(models, votes, metrics=settings.pop("metrics", None), settings=how)


def by_decisions(study):
    return study.with_metrics(["balanced_accuracy"])


def compared(table, competitor, measure=0):
    """Value, standard error and degrees of freedom of a competitor, by its first measure."""
    places = [place for place, row in enumerate(table.rows) if row.competitor == competitor]
    cell = table.contrasts.like_these
    spread = cell.of(places[measure])
    return cell.values[places[measure]], spread.standard_error, spread.df


def numbers(contrast):
    return contrast.value, contrast.spread.standard_error, contrast.spread.df


def slow_values(study, measure):
    """Balanced accuracy, or AUROC of ratings, of every arm and reader; and case influences."""
    votes = study.annotations
    gold = {
        votes.items[i]: x
        for i, x, g in zip(votes.item, votes.label, votes.is_gold, strict=True)
        if g
    }
    truth = np.array([gold[name] for name in votes.items])
    values, influences = [], []
    for arm in ("unaided", "aided"):
        for reader in range(len(votes.annotators) - 1):
            rows = (votes.annotator == reader) & (votes.arm == votes.arms.index(arm))
            answer = np.full(len(truth), np.nan)
            sign = 2 * votes.label[rows] - 1
            rating = (
                votes.label[rows] if measure == "balanced" else sign * votes.confidence[rows]
            )
            answer[votes.item[rows]] = rating
            value, influence = slow_value(answer, truth)
            values.append(value)
            influences.append(influence)
    shape = (2, -1)
    return np.reshape(values, shape), np.reshape(influences, (*shape, len(truth)))


def slow_value(answer, truth):
    """The share of pairs in order, and each case's part of it: DeLong's components."""
    yes, no = np.flatnonzero(truth == 1), np.flatnonzero(truth == 0)
    if np.isnan(answer).all():
        return np.nan, np.zeros(len(truth))
    wins = np.sign(answer[yes][:, None] - answer[no]) / 2 + 0.5
    influence, value = np.zeros(len(truth)), wins.mean()
    for place, part in ((yes, wins.mean(axis=1)), (no, wins.mean(axis=0))):
        many = len(place)
        influence[place] = (part - value) / many * np.sqrt(many / (many - 1))
    return value, influence


@pytest.mark.parametrize("nested", [False, True])
@pytest.mark.parametrize("measure", ["balanced", "auroc"])
def test_arms_are_the_definition(nested, measure):
    study = arms_study(1, nested=nested)
    study = by_decisions(study) if measure == "balanced" else study
    table = reader_study(study)
    values, influences = slow_values(study, measure)
    assert table.arms == ("unaided", "aided")
    assert_allclose(table.contrasts.value[0], values[0])
    assert_allclose(table.contrasts.competitor[0], values[1])
    expected = between_arms(values[::-1], influences[::-1])
    assert (table.rows[0].competitor, table.against("aided")) == ("aided", "unaided")
    assert_allclose(compared(table, "aided"), numbers(expected))
    assert table.designs[0] == (expected.readers, not nested)
    claim = table.claims(table.models)["aided", Whom.LIKE_THESE]
    assert_allclose(claim.low, expected.spread.interval(expected.value)[0])


def test_a_model_alone_is_compared_with_the_mean_reader_without_aid():
    study = arms_study(2)
    table = reader_study(study)
    values, influences = slow_values(study, "auroc")
    truth = study.truths[0].shares[0]
    for model in ("net", "tree"):
        value, moved = slow_value(study.aligned[0].scores[model], truth)
        expected = between_readers(value - values[0], moved - influences[0])
        assert_allclose(compared(table, model), numbers(expected))
        claim = table.claims(table.models)[model, Whom.LIKE_THESE]
        assert claim.estimand.against == "unaided readers"
        low, _ = expected.spread.interval(expected.value)
        assert claim.low < low  # two models, one family


def test_the_arm_without_aid_is_known_by_name():
    assert baseline_first(("AI", "Unaided")) == ("Unaided", "AI")
    assert baseline_first(("with", "without AI")) == ("without AI", "with")
    assert baseline_first(("film", "digital")) == ("digital", "film")


def test_sentences_say_direction_truth_and_whom():
    better = readers_finding(arms_study(3, aid=2.0, people=6)).sentence
    assert better.startswith("AUROC of aided readers is 0.")
    assert (
        " higher than that of unaided ones, by the reference standard (6 readers, who" in better
    )
    assert "That holds for items and readers like these" in better
    assert "mean unaided reader" in better
    alike = readers_finding(arms_study(3, aid=0.0)).sentence
    assert "A difference is not shown for items and readers like these" in alike
    with_margin = readers_finding(arms_study(3, aid=0.0, margin=0.2)).sentence
    assert "With a margin of 0.2 in AUROC that is non-inferior" in with_margin


def test_python_reaches_it_from_evaluate(tmp_path):
    study = arms_study(4)
    models, votes = study.predictions, study.annotations
    result = evaluate(models, votes, settings=Settings(replicates=20, inference="mrmc"))
    page = result.report(tmp_path / "page.html").read_text("utf-8")
    assert "higher than that of unaided ones" in page


def test_items_without_gold_are_left_out():
    study = arms_study(5)
    votes = study.annotations
    keep = ~(votes.is_gold & (votes.item >= 60))
    left = Study.of(study.predictions, votes.rows(keep), settings=study.settings)
    assert len(left.items) == 60
    assert [note.code for note in left.notices].count("without_gold") == 1


def bad(study, keep):
    votes = study.annotations
    return Study.of(study.predictions, votes.rows(keep(votes)), settings=study.settings)


def test_bad_studies_are_refused_in_four_parts():
    study = arms_study(6)
    with pytest.raises(
        InputError, match="1 reader with a value on one side, expected at least 2"
    ):
        reader_study(bad(study, lambda votes: votes.is_gold | (votes.annotator == 0)))
    with pytest.raises(InputError, match="without a reference standard"):
        bad(study, lambda votes: ~votes.is_gold)
    with pytest.raises(InputError, match="no reader with a value"):
        yes = lambda votes: votes.is_gold | (votes.item % 5 < 2)  # noqa: E731
        reader_study(bad(study, yes))
    with pytest.raises(InputError, match="annotators fixed"):
        Settings(inference="mrmc", annotators="fixed")


def test_a_reader_that_never_read_an_arm_is_left_out_and_named():
    study = arms_study(7)
    left = bad(study, lambda votes: votes.is_gold | (votes.annotator != 2) | (votes.arm == 0))
    table = reader_study(left)
    assert table.designs[0] == (4, True)
    (note,) = table.notices
    assert note.code == "readers_left_out" and "r2" in str(note)


def test_readers_without_common_items_share_no_cases():
    study = arms_study(8, people=4)
    apart = bad(study, lambda votes: votes.is_gold | (votes.item % 4 == votes.annotator))
    table = reader_study(apart)
    assert table.designs[0] == (4, True)
    assert compared(table, "aided")[2] == pytest.approx(3)


def test_three_arms_are_one_family():
    study = arms_study(9)
    votes = study.annotations
    third = votes.rows(~votes.is_gold & (votes.arm == 0))
    columns = {
        name: np.concatenate([getattr(votes, name), getattr(third, name)])
        for name in ("item", "label", "annotator", "confidence", "is_gold", "arm")
    }
    columns["arm"][len(votes) :] = 2
    more = replace(votes, arms=(*votes.arms, "film"), **columns)
    table = reader_study(Study.of(study.predictions, more, settings=study.settings))
    assert [row.competitor for row in table.rows[:2]] == ["aided", "film"]
    assert compared(table, "aided") == compared(table, "film")
    claim = table.claims(table.models)["aided", Whom.LIKE_THESE]
    assert claim.family == ("arms of readers", 2)
    assert claim.low < table.contrasts.like_these.of(0).interval(claim.value)[0]


def test_margins_decide():
    claims = reader_study(arms_study(3, aid=0.0, margin=0.2)).claims(())
    assert claims["aided", Whom.LIKE_THESE].decision is Decision.NON_INFERIOR


@pytest.mark.parametrize("nested", [False, True])
def test_equal_arms_are_rarely_called_apart(nested):
    apart = [
        reader_study(by_decisions(arms_study(100 + seed, aid=0.0, nested=nested)))
        .claims(())["aided", Whom.LIKE_THESE]
        .decision
        is not Decision.NOT_SHOWN
        for seed in range(120)
    ]
    assert np.mean(apart) <= 0.09


def test_votes_of_arms_without_gold_are_a_truth_to_be_warned_of():
    study = arms_study(10)
    votes = study.annotations
    votes = votes.rows(~votes.is_gold)
    result = evaluate(study.predictions, votes, settings=Settings(replicates=20))
    assert "arms_in_truth" in [note.code for note in result.notices]


def timed(votes, ratio):
    """The same votes, with aid in that share of the time."""
    random = np.random.default_rng(4)
    took = np.exp(random.normal(9, 0.2, len(votes))) * np.where(votes.arm == 0, ratio, 1)
    return replace(votes, duration_ms=np.where(votes.is_gold, np.nan, took))


def test_time_saved_is_the_ratio_of_geometric_means_over_readers():
    study = arms_study()
    votes = timed(study.annotations, 0.7)
    table = reader_study(replace(study, truth=votes, votes=votes))
    assert table.arms == ("unaided", "aided") and table.rows[-1] == ("aided", TIME)
    times = np.stack([table.contrasts.value[-1], table.contrasts.competitor[-1]])
    for arm, code in ((0, 1), (1, 0)):
        for reader in range(5):
            mine = (votes.arm == code) & (votes.annotator == reader) & ~votes.is_gold
            expected = np.exp(np.log(votes.duration_ms[mine]).mean())
            assert_allclose(times[arm, reader], expected / 1000)
    saved = float(table.contrasts.like_these.values[-1])
    assert_allclose(saved, np.log(times[1] / times[0]).mean())
    low, high = table.contrasts.like_these.of(-1).interval(saved)
    assert low < np.log(0.7) < high < 0
    found = readers_finding(replace(study, truth=votes, votes=votes))
    assert f"take {1 - np.exp(saved):.0%} less time a reading" in found.sentence
    last = found.tables[0].rows[-1]
    shares = [last[f"like_these{end}"] for end in ("", "_low", "_high")]
    assert_allclose(shares, np.exp([saved, low, high]) - 1)


def test_arms_need_no_models():
    study = arms_study()
    decided = replace(study.annotations, confidence=None)
    for votes, metric in ((study.annotations, "auroc"), (decided, "balanced_accuracy")):
        by_arm = reader_study(study.with_metrics([metric]))
        finding = arms_finding(votes)
        row = next(row for row in finding.tables[0].rows if row["family"])
        assert_allclose(row["like_these"], compared(by_arm, "aided")[0])
    assert {row["competitor"] for row in finding.tables[0].rows} == {"aided"}
    assert arms_finding(replace(study.annotations, is_gold=None)) is None


def test_two_files_and_a_standard_are_the_study_with_a_column(tmp_path):
    votes = arms_study().annotations
    rows = [
        (votes.items[i], votes.annotators[w], label, votes.arms[a])
        for i, w, label, a, gold in zip(
            votes.item, votes.annotator, votes.label, votes.arm, votes.is_gold, strict=True
        )
        if not gold
    ]
    head = "item,annotator,label"
    for arm in votes.arms:
        lines = [",".join(map(str, row[:3])) for row in rows if row[3] == arm]
        (tmp_path / f"{arm}.csv").write_text("\n".join([head, *lines]) + "\n")
    lines = [",".join(map(str, row)) for row in rows]
    (tmp_path / "both.csv").write_text("\n".join([f"{head},arm", *lines]) + "\n")
    gold = votes.rows(votes.is_gold)
    lines = [f"{gold.items[i]},{x}" for i, x in zip(gold.item, gold.label, strict=True)]
    (tmp_path / "pathology.csv").write_text("\n".join(["item,label", *lines]) + "\n")
    files = [tmp_path / f"{arm}.csv" for arm in votes.arms]
    findings = [
        arms_finding(
            read_annotations([*names, tmp_path / "pathology.csv"]).with_gold("pathology")
        )
        for names in (files, [tmp_path / "both.csv"])
    ]
    assert findings[0].tables == findings[1].tables
    alone = arms_finding(replace(votes, confidence=None))
    assert findings[0].tables[0].rows == alone.tables[0].rows


def test_a_reader_without_an_arm_among_those_with_one_is_refused(tmp_path):
    rows = "a,r1,1,aided\nb,r1,0,\na,r2,1,unaided\nb,r2,0,unaided\n"
    (tmp_path / "votes.csv").write_text(f"item,annotator,label,arm\n{rows}")
    with pytest.raises(InputError, match="a blank arm"):
        read_annotations(tmp_path / "votes.csv")
