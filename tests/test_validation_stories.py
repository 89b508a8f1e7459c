"""Two validation studies as a clinical team walks through them, with answers that are known."""

import json
import re
from itertools import pairwise

import numpy as np
import pytest
from scipy.stats import binomtest
from sklearn.metrics import confusion_matrix
from typer.testing import CliRunner

from equipoise.cli import app
from tests.validation_studies import (
    DIAGNOSES,
    ECGS,
    FILMS,
    FINDINGS,
    MODELS,
    NETWORKS,
    RADIOLOGISTS,
    write_ecgs,
    write_films,
)

SIDES = ("sensitivity", "specificity")


def run(*words):
    done = CliRunner().invoke(app, [*map(str, words)], env={"COLUMNS": "100"})
    assert done.exit_code == 0, done.output + str(done.exception)
    return done.stdout


def findings(text):
    return {part["key"]: part for part in json.loads(text)["findings"]}


def table(found, key, name="rows"):
    return found[key][name]


@pytest.fixture(scope="module")
def ecgs(tmp_path_factory):
    """The ECGs, and everything that one command says of them."""
    folder = tmp_path_factory.mktemp("ecgs")
    truth = write_ecgs(folder)
    words = ("evaluate", folder / "models", folder / "readers", "--gold", folder / "gold.csv",
             "--threshold", "0.5", "--replicates", "20", "--attributes", folder / "ecgs.csv",
             "--metrics", "auroc,sensitivity,specificity", "--margin", "0.05")  # fmt: skip
    return folder, truth, words, findings(run(*words, "--json"))


@pytest.fixture(scope="module")
def films(tmp_path_factory):
    """The films; logits have a cut of their own."""
    folder = tmp_path_factory.mktemp("films")
    truth = write_films(folder)
    words = ("evaluate", folder / "reads.csv", folder / "scores.csv", "--layout", "tasks",
             "--gold", folder / "consensus.csv", "--columns", "group=Patient ID",
             "--replicates", "20")  # fmt: skip
    cuts = [f"{model}={0 if model in MODELS[4:] else 0.5}" for model in MODELS]
    words += tuple(word for cut in cuts for word in ("--threshold", cut))
    return folder, truth, words, findings(run(*words, "--json"))


# ---- 1. the operating point ------------------------------------------------------------------


def test_every_network_has_its_counts_with_exact_intervals_in_every_diagnosis(ecgs):
    _, truth, _, found = ecgs
    rows = table(found, "stated_cuts")
    assert {(row["task"], row["model"]) for row in rows} == {
        (task, model) for task in DIAGNOSES for model in NETWORKS
    }
    for row in rows:
        scores = truth.scores[row["model"], row["task"]]
        counted = confusion_matrix(truth.truth[row["task"]], scores >= 0.5)
        (clear, alarm), (missed, hit) = counted.tolist()
        expected = {
            "sensitivity": (hit, hit + missed), "specificity": (clear, clear + alarm),
            "ppv": (hit, hit + alarm), "npv": (clear, clear + missed),
        }  # fmt: skip
        for name, (hits, trials) in expected.items():
            assert row[f"{name}_count"] == f"{hits}/{trials}"
            exact = binomtest(hits, trials).proportion_ci(0.95, "exact")
            assert (row[f"{name}_low"], row[f"{name}_high"]) == pytest.approx(exact, abs=1e-9)
        assert row["against_readers"] in ("superior", "non-inferior", "inferior", "not shown")


def test_films_have_the_same_counts_wherever_a_model_is_cut(films):
    _, truth, _, found = films
    for row in table(found, "stated_cuts"):
        cut = 0 if row["model"] in MODELS[4:] else 0.5
        called = truth.scores[row["model"], row["task"]] >= cut
        counted = confusion_matrix(truth.truth[row["task"]], called)
        (clear, alarm), (missed, hit) = counted.tolist()
        assert row["sensitivity_count"] == f"{hit}/{hit + missed}"
        assert row["specificity_count"] == f"{clear}/{clear + alarm}"
        hits = binomtest(hit, hit + missed).proportion_ci(0.95, "exact")
        # patients with several films say less than as many films of others
        assert row["sensitivity_low"] <= hits.low + 0.01


def test_the_first_screen_has_every_cut_and_every_metric_asked_for(ecgs):
    _, _, words, found = ecgs
    screen = run(*words)
    assert screen.index("Models at their stated cuts") < screen.index("known to")
    for row in table(found, "stated_cuts", "stated_cuts_matrix"):
        line = next(x for x in screen.splitlines() if re.match(rf"  {row['model']} +\d+/", x))
        assert all(row[task] in line for task in DIAGNOSES)
    board = screen[screen.index("  Scores") :]
    assert all(name in board.split("known to")[0] for name in ("AUROC", *SIDES))
    assert max(map(len, screen.splitlines())) <= 100


def test_one_model_is_judged_by_the_margin_as_many_are(ecgs):
    folder, _, words, _ = ecgs
    alone = [*words[:1], folder / "models/dnn.csv", *words[2:], "--json"]
    rows = table(findings(run(*alone)), "stated_cuts")
    assert [row["model"] for row in rows] == ["dnn"] * len(DIAGNOSES)
    assert all(row["against_readers"] for row in rows)


def test_predictive_values_at_a_stated_prevalence(ecgs):
    _, _, words, found = ecgs
    there = table(findings(run(*words, "--prevalence", "0.01", "--json")), "stated_cuts")
    before = table(found, "stated_cuts")
    for row, old in zip(there, before, strict=True):
        sens, spec = (row[side] for side in SIDES)
        assert (sens, spec) == tuple(old[side] for side in SIDES)
        assert row["ppv"] == pytest.approx(0.01 * sens / (0.01 * sens + 0.99 * (1 - spec)))


# ---- 2. gold and readers ---------------------------------------------------------------------


def test_a_standard_among_readers_is_asked_about(ecgs, tmp_path):
    folder, _, _, _ = ecgs
    for file in (*(folder / "readers").iterdir(), folder / "gold.csv"):
        (tmp_path / file.name).write_bytes(file.read_bytes())
    done = CliRunner().invoke(app, ["evaluate", str(folder / "models"), str(tmp_path)])
    message = str(done.exception)
    assert done.exit_code and "like that of a reference standard" in message
    assert "gold='gold'" in message and "gold='ignore'" in message


def test_both_truths_stand_side_by_side_and_readers_stay(ecgs, films):
    folder, truth, _, found = films
    votes = (folder / "reads.csv").read_text().splitlines()[1:]
    yes = dict.fromkeys(truth.items, 0)
    for line in votes:
        cells = line.split(",")
        yes[cells[0]] += cells[4] == "YES"
    part = sum((yes[name] >= 2) != truth.truth[FINDINGS[0]][i] for i, name in enumerate(yes))
    rows = {row["task"]: row for row in table(found, "truths", "standard_and_readers")}
    assert (rows[FINDINGS[0]]["items"], rows[FINDINGS[0]]["part"]) == (FILMS, part)
    for both in (found, ecgs[3]):
        assert {"agreement", "disputed", "readers", "truths"} <= both.keys()
        assert "by the reference standard" in both["truths"]["finding"]
        assert "by the readers' votes" in both["truths"]["finding"]


def test_check_stores_the_standard_and_the_study_needs_no_option(ecgs, tmp_path):
    folder, _, words, found = ecgs
    stored = tmp_path / "study.csv"
    run("check", folder / "models", folder / "readers", "--gold", folder / "gold.csv",
        "--out", stored)  # fmt: skip
    again = findings(run("evaluate", stored, *words[5:], "--json"))
    assert table(again, "stated_cuts") == table(found, "stated_cuts")


# ---- 3. how the truth was made ---------------------------------------------------------------


def test_two_plus_one_and_a_panel_are_told_apart(ecgs, films):
    assert "cardiologist1 and cardiologist2 agree" in ecgs[3]["truths"]["finding"]
    assert "by others than these readers" in films[3]["truths"]["finding"]


def write_two_plus_one(folder, gold=lambda *_: None):
    """600 cases read by two, and by a third where these disagree, whose phase stands beside."""
    random = np.random.default_rng(2)
    sick = random.random(600) < 0.3
    rows, scores = ["item,annotator,label,phase,is_gold"], ["item,net,tree"]
    for item, truth in enumerate(sick):
        said = (truth ^ (random.random(3) < 0.12)).astype(int)
        votes = said if said[0] != said[1] else said[:2]
        phases = ("core", "core", "adjudication")
        rows += [f"i{item:03d},r{k},{v},{phases[k]},0" for k, v in enumerate(votes)]
        settled = gold(votes, truth)
        rows += [] if settled is None else [f"i{item:03d},panel,{int(settled)},,1"]
        evidence = random.normal(2.0 * truth, 1), random.normal(truth, 1)
        scores.append(f"i{item:03d},{evidence[0]:.5f},{evidence[1]:.5f}")
    for name, lines in (("votes", rows), ("scores", scores)):
        (folder / f"{name}.csv").write_text("\n".join(lines) + "\n")
    return ("evaluate", folder / "votes.csv", folder / "scores.csv", "--replicates", "20")


def soft_aurocs(found):
    return {row["model"]: row["value"] for row in table(found, "standings")
            if (row["metric"], row["labels"]) == ("auroc", "soft")}  # fmt: skip


def truths(found, words):
    lines = table(found, "truths")
    return {line["competitor"]: line for line in lines if words in line["variant"]}


COUNTED = ("--phases", "core,adjudication")


def test_a_third_reader_where_two_disagree_is_known_by_the_counts(tmp_path):
    words = (*write_two_plus_one(tmp_path), *COUNTED)
    found = findings(run(*words, "--json"))
    assert "added where the first 2 disagreed" in found["truths"]["finding"]
    assert "Truths" in (screen := run(*words)) and "--first-votes 2" in " ".join(screen.split())
    unbiased = truths(found, "first 2")
    whole = soft_aurocs(findings(run(*words, "--first-votes", "2", "--json")))
    for model in ("net", "tree"):
        assert unbiased[model]["value"] == pytest.approx(whole[model], abs=1e-12)
        assert unbiased[model]["change"] < 0  # stopping on agreement made it higher


def test_a_third_reader_is_known_by_the_phase_and_the_effect_is_shown(tmp_path):
    words = write_two_plus_one(tmp_path)
    stored = tmp_path / "study.csv"
    run("check", *words[1:3], "--out", stored)
    counted = soft_aurocs(findings(run(*words, *COUNTED, "--json")))
    for asked in (words, ("evaluate", stored, *words[3:])):
        found = findings(run(*asked, "--json"))
        sentence = found["truths"]["finding"]
        assert "118 of 118 cases that split the readers, as two plus one makes it" in sentence
        settled = truths(found, "with adjudication")
        for model, value in counted.items():
            assert settled[model]["value"] == pytest.approx(value, abs=1e-12)
            assert settled[model]["change"] > 0
            assert f"{settled['net']['value']:.3f} by votes with adjudication" in sentence


def test_gold_of_the_disputed_alone_is_named_with_both_effects(tmp_path):
    words = write_two_plus_one(
        tmp_path, lambda votes, truth: truth if len(votes) == 3 else None
    )
    found = findings(run(*words, "--json"))
    assert "stands almost only where readers split" in found["truths"]["finding"]
    votes = soft_aurocs(findings(run(*words, "--gold", "ignore", "--json")))
    only = soft_aurocs(findings(run(*words, "--gold", "only", "--json")))
    for name, expected in (("readers' votes", votes), ("standard alone", only)):
        for model, line in truths(found, name).items():
            assert line["value"] == pytest.approx(expected[model], abs=1e-12)


def test_gold_by_the_majority_shows_how_far_readers_are_compared_with_themselves(tmp_path):
    words = write_two_plus_one(tmp_path, lambda votes, _: sum(votes) * 2 > len(votes))
    found = findings(run(*words, *COUNTED, "--json"))
    sentence = found["truths"]["finding"]
    assert "is the majority of these readers" in sentence
    own, others = map(float, re.findall(r"(\d\.\d\d) by the (?:standard|majority)", sentence))
    assert own > others > 0.5
    assert truths(found, "readers' votes")["net"]["change"] < 0


# ---- 4. arms ---------------------------------------------------------------------------------


def test_aided_readers_against_unaided_ones_are_one_command(tmp_path):
    random, cases, readers = np.random.default_rng(6), 200, 6
    sick = np.arange(cases) % 4 == 0
    right = {}
    for arm, sens in (("unaided", 0.7), ("aided", 0.9)):
        lines = ["item,annotator,label,duration_ms"]
        for reader in range(readers):
            found = random.random(cases) < np.where(sick, sens, 0.15)
            right[arm, f"r{reader}"] = (found[sick].mean() + (~found)[~sick].mean()) / 2
            took = (9000 if arm == "aided" else 12000) * np.exp(random.normal(0, 0.1, cases))
            lines += [f"c{i},r{reader},{int(found[i])},{took[i]:.0f}" for i in range(cases)]
        (tmp_path / f"{arm}.csv").write_text("\n".join(lines) + "\n")
    gold = [f"c{i},{int(x)}" for i, x in enumerate(sick)]
    (tmp_path / "pathology.csv").write_text("\n".join(["item,label", *gold]) + "\n")
    words = ("agreement", tmp_path / "aided.csv", tmp_path / "unaided.csv", "--gold",
             tmp_path / "pathology.csv", "--replicates", "20")  # fmt: skip
    text = " ".join(run(*words).split())
    gain = np.mean([right["aided", r] - right["unaided", r] for _, r in right])
    assert f"Balanced accuracy of aided annotators is {gain:.2f} higher" in text
    assert "6 annotators, who read in both" in text
    assert "take 25% less time a reading than unaided ones" in text
    page = tmp_path / "arms.html"
    run(*words, "--page", page)
    assert all(f"r{reader}" in page.read_text() for reader in range(readers))


# ---- 5. subgroups ----------------------------------------------------------------------------


def test_groups_stand_in_front_with_their_counts_and_share_no_edge(ecgs):
    folder, truth, words, found = ecgs
    rows = table(found, "subgroups", "stated_cuts_groups")
    lines = (folder / "ecgs.csv").read_text().splitlines()[1:]
    ages = np.array([int(line.split(",")[1]) for line in lines])
    groups = [row["group"] for row in rows if row["group"].startswith("age")]
    ends = [tuple(map(int, re.findall(r"\d+", name))) for name in dict.fromkeys(groups)]
    assert len(ends) == 4 and all(a[1] < b[0] for a, b in pairwise(ends))
    assert (ends[0][0], ends[-1][1]) == (ages.min(), ages.max())
    model = table(found, "stated_cuts", "stated_cuts_leader")[0]["model"]
    for row in rows:
        if row["group"].startswith("age"):
            low, high = map(int, re.findall(r"\d+", row["group"]))
            inside = (ages >= low) & (ages <= high)
            sick = truth.truth[row["task"]][inside]
            called = truth.scores[model, row["task"]][inside] >= 0.5
            assert row["sensitivity_count"] == f"{(sick & called).sum()}/{sick.sum()}"
    screen = run(*words)
    assert "Subgroups" in screen.split("Agreement")[0]


def test_there_is_something_to_walk_through(ecgs, films):
    assert len(ecgs[1].items) == ECGS and len(films[1].items) == FILMS and RADIOLOGISTS == 11
