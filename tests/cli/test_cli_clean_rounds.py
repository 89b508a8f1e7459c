"""equipoise clean rounds: start, next and show, with files as people make them."""

import csv
import json
from pathlib import Path

import numpy as np
import pytest

from tests.cli_sample import caller, flat


@pytest.fixture
def equipoise(monkeypatch, capsys, tmp_path):
    monkeypatch.chdir(tmp_path)
    call = caller(monkeypatch, capsys)
    return lambda *words: call("clean", "rounds", *words)


def write_features(name="features.npz", seed=0):
    random = np.random.default_rng(seed)
    group = np.repeat(np.arange(8), [1, 1, 2, 2, 3, 3, 5, 1])
    rows = random.normal(size=(8, 12))[group] + 0.02 * random.normal(size=(len(group), 12))
    items = np.array([f"{one}-{place}" for place, one in enumerate(group)])
    np.savez(name, embeddings=rows, items=items)


def filled(path, annotator="ann"):
    """Fill in what a person would say: items of one group begin alike."""
    with path.open(newline="") as file:
        rows = list(csv.DictReader(file))
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        for row in rows:
            same = row["first"].split("-")[0] == row["second"].split("-")[0]
            writer.writerow(row | {"annotator": annotator, "label": "yes" if same else "no"})
    return path


def finish(equipoise, folder="rounds"):
    pairs = Path(folder) / "pairs.csv"
    while pairs.exists():
        assert equipoise("next", folder, "--answers", filled(pairs))[0] == 0


def bytes_of(folder):
    return {path.name: path.read_bytes() for path in Path(folder).iterdir()}


def test_from_features_to_groups(equipoise):
    write_features()
    code, out, said = equipoise("start", "features.npz", "--out", "rounds")
    assert code == 0 and "Round 1 is open" in out and "Wrote rounds/pairs.csv" in flat(said)
    finish(equipoise)
    code, out, said = equipoise("show", "rounds", "--out", "groups.csv", "--json")
    facts = json.loads(out)
    assert code == 0 and facts["finished"] and facts["missing"] == 0
    assert sorted(map(len, facts["groups"])) == [2, 2, 3, 3, 5]
    assert facts["findings"][0]["rows"][0]["pairs"] <= 18
    with Path("groups.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 15 and len({row["group"] for row in rows}) == 5
    code, out, _ = equipoise("show", "rounds")
    assert code == 0 and "5 groups of near duplicates hold 15 of 18 items" in out
    code, out, _ = equipoise("next", "rounds")  # nothing left
    assert code == 0 and not Path("rounds/pairs.csv").exists()


def test_the_same_input_gives_the_same_bytes(equipoise):
    write_features()
    for folder in ("one", "two"):
        assert equipoise("start", "features.npz", "--out", folder)[0] == 0
        finish(equipoise, folder)
    assert bytes_of("one") == bytes_of("two")


def test_several_annotators_and_answers_in_parts(equipoise):
    write_features()
    equipoise("start", "features.npz", "--out", "rounds", "--votes", 2)
    pairs = Path("rounds/pairs.csv")
    Path("ann.csv").write_bytes(filled(pairs, "ann").read_bytes())
    code, out, _ = equipoise("next", "rounds", "--answers", "ann.csv", "--json")
    facts = json.loads(out)
    assert code == 0 and facts["round"] == 1 and facts["missing"] > 0
    Path("bob.csv").write_bytes(filled(pairs, "bob").read_bytes())
    both = ("--answers", "ann.csv", "--answers", "bob.csv")
    facts = json.loads(equipoise("next", "rounds", *both, "--json")[1])
    assert facts["round"] == 2 and facts["groups"]


def test_labels_that_nobody_handed_over_are_not_lost(equipoise):
    write_features()
    equipoise("start", "features.npz", "--out", "rounds")
    before = filled(Path("rounds/pairs.csv")).read_bytes()
    code, _, said = equipoise("next", "rounds")
    assert code == 1 and "labels that are no answers yet" in flat(said)
    assert "--answers rounds/pairs.csv" in flat(said)
    assert Path("rounds/pairs.csv").read_bytes() == before
    assert equipoise("next", "rounds", "--answers", "rounds/pairs.csv")[0] == 0


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ("pair,label\n0-0 | zebra,yes\n", "no item is called 'zebra'"),
        ("pair,label\n{other},yes\n", "was never asked"),
        ("first,second,label\n{first},{second},perhaps\n", "label 'perhaps'"),
        ("pair,label\n{pair},yes\n{pair},no\n", "says 'no' and said 'yes'"),
        ("pair,vote\n{pair},yes\n", "label"),
    ],
)
def test_answers_that_cannot_be_are_refused_in_four_parts(equipoise, rows, message):
    write_features()
    equipoise("start", "features.npz", "--out", "rounds")
    with Path("rounds/pairs.csv").open(newline="") as file:
        asked = list(csv.DictReader(file))
    names = {row["pair"] for row in asked}
    items = sorted({row["first"] for row in asked})
    other = next(
        f"{a} | {b}" for a in items for b in items if a < b and f"{a} | {b}" not in names
    )
    text = rows.format(other=other, **asked[0])
    Path("votes.csv").write_text(text)
    before = bytes_of("rounds")
    code, _, said = equipoise("next", "rounds", "--answers", "votes.csv")
    assert code == 1 and message in flat(said)
    assert "votes.csv" in said and "expected" in said and ";" in said
    assert bytes_of("rounds") == before


def test_votes_of_the_page_of_a_scan_are_taken(equipoise):
    write_features()
    equipoise("start", "features.npz", "--out", "rounds")
    equipoise("start", "features.npz", "--out", "other")
    with filled(Path("rounds/pairs.csv")).open(newline="") as file:
        rows = list(csv.DictReader(file))
    lines = [f"{row['pair']},ann,{row['label']},near_duplicates" for row in rows]
    lines += ["0-0,ann,yes,off_topic", "1-1,ann,no,label_errors"]
    head = "item,annotator,label,task\n"
    Path("votes.csv").write_text(
        head + "\n".join([*lines, "0-0 | 7-17,ann,no,near_duplicates"])
    )
    code, _, said = equipoise("next", "rounds", "--answers", "rounds/pairs.csv")
    assert code == 0, said
    code, _, said = equipoise("next", "other", "--answers", "votes.csv")
    assert code == 0 and "1 votes are left out" in flat(said) and "0-0 | 7-17" in flat(said)
    assert bytes_of("other") == bytes_of("rounds")
    Path("votes.csv").write_text(head + "0-0,ann,yes,off_topic\n")
    code, _, said = equipoise("next", "other", "--answers", "votes.csv")
    assert code == 1 and "votes on near_duplicates" in flat(said)


def test_the_end_is_said(equipoise):
    write_features()
    code, out, _ = equipoise("start", "features.npz", "--out", "rounds")
    assert "Finished" not in out
    finish(equipoise)
    for verb in ("next", "show"):
        code, out, _ = equipoise(verb, "rounds")
        assert code == 0 and "Finished" in out
    assert json.loads(equipoise("show", "rounds", "--json")[1])["finished"] is True


def test_folders_are_checked(equipoise):
    write_features()
    equipoise("start", "features.npz", "--out", "rounds")
    code, _, said = equipoise("start", "features.npz", "--out", "rounds")
    assert code == 1 and "holds rounds already" in said
    Path("mine").mkdir()
    Path("mine/thesis.tex").write_text("\n")
    code, _, said = equipoise("start", "features.npz", "--out", "mine")
    assert code == 1 and "thesis.tex" in said
    code, _, said = equipoise("next", "mine")
    assert code == 1 and "a folder without rounds" in said
    code, _, said = equipoise("show", "nowhere")
    assert code == 1 and "no such folder" in said
    code, _, said = equipoise("start", "features.npz", "--out", "x", "--model", "oracle")
    assert code == 2 and "majority_vote" in flat(said)
    write_features("other.npz", seed=5)
    equipoise("start", "other.npz", "--out", "other")
    filled(Path("other/pairs.csv"))
    code, _, said = equipoise("next", "rounds", "--answers", "other/pairs.csv")
    assert code == 0 and "not asked in these rounds" in flat(said)
    Path("rounds/embeddings.npy").write_bytes(Path("other/embeddings.npy").read_bytes())
    code, _, said = equipoise("show", "rounds")
    assert code == 1 and "not those of its rounds" in flat(said)


def test_images_are_called_by_their_paths_in_the_folder(equipoise):
    image = pytest.importorskip("PIL.Image")
    Path("images").mkdir()
    random = np.random.default_rng(0)
    for name in "abc":
        pixels = random.integers(0, 255, (32, 32, 3), dtype=np.uint8)
        image.fromarray(pixels).save(f"images/{name}.png")
        image.fromarray(pixels).save(f"images/{name}-copy.png")
    code, _, said = equipoise("start", "images", "--out", "rounds", "--encoder", "pixels")
    assert code == 0, said
    with Path("rounds/pairs.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 3 and float(rows[0]["distance"]) == 0
    for row in rows:
        assert (
            Path("images", row["first"]).is_file() and Path("images", row["second"]).is_file()
        )
    code, _, said = equipoise("start", "images", "--out", "images/rounds")
    assert code == 1 and "inside the folder" in flat(said)
