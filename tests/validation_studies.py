"""Two validation studies as clinical teams have them, with known answers.

`write_ecgs`: 827 ECGs, six diagnoses, five readers and an adjudicated standard with a file
each, as pandas writes a frame with its index, and six networks with a file each. The standard
is two plus one: what both cardiologists say, and where they part what a third says.

`write_films`: 1,962 chest films of 860 patients, six findings in columns, three reads a film
by eleven radiologists, and a panel's standard in a file of its own; six models in one long
file, two of which write logits.

Every model finds and clears exactly as many items as `counts` says, at a cut of .5 (of 0 for
logits): what a card prints is known before anything is evaluated.
"""

import csv
from pathlib import Path
from typing import NamedTuple

import numpy as np

DIAGNOSES = ("1dAVb", "RBBB", "LBBB", "SB", "AF", "ST")
ECGS, POSITIVES = 827, (28, 34, 30, 16, 13, 37)
CARDIOLOGISTS = ("cardiologist1", "cardiologist2")
READERS = (*CARDIOLOGISTS, "cardiology_residents", "emergency_residents", "medical_students")
NETWORKS = ("dnn", "resnet", "inception", "lstm", "vit", "linear")
FINDINGS = ("Airspace opacity", "Fracture", "Nodule or mass", "Pneumothorax", "Effusion",
            "Oedema")  # fmt: skip
FILMS, PATIENTS, RADIOLOGISTS, READS = 1962, 860, 11, 3
MODELS = ("alpha", "beta", "gamma", "delta", "epsilon", "zeta")


class Study(NamedTuple):
    """What is true of a study: the standard, votes and scores, by task."""

    items: tuple[str, ...]
    truth: dict[str, np.ndarray]
    scores: dict[tuple[str, str], np.ndarray]


def counts(model: int, task: int, positives: int, negatives: int) -> tuple[int, int]:
    """How many positives a model finds and how many negatives it clears."""
    missed = (2 * model + task) % 7
    alarms = 3 + 5 * model + 2 * task
    return max(positives - missed, 1), max(negatives - alarms, 1)


def _scores(truth: np.ndarray, model: int, task: int, random) -> np.ndarray:
    """Probabilities of which `counts` say how many are right from .5 on."""
    found, cleared = counts(model, task, int(truth.sum()), int((~truth).sum()))
    positive = np.zeros(len(truth), bool)
    positive[random.permutation(np.flatnonzero(truth))[:found]] = True
    positive[random.permutation(np.flatnonzero(~truth))[cleared:]] = True
    scores = random.beta(2, 5, len(truth)) / 2
    return np.round(np.where(positive, 1 - scores, scores), 6)


def _write(path: Path, heads, rows) -> None:
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file, lineterminator="\n").writerows([heads, *rows])


def write_ecgs(folder: Path) -> Study:
    """Write readers/, gold.csv, models/ and ecgs.csv (age, sex)."""
    random = np.random.default_rng(827)
    truth, votes, third = {}, {reader: {} for reader in READERS}, 0
    rates = dict(zip(READERS, (0.05, 0.06, 0.08, 0.1, 0.15), strict=True))
    for task, positives in zip(DIAGNOSES, POSITIVES, strict=True):
        disease = np.zeros(ECGS, bool)
        disease[random.permutation(ECGS)[:positives]] = True
        for reader, rate in rates.items():
            wrong = random.random(ECGS) < np.where(disease, 3 * rate, rate / 4)
            votes[reader][task] = disease ^ wrong
        first, second = (votes[name][task] for name in CARDIOLOGISTS)
        parted = first != second
        third += parted.sum()
        truth[task] = np.where(parted, disease, first)
    items = tuple(map(str, range(ECGS)))
    (folder / "readers").mkdir()
    (folder / "models").mkdir()

    def frame(path, columns):
        rows = zip(items, *(columns[task] for task in DIAGNOSES), strict=True)
        _write(path, ["", *DIAGNOSES], rows)

    for reader in READERS:
        frame(
            folder / f"readers/{reader}.csv",
            {k: v.astype(int) for k, v in votes[reader].items()},
        )
    frame(folder / "gold.csv", {k: v.astype(int) for k, v in truth.items()})
    scores = {}
    for place, model in enumerate(NETWORKS):
        for task, diagnosis in enumerate(DIAGNOSES):
            scores[model, diagnosis] = _scores(truth[diagnosis], place, task, random)
        frame(folder / f"models/{model}.csv", {d: scores[model, d] for d in DIAGNOSES})
    ages, sex = random.integers(18, 96, ECGS), np.where(random.random(ECGS) < 0.5, "F", "M")
    _write(folder / "ecgs.csv", ["item", "age", "sex"], zip(items, ages, sex, strict=True))
    return Study(items, truth, scores)


def write_films(folder: Path) -> Study:
    """Write reads.csv, consensus.csv, scores.csv, films.csv (age, sex) and people.csv."""
    random = np.random.default_rng(1962)
    items = tuple(f"{i:05d}.png" for i in range(FILMS))
    patient = np.concatenate(
        [np.arange(PATIENTS), random.integers(0, PATIENTS, FILMS - PATIENTS)]
    )
    readers = np.array([random.permutation(RADIOLOGISTS)[:READS] for _ in range(FILMS)])
    shares = (0.25, 0.05, 0.15, 0.1, 0.2, 0.12)
    truth = {f: random.random(FILMS) < share for f, share in zip(FINDINGS, shares, strict=True)}
    skill = random.uniform(0.05, 0.2, RADIOLOGISTS)
    heads = ["Image ID", "Patient ID", "Reader ID", "Set ID", *FINDINGS]
    rows = []
    for film in range(FILMS):
        for reader in readers[film]:
            wrong = random.random(len(FINDINGS)) < skill[reader] * np.array(
                [1.5 if truth[f][film] else 0.4 for f in FINDINGS]
            )
            said = [
                bool(truth[f][film]) ^ bool(w) for f, w in zip(FINDINGS, wrong, strict=True)
            ]
            rows.append([items[film], f"P{patient[film]:04d}", f"R{reader:02d}", 1 + film % 2,
                         *("YES" if x else "NO" for x in said)])  # fmt: skip
    _write(folder / "reads.csv", heads, rows)
    panel = [
        [name, f"P{patient[i]:04d}", *("YES" if truth[f][i] else "NO" for f in FINDINGS)]
        for i, name in enumerate(items)
    ]
    _write(folder / "consensus.csv", ["Image ID", "Patient ID", *FINDINGS], panel)
    scores, rows = {}, []
    for place, model in enumerate(MODELS):
        for task, finding in enumerate(FINDINGS):
            mine = _scores(truth[finding], place, task, random)
            if place >= 4:
                mine = np.round(np.log(mine / (1 - mine)), 6)
            scores[model, finding] = mine
            rows += [
                [name, finding, model, repr(float(x))]
                for name, x in zip(items, mine, strict=True)
            ]
    _write(folder / "scores.csv", ["Image ID", "finding", "model", "score"], rows)
    ages = random.integers(18, 96, PATIENTS)
    sex = np.where(random.random(PATIENTS) < 0.5, "F", "M")
    films = [(name, ages[patient[i]], sex[patient[i]]) for i, name in enumerate(items)]
    _write(folder / "films.csv", ["Image ID", "Patient Age", "Patient Gender"], films)
    years = random.integers(2, 30, RADIOLOGISTS)
    _write(folder / "people.csv", ["annotator", "qualification", "years"],
           [(f"R{r:02d}", "board certified" if y > 5 else "resident", y)
            for r, y in enumerate(years)])  # fmt: skip
    return Study(items, truth, scores)
