"""The run folder: whole or refused, the same when reopened, and old ones still open."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from equipoise.read.codec import sealed
from equipoise.report.page import render
from equipoise.report.run import SCHEMA, Provenance, Run, StoredQuestion, decode, record
from equipoise.report.terminal import answer_lines
from equipoise.types import InputError, as_json
from tests.cli_sample import FILES, QUICK, flat
from tests.odd_studies import ODD, odd
from tests.report_stability_sample import BAD

MODELS = ("resnet", "vit")


def run_of(name: str, **provenance) -> Run:
    study = odd(name)
    return record(study.answer.evaluation, Provenance(**provenance), study.report)


# ---- what is written is what is read -------------------------------------------------------


@pytest.mark.parametrize("name", ODD)
def test_a_run_comes_back_as_it_was(name, tmp_path):
    run = run_of(name, title="A study", question=StoredQuestion(positive="yes"))
    folder = run.save(tmp_path / "run")
    again = Run.load(folder)
    assert again.header == json.loads(json.dumps(run.header))
    assert np.array_equal(again.replicates, run.replicates, equal_nan=True)
    assert as_json(again.report) == json.loads(json.dumps(as_json(run.report)))
    lines = [[x.plain for x in answer_lines(one.report, 100)] for one in (run, again)]
    assert lines[0] == lines[1]
    assert render(again.report) == (folder / "report.html").read_text(encoding="utf-8")
    assert again.record.rows == tuple(again.record.rows) and again.report.title == "A study"


def test_disputed_items_lie_beside_it(tmp_path):
    folder = run_of("copies_and_more").save(tmp_path / "run")
    assert {one.name for one in folder.iterdir()} == {
        "run.json", "replicates.npy", "report.html", "disputed.csv",
    }  # fmt: skip
    assert not (run_of("one_vote").save(tmp_path / "other") / "disputed.csv").exists()


def test_the_same_study_makes_the_same_bytes(tmp_path):
    first, second = (ODD["copies_and_more"]() for _ in range(2))
    for place, one in enumerate((first, second)):
        record(one.answer.evaluation, Provenance(), one.report).save(tmp_path / str(place))
    for path in (tmp_path / "0").iterdir():
        assert path.read_bytes() == (tmp_path / "1" / path.name).read_bytes(), path.name


def test_a_banner_of_simulated_data_is_kept(tmp_path):
    run = run_of("one_model", simulated="Readers are simulated.")
    page = (run.save(tmp_path / "run") / "report.html").read_text(encoding="utf-8")
    assert "Readers are simulated." in page
    assert Run.load(tmp_path / "run").report.banner == "Readers are simulated."


def test_provenance_is_shown():
    run = run_of("one_model")
    settings = dict(run.report.settings)
    assert settings["Plan"] == run.record.settings.plan and "numpy" in settings


# ---- damage --------------------------------------------------------------------------------


def test_replicates_of_another_run_are_refused():
    run = run_of("copies_and_more")
    with pytest.raises(InputError, match=r"replicates: shape .*, expected"):
        Run(run.record, run.replicates[:, :, :, :1])
    with pytest.raises(InputError, match=r"keep run\.json and its replicates together"):
        Run(replace(run.record, models=("a",)), run.replicates)


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda held: held.pop("differences"), "key 'differences': absent, expected present"),
        (lambda held: held.update(rows=3), "run.json, rows: 3 (int), expected a list"),
        (lambda held: held["settings"].pop("plan"), "settings, key 'plan': absent"),
        (lambda held: held.update(schema=6), "schema 6: a run of another version"),
        (lambda held: held.update(schema="two"), "schema two: a run of another version"),
        (lambda held: held["report"].update(card=5), "report, card: 5 (int), expected"),
        (
            lambda held: held["report"]["findings"][0].pop("key"),
            "findings[0], key 'key': abs",
        ),
    ],
)
def test_a_damaged_header_is_named(tmp_path, change, told):
    folder = run_of("copies_and_more").save(tmp_path / "run")
    held = json.loads((folder / "run.json").read_text())
    change(held)
    (folder / "run.json").write_text(json.dumps(held))
    with pytest.raises(InputError) as refused:
        Run.load(folder)
    assert told in str(refused.value), refused.value
    assert all((refused.value.where, refused.value.got, refused.value.do))


@pytest.mark.parametrize("text", ["", "{", "[]", '"run"', "\x00", '{"title": "x"}'])
def test_what_is_no_header_is_refused(tmp_path, text):
    folder = run_of("one_model").save(tmp_path / "run")
    (folder / "run.json").write_text(text)
    with pytest.raises(InputError, match="not a run header, expected JSON with a schema"):
        Run.load(folder)


def test_broken_replicates_are_noticed(tmp_path):
    folder = run_of("one_model").save(tmp_path / "run")
    (folder / "replicates.npy").unlink()
    with pytest.raises(InputError, match=r"missing, expected the replicates that run\.json"):
        Run.load(folder)


def test_replicates_that_were_changed_are_noticed(tmp_path):
    folder = run_of("one_model").save(tmp_path / "run")
    path = folder / "replicates.npy"
    np.save(path, np.load(path) + 1e-9)  # of the same shape and size
    with pytest.raises(InputError, match=r"changed or damaged, expected the replicates"):
        Run.load(folder)


def test_hostile_text_in_a_header_does_nothing(tmp_path):
    folder = run_of("one_model").save(tmp_path / "run")
    held = json.loads((folder / "run.json").read_text())
    held["report"]["title"] = held["title"] = BAD
    held["report"]["card"]["answer"] = BAD
    held["report"]["settings"] = [[BAD, BAD]]
    (folder / "run.json").write_text(json.dumps(sealed(held)))  # as whoever forges one would
    page = render(Run.load(folder).report)
    assert "<img" not in page and page.count("<script") == 1


def test_what_was_edited_or_swapped_is_noticed(tmp_path):
    folder = run_of("one_model").save(tmp_path / "run")
    path = folder / "run.json"
    held = json.loads(path.read_text())
    held["rows"][0]["value"] += 0.01
    path.write_text(json.dumps(held))
    with pytest.raises(InputError, match=r"run.json: changed since it was written, expected"):
        Run.load(folder)
    del held["seal"]
    path.write_text(json.dumps(held))
    with pytest.raises(InputError, match=r"run.json: no seal, expected"):
        Run.load(folder)
    held["replicates"] = []
    path.write_text(json.dumps(held))
    with pytest.raises(InputError, match="changed or damaged"):
        Run.load(folder)
    path.write_text("[" * 100_000)
    with pytest.raises(InputError, match="not a run header"):
        Run.load(folder)


@pytest.mark.usefixtures("study")
def test_a_run_of_an_earlier_version_is_refused_in_a_sentence(equipoise):
    assert equipoise("evaluate", *FILES, *QUICK, "--out", "run")[0] == 0
    path = Path("run/run.json")
    path.write_text(json.dumps(json.loads(path.read_text()) | {"schema": 3}))
    for verb in ("evaluate", "report", "plan"):
        code, out, said = equipoise(verb, "run")
        assert code == 1 and not out
        assert "a run of an earlier version" in flat(said)
        assert "evaluate its files again (run.json names them under inputs)" in flat(said)
    with pytest.raises(InputError, match=f"3, expected {SCHEMA}"):
        decode({"schema": 3})


# ---- a run is reopened ---------------------------------------------------------------------


@pytest.mark.usefixtures("study")
def test_a_run_is_evaluated_again_with_more(equipoise):
    assert equipoise("evaluate", *FILES, *QUICK, "--out", "run")[0] == 0
    code, out, said = equipoise("evaluate", "run", *QUICK, "--analyses", "flips", "--json")
    assert code == 0, said
    told = json.loads(out)
    first = json.loads(Path("run/run.json").read_text())
    assert told["rows"] == first["rows"]
    assert "flips" in [one["key"] for one in told["findings"]]
    for words in (("evaluate", "--full", "run"), ("evaluate", "run", "--pair", "good", "fair")):
        code, out, said = equipoise(*words, *QUICK, "--json")
        assert code == 0, said
        assert json.loads(out)["rows"] == first["rows"]


@pytest.mark.usefixtures("study")
def test_the_page_of_a_run_names_what_was_typed(equipoise):
    assert equipoise("evaluate", *FILES, *QUICK, "--out", "run")[0] == 0
    page = Path("run/report.html").read_text()
    assert "equipoise evaluate -a votes.csv -p scores.csv" in flat(page)
    assert "--out" not in json.loads(Path("run/run.json").read_text())["report"]["command"]
