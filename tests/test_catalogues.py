"""One record is enough: a guest in a catalogue appears wherever the others do."""

from dataclasses import replace

import numpy as np
import pytest

from equipoise import Annotations, InputError
from equipoise.aggregate import CATALOGUE, MODELS, dirichlet, model_title
from equipoise.choosing import Settings, companions, fitted, model, recommended, suitable
from equipoise.cli._catalogue import model_help, prior_help, reliability_help
from equipoise.cli.truth import known_truth
from equipoise.datasets import CATALOGUE as DATASETS
from equipoise.findings.bibliography import ENTRIES, bibtex, cite
from equipoise.metrics import CATALOGUE as METRICS
from equipoise.metrics import by_topic, item_scores, named, require_known, worst_items

VOTES = Annotations.from_counts(np.array([[3, 2], [9, 0]]))


def unsure(annotations, *, reliability=4.0, task=""):
    return replace(dirichlet(annotations, reliability=reliability, task=task), model="unsure")


GUEST = replace(
    MODELS["dirichlet"], name="unsure", title="the unsure", fit=unsure, rank=-1,
    because="guests come first", companions=("mean_vote",), prior=None,
    description="a guest", references=("brier1950",),
)  # fmt: skip


def test_a_guest_model_is_one_record(monkeypatch):
    monkeypatch.setitem(MODELS, "unsure", GUEST)
    assert suitable(VOTES)[0] == "unsure"
    assert recommended(VOTES) == ("unsure", "unsure, because guests come first.")
    assert companions(VOTES) == ("mean_vote",)
    assert fitted(VOTES, ["unsure"], "")["unsure"].model == "unsure"
    assert model("unsure", VOTES, Settings(reliability=2.0))(VOTES).certainty.shape == (2,)
    assert model_title("unsure") == "the unsure" and known_truth("unsure") == "unsure"
    assert "`unsure`: a guest." in model_help() and "`unsure`" in reliability_help()
    assert "`unsure`" not in prior_help()
    with pytest.raises(InputError, match="unsure, prior: 1, expected nothing"):
        model("unsure", VOTES, Settings(prior=1))
    with pytest.raises(InputError, match=r"or choose dirichlet, .* or unsure"):
        model("mean_vote", VOTES, Settings(reliability=2.0))


def test_a_guest_metric_is_one_line(monkeypatch):
    metric = replace(METRICS["brier_score"](), name="kindness", topic="Manners")
    monkeypatch.setitem(METRICS, "kindness", lambda: metric)
    assert by_topic()["Manners"] == [metric] and named("kindness") is metric
    require_known("kindness")
    assert item_scores("kindness", [0, 1], [0.1, 0.2]).tolist() == pytest.approx([0.02, 1.28])
    assert worst_items("kindness", [0, 1], [0.1, 0.2], ["a", "b"], 1)[0].item == "b"


def test_records_are_complete():
    for name, make in METRICS.items():
        metric = make()
        assert metric.topic and metric.definition.endswith("."), name
        assert set(metric.references) <= set(ENTRIES)
        assert metric.score_draws is metric.meet and metric.least == metric.min_items
        assert (metric.labels == "draws") == (metric.score_draws is not None)
    for name, one in MODELS.items():
        assert one.name == name and set(one.suits) <= set(one.kinds)
        assert set(one.references) <= set(ENTRIES) and set(one.companions) <= set(MODELS)
        assert one.decides_as in {"", *MODELS}
    assert {name: one.fit for name, one in MODELS.items() if name != "normal"} == CATALOGUE
    for source in DATASETS.values():
        assert source.load is not None and set(source.references) <= set(ENTRIES)


def test_models_say_who_they_are():
    for name in suitable(VOTES):
        assert CATALOGUE[name](VOTES).model == name


def test_sources_are_cited_once():
    assert cite("brier1950", "brier1950") == " [@brier1950]"
    assert bibtex(["brier1950", "guo2017", "brier1950"]).count("@") == 2
