"""Five small studies and the commands that show every surface of each.

A study writes its files into an empty folder; a step is a command, or a function that does
there what people would do between two commands. Everything is seeded, all paths are relative.
"""

import csv
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

from equipoise import datasets

QUICK = "--replicates 50"
FILES = "-a votes.csv -p scores.csv"
EXPERTS = ("anna", "ben", "cora")
VERBS = (
    "evaluate", "check", "report", "aggregate", "agreement", "plan", "threshold plan",
    "threshold set", "audit", "reproduce", "datasets", "demo",
)  # fmt: skip


class Command(NamedTuple):
    """A command line: the stem of its snapshots, its words, and those that name what it writes.

    It runs once as a person at a terminal would run it; unless ``as_json`` is off, it runs
    again with ``--json`` and without writing.
    """

    name: str
    line: str
    writes: str = ""
    as_json: bool = True


class Study(NamedTuple):
    """How a study's files come about, and what is done with them."""

    write: Callable[[Path], None]
    steps: tuple[Command | Callable[[Path], None], ...]


def write_rows(path, heads, rows):
    """Write a table as CSV."""
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(heads)
        writer.writerows(rows)


def read_rows(path):
    """Rows of a CSV by name of column."""
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def loaded(name):
    """A data set that lies here; else the test is skipped."""
    if "EQUIPOISE_DATA" not in os.environ:
        pytest.skip("set EQUIPOISE_DATA to a folder with data sets")
    if datasets.located(datasets.CATALOGUE[name]) is None:
        pytest.skip(f"EQUIPOISE_DATA holds no data set {name}")
    return datasets.LOADERS[name]()


def drawn(names, number, seed=0):
    """So many of the names, in their order."""
    chosen = np.random.default_rng(seed).choice(len(names), number, replace=False)
    return [names[place] for place in sorted(chosen)]


def write_votes(path, votes, items):
    """Write the votes on some items, with tasks and groups where there are any."""
    kept = set(items)
    heads = ["item", "annotator", "label"]
    heads += ["task"] * (votes.task is not None) + ["group"] * (votes.group is not None)
    rows = []
    for place, item in enumerate(votes.item):
        if votes.items[item] in kept:
            row = [votes.items[item], votes.annotators[votes.annotator[place]]]
            row.append(votes.classes[votes.label[place]])
            if votes.task is not None:
                row.append(votes.tasks[votes.task[place]])
            if votes.group is not None:
                row.append(votes.groups[votes.group[item]])
            rows.append(row)
    write_rows(path, heads, rows)


# What people do between two commands


def experts_saying(no, yes):
    """Three experts fill in the plan: positives start somewhere above one half."""

    def fill_in(folder):
        key = json.loads((folder / "plan.key.json").read_text(encoding="utf-8"))
        chance = {row["item"]: row["probability"] for row in key["items"]}
        rows = read_rows(folder / "plan.csv")
        for seed, name in enumerate(EXPERTS):
            noise = 0.15 * np.random.default_rng(seed).standard_normal(len(rows))
            seen = np.array([chance[row["item"]] for row in rows]) + noise
            cells = [
                [row["item"], yes if one > 0.55 else no]
                for row, one in zip(rows, seen, strict=True)
            ]
            write_rows(folder / f"{name}.csv", ["item", "label"], cells)

    return fill_in


def set_aside(folder):
    """Take a quarter of the items out of the votes, as an audit of two pools."""
    rows = read_rows(folder / "votes.csv")
    names = list(dict.fromkeys(row["item"] for row in rows))
    audited = {
        name: "near" if k % 3 else "far" for k, name in enumerate(drawn(names, len(names) // 4))
    }
    kept = [row.values() for row in rows if row["item"] not in audited]
    write_rows(folder / "kept.csv", rows[0], kept)
    cells = [
        [row["item"], audited[row["item"]], row["annotator"], row["label"]]
        for row in rows
        if row["item"] in audited
    ]
    write_rows(folder / "audited.csv", ["item", "pool", "annotator", "label"], cells)


def threshold_steps(question, answers, bins="--bins 6 --per-bin 5"):
    """A plan, three experts, and the threshold that follows."""
    given = " ".join(f"--experts {name}.csv" for name in EXPERTS)
    plan = f"threshold plan votes.csv {question} {bins}"
    found = f"threshold set votes.csv --plan plan.key.json {given} {QUICK}"
    return (
        Command("threshold-plan", plan, "--out plan.csv"),
        experts_saying(*answers),
        Command("threshold", f"{found} -p chances.csv", "--out line"),
        Command("threshold-rise", f"{found} --rule rise"),
    )


def audit_steps(question=""):
    """An audit of items that were set aside."""
    sizes = "--size near=400 --size far=250"
    words = f"audit audited.csv {sizes} -a kept.csv {question}"
    return (set_aside, Command("audit", words, "--out audit"))


def run_steps(pair, most=5, task=""):
    """What starts from the folder of an evaluation."""
    search = f"{QUICK} --most {most}"
    return (
        Command("check", "check votes.csv scores.csv", "--out study.csv"),
        Command("full", f"evaluate run --full {search}", "--out full", as_json=False),
        Command("pair", f"evaluate run --pair {pair} {search}", "--out pair", as_json=False),
        Command("plan", f"plan run {task} --simulations 20 --next 6", "--out plan"),
        *report_steps(),
    )


def report_steps():
    """The page of a run and its tables, written anew."""
    return (
        Command("report", "report run", "--out page.html"),
        Command("export", "report run", "--export paper", as_json=False),
    )


# The embedded demo


def copy_demo(folder):
    """Give the demo's two files the names that other studies have."""
    for own, name in (("annotations", "votes"), ("predictions", "scores")):
        text = (folder / f"run/{own}.csv").read_text(encoding="utf-8")
        (folder / f"{name}.csv").write_text(text, encoding="utf-8")
    (folder / "chances.csv").write_text(text, encoding="utf-8")


MALIGNANT = "--positive malignant"
DEMO = Study(
    lambda _: None,
    (
        Command("demo", "demo", "--out run", as_json=False),
        copy_demo,
        Command("evaluate", f"evaluate {FILES} {MALIGNANT} {QUICK}"),
        *run_steps("'logistic regression' 'neural network'"),
        Command("agreement", f"agreement votes.csv {QUICK}", "--page agreement.html"),
        Command("aggregate", f"aggregate votes.csv {MALIGNANT} --compare",
                "--out truth.npz --page truth.html"),
        *threshold_steps(f"{MALIGNANT} --truth dirichlet", ("benign", "malignant"),
                         "--bins 10 --per-bin 8"),
        *audit_steps(MALIGNANT),
    ),
)  # fmt: skip

# CheXpert: several tasks


def write_chexpert(folder):
    """A fifth of the studies and two findings, with all radiologists and models."""
    study = loaded("chexpert")
    votes = study.annotations
    votes = votes.rows(votes.in_task("Edema") | votes.in_task("Atelectasis"))
    items = drawn(votes.items, 100)
    write_votes(folder / "votes.csv", votes, items)
    rows = [
        [item, one.task, one.model, value]
        for one in study.predictions
        if one.task in ("Edema", "Atelectasis")
        for item, value in zip(items, one.aligned(items).tolist(), strict=True)
    ]
    write_rows(folder / "scores.csv", ["item", "task", "model", "score"], rows)
    (folder / "chances.csv").write_bytes((folder / "scores.csv").read_bytes())


PRESENT = "--positive present"
EDEMA = f"--task Edema {PRESENT}"
CHEXPERT = Study(
    write_chexpert,
    (
        Command("dataset", f"evaluate --dataset chexpert --metrics auroc {QUICK}"),
        Command("dataset-aggregate", "aggregate --dataset chexpert --task Edema",
                "--page published.html"),
        Command("plan-of-many-tasks", f"plan {FILES} {PRESENT}"),
        Command("evaluate", f"evaluate {FILES} {PRESENT} --metrics auroc {QUICK}", "--out run"),
        *run_steps("ihil drnet", task="--task Edema"),
        Command("plan-ranking", "plan run --task Edema --ranking --simulations 0"),
        Command("agreement", f"agreement votes.csv {QUICK}", "--page agreement.html"),
        Command("aggregate", f"aggregate votes.csv {EDEMA} --compare",
                "--out truth.npz --page truth.html"),
        *threshold_steps(f"{EDEMA} --truth votes", ("absent", "present")),
    ),
)  # fmt: skip

# Sleep: nominal classes, groups, models that name a class


def write_sleep(folder):
    """Some half-minutes of every night."""
    study = loaded("sleep_dodh")
    scored = set(study.predictions[0].items)
    items = drawn([name for name in study.annotations.items if name in scored], 100)
    write_votes(folder / "votes.csv", study.annotations, items)
    stages = np.array(study.annotations.classes)
    said = [stages[one.aligned(items).argmax(axis=1)] for one in study.predictions]
    heads = ["item", *(one.model for one in study.predictions)]
    write_rows(folder / "scores.csv", heads, zip(items, *said, strict=True))


SLEEP = Study(
    write_sleep,
    (
        Command("evaluate", f"evaluate {FILES} --metrics accuracy --resample items-x-panel "
                f"{QUICK}", "--out run"),
        *run_steps("DeepSleepNet SimpleNet", most=1),
        Command("agreement", f"agreement votes.csv {QUICK}", "--page agreement.html"),
        Command("aggregate", "aggregate votes.csv --compare",
                "--out truth.npz --page truth.html"),
    ),
)  # fmt: skip

# Dermatology: rankings, and the truth by a model of them


def write_dermatology(folder):
    """Sixty cases, the conditions named in them, and three made-up models."""
    study = loaded("dermatology_ddx")
    source = datasets.located(study.source) / "dermatology_selectors.json"
    cases = json.loads(source.read_text(encoding="ascii"))
    cases = drawn([one for one in cases if len(one) >= 3], 60, seed=1)
    codes = sorted({code for case in cases for said in case for tied in said for code in tied})
    new = {code: place for place, code in enumerate(codes)}
    cases = [
        [[[new[code] for code in tied] for tied in said] for said in case] for case in cases
    ]
    names = [study.annotations.classes[code] for code in codes]
    (folder / "ddx.json").write_text(json.dumps(cases), encoding="utf-8")
    (folder / "conditions.txt").write_text("\n".join(names) + "\n", encoding="utf-8")
    risk = [study.risk.groups[study.risk.group[code]] for code in codes]
    write_rows(folder / "risk.csv", ["class", "group"], zip(names, risk, strict=True))
    write_rows(folder / "scores.csv", ["item", "model", *names], made_up(cases, len(codes)))


def made_up(cases, classes):
    """Probabilities of three models that know the readings more or less."""
    random = np.random.default_rng(2)
    mean = np.full((len(cases), classes), 1e-3)
    for case, said in enumerate(cases):
        for reading in said:
            for place, tied in enumerate(reading):
                mean[case, tied] += 1 / (place + 1) / len(said)
    for model, doubt in (("close", 0.3), ("plain", 0.6), ("vague", 0.85)):
        noise = random.dirichlet(np.full(classes, 0.05), len(cases))
        chance = (1 - doubt) * mean / mean.sum(axis=1, keepdims=True) + doubt * noise
        for case, row in enumerate(chance):
            yield [case, model, *(f"{value:.5f}" for value in row / row.sum())]


RANKED = "-a ddx.json --classes conditions.txt -p scores.csv"
TRUTH = "--truth plackett_luce --draws 100 --burn-in 50"
TOPS = "--metrics topk_accuracy:k=1,topk_accuracy:k=3,average_overlap:k=3"
DERMATOLOGY = Study(
    write_dermatology,
    (
        Command("evaluate", f"evaluate {RANKED} {TRUTH} {TOPS} {QUICK}", "--out run"),
        Command("evaluate-groups", f"evaluate {RANKED} {TRUTH} --groups risk.csv --by-group "
                f"--metrics topk_accuracy:k=1,ranked_probability_score {QUICK}", "--out risk"),
        *run_steps("close plain"),
        Command("stability-asked", f"evaluate {RANKED} --positive Eczema --metric auroc "
                f"{QUICK} --most 2 --only ranking,leave_one_out,choices", "--out asked"),
        Command("agreement", f"agreement ddx.json --classes conditions.txt {QUICK}"),
        Command("aggregate", "aggregate ddx.json --classes conditions.txt "
                "--model plackett_luce --compare", "--out truth.npz --page truth.html"),
    ),
)  # fmt: skip

# Grades


def write_ordinal(folder):
    """Thirty-six scans of two sites, four graders who lean differently, three models."""
    random = np.random.default_rng(5)
    severity = random.uniform(-0.5, 4.5, 36)
    names = [f"scan-{number:02d}" for number in range(36)]
    votes = []
    for grader, leaning in enumerate((0.0, 0.3, -0.4, 0.6)):
        said = np.rint(severity + leaning + 0.6 * random.standard_normal(36)).clip(0, 4)
        votes += [[n, f"grader {grader}", int(g)] for n, g in zip(names, said, strict=True)]
    write_rows(folder / "votes.csv", ["item", "annotator", "label"], votes)
    scores, chances = [], []
    for model, noise in (("fine", 0.3), ("fair", 0.7), ("coarse", 1.3)):
        seen = severity + noise * random.standard_normal(36)
        near = np.exp(-((seen[:, None] - np.arange(5)) ** 2) / (0.5 + noise))
        near /= near.sum(axis=1, keepdims=True)
        for name, row in zip(names, near, strict=True):
            scores.append([name, model, *(f"{value:.5f}" for value in row)])
            chances.append([name, model, f"{row[3:].sum():.5f}"])
    write_rows(folder / "scores.csv", ["item", "model", *range(5)], scores)
    write_rows(folder / "chances.csv", ["item", "model", "score"], chances)
    sites = [[name, "north" if k % 3 else "south"] for k, name in enumerate(names)]
    write_rows(folder / "sites.csv", ["item", "site"], sites)
    people = dict.fromkeys(vote[1] for vote in votes)
    schools = [[name, f"school {k % 3}"] for k, name in enumerate(people)]
    write_rows(folder / "schools.csv", ["annotator", "school"], schools)


GRADES = "--kind ordinal --classes 0,1,2,3,4"
ORDERED = "ranked_probability_score,quadratic_weighted_kappa,mean_absolute_error"
ASKED = f"{GRADES} --at-least 3"
ORDINAL = Study(
    write_ordinal,
    (
        Command("evaluate", f"evaluate {FILES} {GRADES} --metrics {ORDERED} {QUICK}",
                "--out run"),
        *run_steps("fine fair"),
        Command("evaluate-at-least", f"evaluate -a votes.csv -p chances.csv {ASKED} {QUICK}"),
        Command("sites", f"evaluate -a votes.csv -p chances.csv {ASKED} {QUICK} "
                "--attributes sites.csv --analyses ranking,subgroups,threshold_sweep",
                "--out sites"),
        Command("schools", f"evaluate -a votes.csv -p chances.csv {ASKED} {QUICK} "
                "--annotator-attributes schools.csv --annotator-group school", as_json=False),
        Command("agreement", f"agreement votes.csv {GRADES} {QUICK}", "--page agreement.html"),
        Command("aggregate", f"aggregate votes.csv {GRADES} --compare",
                "--out truth.npz --page truth.html"),
        *threshold_steps(f"{ASKED} --truth votes", (1, 4)),
        *audit_steps(ASKED),
    ),
)  # fmt: skip

# What needs no study


def hold_nothing(folder):
    """Make sure that no data set lies here."""
    (folder / "data").mkdir()


def hold_chexpert(folder):
    """Put the files of one data set in place, empty ones."""
    for path in datasets.CATALOGUE["chexpert"].files:
        place = folder / "data/chexpert" / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.touch()


def spoken(name, line):
    """A command that has no form in JSON."""
    return Command(name, line, as_json=False)


NUMBERS = "--found 120 --audited 150 --positives 3 --unaudited 4850"
POOLS = "--found 4000 --pool pHash,150,0,5000 --pool ViT-T,150,26,5000"
GENERAL = Study(
    hold_nothing,
    (
        spoken("help", "--help"),
        *(spoken(f"help-{verb}", f"{verb} --help") for verb in VERBS),
        spoken("no-words", ""),
        spoken("wrong-verb", "evalute"),
        spoken("wrong-option", "evaluate --replicate 5"),
        spoken("wrong-file", "evaluate -a nowhere.csv -p nowhere.csv"),
        spoken("list-metrics", "evaluate --list-metrics"),
        Command("reproduce", "reproduce"),
        Command("datasets-absent", "datasets"),
        hold_chexpert,
        Command("datasets", "datasets"),
        Command("audit-numbers", f"audit {NUMBERS}"),
        Command("audit-pools", f"audit {POOLS}", "--out pools"),
    ),
)

STUDIES = {
    "general": GENERAL,
    "demo": DEMO,
    "chexpert": CHEXPERT,
    "sleep": SLEEP,
    "dermatology": DERMATOLOGY,
    "ordinal": ORDINAL,
}
