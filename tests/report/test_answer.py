"""The answer to a study: bounds from the definition, and sentences true to their numbers."""

import math
import re
from functools import cache
from itertools import combinations

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from equipoise.inference import Family, Population, TwoWay
from equipoise.inference.intervals import distances
from equipoise.inference.resampling import resample
from equipoise.metrics import Metric, named
from equipoise.report.answer import Answer, Sample, headline, make_card
from equipoise.report.answer.models import RankedModels
from equipoise.study import LABELS, MACRO, evaluate
from equipoise.types import Nouns, Predictions, bound, chosen, distance, in_words, number
from tests.analysed import analysed
from tests.odd_studies import ODD, Answered, answered, odd, world
from tests.oracles.bootstrap import annotations

every = pytest.mark.parametrize("name", ODD)


def columns(answer: Answer) -> list[tuple[str, Metric, str]]:
    """Every question that can be asked of an evaluation."""
    done = answer.evaluation
    return [
        (task, metric, labels)
        for task in done.tasks
        for metric in done.metrics
        for labels in LABELS
    ]


# ---- who is in the best group, and how far below the best everybody may lie ----------------


def slow(
    answer: Answer, column: tuple[str, Metric, str]
) -> dict[str, tuple[float, float, float, bool]]:
    """Gap, least, most and membership of the best group of every model, pair by pair."""
    task, metric, labels = column
    done, name, where = answer.evaluation, metric.name, {"labels": labels, "task": task}
    cell, family = done.two_way(name, **where), done.family(name, **where)
    sign = 1 if metric.better == "higher" else -1
    good = {m: sign * float(cell.values[m]) for m in range(len(done.models))}
    known = [m for m in good if math.isfinite(good[m])]
    found = {}
    for i, model in enumerate(done.models):
        if i not in known:
            found[model] = (math.nan, math.nan, math.nan, False)
            continue
        gap = max(good[j] for j in known) - good[i]
        beaten = any(family.better[j, i] for j in known)
        most = least = math.nan
        if len(known) > 1 and math.isfinite(family.critical):
            reach = {
                j: family.critical * cell.between(i, j).standard_error for j in known if j != i
            }
            open_ = [j for j in reach if not family.better[i, j]]  # i is not surely better
            most = max([0.0, *(good[j] - good[i] + reach[j] for j in open_)])
            least = max(0.0, *(good[j] - good[i] - r for j, r in reach.items())) * beaten
        found[model] = (gap, least, most, not beaten)
    return found


@every
def test_distances_and_the_best_group_are_those_of_all_pairs(name):
    answer = odd(name).answer
    for column in columns(answer)[-1:] if name == "forty_models" else columns(answer):
        standing, oracle = answer.standing(*column), slow(answer, column)
        for m, model in enumerate(standing.models):
            gap, least, most, inside = oracle[model]
            seen = standing.gap[m], standing.least[m], standing.most[m]
            assert seen == pytest.approx((gap, least, most), nan_ok=True, abs=1e-12), model
            assert (model in standing.best_group) == inside
            assert (model in standing.behind) == (math.isfinite(gap) and not inside)
        ends = standing.least[: standing.known], standing.most[: standing.known]
        if standing.decides:
            assert (ends[0] <= standing.gap[: standing.known] + 1e-12).all()
            assert (standing.gap[: standing.known] <= ends[1] + 1e-12).all()


@every
def test_models_stand_in_the_order_of_their_values(name):
    answer = odd(name).answer
    for column in columns(answer):
        standing = answer.standing(*column)
        assert sorted(standing.models) == sorted(answer.evaluation.models)
        sign = 1 if standing.metric.better == "higher" else -1
        good = sign * standing.values[: standing.known]
        assert (np.diff(good) <= 0).all()
        assert not np.isfinite(standing.values[standing.known :]).any()


def simulated(seed: int) -> tuple[Answer, dict[str, float]]:
    """A study of four models, and how good each is by the truth that items are drawn from."""
    random = np.random.default_rng(seed)
    items, people, noise = 200, 12, (0.6, 0.7, 0.7, 1.2)
    evidence = random.standard_normal(items)
    lean = 0.3 * random.standard_normal(people)
    chance = 1 / (1 + np.exp(-1.5 * (evidence[:, None] + lean)))
    votes = annotations((random.random((items, people)) < chance).astype(float))
    scores = [
        Predictions(f"net {m}", votes.items, evidence + size * random.standard_normal(items))
        for m, size in enumerate(noise)
    ]
    plan = resample(votes, replicates=2, seed=seed)
    done = evaluate(scores, votes, metrics=["auroc"], resampling=plan)
    return Answer(done), dict(zip(done.models, true_values(), strict=True))


@cache
def true_values() -> list[float]:
    """Soft AUROC of the four kinds of model on very many items and all annotators."""
    random = np.random.default_rng(99)
    items = 200_000
    evidence = random.standard_normal(items)
    lean = 0.3 * random.standard_normal(400)
    share = np.mean([1 / (1 + np.exp(-1.5 * (evidence + one))) for one in lean], axis=0)
    found = []
    for size in (0.6, 0.7, 0.7, 1.2):
        score = evidence + size * random.standard_normal(items)
        order = np.argsort(score)
        yes, no = share[order], 1 - share[order]
        below = np.cumsum(no) - no
        pairs = share.sum() * no.sum() - (yes * no).sum()
        found.append(float((yes * below).sum() / pairs))
    return found


def test_bounds_hold_for_all_models_at_once():
    """At 95% the true distances of all models lie inside in at least 93% of studies."""
    studies, covered = 120, 0
    for seed in range(studies):
        answer, true = simulated(seed)
        front = answer.front
        best = max(true.values())
        covered += all(
            front.least[m] - 1e-12 <= best - true[model] <= front.most[m] + 1e-12
            for m, model in enumerate(front.models)
        )
    assert covered / studies >= 0.93, covered  # 0.95, less a standard error of 120 studies


# ---- sentences -----------------------------------------------------------------------------

SMALL = {in_words(k): k for k in range(13)}


def card_texts(study: Answered) -> list[str]:
    card = study.report.card
    assert card is not None
    return [card.answer, card.lede, card.holds_for, card.settled_by, card.caveat]


def all_texts(study: Answered) -> list[str]:
    """Every sentence and title of the card and the findings in front."""
    said = card_texts(study)
    for one in study.report.findings:
        said += [one.title, str(one.sentence), *one.more, one.note]
        said += [chart.caption for chart in one.charts]
    return [text for text in said if text]


@every
def test_every_sentence_is_well_formed(name):
    study = odd(name)
    for text in all_texts(study):
        assert not re.search(r"(?<!\w)(nan|None(?! is more)|inf|NaN)(?!\w)", text), text
        assert "  " not in text and not text.startswith(" ") and not text.endswith(" "), text
        assert " ." not in text and " ," not in text and ".." not in text.replace("...", "")
        assert "()" not in text and "[]" not in text and "''" not in text, text
        assert not re.search(r"\b1 (items|models|votes|annotators|groups|pairs|tasks)\b", text)
        assert not re.search(r"\bone (items|models|votes|annotators|groups|pairs)\b", text)
        assert not re.search(r"\b(two|[2-9]|\d\d+) (item|model|annotator|pair|vote)\b", text)
        assert not re.search(r"\b(two|three|\d\d) models (is|falls|stays|has)\b", text), text
        assert not re.search(r"\b(both|all \w+) is\b", text), text
    for text in card_texts(study):
        assert not text or text.endswith("."), text


@every
def test_nothing_that_is_not_zero_is_called_zero(name):
    study = odd(name)
    for text in all_texts(study):
        assert not re.search(r"(?<![\d.])[−+]?0\.0+(?!\d)", text), text


def grown(answer: Answer) -> set[str]:
    """Every number that the card may say of an evaluation, as it is to be written."""
    front = answer.front
    known = range(front.known)
    said = {number(float(front.values[m])) for m in range(len(front.models))}
    said |= {number(float(x)) for ends in (front.low, front.high) for x in ends}
    if not np.isnan(front.most[: front.known]).all():
        said.add(bound(float(np.nanmax(front.most[: front.known]))))
    said |= {distance(float(front.gap[m])) for m in known}
    said |= {chosen(one) for one in (answer.evaluation.margin, front.telling_margin) if one}
    return said


@every
def test_decimal_numbers_of_the_card_are_those_of_the_evaluation(name):
    study = odd(name)
    known = grown(study.answer)
    for text in card_texts(study):
        plain = re.sub(r", by [\d.]+ by those of", "", text)  # tested below
        plain = re.sub(r"three on \(now [\d.]+\)", "", plain)  # annotators, not a value
        for token in re.findall(r"(?<![\w.])−?\d+\.\d+", plain):
            assert token in known, (token, text)


def test_the_gap_by_the_votes_of_an_annotator_alone_is_theirs():
    study = odd("parts_of_a_panel")
    votes, (better, worse) = study.study.votes, world([0.4, 3.0], people=6, items=120)[0]
    theirs = votes.annotator == 3
    values = [
        roc_auc_score(votes.label[theirs], scores.values[votes.item[theirs]])
        for scores in (better, worse)
    ]
    said = (
        f"net 1 is ahead of net 0, by {distance(values[1] - values[0])} by those of reader 3."
    )
    assert values[1] > values[0] and study.report.card.caveat.endswith(said)


@every
def test_a_sentence_with_another_number_would_be_caught(name):
    study = odd(name)
    lede = study.report.card.lede
    wrong = lede.replace("0.", "9.")
    if lede:
        assert set(re.findall(r"\d+\.\d+", wrong)) - grown(study.answer)


@every
def test_the_headline_names_the_right_models(name):
    study = odd(name)
    front, said = study.answer.front, study.report.card.answer
    group, behind = front.best_group, front.behind
    if front.known < 2:
        assert said.startswith(front.models[0] if front.known else "No model has a")
        single = len(front.models) == 1
        assert ("finite" in said) == bool(np.isinf(front.values).any() and not single)
        return
    missing = len(front.models) - front.known
    assert (("has no" in said) or ("have no" in said)) == bool(missing)
    if not front.decides:
        assert said.startswith(f"{front.models[0]} scores ") and "too few" in said
        assert study.report.card.standing == ()
        return
    whom, by, said = said.split(", ", 2)
    assert whom.startswith("For ") and (" like these" in whom or " these " in whom)
    assert by.startswith(f"by {front.title} against ") and by.endswith(front.whose[-5:])
    first, _, fall = said.partition(". ")[0].partition(";")
    if len(group) == 1:
        two = f"{group[0]} is better than {behind[0]}"
        assert first.startswith(two if len(behind) == 1 else f"{group[0]} is the best")
        return
    assert "cannot be told apart" in first or "give the same scores" in first
    assert_counts(first, fall, front)


def assert_counts(first, fall, front):
    """Both halves of a headline name and count the right models."""
    group, behind = front.best_group, front.behind
    if 0 < len(behind) <= 3:
        assert all(model in fall for model in behind)
        assert ("falls behind" in fall) == (len(behind) == 1)
        assert not any(re.search(rf"{re.escape(model)}\b", fall) for model in group)
    elif behind:
        assert f" {in_words(len(behind))} fall behind" in fall
    counted = re.match(r"(\S+) of (\S+) models", first)
    if counted:
        own, whole = (word.lower() for word in counted.groups())
        assert (own, whole) == (in_words(len(group)), in_words(front.known))


@every
def test_no_two_models_of_the_best_group_are_told_apart(name):
    answer = odd(name).answer
    front = answer.front
    gaps = answer.evaluation.differences(
        answer.metric.name, labels=answer.labels, task=front.task
    )
    apart = {frozenset((one.a, one.b)) for one in gaps if one.separated}
    for two in combinations(front.best_group, 2):
        assert frozenset(two) not in apart
    for model in front.behind:
        assert any(model in pair for pair in apart)


@every
def test_the_standing_of_the_card_is_the_best_group(name):
    study = odd(name)
    front, standing = study.answer.front, study.report.card.standing
    if front.decides:
        assert [model for model, inside in standing if inside] == list(front.best_group)
        assert [model for model, inside in standing if not inside] == list(front.behind)


@every
def test_the_lede_gives_the_ends_of_both_groups(name):
    study = odd(name)
    front, lede = study.answer.front, study.report.card.lede
    if front.known < 2:
        assert not lede
        return
    values = dict(zip(front.models, front.values, strict=True))
    for group in (front.best_group if front.decides else front.models[: front.known],
                  front.behind if front.decides else ()):  # fmt: skip
        if group:
            ends = [number(float(f(values[one] for one in group))) for f in (min, max)]
            low = ends[0] if ends[0] == ends[1] else f"{ends[0]} to {ends[1]}"
            assert low in lede, (low, lede)
            if len(group) == 1:
                assert f"{low} for {group[0]}" in lede
    lower = study.answer.metric.better == "lower"
    assert ("lower is better" in lede) == lower
    most = float(front.most[: front.known].max())
    side = "above" if lower else "below"
    if front.decides and most > 0:
        assert lede.endswith(f" None is more than {bound(most)} {side} the best.")
    if front.task == MACRO:
        known = ~np.isnan(study.answer.evaluation.values[:-1, 0, 1]).any(axis=1)
        words = in_words(int(known.sum()))
        whole = in_words(len(known))
        asked = words if words == whole else f"{words} of {whole}"
        assert f"mean of {asked} tasks" in lede


@every
def test_whom_it_holds_for_is_counted_right(name):
    study = odd(name)
    said = study.report.card.holds_for
    votes, nouns = study.study.voted, "studies" if name == "fixed_items" else "items"
    scored = {item for one in study.answer.evaluation.questions for item in one.items}
    assert f"{len(scored)} {nouns}" in said
    whom = study.answer.front.population
    assert ("both count as samples" in said) == (whom.items and whom.annotators)
    assert ("too few to stand for others" in said) == (not whom.decides)
    if name == "anonymous":
        assert "5 votes each, nobody knows by whom" in said
    if name == "parts_of_a_panel":
        assert "120 items, 3 votes each, by six annotators" in said
    if name == "gold_only":
        assert "vote" not in said and "by the reference standard" in said
    if name == "groups":
        assert "in 30 groups" in said and said.startswith("Groups and annotators")
    if votes.annotators and name not in ("gold_only", "rankings", "one_vote"):
        people = "reader" if name == "fixed_items" else "annotator"
        assert f"{in_words(len(votes.annotators))} {people}s" in said


@every
def test_what_would_settle_it_is_true(name):
    study = odd(name)
    front, said = study.answer.front, study.report.card.settled_by
    margin = study.answer.evaluation.margin
    if front.known < 2 or (front.decides and len(front.best_group) < 2):
        assert not said
        return
    if not front.decides:
        assert said.startswith("Votes of more annotators")
        return
    for at, good in re.findall(r"at ([\d.]+), (\S+) models? (?:is|are) good enough", said):
        assert SMALL[good] == len(front.within(float(at)))
    whole = re.search(r"at ([\d.]+), (?:both|all (\S+?))(?: are good enough)?\.", said)
    if margin is None and said:
        assert whole, said
        assert len(front.within(float(whole[1]) + 1e-9)) == front.known
    if margin is not None and "Shown to be within" in said:
        names = said.split("of the best: ")[1].split(".")[0]
        assert all(model in names for model in front.within(margin))
        assert not any(f"{model}," in names for model in front.behind)
    assert "times as many" not in said  # nobody knows how far they truly are apart


@every
def test_copies_are_named_once(name):
    study = odd(name)
    card, front = study.report.card, study.answer.front
    copies = [
        one for one in study.answer.duplicates if len({*one.models} & {*front.best_group}) > 1
    ]
    told = "give the same scores" in card.answer + card.caveat
    assert told == bool(copies)
    if copies:
        assert not ("same scores" in card.answer and "same scores" in card.caveat)


def test_tasks_of_copies_are_counted():
    said = odd("tasks_with_copies").report.card.caveat
    assert said == (
        "Four is fewer than it looks: copy and net 0 give the same scores in all three tasks; "
        "near in two of three."
    )


def test_names_of_models_are_never_changed():
    for name in ODD:
        for text in all_texts(odd(name)):
            assert "Net " not in text and "Copy " not in text, text


def test_a_headline_of_every_kind():
    said = {name: headline(odd(name).answer, Nouns()) for name in ODD}
    assert said["one_model"].startswith("net 0 reaches 0.")
    by = "For items and annotators like these, by soft AUROC against their votes, "
    assert said["identical"] == f"{by}copy and net 0 give the same scores."
    assert said["forty_models"].startswith(f"{by}26 of 40 models cannot be told apart; 14 fall")
    assert said["a_missing_model"].endswith("; sure has no finite value.")
    assert said["infinite"].startswith(
        "net 0 is the only model with a finite value of log score"
    )
    assert said["three_annotators"] == f"{by}net 0 is better than net 1."


def test_a_card_takes_any_nouns():
    study = odd("groups")
    nouns = Nouns("epoch", "scorer", "stage", "night")
    card = make_card(study.answer, Sample(items=90, groups=30, annotators=5), nouns)
    assert card.holds_for.startswith("Nights and scorers like these. 90 epochs in 30 nights")


def test_majority_labels_that_give_another_answer_are_the_caveat():
    """Under majority labels one model leads; under soft labels another does."""
    random = np.random.default_rng(2)
    share = random.random(400)
    votes = annotations((random.random((400, 9)) < share[:, None]).astype(float))
    sharp = np.where(share > 0.5, 0.999, 0.0) + 0.001 * random.random(400)
    scores = [Predictions("sharp", votes.items, sharp), Predictions("even", votes.items, share)]
    study = answered(scores, votes, ["brier_score"])
    hard = study.answer.standing("", study.answer.metric, "hard")
    front = study.answer.front
    if hard.decides and not {*hard.best_group} & {*front.best_group}:
        assert study.report.card.caveat.startswith("Majority labels give another answer:")
        assert hard.best_group[0] in study.report.card.caveat


def test_a_wider_margin_takes_in_more_models():
    scores, votes = world([0.3, 0.5, 3.0], items=150)
    front = answered(scores, votes).answer.front
    sizes = [len(front.within(margin)) for margin in (0.0, 0.05, 0.1, 0.2, 0.5, 1.0)]
    assert sizes == sorted(sizes) and sizes[0] == 0 and sizes[-1] == 3


def test_the_card_does_not_change_with_the_order_of_models_and_votes():
    study = odd("tasks_with_copies").study
    votes, models = study.voted, study.predictions
    options = {"metrics": ["auroc"], "only": ["vote_cutoffs"], "replicates": 20}
    turned = np.random.default_rng(3).permutation(len(votes))
    first = analysed(models, votes, **options)
    other = analysed(models[::-1], votes.rows(turned), **options)
    assert other.card == first.card
    said = [[(one.key, one.sentence) for one in made.findings] for made in (first, other)]
    assert said[0] == said[1]


@pytest.mark.parametrize(
    ("most", "margin"),
    [([0.001, 0.2, 0.35], 0.3), ([0.0012, 0.0013, 0.3], 0.0015), ([0.1, 0.1, 0.1], None)],
)
def test_a_margin_is_named_that_several_models_keep_but_not_all(most, margin):
    half = np.full(len(most), 0.5)
    front = RankedModels(
        "", named("auroc"), "soft", tuple("abc"), half, half, half, half > 0,
        half, half, np.array(most), Population(effective=8.0),
    )  # fmt: skip
    assert front.decides and front.telling_margin == (margin and pytest.approx(margin))
    if margin:
        assert 1 < len(front.within(margin)) < len(most)


def test_a_model_that_no_other_surely_beats_may_be_the_best():
    """Where a pair by itself is less sure than all pairs at once, the verdict counts."""
    values, nothing = np.array([0.9, 0.8]), np.zeros((2, 2))
    cell = TwoWay(
        values, 1e-6 * np.eye(2), nothing, nothing, nothing, np.full((2, 2), 50.0), 0.0, 0.0,
        Population(annotators=False),
    )  # fmt: skip
    apart, level = np.array([[False, True], [False, False]]), np.zeros((2, 2), dtype=bool)
    for better, least in ((apart, 0.1 - 2 * math.sqrt(2e-6)), (level, 0.0)):
        found = distances(cell, Family(better, nothing, nothing, 2.0), values)
        assert found[0] == pytest.approx([0.0, 0.1])
        assert found[1] == pytest.approx([0.0, least])
        assert found[2][1] == pytest.approx(0.1 + 2 * math.sqrt(2e-6))
