"""Comparing detectors: values, sentences, JSON, the folder, and work that is interrupted."""

import importlib.util
import json
import os
import re
import signal
import subprocess
import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest

import equipoise.clean
from equipoise import Annotations, InputError, evaluate
from equipoise.clean.benchmark_findings import (
    _no_better_than_chance,
    benchmark_report,
    benchmark_run,
)
from equipoise.clean.collection import TITLES, split_pair
from equipoise.clean.detector_benchmark import (
    Benchmark,
    _in_components,
    _metrics_for,
    collection_digest,
    detector_facts,
    lasting,
    versions,
)
from equipoise.metrics import auroc
from equipoise.report.run import Run
from tests.clean_sample import FAKES, Column, Forest, clean_study, votes
from tests.cli_sample import caller

ROOT = Path(__file__).parents[2]
KEYS = ["task", "detector", "metric", "labels", "value", "low", "high"]
FEW = {"replicates": 40}


@pytest.fixture(scope="module")
def study():
    return clean_study()


@pytest.fixture(scope="module")
def done(study):
    return Benchmark(study, FAKES, **FEW).run()


@pytest.fixture(scope="module")
def report(done):
    return benchmark_report(done, analyses=("vote_cutoffs", "ranking"))


def of(done, task):
    return next(one for one in done.tasks if one.task == task)


def test_values_are_those_of_the_metrics(done, study):
    truth = study.truths["off_topic"]
    shares = np.bincount(truth.item, truth.label) / np.bincount(truth.item)
    rows = {tuple(row[key] for key in KEYS[:4]): row["value"] for row in done.rows()}
    own = Column().score(study.collection).values
    assert rows["off_topic", "column", "auroc", "soft"] == pytest.approx(auroc(shares, own))
    runs = [Forest().score(study.collection, seed=seed).values for seed in range(3)]
    mean = np.mean([auroc(shares, one) for one in runs])
    assert rows["off_topic", "forest", "auroc", "soft"] == pytest.approx(mean)
    assert rows["off_topic", "column", "precision_at_100", "hard"] == pytest.approx(
        (shares > 0.5)[np.argsort(-own, kind="stable")[:100]].mean()
    )


def test_rows_begin_with_what_was_promised(done):
    assert all(list(row)[:7] == KEYS for row in done.rows())
    assert {row["task"] for row in done.rows()} == set(equipoise.clean.TASKS)
    assert {row["labels"] for row in done.rows()} == {"hard", "soft"}
    assert {row["seeds"] for row in done.rows() if row["detector"] == "forest"} == {3}


def test_chance_is_what_scores_without_information_reach(done):
    from equipoise import Predictions

    one = of(done, "off_topic")
    items = one.study.annotations.items
    names = [metric.name for metric in one.evaluation.metrics]
    flat = evaluate(
        Predictions("flat", items, np.zeros(len(items))), one.study.annotations, metrics=names
    )
    for name in names:
        for labels in ("hard", "soft"):
            value = flat.estimate("flat", name, labels=labels).value
            near = {"abs": 0.01} if name == "average_precision" else {}  # of a finite order
            assert one.chance(name, labels) == pytest.approx(value, **near)


def test_detectors_that_fail_are_left_out_with_reasons(done):
    reasons = {one.detector: one.reason for one in done.left_out}
    assert set(reasons) == {"broken", "refusing"}
    assert "no trees" in reasons["broken"] and "no images" in reasons["refusing"]
    assert not {"broken", "refusing"} & {row["detector"] for row in done.rows()}


def test_images_without_a_label_are_no_label_errors(done):
    assert len(of(done, "label_errors").study.annotations.items) == 156
    assert len(of(done, "off_topic").study.annotations.items) == 160


def test_pairs_of_one_image_are_drawn_together(done):
    table = of(done, "near_duplicates").study.annotations
    assert table.group is not None
    of_image = {}
    for name, group in zip(table.items, table.group.tolist(), strict=True):
        for image in split_pair(name):
            assert of_image.setdefault(image, group) == group
    assert len(set(table.group.tolist())) == 44  # chains of three images
    assert "groups" in of(done, "near_duplicates").evaluation.population.units


def test_pairs_that_all_hang_together_count_alone_and_say_so():
    random = np.random.default_rng(0)
    names = [f"a{i:02d} | a{i + 1:02d}" for i in range(40)]
    table = _in_components(votes(names, random.standard_normal(40), random))
    assert table.group is None and table.notices[-1].code == "chained_pairs"
    apart = votes([f"a{i} | b{i}" for i in range(40)], random.standard_normal(40), random)
    assert _in_components(apart) is apart


def pair_votes(rows):
    items = tuple(dict.fromkeys(name for name, *_ in rows))
    people = tuple(dict.fromkeys(who for _, who, _ in rows))
    return Annotations(
        kind="binary",
        items=items,
        classes=("no", "yes"),
        annotators=people,
        item=np.array([items.index(name) for name, *_ in rows]),
        annotator=np.array([people.index(who) for _, who, _ in rows]),
        label=np.array([label for *_, label in rows]),
    )


def test_a_pair_the_other_way_round_is_the_same_pair(study):
    rows = [("b | a", "p", 1), ("a | b", "q", 0), ("a | b", "p", 1), ("c | d", "p", 0)]
    data = replace(study.collection.subset(np.arange(4)), items=tuple("abcd"))
    made = replace(study, collection=data, truths={"near_duplicates": pair_votes(rows)})
    table = made.truths["near_duplicates"]
    assert table.items == ("a | b", "c | d") and len(table) == 3
    assert sorted(zip(table.item, table.annotator, table.label, strict=True)) == [
        (0, 0, 1), (0, 1, 0), (1, 0, 0),
    ]  # fmt: skip
    assert len(made.collection_for("near_duplicates").pairs) == 2
    with pytest.raises(InputError, match="the other way round, 'yes'"):
        replace(study, truths={"near_duplicates": pair_votes([*rows[:1], ("a | b", "p", 0)])})


def test_votes_on_a_pair_that_is_not_there_are_left_out(study):
    table = study.truths["near_duplicates"]
    odd = replace(table, items=("elsewhere | image 000", *table.items[1:]))
    made = replace(study, truths={"near_duplicates": odd})
    done = Benchmark(made, FAKES, **FEW).run()
    votes = done.tasks[0].study.annotations
    assert set(votes.items) == set(table.items[1:])
    assert "unseen_pairs" in [one.code for one in votes.notices]
    none = replace(table.of_items(np.arange(len(table.items)) < 1), items=("x | y",))
    with pytest.raises(InputError, match="pairs of items of the collection"):
        Benchmark(replace(study, truths={"near_duplicates": none}), FAKES).run()


def test_metrics_follow_the_number_of_items():
    assert _metrics_for(60) == ("auroc", "average_precision", "precision_at_10", "recall_at_10")
    assert "precision_at_1000" in _metrics_for(1001) and len(_metrics_for(1000)) == 6


def test_sentences_say_what_the_numbers_say(done, report):
    boards = {part.task: part.sentence for part in report.findings if part.key == "standings"}
    for one in done.tasks:
        title, cell = TITLES[one.task], one.evaluation.family("auroc")
        best = [m for m, inside in zip(one.evaluation.models, cell.best, strict=True) if inside]
        behind = set(one.evaluation.models) - set(best)
        assert boards[title].startswith(f"{title}: ") and best[0] in boards[title]
        assert boards[title] in report.card.answer
        standing = dict(report.card.standing)
        if len(one.evaluation.models) > 1:
            assert all(standing[name] for name in best)
            assert not any(standing[name] for name in behind)
        low = {row.model: row.low for row in one.evaluation.table()
               if (row.metric, row.labels) == ("auroc", "soft")}  # fmt: skip
        assert set(_no_better_than_chance(one)) == {
            name for name, end in low.items() if end <= 0.5
        }
    assert "blind falls behind; blind is no better than chance" in report.card.answer
    assert "Near duplicates: Clusters and annotators like these" in report.card.holds_for
    assert "Broken and refusing were left out" in report.card.caveat


def test_the_report_has_every_task_under_its_own_choice(report):
    titles = ["Off-topic images", "Near duplicates", "Label errors"]
    boards = [one for one in report.findings if one.key == "standings"]
    assert [one.task for one in boards] == titles
    cutoffs = [one for one in report.findings if one.key == "vote_cutoffs"]
    assert [one.task for one in cutoffs] == titles
    names = [table.name for one in report.findings for table in one.tables]
    assert len(set(names)) == len(names)
    assert "left_out_detectors" in {one.key for one in report.findings}
    assert any("three seeds" in one for one in report.methods)


def test_the_run_opens_again(done, report, tmp_path):
    run = benchmark_run(done, report)
    run.save(tmp_path / "run")
    again = Run.load(tmp_path / "run")
    assert again.report.card == report.card
    assert again.record.tasks == tuple(one.task for one in done.tasks)
    assert len(again.record.rows) == len(done.rows())
    assert again.replicates.shape[-1] == 0 and "close" in again.record.models


def test_one_seed_says_that_others_are_unknown(study):
    made = Benchmark(study, (Column(), Forest()), seeds=1, **FEW).run()
    assert "one_seed" in [one.code for one in made.tasks[0].evaluation.notices]


def test_what_decides_a_cell(study):
    data = study.collection
    moved = data.embeddings.copy()
    moved[0, 0] += 1
    assert collection_digest(data) == collection_digest(clean_study().collection)
    assert collection_digest(data) != collection_digest(replace(data, embeddings=moved))
    assert collection_digest(data) != collection_digest(replace(data, labels=None))
    assert detector_facts(Column()) != detector_facts(Column(noise=1.0))
    assert detector_facts(Column())["versions"]["numpy"] == np.__version__


def test_settings_count_by_their_content():
    long = np.zeros(5000)
    other = long.copy()
    other[2500] = 1  # repr leaves the middle out
    facts = [lasting({"a": value}, "b") for value in (long, long.copy(), other)]
    assert facts[0] == facts[1] != facts[2]
    texts = {json.dumps(lasting({"a": value}, "b")) for value in (1, 1.0, "1.0", (1, 1.0))}
    assert len(texts) == 4
    for odd in (len, lambda: 0, np.array([object()]), object(), {1, 2}):
        with pytest.raises(InputError, match="expected"):
            lasting({"a": odd}, "b")


GUEST = """
from dataclasses import dataclass
from typing import ClassVar
from equipoise.clean import Detector
{imports}

@dataclass(frozen=True)
class Guest(Detector):
    name: ClassVar[str] = "guest"
    title: ClassVar[str] = "A guest"
    task: ClassVar[str] = "off_topic"
    needs: ClassVar[tuple[str, ...]] = ("embeddings",)

    def score(self, data, *, seed=0, progress=None):
        return self.of_items(data.items, {formula})
"""


def guest(formula, imports="", file=None):
    """A detector that somebody typed in, or wrote to a file."""
    text = GUEST.format(formula=formula, imports=imports)
    if file is None:
        names = {"__name__": "__main__"}
        exec(compile(text, "<stdin>", "exec"), names)
        return names["Guest"]()
    file.write_text(text)
    spec = importlib.util.spec_from_file_location("guest_of_test", file)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module.Guest()


def score(study, detector, store):
    made = Benchmark(study, [detector], store=store, **FEW).run()
    rows = [one["value"] for one in made.rows() if one["metric"] == "auroc"]
    return rows[0], [one.code for one in made.notices], made


def test_code_in_no_file_is_run_every_time_and_said(study, tmp_path):
    first = score(study, guest("data.embeddings[:, 0]"), tmp_path)
    second = score(study, guest("-data.embeddings[:, 0]"), tmp_path)
    assert first[0] == pytest.approx(1 - second[0])
    assert first[1] == second[1] == ["not_kept"] and not list(tmp_path.iterdir())
    report = benchmark_report(second[2], analyses=())
    assert "code that lies in no file" in str(report.notices[0])
    assert score(study, guest("data.embeddings[:, 0]"), None)[1] == []


def test_all_kinds_of_problem_are_one_family(done):
    for task in done.tasks:
        alone = replace(task.evaluation, together=1, _families={}).family("auroc").p
        found = task.evaluation.family("auroc").p
        assert task.evaluation.together == len(done.tasks) > 1
        np.testing.assert_allclose(
            found, np.where(alone < 1, 1 - (1 - alone) ** len(done.tasks), 1)
        )


def test_the_headline_has_the_claims_of_every_task(done, report):
    claims = report.card.claims
    assert len({claim.estimand for claim in claims}) == len(claims) > 0
    for compared in done.tasks:
        for claim in compared.evaluation.claims(compared.evaluation.metrics[0].name):
            assert claim.about(TITLES[compared.task]) in claims


@pytest.mark.usefixtures("no_bytecode")
def test_scores_are_made_again_where_code_changed(study, tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(tmp_path))
    helper, file, store = tmp_path / "helper_of_guest.py", tmp_path / "g.py", tmp_path / "cells"
    words = ("sign(data.embeddings[:, 0])", "from helper_of_guest import sign", file)
    helper.write_text("def sign(x): return x\n")
    first = score(study, guest(*words), store)
    assert score(study, guest(*words), store)[0] == first[0]
    assert first[1] == [] and len(list(store.glob("*.cell"))) == 1
    helper.write_text("def sign(x): return -x\n")
    monkeypatch.delitem(sys.modules, "helper_of_guest")
    assert score(study, guest(*words), store)[0] == pytest.approx(1 - first[0])


@pytest.fixture
def no_bytecode(monkeypatch):
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    yield
    sys.modules.pop("helper_of_guest", None)
    sys.modules.pop("guest_of_test", None)


@dataclass(frozen=True)
class Weighted(Column):
    """One with a setting that is an array, or a function."""

    name: ClassVar[str] = "weighted"
    weights: object = None

    def score(self, data, **_):
        by = self.weights(8) if callable(self.weights) else self.weights
        return self.of_items(data.items, data.embeddings @ by)


def test_a_setting_that_is_an_array_or_a_function(study, tmp_path):
    for sign in (1, -1):
        value, said, _ = score(study, Weighted(weights=sign * np.eye(8)[0]), tmp_path)
        assert said == [] and (value > 0.5) == (sign > 0)
    assert len(list(tmp_path.glob("*.cell"))) == 2
    _, said, _ = score(study, Weighted(weights=np.ones), tmp_path)
    assert said == ["not_kept"] and len(list(tmp_path.glob("*.cell"))) == 2


@pytest.mark.parametrize("tasks", [("off_topc",), ("label_errors",)])
def test_tasks_without_votes_are_refused(study, tasks):
    less = replace(study, truths={"off_topic": study.truths["off_topic"]})
    with pytest.raises(InputError, match="task"):
        Benchmark(less, FAKES, tasks=tasks).run()


def test_no_detector_at_all_is_an_error(study):
    with pytest.raises(InputError, match="left out"):
        Benchmark(study, [one for one in FAKES if one.name in ("broken", "refusing")]).run()


# ---- the command line ----------------------------------------------------------------------


def other_study():
    study = clean_study(1)
    return replace(study, name="other")


@pytest.fixture
def command(monkeypatch, capsys):
    studies = {"sample": clean_study, "other": other_study}
    monkeypatch.setattr("equipoise.cli.clean_benchmark.STUDIES", studies)
    monkeypatch.setattr("equipoise.cli.clean_benchmark.DETECTORS", FAKES)
    call = caller(monkeypatch, capsys)
    return lambda *words: call("clean", "benchmark", *words)


QUICK = ("--replicates", "40", "--analyses", "none")


def test_json_is_a_list_of_rows(command):
    code, out, said = command("sample", "--json", "--tasks", "off_topic", *QUICK)
    assert code == 0, said
    rows = json.loads(out)
    assert isinstance(rows, list) and all(list(row)[:7] == KEYS for row in rows)
    assert {row["task"] for row in rows} == {"off_topic"}
    assert "broken (off_topic) is left out" in said


def test_the_folder_and_the_screen(command, tmp_path):
    out = tmp_path / "run"
    code, text, said = command(
        "sample", "--out", out, "--detectors", "column,forest,close", *QUICK
    )
    assert code == 0, said
    assert "column and forest cannot be told apart" in text
    assert "Off-topic images" in text and "chance" in text
    assert {"run.json", "report.html", "cells"} <= {one.name for one in out.iterdir()}
    first = {one.name: one.read_bytes() for one in out.iterdir() if one.is_file()}
    words = ("sample", "--out", out, "--detectors", "column,forest,close")
    assert command(*words, *QUICK)[0] == 0
    assert first == {one.name: one.read_bytes() for one in out.iterdir() if one.is_file()}


def test_a_folder_belongs_to_one_study(command, tmp_path):
    out = tmp_path / "run"
    words = ("--out", out, "--tasks", "off_topic", *QUICK)
    assert command("sample", "--detectors", "column", *words)[0] == 0
    cells = len(list((out / "cells").glob("*.cell")))
    code, _, said = command("sample", "--detectors", "column,blind", *words)
    assert code == 0, said
    assert len(list((out / "cells").glob("*.cell"))) == cells + 1
    before = (out / "run.json").read_bytes()
    code, _, said = command("other", "--detectors", "column", *words)
    assert code == 1 and "holds a benchmark on sample" in " ".join(said.split())
    assert (out / "run.json").read_bytes() == before
    code, _, said = command("other", "--detectors", "column", *words, "--overwrite")
    assert code == 0 and (out / "run.json").read_bytes() != before


def test_a_detector_of_a_file_beside_the_others(command, tmp_path):
    file = tmp_path / "mine.py"
    file.write_text(GUEST.format(imports="", formula="data.embeddings[:, 0]"))
    words = ("sample", "--json", "--tasks", "off_topic", *QUICK)
    for own in (file, f"{file}:Guest"):
        code, out, said = command(*words, "--detectors", f"column,{own}")
        assert code == 0, said
        rows = {(row["detector"], row["metric"], row["labels"]): row["value"]
                for row in json.loads(out)}  # fmt: skip
        assert rows["guest", "auroc", "soft"] == rows["column", "auroc", "soft"]
    out = command(*words, "--detectors", f"all,{file}")[1]
    assert {row["detector"] for row in json.loads(out)} == {
        "guest",
        "column",
        "forest",
        "blind",
    }


def test_the_recipe_of_the_documentation_runs(command, tmp_path):
    text = (ROOT / "docs/theory/cleaning.md").read_text()
    (tmp_path / "mine.py").write_text(re.search(r"```python\n(# mine.py.*?)```", text, re.S)[1])
    words = ("sample", "--json", *QUICK, "--detectors", f"{tmp_path / 'mine.py'}")
    code, out, said = command(*words)
    assert code == 0 and "far_from_the_middle" in out, said


def test_public_names_load_when_they_are_asked_for():
    code = (
        "import sys, equipoise.clean as c; before = set(sys.modules); "
        "from equipoise.clean import STUDIES, Benchmark, JudgedCollection; "
        "import equipoise.clean.benchmark_findings; "
        "print('equipoise.clean.detector_benchmark' in before, callable(c.Benchmark), "
        "len(STUDIES) > 1)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout.split() == ["False", "True", "True"], done.stderr


def test_a_folder_of_images_has_a_usual_encoder(command, tmp_path, monkeypatch, study):
    given = {}

    def read_collection(path, **words):
        given[path.name] = words["encoder"]
        return study.collection

    monkeypatch.setattr("equipoise.cli.clean_benchmark.read_collection", read_collection)
    (tmp_path / "images").mkdir()
    (tmp_path / "features.npz").write_bytes(b"")
    (tmp_path / "votes.csv").write_text(
        "item,annotator,label\nimage 001,p,yes\nimage 002,p,no\n"
    )
    votes = ("--votes", f"off_topic={tmp_path / 'votes.csv'}", "--json", *QUICK)
    for name in ("images", "features.npz"):
        assert command(tmp_path / name, *votes, "--detectors", "column")[0] == 0
    assert given == {"images": "default", "features.npz": None}
    command(tmp_path / "images", *votes, "--detectors", "column", "--encoder", "pixels")
    assert given["images"] == "pixels"


def test_versions_of_what_decides_are_recorded(done, report):
    held = benchmark_run(done, report).record
    known = versions(("sklearn", "pyod", "faiss", "torch"))
    expected = {name: text for name, text in known.items() if text}
    assert expected and expected.items() <= held.versions.items()
    assert expected.items() <= dict(held.report.settings).items()


def test_the_page_can_be_rendered_again(command, tmp_path, monkeypatch, capsys):
    out = tmp_path / "run"
    command("sample", "--out", out, "--detectors", "column,forest", *QUICK)
    before = (out / "report.html").read_bytes()
    code, _, said = caller(monkeypatch, capsys)("report", out, "--out", tmp_path / "page.html")
    assert code == 0, said
    assert (tmp_path / "page.html").read_bytes() == before


def test_another_evaluation_is_not_overwritten(command, tmp_path):
    (tmp_path / "run.json").write_text("{}")
    code, _, said = command("sample", "--out", tmp_path, *QUICK)
    assert code == 1 and "already holds a run" in said


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("sampel",), "did you mean 'sample'"),
        (("sample", "--detectors", "colum"), "column"),
        (("sample", "--tasks", "duplicates"), "near_duplicates"),
        (("sample", "--votes", "off_topic=votes.csv"), "leave it out"),
        (("sample", "--votes", "votes.csv"), "TASK=FILE"),
        ((), "DATASET"),
    ],
)
def test_wrong_words_are_explained(command, words, expected):
    code, _, said = command(*words, "--json")
    assert code in (1, 2) and expected in " ".join(said.replace("│", " ").split())


def test_the_list_names_everything(command):
    code, out, _ = command("--list")
    assert code == 0 and "forest" in out and "sample" in out
    assert json.loads(command("--list", "--json")[1])["detectors"][1]["seeded"] is True


def test_votes_of_a_user(command, tmp_path, monkeypatch, study):
    table = study.truths["near_duplicates"]
    lines = ["pair,annotator,label"]
    for item, who, label in zip(table.item, table.annotator, table.label, strict=True):
        one, other = split_pair(table.items[item])
        lines.append(f"{other} | {one},{table.annotators[who]},{('no', 'yes')[label]}")
    (tmp_path / "votes.csv").write_text("\n".join(lines) + "\n")
    (tmp_path / "features.npz").write_bytes(b"")
    read = "equipoise.cli.clean_benchmark.read_collection"
    monkeypatch.setattr(read, lambda *_, **__: study.collection)
    words = (tmp_path / "features.npz", "--votes", f"near_duplicates={tmp_path / 'votes.csv'}")
    code, out, said = command(*words, "--json", *QUICK)
    assert code == 0, said
    own = {row["detector"]: row["value"] for row in json.loads(out) if row["metric"] == "auroc"}
    expected = Benchmark(study, FAKES, tasks=("near_duplicates",), **FEW).run()
    assert own == {
        row["detector"]: row["value"] for row in expected.rows() if row["metric"] == "auroc"
    }


def test_votes_of_the_page_serve_every_task(command, tmp_path, monkeypatch, study):
    lines = ["item,annotator,label,task"]
    for task, table in study.truths.items():
        for item, who, label in zip(table.item, table.annotator, table.label, strict=True):
            name, word = table.items[item], ("no", "yes")[label]
            lines.append(f"{name},{table.annotators[who]},{word},{task}")
    file = tmp_path / "votes.csv"
    file.write_text("\n".join(lines) + "\n")
    (tmp_path / "features.npz").write_bytes(b"")
    reading = study.collection
    read = "equipoise.cli.clean_benchmark.read_collection"
    monkeypatch.setattr(read, lambda *_, **__: reading)
    words = [part for task in study.truths for part in ("--votes", f"{task}={file}")]
    code, out, said = command(tmp_path / "features.npz", *words, "--json", *QUICK)
    assert code == 0, said
    expected = Benchmark(study, FAKES, **FEW).run().rows()
    assert json.loads(out) == json.loads(json.dumps(expected))
    file.write_text("item,annotator,label,task\na,p,yes,off_topic\nb,p,no,off_topic\n")
    words = (tmp_path / "features.npz", "--votes", f"label_errors={file}")
    code, _, said = command(*words, "--json", *QUICK)
    assert code == 1 and "votes on off_topic" in " ".join(said.split())


# ---- killed --------------------------------------------------------------------------------

DRIVER = """
import os, signal, sys
from dataclasses import replace
from pathlib import Path
import tests.clean_sample as sample
from equipoise.clean.detector_benchmark import Benchmark
from equipoise.clean.benchmark_findings import benchmark_report, benchmark_run

out, log, last = Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3])
plain = sample.Column.score

def score(self, data, *, seed=0, progress=None):
    with log.open("a") as file:
        file.write(f"{self.name} {seed}\\n")
    if log.read_text().count("\\n") == last:
        os.kill(os.getpid(), signal.SIGKILL)
    return plain(self, data, seed=seed, progress=progress)

sample.Column.score = score
detectors = [one for one in sample.FAKES if one.name in ("column", "forest", "blind", "far")]
plan = Benchmark(sample.clean_study(), detectors, store=out / "cells", replicates=20)
done = plan.run()
report = benchmark_report(done, analyses=())
benchmark_run(done, report).save(out, overwrite=True)
"""


def ended(out, log, last=0):
    """How a benchmark ended that is killed in its last run."""
    driver = out.parent / "driver.py"  # code in no file would not be kept
    driver.write_text(DRIVER)
    return subprocess.run(
        [sys.executable, str(driver), str(out), str(log), str(last)],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": f"{ROOT / 'src'}{os.pathsep}{ROOT}"},
        check=False,
        timeout=120,
    ).returncode


def test_a_killed_benchmark_ends_with_the_same_bytes(tmp_path):
    assert ended(tmp_path / "whole", tmp_path / "log") == 0
    runs = (tmp_path / "log").read_text().split("\n")
    out, log = tmp_path / "killed", tmp_path / "second"
    assert ended(out, log, last=3) == -signal.SIGKILL
    assert ended(out, log) == 0
    again = log.read_text().split("\n")
    assert set(again) == set(runs)
    assert len(again) == len(runs) + 1  # the one that was killed, and nothing else

    def files(folder):
        every = (one for one in folder.rglob("*") if one.is_file())
        return {str(one.relative_to(folder)): one.read_bytes() for one in every}

    assert files(out) == files(tmp_path / "whole")
