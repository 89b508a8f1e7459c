"""Choices: does the verdict depend on how votes are combined?

Variants have the truth of every aggregation model that suits the annotations, fitted once to
all items with its usual settings. Models of annotators need six of them: from fewer they do not
learn who errs how. Cohen's kappa compares the labels that each decides with those of the study,
and every pair of competitors is followed: a conclusion holds where the same one is ahead, and
separated from the other, under every choice.
"""

from collections.abc import Iterator
from dataclasses import replace

from equipoise.study.questions.answers import Answer, Question, Variant
from equipoise.study.variants import Contest
from equipoise.truth import MODELS, model_title
from equipoise.truth.choosing import model, suitable
from equipoise.types import Finding, cite, count, notice

USUAL = "mean_vote"  # what a study of votes has
ENOUGH = 6  # annotators from which models of annotators are among the choices
FEW = (
    "Models of annotators ({models:listed}) are left out: {people:count} annotators are too "
    "few to learn how each of them errs."
)


def other_aggregations(contest: Contest) -> tuple[list[str], list[str]]:
    """Names of the aggregation models that are fitted, and of those that need more people."""
    fitted = {task.question.plausible for task in contest.tasks} - {None}
    own = {one.model for one in fitted if one is not None} or {USUAL}
    people = len(contest.votes.annotators or ())
    every = [name for name in suitable(contest.votes) if name not in own]
    few = [name for name in every if MODELS[name].annotators and people < ENOUGH]
    return [name for name in every if name not in few], few


def truths_by_model(contest: Contest) -> Iterator[Variant]:
    """The contest with the truth of each aggregation model."""
    votes = contest.votes
    for name in other_aggregations(contest)[0]:
        fit = model(name, votes)
        truth = [replace(fit(votes, task=task), notices=()) for task in votes.tasks]
        yield Variant(model_title(name), contest.with_truth(truth))


def with_sources(answer: Answer, finding: Finding) -> Finding:
    """Cite the aggregation models, and say which were left out."""
    names, few = other_aggregations(answer.contest)
    sources = tuple(key for name in names for key in MODELS[name].references)
    titles = [f"{model_title(name)}{cite(*MODELS[name].references)}" for name in names]
    notices = finding.notices
    if few:
        people, models = (
            len(answer.contest.votes.annotators or ()),
            tuple(map(model_title, few)),
        )
        notices = (*notices, notice("few_to_model", FEW, people=people, models=models))
    methods = (
        f"The evaluation was repeated under {count(len(names), 'other aggregation model')} "
        f"({', '.join(titles)})." * bool(names)
    )
    return replace(finding, methods=methods, references=sources, notices=notices)


QUESTION = Question(
    key="choices",
    about="how votes are combined",
    variants=truths_by_model,
    head="aggregation",
    over="other aggregations",
    at="under {}",
    reference="the truth of the study",
    annotators=False,
    kappa=True,
    pairs=True,
    nothing="No other aggregation model suits these annotations.",
    note="Every aggregation turns the same votes into another truth. Each is fitted once, to "
    "all items; intervals leave out how uncertain the fit is. A conclusion that depends on the "
    "choice is no property of the models.",
    finish=with_sources,
)
