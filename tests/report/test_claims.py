"""Claims: whatever a surface asserts has its claim, and no two sentences of a page differ."""

import html
import json
import re
from collections import defaultdict
from functools import cache

import numpy as np
import pytest

from equipoise import Annotations, Predictions
from equipoise.clean.benchmark_findings import benchmark_report
from equipoise.clean.cut import Cut
from equipoise.clean.detector_benchmark import Benchmark
from equipoise.clean.scan_findings import scan_report
from equipoise.clean.scanning import Scan, Suspicion, TaskScan
from equipoise.report.answer import AnswerContent, answer_report
from equipoise.report.notebook import notebook_html
from equipoise.report.page.document import render
from equipoise.report.terminal import answer_lines, evidence_lines
from equipoise.report.text import texts
from equipoise.study import Settings, Study
from equipoise.study.planning import TaskPlan, plan_size, tasks_plan_report
from equipoise.study.thresholds import Thresholds
from equipoise.types import Decision, Nouns, as_json, bound, change, in_command, number
from equipoise.uq import evaluate_uncertainty
from tests.clean_sample import FAKES, clean_study
from tests.odd_studies import world

ANALYSES = ("ranking", "calibration", "leave_one_out", "alone", "subgroups", "curves")
BEHIND, SHOWN = (Decision.INFERIOR,), (Decision.SUPERIOR, Decision.INFERIOR)


def report_of(scores, votes, truth=None, metrics=None, analyses=ANALYSES, **settings):
    """The report of a study and the study."""
    how = Settings(replicates=30, **settings)
    study = Study.of(scores, votes if truth is None else truth, metrics=metrics, settings=how)
    study = study if truth is None else study.with_votes(votes)
    wanted = AnswerContent(analyses=analyses, nouns=Nouns())
    return answer_report(study, wanted), study


def by_gold(votes, share=1.0):
    """The same votes beside a reference standard of some items: what most of them say."""
    mean = np.bincount(votes.item, votes.label) / np.bincount(votes.item)
    items = np.arange(int(share * len(votes.items)))
    return Annotations(
        kind="binary", items=votes.items, classes=votes.classes, annotators=votes.annotators,
        item=np.append(votes.item, items), annotator=np.append(votes.annotator, items * 0),
        label=np.append(votes.label, (mean[items] > 0.5).astype(int)),
        is_gold=np.append(votes.item < 0, items >= 0),
    )  # fmt: skip


def grades(seed=0):
    """Votes of four grades, and probabilities of two models."""
    random = np.random.default_rng(seed)
    items, people, classes = 120, 6, ("none", "mild", "clear", "grave")
    seen = random.standard_normal(items)
    noisy = seen[:, None] + 0.6 * random.standard_normal((items, people))
    item, annotator = (axis.ravel() for axis in np.indices(noisy.shape))
    votes = Annotations(
        kind="ordinal", items=tuple(f"case {i}" for i in range(items)), classes=classes,
        annotators=tuple(f"r{a}" for a in range(people)), item=item, annotator=annotator,
        label=np.digitize(noisy, [-0.7, 0.1, 0.9]).ravel(),
    )  # fmt: skip
    models = []
    for m, noise in enumerate((0.3, 1.5)):
        place = np.digitize(seen + noise * random.standard_normal(items), [-0.7, 0.1, 0.9])
        chance = np.exp(-1.2 * np.abs(place[:, None] - np.arange(4)))
        chance /= chance.sum(axis=1, keepdims=True)
        models.append(Predictions(f"net {m}", votes.items, chance, classes))
    return models, votes


def probabilities(scores):
    """The same scores between 0 and 1."""
    return [
        Predictions(x.model, x.items, 1 / (1 + np.exp(-x.values)), task=x.task) for x in scores
    ]


@cache
def case(name):
    """One of the studies."""
    scores, votes = world([0.4, 0.5, 2.5], people=8, items=150)
    scores = probabilities(scores)
    rule = Predictions("rule", scores[0].items, (scores[0].values > 0.4) * 1.0)
    cut = Thresholds(0.5)
    if name == "tasks":
        scores, votes = world([0.4, 0.5, 2.5], people=8, items=150, tasks=("edema", "mass"))
        return report_of(probabilities(scores), votes, margin=0.1, thresholds=cut)
    if name == "grades":
        return report_of(*grades(), analyses=("ranking", "leave_one_out", "alone"))
    cases = {
        "votes": lambda: report_of(scores, votes),
        "margin": lambda: report_of(scores, votes, margin=0.05, thresholds=cut),
        "gold": lambda: report_of(scores, by_gold(votes), margin=0.1, thresholds=cut),
        "some gold": lambda: report_of(scores, by_gold(votes, 0.5), thresholds=cut),
        "fixed": lambda: report_of(scores, votes, annotators="fixed", margin=0.02),
        "fixed items": lambda: report_of(scores, votes, items="fixed"),
        "decider": lambda: report_of([*scores, rule], votes),
        "hard": lambda: report_of(scores, votes, labels="hard"),
        "anonymous": lambda: report_of(scores, votes.anonymous()),
        "readers": lambda: report_of(scores, by_gold(votes), inference="mrmc"),
    }
    return cases[name]()


CASES = (
    "votes", "margin", "gold", "some gold", "fixed", "fixed items", "decider", "hard",
    "anonymous", "readers", "tasks", "grades",
)  # fmt: skip


def plain(page):
    """The text of a page."""
    page = re.sub(r"<(script|style)[^>]*>.*?</\1>", " ", page, flags=re.DOTALL)
    return html.unescape(re.sub(r"<[^>]+>", "\n", page))


def surfaces(report, study):
    """What every surface says, by its name."""
    lines = [line.plain.strip() for line in answer_lines(report, 2000)]
    lines += [line.plain.strip() for line in evidence_lines(report, 2000)]
    files = {name: text for name, text in texts(report).items() if name == "methods.md"}
    return {
        "terminal": "\n".join(lines),
        "page": plain(render(report)),
        "notebook": plain(notebook_html(study.evaluation)),
        "json": "\n".join(strings(as_json(report))),
        **files,
    }


def strings(value):
    """Every text in JSON."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list | tuple):
        for part in value.values() if isinstance(value, dict) else value:
            yield from strings(part)


def ends(claim):
    """How its interval is written."""
    return f"{change(claim.value)} [{change(claim.low)}, {change(claim.high)}]"


def names(claims, *decisions):
    """Competitors with such a decision."""
    return {claim.estimand.competitor for claim in claims if claim.decision in decisions}


def told_apart(_, claims):
    """Who cannot be told apart is several models, none surely behind, named or counted."""
    groups = by_estimand(claims).values()
    return any(sum(c.decision not in BEHIND for c in group) > 1 for group in groups)


def by_estimand(claims):
    """Claims by metric and by whom they compare with."""
    groups = defaultdict(list)
    for claim in claims:
        groups[claim.estimand.metric, claim.estimand.against].append(claim)
    return groups


def within(text, claims):
    """Who is shown to be within the margin is named, and nobody else."""
    good = names([c for c in claims if c.estimand.against == "the best"],
                 Decision.SUPERIOR, Decision.NON_INFERIOR)  # fmt: skip
    return all(name in text for name in good) or "both" in text or "all" in text


def with_ends(*decisions):
    """Every interval in the sentence is that of a claim with such a decision."""

    def holds(text, claims):
        written = re.findall(r"[−+]?[\d.]+ \[[^\]]+\]", text)
        said = {ends(claim) for claim in claims if claim.decision in decisions}
        return bool(written) and all(one in said for one in written)

    return holds


def farthest(text, claims):
    """The bound is that of the claim which reaches farthest."""
    of_best = [c for c in claims if c.estimand.against == "the best"]
    return any(
        bound(-min(c.low for c in group)) in text for group in by_estimand(of_best).values()
    )


ASSERTING = {
    r"cannot be told apart": told_apart,
    r"falls? behind": lambda _, claims: bool(names(claims, *BEHIND)),
    r"is the best;|^(?!To find).*is better than (?!chance)": lambda text, claims: any(
        name in text for name in names(claims, Decision.SUPERIOR)
    ),
    r"pairs? can be told apart|The two can": lambda _, claims: bool(claims),
    r"^That holds for (?!.*it is not shown)": with_ends(*SHOWN),
    r"^A difference is not shown": with_ends(Decision.NOT_SHOWN),
    r"(?<!not shown to be non-inferior )\b(superior|non-inferior) for": with_ends(*Decision),
    r"within the margin of": within,
    r"None is more than": farthest,
    r"(is|are) not calibrated": lambda text, claims: any(
        name in text for name in names(claims, *BEHIND)
    ),
    r"surely miscalibrated": lambda _, claims: claims and not names(claims, *BEHIND),
    r"changes? by more than chance": lambda text, claims: (
        bool(names([c for c in claims if "gap" in c.estimand.metric], *SHOWN))
        == ("no gap" not in text)
    ),
    r"may be the best": lambda _, claims: bool(
        names(claims, Decision.NOT_SHOWN, Decision.NON_INFERIOR)
    ),
    r"[Ii]n the best group for": lambda _, claims: bool(claims),
    r"[Tt]he verdict depends on it": lambda _, claims: bool(names(claims, *BEHIND)),
    r"^Not plannable": lambda _, claims: bool(names(claims, Decision.NOT_SHOWN)),
    r"^Pilot: .* scores (better|worse) than": lambda text, claims: any(
        claim.estimand.truth in text
        and claim.population in text
        and number(abs(claim.value)) in text
        and (claim.decision is Decision.NOT_SHOWN) == ("is not shown" in text)
        for claim in claims
    ),
    r"beyond the cut|by mistake": lambda text, claims: all(
        (claim.decision is Decision.SUPERIOR) or "no more than by mistake" in text
        for claim in claims
        if claim.value > 0 and str(round(claim.value)) in text
    ),
    r"in the best group of": lambda _, claims: bool(names(claims, *BEHIND)),
}


def explained(report):
    """What explains instead of asserting: notes, methods, legends, captions, terms."""
    parts = [*report.methods, report.scope, *(text for _, text in report.terms)]
    for finding in report.findings:
        parts += [finding.note, finding.methods, *(chart.caption for chart in finding.charts)]
        for table in finding.tables:
            parts += [table.caption, table.legend]
    parts += [str(note) for note in report.all_notices]
    return " ".join(" ".join(in_command(part).split()) for part in parts)


def sentences(text):
    """Sentences of a text, where it says something in words."""
    for line in text.splitlines():
        for sentence in re.split(r"(?<=[.;]) (?=[A-Z])", " ".join(line.split())):
            if len(sentence.split()) > 2:
                yield sentence


@pytest.mark.parametrize("name", CASES)
def test_every_asserting_sentence_of_every_surface_has_its_claim(name):
    report, study = case(name)
    holders = [(" ".join([report.card.answer, report.card.lede, report.card.settled_by]),
                report.card.claims)]  # fmt: skip
    holders += [
        (" ".join(map(in_command, (one.title, one.sentence, *one.more))), one.claims)
        for one in report.findings
    ]
    explaining, checked = explained(report), set()
    for surface, text in surfaces(report, study).items():
        for sentence in sentences(text):
            for pattern, holds in ASSERTING.items():
                if not re.search(pattern, sentence) or sentence.rstrip(".") in explaining:
                    continue
                label = r"^[^A-Za-z]*(Readers|Metrics|Holds for|Settled by|Decisions) +"
                core = re.sub(label, "", sentence).rstrip(".")
                of = [claims for said, claims in holders if core in " ".join(said.split())]
                assert of, (surface, sentence)
                assert any(holds(sentence, claims) for claims in of), (surface, sentence, of)
                checked.add(pattern)
    assert len(checked) >= 2, checked


@pytest.mark.parametrize("name", CASES)
def test_two_sentences_about_one_estimand_come_from_one_claim(name):
    report, _ = case(name)
    said = defaultdict(set)
    for part in (report.card, *report.findings):
        for claim in part.claims:
            key = claim.estimand, str(claim.population)
            said[key].add((claim.value, claim.low, claim.high, claim.decision))
    assert said and {len(claims) for claims in said.values()} == {1}
    for finding in report.findings:  # tables of pairs say no more than the family
        for table in finding.tables:
            for row in table.rows:
                assert not (row.get("judgement") == "superior" and row["separated"] is False)


@pytest.mark.parametrize("name", CASES)
def test_the_page_lists_every_family_with_its_level(name):
    report, _ = case(name)
    families = dict(report.terms)["Families"]
    assert families in " ".join(plain(render(report)).split())
    for part in (report.card, *report.findings):
        for claim in part.claims:
            assert f"{claim.family.name} ({claim.family.size} at 95 %)" in families
            decisions = json.dumps(as_json(report))
            assert claim.decision in decisions


@pytest.mark.parametrize("name", CASES)
def test_whose_truth_and_which_population_are_said(name):
    report, study = case(name)
    card, whom = report.card, study.evaluation.population
    whose = "the reference standard" if study.by_standard else "votes"
    assert whose in card.answer and ("majority of the" in card.answer) == (name == "hard")
    assert card.holds_for.casefold().startswith(whom.whom)
    assert card.answer.startswith(f"For {whom.whom.partition(',')[0]}, by ")
    for claim in card.claims:
        assert claim.population == whom.whom and claim.estimand.truth.split()[-1] in card.answer
    for finding in report.findings:
        said = " ".join(map(str, (finding.sentence, *finding.more)))
        assert "these" in said or finding.left_out or not finding.claims, finding
        if finding.key == "readers":
            for text in (finding.sentence, *finding.more):
                assert "like these" in text or "these annotators" in text
                assert "other annotators" in text or "reference standard" in text


def test_a_study_by_a_standard_has_its_words():
    report, study = case("gold")
    assert study.by_standard
    for surface, text in surfaces(report, study).items():
        for line in text.splitlines():
            words = line.casefold()
            assert "disagreement keeps it below" not in words and "entropy 0" not in words
            assert not re.search(r"\bsoft (auroc|average|balanced|accuracy|f1)", words), (
                surface, line)  # fmt: skip
    by_key = {finding.key: finding for finding in report.findings}
    for key in ("leave_one_out", "alone"):  # nothing that the votes are varied for
        assert by_key[key].left_out and "reference standard" in by_key[key].sentence
    assert report.card.answer.startswith(
        "For items like these, by AUROC against the reference standard, "
    )


# ---- headlines of other verbs ----------------------------------------------------------------


def plan_case(**how):
    scores, votes = world([0.4, 0.5, 2.5], people=8, items=150)
    return tasks_plan_report([TaskPlan("", plan_size(scores, votes, simulations=0, **how))])


def scan_case(flagged, mistakes):
    """A scan with a cut of one kind."""
    suspects = tuple(
        Suspicion(rank=k + 1, items=(f"i{k}",), score=0.9, flagged=k < flagged)
        for k in range(20)
    )
    cut = Cut(0.9, flagged, 2.0, 0.5, mistakes)
    task = TaskScan(
        task="off_topic", detector="x", title="X", references=(), scored=200,
        suspects=suspects, cut=cut,
    )  # fmt: skip
    return scan_report(Scan(items=200, labelled=0, classes=(), parts=(), tasks=(task,),
                            left_out=(), planted=(), unchecked="x", seed=0))  # fmt: skip


VERBS = {
    "plan": lambda: plan_case(difference=0.05),
    "plan, open": lambda: plan_case(models=("net 0", "net 1")),
    "plan, annotators": lambda: plan_case(readers=True, margin=0.1),
    "scan": lambda: scan_case(12, 0.4),
    "scan, by mistake": lambda: scan_case(1, 0.4),
    "uq": lambda: uncertainty(0.2),
    "uq, alike": lambda: uncertainty(1.0),
    "benchmark": lambda: benchmark_report(Benchmark(clean_study(), FAKES, replicates=20).run()),
}


def uncertainty(scale):
    """Two methods, one of which says less the smaller the scale."""
    random = np.random.default_rng(0)
    logits = 2 * random.standard_normal((300, 2))
    labels = (random.random(logits.shape) < 1 / (1 + np.exp(-logits))).astype(float)
    other = scale * logits + (1 - scale) * 2 * random.standard_normal(logits.shape)
    both = {"a": 1 / (1 + np.exp(-logits)), "b": 1 / (1 + np.exp(-other))}
    return evaluate_uncertainty(both, labels).report()


@pytest.mark.parametrize("name", VERBS)
def test_headlines_of_other_verbs_have_their_claims(name):
    report = VERBS[name]()
    parts = [*([report.card] if report.card else []), *report.findings]
    claims = [claim for part in parts for claim in part.claims]
    assert claims
    families = dict(report.terms)["Families"]
    assert all(claim.held in families for claim in claims)
    assert families in " ".join(plain(render(report)).split())
    said = defaultdict(set)
    for claim in claims:
        key = claim.estimand, str(claim.population)
        said[key].add((claim.value, claim.low, claim.high))
    assert {len(facts) for facts in said.values()} == {1}
    checked = set()
    for part in parts:
        card = part is report.card
        text = (part.answer, part.lede) if card else (part.sentence, *part.more)
        for sentence in sentences("\n".join(map(in_command, text))):
            for pattern, holds in ASSERTING.items():
                if re.search(pattern, sentence):
                    assert part.claims and holds(sentence, part.claims), (sentence, part.claims)
                    checked.add(pattern)
    assert checked or name == "uq, alike", [part.sentence for part in report.findings]
