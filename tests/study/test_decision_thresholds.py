"""Thresholds of scores: given by name, chosen on other items, never silently."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from equipoise.datasets import CATALOGUE, load_chexpert, located
from equipoise.datasets.demo import reading_study
from equipoise.metrics import named
from equipoise.study import Settings, Thresholds, Tuning, evaluate
from equipoise.study.arguments import default_metrics
from equipoise.study.thresholds import Rule, threshold_table, with_thresholds
from equipoise.types import Annotations, InputError, Predictions
from tests.analysed import analysed, study_of

RULES = ("youden", "f1", "prevalence", "sensitivity=0.8", "specificity=0.8")


def study(items=120, tasks=("",), readers=5, seed=0, group=None):
    """Votes about items whose chance of a yes is known, and two scores of it."""
    random = np.random.default_rng(seed)
    chance = random.beta(0.6, 1.4, (len(tasks), items))
    votes = random.random((len(tasks), items, readers)) < chance[..., None]
    task, item, who = (axis.ravel() for axis in np.indices(votes.shape))
    table = Annotations(
        kind="binary", items=tuple(f"case-{i}" for i in range(items)), classes=("no", "yes"),
        annotators=tuple(f"r{a}" for a in range(readers)), tasks=tasks,
        item=item, annotator=who, task=task, label=votes.ravel().astype(int),
        group=group, groups=None if group is None else tuple(f"p{g}" for g in sorted({*group})),
    )  # fmt: skip
    near = np.clip(chance + random.normal(0, 0.05, chance.shape), 0.001, 0.999)
    far = np.clip(chance + random.normal(0, 0.3, chance.shape), 0.001, 0.999)
    models = [
        Predictions(name, table.items, values[t], task=one)
        for t, one in enumerate(tasks)
        for name, values in (("shy", near * 0.4), ("loud", far))
    ]
    return table, models


def codes(notices):
    return [one.code for one in notices]


@pytest.mark.parametrize("scale", [1, 0.5])
def test_a_cut_that_nobody_gave_is_never_said_to_be_given(scale):
    """Thresholds of a study that has some are worked out anew, from one record of them."""
    table, models = study()
    models = [replace(model, values=scale * model.values) for model in models]
    first = study_of(models, table, metrics=["accuracy"])
    assert {row.how for row in first.used} == {"assumed"}
    again = with_thresholds(first)
    assert (again.used, again.notices) == (first.used, first.notices)
    stated = with_thresholds(first, Thresholds(0.4))
    assert {row.how for row in stated.used} == {"given"}
    assert codes(stated.notices).count("thresholds") == 1
    assert "threshold_assumed" not in codes(stated.notices)
    said = [str(notice) for notice in stated.notices if notice.code == "thresholds"]
    assert said == ["Decisions are scores of at least the threshold: 0.400 for all (given)."]


def slow_choice(rule, scores, labels):
    """The definition, threshold by threshold, from the highest."""
    tried = [np.inf, *sorted(set(scores), reverse=True)]
    best, found = -np.inf, None
    for t in tried:
        yes = scores >= t
        sens = labels[yes].sum() / labels.sum()
        spec = (1 - labels)[~yes].sum() / (1 - labels).sum()
        value = {
            "youden": sens + spec,
            "f1": 2 * labels[yes].sum() / (yes.sum() + labels.sum()),
            "prevalence": -abs(yes.sum() - labels.sum()),
            "sensitivity": spec if sens >= 0.8 - 1e-12 else -1.0,
            "specificity": sens if spec >= 0.8 - 1e-12 else -1.0,
        }[rule.partition("=")[0]]
        if value > best + 1e-12:
            best, found = value, t
    return found


some_scores = st.lists(
    st.tuples(st.integers(-6, 6), st.sampled_from([0.0, 0.25, 0.5, 1.0])),
    min_size=2,
    max_size=20,
)


@given(some_scores, st.sampled_from(RULES))
@settings(max_examples=200, deadline=None)
def test_rules_are_what_they_say(pairs, rule):
    scores, labels = (np.array(one, dtype=float) for one in zip(*pairs, strict=True))
    if labels.sum() == 0 or labels.sum() == len(labels):
        with pytest.raises(InputError, match="both classes"):
            Rule.parse(rule).choose(scores, labels)
        return
    assert Rule.parse(rule).choose(scores, labels) == slow_choice(rule, scores, labels)


@given(some_scores, st.sampled_from(RULES))
@settings(max_examples=100, deadline=None)
def test_a_rising_transformation_and_another_order_decide_alike(pairs, rule):
    scores, labels = (np.array(one, dtype=float) for one in zip(*pairs, strict=True))
    if labels.sum() in (0, len(labels)):
        return
    choose = Rule.parse(rule).choose
    plain = scores >= choose(scores, labels)
    bent = np.exp(scores / 3)
    assert (plain == (bent >= choose(bent, labels))).all()
    order = np.random.default_rng(1).permutation(len(scores))
    assert choose(scores[order], labels[order]) == choose(scores, labels)


def kappa(table, models, thresholds):
    how = Settings(thresholds=thresholds)
    metrics = ["quadratic_weighted_kappa", "auroc"]
    done = evaluate(models, table, metrics=metrics, resampling="influence", settings=how)
    return {m: done.estimate(m, metrics[0]).value for m in done.models}, done


def test_a_network_at_its_published_threshold_is_best_and_at_one_half_last():
    table, models = study(items=400)
    best, done = kappa(table, models, Thresholds.parse(["shy=0.18", "loud=0.5"]))
    assert best["shy"] > best["loud"] and "threshold_assumed" not in codes(done.notices)
    assert [(one.model, one.threshold, one.how) for one in done.thresholds] == [
        ("shy", 0.18, "given"), ("loud", 0.5, "given"),
    ]  # fmt: skip
    at_half, done = kappa(table, models, None)
    assert at_half["shy"] < at_half["loud"] and at_half["shy"] == 0
    said = [str(one) for one in done.notices if one.code == "threshold_assumed"]
    assert len(said) == 2 and "0.5" in said[0] and "shy (calls 0%" in said[1]
    assert "loud (" not in said[1]
    with_auroc = [done.estimate(m, "auroc").value for m in done.models]
    again = [kappa(table, models, Thresholds(0.18))[1].estimate(m, "auroc").value for m in
             done.models]  # fmt: skip
    assert with_auroc == again  # only decisions look at thresholds


def test_scores_at_the_threshold_are_called_positive():
    table, _ = study(items=30)
    model = Predictions("m", table.items, np.linspace(-3, 3, 30))
    cut = float(model.values[11])
    how = Settings(thresholds=Thresholds(cut))
    done = evaluate(model, table, metrics=["accuracy"], resampling="influence", settings=how)
    yes = np.arange(30) >= 11
    share = done.questions[0].shares[0]
    expected = np.where(yes, share, 1 - share).mean()
    assert done.estimate("m", "accuracy").value == pytest.approx(expected)
    (row,) = done.thresholds
    assert row.above == pytest.approx(19 / 30) and row.votes == pytest.approx(share.mean())
    assert "thresholds" in codes(done.notices)


def test_scores_that_are_no_probabilities_are_never_cut_where_nobody_said():
    table, models = study(items=30)
    model = Predictions("logits", table.items, np.linspace(-3, 3, 30))
    how = {"metrics": ["accuracy"], "resampling": "influence"}
    with pytest.raises(
        InputError, match=r"scores of 'logits': −3.000 to 3.000.*logits="
    ) as odd:
        evaluate([*models, model], table, **how)
    assert "expected probabilities, or a threshold" in str(odd.value)
    done = evaluate(model, table, threshold=0, **how)
    share = done.questions[0].shares[0]
    expected = np.where(model.values >= 0, share, 1 - share).mean()
    assert done.estimate("logits", "accuracy").value == pytest.approx(expected)
    assert evaluate(model, table, metrics=["auroc"], resampling="influence").values.size


@pytest.mark.parametrize("rule", RULES)
def test_a_tuning_split_chooses_there_and_scores_the_rest_only(rule):
    table, models = study()
    tuning = Tuning(fraction=0.4, seed=3)
    how = Settings(thresholds=Thresholds(rule, tuning=tuning))
    done = evaluate(models, table, metrics=["accuracy"], resampling="items", settings=how)
    tuned = tuning.fold_of(table.items) == 1
    assert 20 < tuned.sum() < 80
    scored = tuple(np.array(table.items)[~tuned])
    assert done.questions[0].items == scored == done.plan.items
    share = evaluate(models, table, metrics=["auroc"]).questions[0].shares[0]
    for model, row in zip(models, done.thresholds, strict=True):
        chosen = slow_choice(rule, model.values[tuned], share[tuned])
        if "=" in rule:
            chosen = Rule.parse(rule).choose(model.values[tuned], share[tuned])
        assert row.threshold == chosen and row.items == tuned.sum()
        yes, rest = model.values[~tuned] >= chosen, share[~tuned]
        expected = np.where(yes, rest, 1 - rest).mean()
        assert done.estimate(model.model, "accuracy").value == pytest.approx(expected)


def test_named_items_are_for_choosing_and_a_given_plan_follows(tmp_path):
    from equipoise.inference.resampling import resample

    table, models = study(items=40)
    names = table.items[:15]
    (tmp_path / "dev.txt").write_text("# tuning\n" + "\n".join(names) + "\nunknown\n")
    (tmp_path / "dev.csv").write_text("item,split\n" + "".join(f"{n},dev\n" for n in names))
    plain = Tuning.parse(str(tmp_path / "dev.txt"))
    assert plain.items == (*names, "unknown")
    assert Tuning.parse(str(tmp_path / "dev.csv")).items == names
    column = {("split", "dev"): names}
    assert Tuning.parse("split=dev", lambda *asked: column[asked]).items == names
    how = Settings(thresholds=Thresholds("youden", tuning=plain))
    plan = resample(table, "items", replicates=20)
    done = evaluate(models, table, metrics=["accuracy"], resampling=plan, settings=how)
    assert done.questions[0].items == table.items[15:] == done.plan.items
    assert {"tuning_split", "tuning_unknown"} <= set(codes(done.notices))


def test_cross_fitting_scores_all_items_each_by_the_other_folds():
    table, models = study()
    tuning = Tuning(folds=3)
    how = Settings(thresholds=Thresholds("youden", tuning=tuning))
    done = evaluate(models, table, metrics=["accuracy"], resampling="influence", settings=how)
    fold, share = tuning.fold_of(table.items), done.questions[0].shares[0]
    assert len(done.questions[0].items) == 120 and len(done.thresholds) == 6
    for model in models:
        cut = np.empty(120)
        for k in range(3):
            rest = fold != k
            cut[fold == k] = slow_choice("youden", model.values[rest], share[rest])
        yes = model.values >= cut
        assert (done.decided[0][model.model] == yes).all()
    assert "cross_fitted" in codes(done.notices)


def test_folds_follow_names_and_keep_groups_whole():
    group = np.arange(120) // 4
    table, models = study(group=group)
    order = np.random.default_rng(2).permutation(120)
    place = np.argsort(order)
    mixed = replace(
        table, items=tuple(table.items[i] for i in order), item=place[table.item],
        group=table.group[order],
    )  # fmt: skip
    thresholds = Thresholds("youden", tuning=Tuning(fraction=0.5))
    how = Settings(thresholds=thresholds)
    metrics = ["accuracy"]
    one = evaluate(models, table, metrics=metrics, resampling="influence", settings=how)
    two = evaluate(models, mixed, metrics=metrics, resampling="influence", settings=how)
    assert [row[:5] for row in one.thresholds] == [row[:5] for row in two.thresholds]
    assert one.values == pytest.approx(two.values)
    left = {int(name.split("-")[1]) // 4 for name in one.questions[0].items}
    gone = {i // 4 for i in range(120)} - left
    assert left and gone and len(one.questions[0].items) == 4 * len(left)
    named_half = Thresholds("youden", tuning=Tuning(items=table.items[:61]))
    told = study_of(models, table, metrics=["accuracy"], thresholds=named_half).notices
    assert "tuning_groups" in codes(told)


def test_thresholds_by_model_task_and_both():
    table, models = study(tasks=("Edema", "Effusion"))
    asked = Thresholds.parse(["0.3", "Edema=0.2", "shy/Effusion=0.1", "loud/Edema=0.6"])
    assert asked == Thresholds(0.3, {"Edema": 0.2, "shy/Effusion": 0.1, "loud/Edema": 0.6})
    used = study_of(models, table, metrics=["accuracy"], thresholds=asked).used
    assert {one.cell: one.threshold for one in used} == {
        "shy/Edema": 0.2, "loud/Edema": 0.6, "shy/Effusion": 0.1, "loud/Effusion": 0.3,
    }  # fmt: skip
    rows = threshold_table(used).rows
    assert [row["how"] for row in rows] == ["given"] * 4
    both = Thresholds(named={"shy": 0.1, "Edema": 0.2})
    with pytest.raises(InputError, match=r"add shy/Edema=0.5"):
        study_of(models, table, metrics=["accuracy"], thresholds=both)


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["shi=0.3"], "did you mean 'shy'"),
        (["shy/Edma=0.3"], "did you mean 'shy/Edema'"),
        (["youdn"], "did you mean 'youden'"),
        (["Edema=youdn"], "did you mean 'youden'"),
        (["sensitivity=2"], "a share above 0 and up to 1"),
        (["youden"], "chosen on the items that are scored"),
        (["0.3", "0.4"], "two for all"),
        (["nan"], "a finite number"),
    ],
)
def test_what_cannot_be_a_threshold_is_refused(words, told):
    table, models = study(tasks=("Edema", "Effusion"))
    with pytest.raises(InputError, match=told):
        thresholds = Thresholds.parse(words)
        study_of(models, table, metrics=["accuracy"], thresholds=thresholds)


def test_words_of_the_command_line():
    tuning = Tuning(folds=2)
    asked = Thresholds.parse(["sensitivity=0.9", "a=specificity=0.95", "b=c=0.2"], tuning)
    assert asked.every == "sensitivity=0.9"
    assert asked.named == {"a": "specificity=0.95", "b=c": 0.2}
    for wrong in ({}, {"fraction": 0.3, "folds": 2}, {"fraction": 1.5}, {"folds": 1}):
        with pytest.raises(InputError):
            Tuning(**wrong)


def test_without_metrics_of_decisions_thresholds_are_told_to_be_unused():
    table, models = study(items=30)
    how = Settings(thresholds=Thresholds("youden", tuning=Tuning(fraction=0.3)))
    done = evaluate(models, table, metrics=["auroc"], resampling="influence", settings=how)
    assert "thresholds_unused" in codes(done.notices) and len(done.questions[0].items) == 30


def test_classes_have_no_threshold():
    table, _ = study(items=30)
    table = replace(table, kind="nominal", classes=("no", "yes", "both"))
    model = Predictions("m", table.items, np.full((30, 3), 1 / 3), table.classes)
    how = Settings(thresholds=Thresholds(0.3))
    with pytest.raises(InputError, match="yes/no question"):
        evaluate(model, table, metrics=["accuracy"], settings=how)


def test_analyses_decide_by_the_same_thresholds():
    table, models = study(items=60)
    options = {
        "metrics": ["accuracy"], "only": ["flips", "leave_one_out", "threshold_sweep"],
        "replicates": 20,
        "thresholds": Thresholds("youden", tuning=Tuning(fraction=0.4)),
    }  # fmt: skip
    report = analysed(models, table, **options)
    tuned = Tuning(fraction=0.4).fold_of(table.items) == 1
    how = Settings(thresholds=options["thresholds"])
    done = evaluate(models, table, metrics=["accuracy"], resampling="influence", settings=how)
    sweep = next(one for one in report.findings if one.key == "threshold_sweep")
    assert not sweep.left_out
    hard = {m: done.estimate(m, "accuracy", labels="hard").value for m in done.models}
    rows = [row for table_ in sweep.tables for row in table_.rows if "value" in row]
    middle = [row for row in rows if row["change"] == 0 and "competitor" in row]
    assert {row["competitor"]: pytest.approx(row["value"]) for row in middle} == hard
    assert (~tuned).sum() == len(done.questions[0].items)


def test_defaults_follow_the_prediction():
    table, models = study(items=30)
    assert default_metrics(table, models) == ("auroc", "average_precision")
    decided = [replace(one, values=(one.values > 0.2).astype(float)) for one in models]
    names = default_metrics(table, decided)
    assert names[0] == "balanced_accuracy" and "auroc" not in names
    assert all(named(name).decides for name in names)
    assert evaluate(decided, table, metrics=names, resampling="influence").values.size
    assert default_metrics(table, [models[0], decided[1]])[0] == "auroc"
    classes = replace(table, kind="nominal", classes=("no", "yes", "both"))
    spread = [Predictions("m", table.items, np.full((30, 3), 1 / 3), classes.classes)]
    assert default_metrics(classes, spread)[0] == "cohen_kappa"
    grades = replace(classes, kind="ordinal")
    first = "quadratic_weighted_kappa", "ranked_probability_score"
    assert default_metrics(grades, spread)[:2] == first


def test_decisions_are_no_probabilities():
    readings, scores = reading_study()
    plain = [replace(one, values=(one.values > 0.5).astype(float)) for one in scores[:2]]
    options = {"metrics": ["accuracy"], "only": ["calibration", "components"], "replicates": 20}
    report = analysed(plain, readings, **options)
    left = {one.key: one for one in report.findings if one.left_out}
    assert "probabilities" in left["calibration"].sentence
    done = evaluate(plain, readings, metrics=["accuracy"], resampling="influence")
    assert not [one for one in done.thresholds if one.how == "assumed"]


@pytest.mark.skipif(not located(CATALOGUE["chexpert"]), reason="needs the CheXpert readings")
def test_on_chexpert_a_cut_at_one_half_is_about_the_cut():
    data = load_chexpert()
    with pytest.raises(InputError, match="nobody said from which on"):  # two are above 1
        evaluate(data.predictions, data.annotations, metrics=["accuracy"])
    odd = {part.model for part in data.predictions if part.values.max() > 1}
    models = [part for part in data.predictions if part.model not in odd]
    spread = {}
    for asked in (None, Thresholds("prevalence", tuning=Tuning(fraction=0.4))):
        done = evaluate(
            models, data.annotations, metrics=["accuracy"], resampling="influence",
            settings=Settings(thresholds=asked),
        )  # fmt: skip
        values = [done.estimate(model, "accuracy").value for model in done.models]
        spread[asked is None] = max(values) - min(values)
        loud = [one for one in done.notices if one.code == "threshold_assumed"]
        assert len(loud) == 2 * (asked is None)
    assert spread[True] > 0.08 > 0.02 > spread[False]
