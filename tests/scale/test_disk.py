"""Votes and scores that stay on disk give what those in memory give, and survive a kill."""

import gzip
import json
import os
import signal
import subprocess
import sys

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from equipoise import Annotations, Predictions, evaluate, read_annotations
from equipoise import truth as aggregate
from equipoise.cli import app
from equipoise.kernels import blocks as kernels
from equipoise.read import delimited
from equipoise.scale import disk
from equipoise.scale.disk import evaluation, ranking
from equipoise.scale.disk.evaluation import METRICS
from equipoise.truth.agreement import krippendorff_alpha
from equipoise.truth.ratings import moments_of
from equipoise.types import InputError

few = settings(
    max_examples=12,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)


def study(seed, *, classes=2, text=True, counted=False, items=40, votes=260, people=6):
    """Votes of people who know more or less, every item and person with votes."""
    random = np.random.default_rng(seed)
    item = np.concatenate([np.arange(items), random.integers(0, items, votes - items)])
    who = random.integers(0, people, votes)
    who[:people] = np.arange(people)
    knows = random.random(votes) < 0.4 + 0.5 * who / people
    label = np.where(knows, item % classes, random.integers(0, classes, votes))
    label[:classes] = np.arange(classes)
    shuffled = random.permutation(votes)
    names = np.array([f"scan {n}" for n in range(items)]) if text else np.arange(items) * 10**12
    words = np.array(["no", "yes"] if classes == 2 else [f"c{k}" for k in range(classes)])
    columns = {
        "item": names[item[shuffled]],
        "annotator": np.array([f"dr {n}" for n in range(people)])[who[shuffled]]
        if text
        else who[shuffled].astype(np.int16) + 100,
        "label": words[label[shuffled]],
    }
    if counted:
        columns["count"] = random.integers(1, 4, votes)
    return pa.table(columns)


def cut(table, folder, parts, seed=0):
    """Write a table in so many partitions, whole items in each."""
    folder.mkdir(parents=True)
    words = table["item"].combine_chunks().dictionary_encode()
    place = np.random.default_rng(seed).integers(0, parts, len(words.dictionary))
    of_row = place[np.asarray(words.indices)]
    for part in range(parts):
        rows = table.filter(pa.array(of_row == part))
        pq.write_table(rows, folder / f"{part}.parquet")
    return folder


def by_item(folder, prefix="p_"):
    """Probabilities by the name of the item."""
    table = pq.read_table(folder / "items")
    columns = [name for name in table.column_names if name.startswith(prefix)]
    rows = np.stack([np.asarray(table[name]) for name in columns], axis=1)
    return dict(zip(map(str, table["item"].to_pylist()), rows, strict=True))


def same(found, truth, tolerance=1e-10):
    """Whether the items on disk are those of plausibilities."""
    assert set(found) == set(truth.items)
    rows = np.stack([found[name] for name in truth.items])
    np.testing.assert_allclose(rows, truth.mean, rtol=0, atol=tolerance)


def contents(folder):
    """Bytes of every file of a folder."""
    return {
        str(one.relative_to(folder)): one.read_bytes()
        for one in sorted(folder.rglob("*"))
        if one.is_file()
    }


@few
@given(st.integers(0, 99), st.integers(2, 4), st.booleans(), st.booleans(), st.integers(1, 5))
def test_models_on_disk_are_those_in_memory(
    tmp_path_factory, seed, classes, text, counted, parts
):
    place = tmp_path_factory.mktemp("study")
    table = study(seed, classes=classes, text=text, counted=counted)
    votes = disk.open_votes(cut(table, place / "votes", parts, seed), workers=2)
    known = Annotations.from_dataframe(table)
    assert votes.classes == known.classes
    for name in ("mean_vote", "dirichlet"):
        made = disk.soft_labels(votes, place / name, model=name)
        truth = getattr(aggregate, name)(known)
        same(by_item(place / name), truth, 1e-12)
        assert made.method == truth.method
        alpha = krippendorff_alpha(known)
        assert made.agreement.alpha == pytest.approx(alpha.value, abs=1e-12)
    variants = {"dawid_skene": [{}, {"variant": "one_coin"}], "glad": [{}]}
    if classes > 2:
        variants.pop("glad")
    for name, every in variants.items():
        for number, how in enumerate(every):
            out = place / f"{name}{number}"
            made = getattr(disk, name)(votes, out, **how)
            truth = getattr(aggregate, name)(known, **how)
            same(by_item(out), truth)
            assert len(made.trace) == len(truth.diagnostics["trace"])
            np.testing.assert_allclose(made.trace, truth.diagnostics["trace"], rtol=1e-12)
            skill = dict(zip(made.annotators, made.skill, strict=True))
            own = [skill[name] for name in truth.skills.annotators]
            np.testing.assert_allclose(own, truth.skills.value, atol=1e-10)
            assert not out.with_name(f"{out.name}.work").exists()


@few
@given(st.integers(0, 99), st.sampled_from(["nominal", "ordinal", "interval"]))
def test_alpha_of_grades_at_every_level(tmp_path_factory, seed, level):
    place = tmp_path_factory.mktemp("study")
    table = study(seed, classes=4)
    grades = pa.array([word[1:] for word in table["label"].to_pylist()])
    table = table.set_column(2, "label", grades)
    how = {"kind": "ordinal", "classes": list("0123")}
    votes = disk.open_votes(cut(table, place / "votes", 3), **how)
    known = krippendorff_alpha(Annotations.from_dataframe(table, **how), level=level)
    found = disk.agreement(votes, level=level)
    assert found.alpha == pytest.approx(known.value, abs=1e-12)
    low, high = known.interval()
    assert found.high - found.low == pytest.approx(high - low, rel=0.5)


def scored(table, seed, *, tied):
    """Scores of two models for every item."""
    random = np.random.default_rng(seed)
    items = table["item"].unique()
    first = np.arange(len(items)) % 2 + random.standard_normal(len(items))
    second = first + random.standard_normal(len(items))
    net, vit = (1 / (1 + np.exp(-one)) for one in (first, second))
    if tied:
        net, vit = (np.clip(np.round(4 * one), 0.5, 3.5) / 4 for one in (net, vit))
    return pa.table({"item": items, "net": net, "vit": vit})


def ranged(patch, room, *, of=7):
    """Let ranges of merged items be small, and scores looked at few."""
    patch.setattr(ranking, "RANGE", room)
    patch.setattr(ranking, "_SAMPLED", of)


@few
@given(st.integers(0, 99), st.booleans(), st.booleans(), st.sampled_from([7, 1 << 22]))
def test_metrics_and_their_intervals(tmp_path_factory, seed, tied, together, room):
    place = tmp_path_factory.mktemp("study")
    table = study(seed, items=60, votes=300, people=5)
    scores = scored(table, seed, tied=tied)
    votes = disk.open_votes(cut(table, place / "votes", 3, seed), workers=2)
    cut(scores, place / "scores", 4, seed + 1)
    if together:  # in the same partitions as the votes
        (place / "same").mkdir()
        for part in sorted((place / "votes").iterdir()):
            items = pq.read_table(part)["item"].unique()
            mask = pa.compute.is_in(scores["item"], value_set=items)
            pq.write_table(scores.filter(mask), place / "same" / part.name)
    with pytest.MonkeyPatch.context() as patch:
        ranged(patch, room, of=512 if tied else 7)
        folder = place / ("same" if together else "scores")
        made = disk.evaluate(votes, disk.open_scores(folder), metrics=METRICS)
    known = evaluate(
        Predictions.from_dataframe(scores),
        Annotations.from_dataframe(table),
        metrics=METRICS,
    )
    rows = {(row.metric, row.model): row for row in known.table() if row.labels == "soft"}
    assert [(one.metric, one.model) for one in made.models] == [
        (name, model) for name in METRICS for model in ("net", "vit")
    ]
    for one in made.models:
        row = rows[one.metric, one.model]
        mine = (one.value, one.low, one.high, one.standard_error)
        theirs = (row.value, row.low, row.high, row.standard_error)
        np.testing.assert_allclose(mine, theirs, rtol=0, atol=1e-10, err_msg=one.metric)
    for gap in made.gaps:
        every = known.differences(gap.metric)
        (other,) = [one for one in every if one.labels == "soft"]
        sign = 1 if other.a == gap.a else -1
        ends = sorted(sign * end for end in (other.low, other.high))
        np.testing.assert_allclose(
            (gap.value, gap.low, gap.high), (sign * other.value, *ends), atol=1e-10
        )
    assert made.population.whom == "items and annotators like these"


def test_an_infinite_log_score_is_told_as_in_memory(tmp_path):
    table = study(3)
    scores = scored(table, 3, tied=False)
    sure = np.asarray(scores["net"]).copy()
    sure[np.argmax(sure)] = 0.0
    scores = scores.set_column(1, "net", pa.array(sure))
    votes = disk.open_votes(cut(table, tmp_path / "votes", 3))
    folder = disk.open_scores(cut(scores, tmp_path / "scores", 3))
    made = disk.evaluate(votes, folder, metrics=["log_score"])
    known = evaluate(
        Predictions.from_dataframe(scores), Annotations.from_dataframe(table),
        metrics=["log_score"],
    )  # fmt: skip
    for one in made.models:
        (row,) = [
            row for row in known.table() if (row.labels, row.model) == ("soft", one.model)
        ]
        mine, theirs = (one.value, one.low, one.high), (row.value, row.low, row.high)
        np.testing.assert_allclose(mine, theirs, rtol=0, atol=1e-10)
    assert made.models[0].value == np.inf


def test_other_metrics_and_scores_that_are_no_probabilities_are_refused(tmp_path):
    table = study(3)
    votes = disk.open_votes(cut(table, tmp_path / "votes", 2))
    scores = scored(table, 3, tied=False)
    folder = disk.open_scores(cut(scores, tmp_path / "scores", 2))
    for name in ("f1", "auroc:form=strict", "brier_score:soft=plug_in"):
        with pytest.raises(InputError, match=r"expected auroc, average_precision, accuracy"):
            disk.evaluate(votes, folder, metrics=[name])
    wide = pa.array(3 * np.asarray(scores["vit"]))
    cut(scores.set_column(2, "vit", wide), tmp_path / "wide", 2)
    wrong = disk.open_scores(tmp_path / "wide")
    with pytest.raises(InputError, match=r"item 'scan .* by vit, expected a probability"):
        disk.evaluate(votes, wrong, metrics=["auroc", "accuracy"])
    disk.evaluate(votes, wrong)


def test_anonymous_votes_speak_for_items(tmp_path):
    table = study(3).drop(["annotator"])
    scores = scored(table, 3, tied=False)
    votes = disk.open_votes(cut(table, tmp_path / "votes", 2))
    made = disk.evaluate(votes, disk.open_scores(cut(scores, tmp_path / "scores", 2)))
    known = evaluate(
        Predictions.from_dataframe(scores), Annotations.from_dataframe(table), metrics=["auroc"]
    )
    row = next(row for row in known.table() if row.labels == "soft" and row.model == "net")
    assert (made.models[0].low, made.models[0].high) == pytest.approx((row.low, row.high))
    with pytest.raises(InputError, match="annotators with ids"):
        disk.dawid_skene(votes, tmp_path / "out")


def test_votes_of_one_annotator_speak_for_items_judged_by_them(tmp_path):
    table = study(3, people=1, votes=40)
    scores = scored(table, 3, tied=False)
    votes = disk.open_votes(cut(table, tmp_path / "votes", 2))
    made = disk.evaluate(votes, disk.open_scores(cut(scores, tmp_path / "scores", 2)))
    known = evaluate(
        Predictions.from_dataframe(scores), Annotations.from_dataframe(table), metrics=["auroc"]
    )
    assert made.population == known.two_way("auroc", labels="soft").population
    assert made.population.whom == "items like these, judged by this annotator"


def test_many_annotators_in_stripes(tmp_path, monkeypatch):
    table = study(5, items=60, votes=400, people=12)
    folder = cut(table, tmp_path / "votes", 3)
    scores = disk.open_scores(cut(scored(table, 5, tied=False), tmp_path / "scores", 3))
    whole = disk.evaluate(disk.open_votes(folder), scores).models
    monkeypatch.setattr(evaluation, "DENSE", 3)
    monkeypatch.setattr(evaluation, "_STRIPE", 30)
    striped = disk.evaluate(disk.open_votes(folder), scores).models
    np.testing.assert_allclose(striped[0][2:6], whole[0][2:6])


@pytest.mark.parametrize("model", ["dawid_skene", "glad", "soft_labels"])
def test_workers_change_no_byte(tmp_path, model):
    folder = cut(study(1), tmp_path / "votes", 5)
    made = []
    for workers in (1, 2, 4):
        out = tmp_path / f"{model}{workers}"
        getattr(disk, model)(disk.open_votes(folder, workers=workers), out)
        made.append(contents(out))
    assert made[0] == made[1] == made[2]


KILLED = """
import os, signal, sys
from equipoise.scale import disk
def at(done, most):
    if done == 7:
        os.kill(os.getpid(), signal.SIGKILL)
votes = disk.open_votes(sys.argv[1], workers=2)
fit = getattr(disk, sys.argv[3])
fit(votes, sys.argv[2], disk=disk.OnDisk(every=3, progress=at))
"""


@pytest.mark.parametrize("model", ["dawid_skene", "glad"])
def test_a_killed_fit_goes_on_from_its_checkpoint(tmp_path, model):
    folder = cut(study(2, votes=200), tmp_path / "votes", 4)
    out, plain, fit = tmp_path / "out", tmp_path / "plain", getattr(disk, model)
    done = subprocess.run(
        [sys.executable, "-c", KILLED, str(folder), str(out), model], check=False
    )
    assert done.returncode == -signal.SIGKILL
    assert not out.exists()
    assert (tmp_path / "out.work").exists()
    seen = []
    how = disk.OnDisk(every=3, progress=lambda *done: seen.append(done[0]))
    fit(disk.open_votes(folder), out, disk=how)
    assert seen[0] == 7  # six were kept
    fit(disk.open_votes(folder), plain)
    assert contents(out) == contents(plain)
    assert not (tmp_path / "out.work").exists()


STOPPED = """
import os, signal, sys
from pathlib import Path
from equipoise.scale import disk
from equipoise.scale.disk import ranking
def deadly(plain):
    def one(*given):
        plain(*given)
        os.kill(os.getpid(), signal.SIGKILL)
    return one
home = Path(sys.argv[1])
votes = disk.open_votes(home / "votes", workers=1)
soft = sys.modules["equipoise.scale.disk.label_files"]
soft._finish = deadly(soft._finish)
ranking._Merge.__call__ = deadly(ranking._Merge.__call__)
if sys.argv[2] == "soft":
    disk.soft_labels(votes, home / "soft", model="dirichlet")
else:
    disk.evaluate(votes, disk.open_scores(home / "scores"), work=home / "work")
"""


@pytest.mark.parametrize("what", ["soft", "evaluate"])
def test_what_a_killed_reading_left_is_not_taken_for_whole(tmp_path, what):
    table = study(2)
    folder = cut(table, tmp_path / "votes", 4)
    cut(scored(table, 2, tied=False), tmp_path / "scores", 4)
    done = subprocess.run([sys.executable, "-c", STOPPED, str(tmp_path), what], check=False)
    assert done.returncode == -signal.SIGKILL
    votes, scores = disk.open_votes(folder), disk.open_scores(tmp_path / "scores")
    if what == "soft":
        assert not (tmp_path / "soft").exists()
        assert len(list(tmp_path.glob(".soft.*.part"))) == 1
        for name in ("soft", "plain"):
            disk.soft_labels(votes, tmp_path / name, model="dirichlet")
        assert contents(tmp_path / "soft") == contents(tmp_path / "plain")
        assert not list(tmp_path.glob(".soft.*"))
    else:
        left = list((tmp_path / "work").iterdir())
        assert len(left) == 1 and list(left[0].glob("range-*"))
        again = disk.evaluate(votes, scores, work=tmp_path / "work")
        assert again.models == disk.evaluate(votes, scores).models
        assert list((tmp_path / "work").iterdir()) == left


def test_a_working_folder_of_other_votes_is_not_gone_on_with(tmp_path):
    votes = disk.open_votes(cut(study(2), tmp_path / "votes", 2))
    how = disk.OnDisk(work=tmp_path / "work", keep=True, every=1)
    disk.dawid_skene(votes, tmp_path / "a", disk=how)
    other = disk.open_votes(cut(study(3), tmp_path / "other", 2))
    disk.dawid_skene(other, tmp_path / "b", disk=how)
    disk.dawid_skene(other, tmp_path / "c")
    assert contents(tmp_path / "b") == contents(tmp_path / "c")
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.tex").write_text("x")
    with pytest.raises(InputError, match="something else"):
        disk.glad(votes, tmp_path / "d", disk=disk.OnDisk(work=tmp_path / "mine"))
    assert (tmp_path / "mine" / "thesis.tex").exists()


def test_a_checkpoint_of_other_settings_is_not_gone_on_with(tmp_path):
    votes = disk.open_votes(cut(study(2), tmp_path / "votes", 2))
    how = disk.OnDisk(work=tmp_path / "work", keep=True, every=1)
    disk.dawid_skene(votes, tmp_path / "full", disk=how)
    disk.dawid_skene(votes, tmp_path / "coin", variant="one_coin", disk=how)
    disk.dawid_skene(votes, tmp_path / "alone", variant="one_coin")
    assert contents(tmp_path / "coin") == contents(tmp_path / "alone")


def test_votes_that_were_edited_in_place_are_read_again(tmp_path):
    (tmp_path / "votes").mkdir()
    path, how = tmp_path / "votes" / "0.parquet", disk.OnDisk(tmp_path / "work", keep=True)
    table, plain = study(2), {"compression": "none", "use_dictionary": False}
    pq.write_table(table, path, **plain)
    disk.dawid_skene(disk.open_votes(path.parent), tmp_path / "before", disk=how)
    about, turned = path.stat(), table["label"].to_pylist()[::-1]
    pq.write_table(table.set_column(2, "label", pa.array(turned)), path, **plain)
    os.utime(path, ns=(about.st_atime_ns, about.st_mtime_ns + 10**9))
    assert path.stat().st_size == about.st_size
    disk.dawid_skene(disk.open_votes(path.parent), tmp_path / "after", disk=how)
    disk.dawid_skene(disk.open_votes(path.parent), tmp_path / "alone")
    assert contents(tmp_path / "after") == contents(tmp_path / "alone")
    assert contents(tmp_path / "after") != contents(tmp_path / "before")


def test_an_item_in_two_partitions_is_found_and_mended(tmp_path):
    table = study(4)
    folder = tmp_path / "votes"
    folder.mkdir()
    pq.write_table(table.slice(0, 150), folder / "a.parquet")
    pq.write_table(table.slice(150), folder / "b.parquet")
    votes = disk.open_votes(folder)
    for call in (
        lambda: disk.soft_labels(votes, tmp_path / "out"),
        lambda: disk.dawid_skene(votes, tmp_path / "out"),
    ):
        with pytest.raises(InputError, match=r"votes in a.parquet and in b.parquet"):
            call()
        assert not (tmp_path / "out").exists()
    mended = disk.open_votes(disk.repartition(folder, tmp_path / "cut", 5))
    disk.soft_labels(mended, tmp_path / "out")
    same(by_item(tmp_path / "out"), aggregate.mean_vote(Annotations.from_dataframe(table)))


ROWS = 'item;label;note\r\nKöln;"ja\r\n""so"" ";x\r\n\r\nBonn;nein;y\r\n'


@pytest.mark.parametrize(
    ("name", "data"),
    {
        "utf8.csv": ROWS.encode(),
        "mark.csv": b"\xef\xbb\xbf" + ROWS.encode(),
        "windows.csv": ROWS.encode("cp1252"),
        "packed.csv.gz": gzip.compress(ROWS.encode(), mtime=0),
        "unended.csv": ROWS.strip().encode(),
        "comments.csv": b"# by me\r\n\r\n" + ROWS.encode(),
    }.items(),
)
def test_text_larger_than_memory_is_cut_into_partitions(tmp_path, monkeypatch, name, data):
    monkeypatch.setattr(delimited, "BATCH", 64)
    monkeypatch.setattr(delimited, "PIECE", 7)
    (tmp_path / name).write_bytes(data)
    disk.soft_labels(
        disk.open_votes(disk.repartition(tmp_path / name, tmp_path / "cut", 2)),
        tmp_path / "out",
    )
    same(by_item(tmp_path / "out"), aggregate.mean_vote(read_annotations(tmp_path / name)))


@few
@given(st.integers(0, 99), st.booleans(), st.integers(1, 5))
def test_one_file_is_cut_as_a_folder_is(tmp_path_factory, seed, text, parts):
    place, table = tmp_path_factory.mktemp("cut"), study(seed, counted=True)
    path = place / f"votes.{'csv' if text else 'parquet'}"
    (pa.csv.write_csv if text else pq.write_table)(table, path)
    votes = disk.open_votes(disk.repartition(path, place / "cut", parts))
    disk.soft_labels(votes, place / "out")
    same(by_item(place / "out"), aggregate.mean_vote(Annotations.from_dataframe(table)))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "nothing but blank lines"), ("item,label\n", "a header but no rows"),
        ("item,label\na,1\nb,1,2\n", "row 3: 3 fields, expected 2"), ("a\0b", "binary data"),
        ('item,label\na,"1\nb,2\n', "row 2"), ("item,label,label\na,1,2\n", "label"),
    ],
)  # fmt: skip
def test_broken_text_is_not_cut(tmp_path, text, words):
    (tmp_path / "votes.csv").write_text(text)
    with pytest.raises(InputError, match=words):
        disk.repartition(tmp_path / "votes.csv", tmp_path / "cut", 2)
    assert not (tmp_path / "cut").exists()
    packed = tmp_path / "votes.csv.gz"
    packed.write_bytes(gzip.compress(b"item,label\na,1\n" * 9, mtime=0)[:-9])
    with pytest.raises(InputError, match="cannot be unpacked"):
        disk.repartition(packed, tmp_path / "cut", 2)


@few
@given(st.integers(0, 99), st.integers(1, 4))
def test_moments_on_disk_are_those_in_memory(tmp_path_factory, seed, parts):
    random, place = np.random.default_rng(seed), tmp_path_factory.mktemp("rated")
    table = pa.table(
        {
            "item": [f"i{i}" for i in random.integers(0, 12, 80)],
            "label": random.integers(0, 40, 80) / 4,
            "weight": random.integers(1, 3, 80) / 2,
            "task": random.permutation(["p", "q"] * 40),
        }
    )
    (place / "whole").mkdir()
    pq.write_table(table, place / "whole" / "a.parquet")
    moments = disk.rating_moments(
        disk.repartition(place / "whole", place / "cut", parts), task="p"
    )
    whole = moments_of(Annotations.from_dataframe(table, kind="interval"), "p")
    assert moments.items == whole.items and moments.step == whole.step
    for name in ("number", "mean", "squares"):
        np.testing.assert_allclose(getattr(moments, name), getattr(whole, name), rtol=1e-12)


def test_moments_on_disk_name_what_is_wrong(tmp_path, monkeypatch):
    (tmp_path / "votes").mkdir()
    values = [0.0, 0.25, *range(10, 60)]
    for file in "ab":
        rows = {"item": ["i"] * len(values), "label": values}
        pq.write_table(pa.table(rows), tmp_path / "votes" / f"{file}.parquet")
    with pytest.raises(InputError, match=r"several partitions.*cut the ratings by item"):
        disk.rating_moments(tmp_path / "votes")
    with pytest.raises(InputError, match="task: 'size', expected one of"):
        disk.rating_moments(tmp_path / "votes", task="size")
    monkeypatch.setattr("equipoise.scale.disk.label_files.DISTINCT", 8)
    cut = disk.repartition(tmp_path / "votes", tmp_path / "cut", 1)
    moments = disk.rating_moments(cut)
    assert (moments.step, moments.number) == (0.25, [104])


def test_counts_are_not_made_votes_again():
    huge = Annotations(
        kind="binary", items=("a", "b"), classes=("0", "1"), item=np.array([0, 0, 1]),
        label=np.array([0, 1, 1]), count=np.array([10**12, 3 * 10**12, 5]),
    )  # fmt: skip
    np.testing.assert_allclose(aggregate.mean_vote(huge).mean, [[0.25, 0.75], [0, 1]])


def test_names_with_spaces_are_one_item_in_two_partitions(tmp_path):
    (tmp_path / "votes").mkdir()
    for file, items in (("a", ["a", "b"]), ("b", ["b ", "c"])):
        rows = {"item": items, "annotator": ["x", "y"], "label": ["no", "yes"]}
        pq.write_table(pa.table(rows), tmp_path / "votes" / f"{file}.parquet")
    with pytest.raises(InputError, match=r"votes in a.parquet and in b.parquet"):
        disk.soft_labels(disk.open_votes(tmp_path / "votes"), tmp_path / "out")


@pytest.mark.parametrize(
    ("name", "values", "words"),
    [
        ("count", [2, 10**16], "10000000000000000, expected a whole number from 1"),
        ("item", np.array([1, 2**64 - 1], dtype=np.uint64), "larger uint64"),
    ],
)
def test_numbers_that_are_too_large_are_refused(tmp_path, name, values, words):
    (tmp_path / "votes").mkdir()
    rows = {"item": [1, 2], "annotator": ["x", "y"], "label": ["no", "yes"], name: values}
    pq.write_table(pa.table(rows), tmp_path / "votes" / "a.parquet")
    with pytest.raises(InputError, match=words):
        disk.soft_labels(disk.open_votes(tmp_path / "votes"), tmp_path / "out")


def test_folders_that_name_a_task(tmp_path):
    one, two = study(6), study(7)
    for name, table in (("edema", one), ("fracture", two)):
        cut(table, tmp_path / "votes" / f"task={name}", 2)
    with pytest.raises(InputError, match="2 tasks"):
        disk.open_votes(tmp_path / "votes")
    votes = disk.open_votes(tmp_path / "votes", task="fracture")
    disk.soft_labels(votes, tmp_path / "out")
    same(by_item(tmp_path / "out"), aggregate.mean_vote(Annotations.from_dataframe(two)))


def test_votes_without_a_label_are_left_out(tmp_path):
    table = study(8)
    label = pa.array(
        ["" if n % 7 == 0 else w for n, w in enumerate(table["label"].to_pylist())]
    )
    table = table.set_column(2, "label", label)
    disk.dawid_skene(disk.open_votes(cut(table, tmp_path / "v", 3)), tmp_path / "out")
    same(by_item(tmp_path / "out"), aggregate.dawid_skene(Annotations.from_dataframe(table)))


def bad(folder, change):
    """A folder whose second partition is changed."""
    table = study(9, text=False)
    cut(table, folder, 2)
    path = folder / "1.parquet"
    rows = pq.read_table(path)
    if isinstance(change, bytes):
        path.write_bytes(path.read_bytes()[: -len(change)])
    else:
        pq.write_table(change(rows), path)
    return folder


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda rows: rows.drop(["label"]), "a column 'label'"),
        (lambda rows: rows.set_column(0, "item", rows["item"].cast(pa.string())), "alike"),
        (lambda rows: rows.set_column(0, "item", rows["item"].cast(pa.float64())), "double"),
        (b"12345678", "damaged or truncated"),
        (
            lambda rows: rows.set_column(
                1, "annotator", pa.array([None, *rows["annotator"].to_pylist()[1:]], pa.int16())
            ),
            "without one",
        ),
    ],
)
def test_bad_partitions_are_refused(tmp_path, change, words):
    folder = bad(tmp_path / "votes", change)
    with pytest.raises(InputError, match=words) as refused:
        disk.dawid_skene(disk.open_votes(folder), tmp_path / "out")
    assert "1.parquet" in str(refused.value)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("column", ["weight", "is_gold", "rank"])
def test_what_needs_memory_is_refused(tmp_path, column):
    table = study(1)
    table = table.append_column(column, pa.array(np.ones(len(table), dtype=np.int64)))
    with pytest.raises(InputError, match="read_annotations"):
        disk.open_votes(cut(table, tmp_path / "votes", 2))


def test_items_without_a_score_are_refused(tmp_path):
    table = study(1)
    scores = scored(table, 1, tied=False).slice(1)
    votes = disk.open_votes(cut(table, tmp_path / "votes", 2))
    lost = str(table["item"].unique()[0])
    with pytest.raises(InputError, match=f"without scores, such as '{lost}'"):
        disk.evaluate(votes, disk.open_scores(cut(scores, tmp_path / "scores", 2)))
    with pytest.raises(InputError, match="no column of scores"):
        disk.open_scores(cut(scores.select(["item"]), tmp_path / "none", 2))


def run(*words):
    """A command that works."""
    done = CliRunner().invoke(app, [str(word) for word in words])
    assert done.exit_code == 0, done.output
    return done


def test_the_commands(tmp_path):
    table = study(2)
    folder = cut(table, tmp_path / "votes", 3)
    cut(scored(table, 2, tied=False), tmp_path / "scores", 3)
    assert "40 items" in run("aggregate", folder, "--on-disk", "--out", tmp_path / "out").output
    assert (tmp_path / "out" / "items" / "part-00002.parquet").exists()
    for model in ("mean_vote", "dawid_skene", "glad"):
        run("aggregate", folder, "--on-disk", "--model", model, "--out", tmp_path / model)
    told = json.loads(run("agreement", folder, "--on-disk", "--json").stdout)
    assert told["alpha"] == disk.agreement(disk.open_votes(folder)).alpha
    both = run("evaluate", folder, tmp_path / "scores", "--on-disk", "--json")
    assert [one["model"] for one in json.loads(both.stdout)["models"]] == ["net", "vit"]
    two = ("--metrics", "auroc,log_score")
    shown = run("evaluate", folder, tmp_path / "scores", "--on-disk", *two).output
    assert shown.count("soft AUROC") == 3 and shown.count("log score") == 2
    assert "The 2 models cannot be told apart by soft AUROC." in shown
    out = tmp_path / "kept"
    run("evaluate", folder, tmp_path / "scores", "--on-disk", "--out", out)
    kept = json.loads((out / "evaluation.json").read_text())
    assert kept["models"] == json.loads(both.stdout)["models"] and kept["level"] == 0.95
    assert {one["file"] for one in kept["votes"]} == {one.name for one in folder.iterdir()}
    with pytest.raises(AssertionError):  # it is there
        run("evaluate", folder, tmp_path / "scores", "--on-disk", "--out", out)
    run("evaluate", folder, tmp_path / "scores", "--on-disk", "--out", out, "--overwrite")
    with pytest.raises(AssertionError):  # scores would be read into memory
        run("check", "-a", folder, "-p", tmp_path / "scores", "--on-disk")
    assert "3 partitions" in run("check", folder, "--on-disk").output
    refused = CliRunner().invoke(
        app, ["agreement", str(folder), "--on-disk", "--page", "a.html"]
    )
    assert refused.exit_code != 0


def test_a_folder_of_folders_stays_on_disk_by_itself(tmp_path):
    cut(study(2), tmp_path / "votes" / "site=a", 2)
    assert "2 partitions" in run("check", tmp_path / "votes").output


# ---- twins of the kernels (equipoise.kernels.blocks) -----------------------------------------


@given(st.lists(st.integers(-(2**62), 2**62) | st.integers(0, 9), min_size=1))
@settings(max_examples=50, deadline=None)
def test_codes_of_numbers(values):
    values = np.array(values)
    low, span = int(values.min()), int(values.max()) - int(values.min()) + 1
    seen = list(dict.fromkeys(values.tolist()))
    for room in (0, span) if span <= 100 else (0,):
        codes, first = kernels.code_numbers(values, low, room)
        assert values[first].tolist() == seen
        assert codes.tolist() == [seen.index(value) for value in values.tolist()]


def test_hashes_follow_from_the_name_alone():
    texts = pa.array([f"item {n}" for n in range(2000)], pa.large_string())
    hashes = disk.votes.hash_items(texts)
    assert len(np.unique(hashes)) == 2000
    np.testing.assert_array_equal(disk.votes.hash_items(texts.slice(7, 20)), hashes[7:27])
    numbers = kernels.hash_numbers(np.arange(-1000, 1000))
    assert len(np.unique(numbers)) == 2000
