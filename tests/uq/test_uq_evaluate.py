"""Evaluation of uncertainty: pairs, seeds, patients, files, the command and its page."""

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy.special import expit
from typer.testing import CliRunner

from equipoise.cli import app
from equipoise.report.page import render
from equipoise.types import InputError
from equipoise.uq import Beta, Prediction, evaluate_uncertainty, uncertainty_report
from equipoise.uq.predictions import find_files, read_study
from equipoise.uq.tasks import label_values
from equipoise.uq.training.corruptions import macro

ITEMS, CLASSES = 160, 3


def world(seed=0, items=ITEMS, *, uncertain=True):
    """Logits, labels with uncertain ones, and patients with two images each."""
    rng = np.random.default_rng(seed)
    logits = rng.normal(size=(items, CLASSES)) * 2 - 1
    labels = (rng.random((items, CLASSES)) < expit(logits)).astype(float)
    if uncertain:
        labels[rng.random((items, CLASSES)) < 0.4 * np.exp(-(logits**2))] = -1
    return logits, labels, [str(k // 2) for k in range(items)]


def members(logits, noise, number=4, seed=0):
    rng = np.random.default_rng([seed, int(100 * noise)])
    drift = logits + 0.7 * rng.normal(size=logits.shape)
    return expit(drift + noise * rng.normal(size=(number, *logits.shape)))


@pytest.fixture(scope="module")
def result():
    logits, labels, groups = world()
    val_logits, val_labels, _ = world(1)
    good, bad = members(logits, 0.5), members(-0.3 * logits, 0.5, seed=1)
    return evaluate_uncertainty(
        {"good": good, "bad": bad, "single": good[:1]},
        labels,
        ood={name: members(0.3 * logits, 2.0, m, seed=5) for name, m in
             (("good", 4), ("bad", 4), ("single", 1))},
        validation=(
            {"good": members(val_logits, 0.5), "bad": members(-0.3 * val_logits, 0.5, seed=1),
             "single": members(val_logits, 0.5)[:1]},
            val_labels,
        ),
        groups=groups,
    )  # fmt: skip


def rows(result, **wanted):
    return [
        row
        for row in result.table()
        if all(getattr(row, name) == value for name, value in wanted.items())
    ]


def test_all_pairs_of_methods_in_all_tasks_are_one_family(result):
    contests = 0
    for task in result.tasks:
        judged = result.judged(task, result.study.architectures[0])
        if judged is None:
            continue
        alone = replace(judged, together=1, _families={}).family(task.metrics[0]).p
        found = judged.family(task.metrics[0]).p
        contests = judged.together
        np.testing.assert_allclose(found, np.where(alone < 1, 1 - (1 - alone) ** contests, 1))
    assert contests == sum(result.judged(task, result.study.architectures[0]) is not None
                           for task in result.tasks) > 1  # fmt: skip


def test_every_score_of_every_task_is_there(result):
    assert {row.task for row in result.table()} == {
        "ood", "uncertain", "errors", "abstention", "ece", "mce",
    }  # fmt: skip
    assert [row.score for row in rows(result, task="errors", method="good")] == [
        "PU",
        "AU",
        "EU",
    ]
    assert [row.score for row in rows(result, task="errors", method="single")] == ["PU"]
    assert {one.code for one in result.notices} >= {"one_member", "preset_score"}
    for row in result.table():
        assert row.low <= row.value <= row.high or np.isnan(row.value)


def test_values_are_those_of_the_tasks(result):
    """The shared engine and the plain functions agree on every macro average."""
    run = next(one for one in result.study.runs if one.method == "good")
    for task in result.tasks:
        question = result.contests["", task.question].question
        for row in rows(result, task=task.key, method="good"):
            plain = macro(label_values(question, run.parts, row.score, row.metric))
            half = 0.5 if row.metric == "brier_score" else 1.0  # (p - y)^2, once
            assert row.value == pytest.approx(half * plain, abs=1e-9), (task.key, row.metric)


def test_a_bad_method_falls_behind(result):
    (good,) = rows(result, task="ece", method="good", metric="expected_calibration_error")
    (bad,) = rows(result, task="ece", method="bad", metric="expected_calibration_error")
    assert good.best and not bad.best
    judged = result.judged(result.tasks[4], "")
    (gap, *_) = judged.differences("expected_calibration_error")
    assert gap.separated and gap.value < 0
    assert "good" in result.verdict


def test_the_score_is_chosen_on_validation_images(result):
    assert {result.chosen["", "ood", m] for m in ("good", "bad", "single")} == {"PU"}
    for task in ("uncertain", "errors", "abstention"):
        (one,) = {r.score for r in rows(result, task=task, method="good") if r.chosen}
        assert one == result.chosen["", task, "good"]
    alone = evaluate_uncertainty(members(world()[0], 0.5), world()[1])
    assert set(alone.chosen.values()) == {"PU"}


def test_choosing_looks_at_no_test_label():
    logits, labels, groups = world()
    val = ({"good": members(world(1)[0], 0.5)}, world(1)[1])
    other = np.where(labels == -1, -1, 1 - labels)
    found = [
        evaluate_uncertainty(
            {"good": members(logits, 0.5)}, each, validation=val, groups=groups
        )
        for each in (labels, other)
    ]
    assert found[0].chosen == found[1].chosen


def test_patients_make_intervals_wider():
    logits, labels, _ = world(uncertain=False)
    twice, copied = np.repeat(logits, 3, axis=0), np.repeat(labels, 3, axis=0)
    probs = members(logits, 0.5)
    probs = np.repeat(probs, 3, axis=1)
    groups = np.repeat(np.arange(len(logits)), 3)
    assert twice.shape == copied.shape
    wide, narrow = (evaluate_uncertainty(probs, copied, groups=one) for one in (groups, None))
    for a, b in zip(wide.table(), narrow.table(), strict=True):
        assert a.value == pytest.approx(b.value)
    a, b = (rows(one, task="errors", score="PU")[0] for one in (wide, narrow))
    assert a.high - a.low > 1.4 * (b.high - b.low)


def test_seeds_are_one_competitor():
    logits, labels, groups = world(uncertain=False)
    runs = [members(logits, 0.5, seed=s) for s in range(3)]
    together = evaluate_uncertainty({"m": runs}, labels, groups=groups)
    alone = [evaluate_uncertainty({"m": one}, labels, groups=groups) for one in runs]
    row = rows(together, task="errors", score="PU")[0]
    each = [rows(one, task="errors", score="PU")[0].value for one in alone]
    assert row.value == pytest.approx(np.mean(each))
    assert len(rows(together, task="errors")) == 3


def test_parts_are_compared_with_each_other_and_with_constant_noise(result):
    own = [row for row in result.parts if row.method == "good" and row.task == "ood"]
    assert own[0].gap == pytest.approx(own[0].value - own[0].reference)
    assert own[0].gap_low > 0  # other images have four times the noise
    for row in result.correlations:
        assert -1 <= row.low <= row.value <= row.high <= 1
        assert row.gap == pytest.approx(row.value - row.reference)
    assert {row.task for row in result.correlations} == {"ood", "uncertain"}
    # members of constant noise are their own null
    logits = world(items=600)[0]
    noise = expit(logits + 0.5 * np.random.default_rng(0).normal(size=(6, *logits.shape)))
    (flat,) = evaluate_uncertainty(noise, np.zeros(logits.shape)).correlations
    assert flat.gap_low < 0.05 and flat.gap_high > -0.05 and flat.reference > 0.4


def test_own_scores_and_beta_take_part():
    logits, labels, _ = world(uncertain=False)
    p = expit(logits)
    wrong = ((p > 0.5) != (labels == 1)).astype(float)
    found = evaluate_uncertainty(
        {"edl": Beta(1 + 9 * p, 10 - 9 * p), "oracle": Prediction(p, wrong)}, labels
    )
    (own,) = rows(found, task="errors", method="oracle", score="own")
    assert own.value == 1
    assert {row.score for row in rows(found, task="errors", method="edl")} == {"PU", "AU", "EU"}
    excess = rows(found, score="own", metric="excess_risk_coverage_area")[0]
    assert excess.value == pytest.approx(0, abs=1e-9)


def test_labels_that_say_nothing_are_said():
    logits, labels, _ = world(uncertain=False)
    labels[:, 1], labels[:, 2] = np.nan, 0
    found = evaluate_uncertainty(members(0.2 * logits - 4, 0.2), labels)
    codes = {one.code for one in found.notices}
    assert {"blank_labels", "undefined_task", "left_out_labels"} <= codes
    assert not rows(found, task="uncertain") and not rows(found, task="ood")
    assert rows(found, task="errors")[0].left_out == 2
    assert render(found.report())


@pytest.mark.parametrize(
    ("probs", "labels", "said"),
    [
        (np.full((2, 4, 2), 1.5), np.zeros((4, 2)), "predictions of 'model', member 0"),
        (np.full((2, 4, 2), 0.5), np.zeros((5, 2)), "4 items and 2 classes, expected 5 and 2"),
        (np.full((2, 4, 2), 0.5), np.full((4, 2), 2.0), "expected 1, 0, -1"),
        (np.full((2, 4, 2), 0.5), np.zeros(4), r"labels: shape \(4,\)"),
        ({}, np.zeros((4, 2)), "methods: none"),
    ],
)
def test_what_does_not_fit_is_refused(probs, labels, said):
    with pytest.raises(InputError, match=said):
        evaluate_uncertainty(probs, labels)


def test_options_are_checked():
    with pytest.raises(InputError, match="median"):
        evaluate_uncertainty(np.full((4, 2), 0.5), np.zeros((4, 2)), image="median")
    with pytest.raises(InputError, match="level"):
        evaluate_uncertainty(np.full((4, 2), 0.5), np.zeros((4, 2)), level=1.5)


# ---- files -----------------------------------------------------------------------------------


def save_benchmark(folder, schema=1, workers=1):
    logits, labels, groups = world()
    np.savez(
        folder / "labels.npz", classes=["a", "b", "c"],
        test_items=np.arange(ITEMS), test_labels=labels.astype(np.float32), test_groups=groups,
        ood_items=np.arange(ITEMS), ood_groups=groups,
        val_items=[f"v{k}" for k in range(ITEMS)], val_labels=labels.astype(np.float32),
    )  # fmt: skip
    for arch in ("cnn", "vit"):
        for method, noise in (("bce", 0.0), ("ensemble", 0.6)):
            for seed in range(2):
                number = 1 if method == "bce" else 4
                p = members(logits, noise, number, seed)
                said = np.log(p / (1 - p)).astype(np.float16)
                meta = {
                    "schema": schema, "method": method, "architecture": arch, "seed": seed,
                    "cost": {"training": 10 + 30 * (number > 1), "prediction": 0.5,
                             "memory": 2**30, "epochs": 5, "workers": workers},
                }  # fmt: skip
                np.savez(
                    folder / f"{method}.{arch}.{seed}.npz", meta=json.dumps(meta),
                    test_logits=said, ood_logits=said / 2, val_logits=said,
                )  # fmt: skip
    return folder


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    return save_benchmark(tmp_path_factory.mktemp("uq"))


def test_saved_files_make_a_report(saved):
    report = uncertainty_report(saved)
    assert report.card is not None and "of 6" in report.card.answer
    keys = {one.key for one in report.findings}
    wanted = {"standings", "tasks", "parts", "correlation", "coverage", "reliability", "cost"}
    assert wanted <= keys
    cost = next(one for one in report.findings if one.key == "cost").tables[0].rows
    assert {(row["method"], row["training"]) for row in cost} == {
        ("bce", 10_000.0), ("ensemble", 40_000.0)
    }  # fmt: skip
    page = render(report)
    assert "ensemble" in page and "vit" in page


def test_the_command_prints_rows_and_writes_a_page(saved, tmp_path):
    runner = CliRunner()
    out = tmp_path / "out"
    done = runner.invoke(app, ["uq", "evaluate", str(saved), "--json", "--out", str(out)])
    assert done.exit_code == 0, done.output
    told = json.loads(done.stdout)
    first = told["rows"][0]
    names = ["task", "method", "architecture", "score", "metric", "value", "low", "high"]
    assert list(first)[:8] == names
    assert (out / "report.html").is_file() and (out / "uncertainty.json").is_file()
    shown = runner.invoke(app, ["uq", "evaluate", str(saved)])
    assert shown.exit_code == 0 and "best group" in shown.stdout


LIMITED = """
import resource, sys
from pathlib import Path
from equipoise import InputError
from equipoise.uq.predictions import read_study

resource.setrlimit(resource.RLIMIT_AS, (3 * 2**30, 3 * 2**30))
folder = Path(sys.argv[1])
try:
    read_study([*sorted(folder.glob("m*.npz")), folder / "labels.npz"])
except InputError as error:
    print(error.where, error.got, error.do, sep="|")
"""


def test_three_hundred_methods_are_refused_before_their_memory_is_taken(tmp_path):
    random = np.random.default_rng(0)
    np.savez(tmp_path / "labels.npz", labels=random.integers(0, 2, (20_000, 14)))
    np.savez(tmp_path / "m0.npz", probs=random.random((2, 20_000, 14), dtype=np.float32))
    for number in range(1, 300):
        os.link(tmp_path / "m0.npz", tmp_path / f"m{number}.npz")
    done = subprocess.run(
        [sys.executable, "-c", LIMITED, str(tmp_path)],
        capture_output=True, text=True, check=True, timeout=120,
    )  # fmt: skip
    where, got, do = done.stdout.strip().split("|")
    assert where.startswith("300 files") and "GiB" in got and "fewer methods" in do


def test_plain_files_are_named_by_their_method(tmp_path):
    logits, labels, _ = world()
    for name, noise in (("dropout", 0.3), ("ensemble", 0.6)):
        np.savez(tmp_path / f"{name}.npz", probs=members(logits, noise).astype(np.float32))
    other = tmp_path / "other"
    other.mkdir()
    for name in ("dropout", "ensemble"):
        np.save(other / f"{name}.npy", members(0.3 * logits, 1.5))
    np.savez(tmp_path / "truth.npz", labels=labels)
    runs = [tmp_path / "dropout.npz", tmp_path / "ensemble.npz"]
    found = read_study([*runs, tmp_path / "truth.npz"], sorted(other.glob("*.npy")))
    assert {run.method for run in found.runs} == {"dropout", "ensemble"}
    assert set(found.labels) == {"test", "ood"}
    assert found.classes == ("label 1", "label 2", "label 3")


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda f: save_benchmark(f, schema=2), "schema 2, expected schema 1"),
        (lambda f: np.savez(f / "x.npz", meta="{}", test_probs=np.ones((2, 2))), "no schema"),
        (lambda f: (f / "x.npz").write_bytes(b"nothing"), "no arrays that can be read"),
        (lambda f: np.savez(f / "x.npz", other=np.ones(3)), "predictions of the test images"),
        (
            lambda f: np.savez(f / "x.npz", probs=np.array([{}], dtype=object)),
            "no arrays that can be read",
        ),
    ],
)
def test_files_of_another_kind_are_refused(tmp_path, make, said):
    np.savez(tmp_path / "labels.npz", labels=np.zeros((2, 2)))
    make(tmp_path)
    with pytest.raises(InputError, match=said):
        read_study(find_files(tmp_path))


@pytest.mark.parametrize("name", ["classes", "items", "groups"])
def test_names_that_are_no_list_are_refused(tmp_path, name):
    np.savez(tmp_path / "labels.npz", labels=np.zeros((2, 2)), **{name: np.array("a")})
    np.savez(tmp_path / "one.npz", probs=np.full((2, 2), 0.5))
    with pytest.raises(InputError, match=rf"{name} of shape \(\)"):
        read_study(find_files(tmp_path))


def test_a_folder_without_labels_is_refused(tmp_path):
    with pytest.raises(InputError, match="no labels"):
        find_files(tmp_path)
    runner = CliRunner()
    alone = runner.invoke(app, ["uq", "evaluate", str(tmp_path / "x.npz")])
    assert isinstance(alone.exception, InputError) and "predictions and labels" in str(
        alone.exception
    )
    missing = runner.invoke(app, ["uq", "evaluate", "x.npz", "y.npz"])
    assert "no such file" in str(missing.exception)
    assert Path("x.npz").exists() is False
