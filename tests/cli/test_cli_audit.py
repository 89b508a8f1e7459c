"""`equipoise audit` as a user meets it."""

import csv
import json
from io import StringIO

import numpy as np
import pytest

from equipoise.study.analyses.audits import Pool, audit

NUMBERS = ("--found", "120", "--audited", "150", "--positives", "3", "--unaudited", "4850")
FILES = ("audited.csv", "--size", "first=500", "--size", "second=300", "-a", "votes.csv")


@pytest.fixture
def study(tmp_path, monkeypatch):
    """A benchmark of 60 items, and 50 audited ones of two pools."""
    random = np.random.default_rng(8)
    lines = {
        "votes.csv": ["item,annotator,label"],
        "audited.csv": ["item,pool,annotator,label"],
    }
    for k in range(110):
        yes = random.random() < (0.4 if k < 60 else 0.2)
        name = f"i{k}"
        for person in "xyz":
            vote = int(yes ^ (random.random() < 0.05))
            if k < 60:
                lines["votes.csv"].append(f"{name},{person},{vote}")
            else:
                pool = "first" if k < 90 else "second"
                lines["audited.csv"].append(f"{name},{pool},{person},{vote}")
    for name, own in lines.items():
        (tmp_path / name).write_text("\n".join(own) + "\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_numbers_alone_are_enough(equipoise):
    code, out, said = equipoise("audit", *NUMBERS)
    assert code == 0, said
    assert audit([Pool("pool", 150, 3, 5000)], 120).finding in " ".join(out.split())
    code, out, _ = equipoise("audit", *NUMBERS, "--json")
    row = json.loads(out)["audit"]["rows"][0]
    assert code == 0 and row["size"] == 5000 and row["share"] == 0.02


def test_few_positives_are_said_on_the_screen_and_in_the_record(equipoise):
    code, out, said = equipoise("audit", *NUMBERS, "--json")
    assert code == 0 and "Note: Few audited items are positive (3 of 150 in 'pool')" in said
    assert any("Few audited items" in one for one in json.loads(out)["audit"]["notices"])


def test_several_pools_as_in_the_published_audit(equipoise):
    """CleanPatrick, table 3."""
    pools = ("--pool", "pHash,150,0,5000", "--pool", "SSIM,150,0,5000", "--pool",
             "ViT-T,150,26,5000")  # fmt: skip
    code, out, said = equipoise("audit", "--found", 4000, *pools, "--infinite")
    assert code == 0, said
    assert "0.000 [0.000, 0.025]" in out and "0.173 [0.121, 0.242]" in out


def majority(path):
    votes = {}
    for row in csv.DictReader(StringIO(path.read_text())):
        votes.setdefault((row.get("pool"), row["item"]), []).append(int(row["label"]))
    return {key: np.mean(own) > 0.5 for key, own in votes.items()}


def test_a_file_is_counted_by_majority_and_found_comes_from_the_votes(study, equipoise):
    code, out, said = equipoise("audit", *FILES, "--json")
    assert code == 0, said
    facts = json.loads(out)
    hard = majority(study / "audited.csv")
    rows = {row["pool"]: row for row in facts["audit"]["rows"]}
    for name, size, number in (("first", 500, 30), ("second", 300, 20)):
        yes = sum(one for (pool, _), one in hard.items() if pool == name)
        assert rows[name]["positives"] == yes
        assert (rows[name]["audited"], rows[name]["size"]) == (number, size)
    found = sum(majority(study / "votes.csv").values())
    assert facts["settings"]["Positives retrieved"] == str(found)
    assert equipoise("audit", *FILES, "--json")[1] == out


def test_the_audit_is_printed_and_written(study, equipoise):
    words = ("audit", *FILES, "--out", "a")
    code, out, said = equipoise(*words)
    assert code == 0, said
    assert "How many positives lie outside?" in out
    record = json.loads((study / "a/audit.json").read_text())
    there = {str(p.relative_to(study / "a")) for p in (study / "a").rglob("*") if p.is_file()}
    assert there == set(record["files"])
    assert {"figures/audit-pools.svg", "tables/pools.md"} <= there
    assert {"tables/retrieval.tex", "report.html"} <= there
    assert "wilson1927" in (study / "a/references.bib").read_text()
    assert {one["name"] for one in record["inputs"]} == {
        "audited.csv",
        "votes.csv",
    }
    whole = {name: (study / "a" / name).read_bytes() for name in there}
    assert equipoise(*words)[0] == 1
    assert equipoise(*words, "--overwrite")[0] == 0
    assert {name: (study / "a" / name).read_bytes() for name in there} == whole


def test_a_file_without_pools_is_one_pool_and_columns_may_have_other_names(study, equipoise):
    text = (study / "audited.csv").read_text()
    (study / "other.csv").write_text(text.replace("item,pool", "item,source"))
    code, out, _ = equipoise("audit", "other.csv", "--size", 900, "--found", 9, "--json")
    (row,) = json.loads(out)["audit"]["rows"]
    assert code == 0 and (row["pool"], row["audited"]) == ("pool", 50)
    words = ("audit", "other.csv", "--columns", "pool=source", "--size", 900, "--found", 9)
    code, out, said = equipoise(*words, "--json")
    assert code == 0, said
    assert [row["pool"] for row in json.loads(out)["audit"]["rows"]] == ["first", "second"]


def test_pools_are_read_from_parquet_and_answers_asked_about(study, equipoise):
    from pyarrow import csv as arrow
    from pyarrow import parquet

    wanted = equipoise("audit", *FILES, "--json")[1]
    parquet.write_table(arrow.read_csv("audited.csv"), "audited.parquet")
    again = json.loads(equipoise("audit", "audited.parquet", *FILES[1:], "--json")[1])
    assert again["findings"] == json.loads(wanted)["findings"]
    for name in ("audited.csv", "votes.csv"):
        text = (study / name).read_text()
        text = text.replace(",1\n", ",yes\n").replace(",0\n", ",no\n")
        (study / name).write_text(text.replace(",no\n", ",uncertain\n", 3))
    code, _, said = equipoise("audit", *FILES)
    assert code == 1 and "--positive CLASS" in said
    code, out, said = equipoise("audit", *FILES, "--positive", "yes", "--json")
    assert code == 0, said
    assert json.loads(out)["audit"] == json.loads(wanted)["audit"]


@pytest.mark.parametrize(
    ("words", "told", "exit_code"),
    [
        (("--found", "3"), "expected one of FILE, --audited and --pool", 1),
        (("--found", "3", "--audited", "9"), "add --positives --unaudited", 1),
        (NUMBERS[2:], "no --found", 1),
        (("--found", "1", "--audited", "1", "--positives", "2", "--unaudited", "3"),
         "2 of 1 audited", 1),
        (("--found", "nan", *NUMBERS[2:]), "a valid integer", 2),
        ((*NUMBERS[:-1], "9" * 300), "from 0 to 1,000,000,000,000,000", 1),
        (("--found", "9" * 300, *NUMBERS[2:]), "from 0 to 1,000,000,000,000,000", 1),
        (("--found", "3", "--pool", f"a,150,3,{'9' * 300}"), "to 1,000,000,000,000,000", 1),
        (("--found", "1.5", *NUMBERS[2:]), "a valid integer", 2),
        ((*NUMBERS, "--level", "a"), "a valid number", 2),
        ((*NUMBERS, "--pool", "a,1,0,3"), "--audited and --pool", 1),
        (("--found", "3", "--pool", "a,1,3"), "expected NAME,AUDITED,POSITIVES,SIZE", 2),
        (("audited.csv", "--found", "3"), "add --size first=NUMBER", 1),
        (("audited.csv", "--found", "3", "--size", "10"), "of 30 audited, of 10", 1),
        (("audited.csv", "--found", "3", "--size", "900,frist=3"), "of which nothing", 1),
        (("audited.csv", "--found", "3", "--size", "many"), "expected POOL=NUMBER", 2),
        ((*NUMBERS, "-a", "votes.csv"), "got both --found and -a", 2),
        ((*NUMBERS, "--positive", "yes"), "belongs to files; add FILE or -a", 2),
    ],
)  # fmt: skip
def test_bad_input_is_met_with_a_sentence_and_leaves_nothing(
    study, equipoise, words, told, exit_code
):
    before = sorted(study.iterdir())
    code, out, said = equipoise("audit", *words)
    assert code == exit_code, said
    assert told in " ".join(said.replace("│", " ").split()) and not out
    assert sorted(study.iterdir()) == before


def test_ties_of_two_auditors_are_counted_and_said_everywhere(study, equipoise):
    for name in ("audited.csv", "votes.csv"):
        lines = (study / name).read_text().splitlines()
        kept = [one for one in lines if ",z," not in one]
        (study / name).write_text("\n".join(kept) + "\n")
    code, _, said = equipoise("audit", *FILES, "--out", "a")
    assert code == 0, said
    votes = {}
    for row in csv.DictReader(StringIO((study / "audited.csv").read_text())):
        votes.setdefault(row["item"], []).append(int(row["label"]))
    ties = sum(sum(one) == 1 for one in votes.values())
    assert ties
    told = (
        f"{ties} of 50 audited items have no strict majority of votes: they count as negative"
    )
    assert told in said and told in (study / "a/report.html").read_text()
    assert "items of votes.csv have no strict majority of votes" in said
    methods = (study / "a/methods.md").read_text()
    assert f"{ties} had no strict majority of votes and count as negative." in methods
    rows = json.loads((study / "a/audit.json").read_text())["audit"]["rows"]
    assert sum(row["ties"] for row in rows) == ties


def test_few_positives_are_in_the_sentence_the_page_and_the_methods(tmp_path, equipoise):
    words = ("--found", "23", "--audited", "30", "--positives", "2", "--unaudited", "470")
    code, out, _ = equipoise("audit", *words, "--out", tmp_path / "a")
    shown = " ".join(out.split())
    assert code == 0 and "which rests on 2 positives among 30 audited items" in shown
    low = f"{audit([Pool('pool', 30, 2, 500)], 23).missed[1]:.1f}"
    assert float(low) < 10 and f"({low} to " in shown and f"33.3 [{low}, " in shown
    page = (tmp_path / "a/report.html").read_text()
    assert f"33.3 [{low}, " in page and "rests on 2 positives" in page
    assert "Few audited items are positive (2 of 30" in page
    methods = (tmp_path / "a/methods.md").read_text()
    assert "2 of 30 audited items were positive." in methods
    assert "the lower end of the interval is too high too often" in methods


def test_audited_items_without_a_task_answer_the_one_asked_about(study, equipoise):
    plain = equipoise("audit", *FILES, "--json")
    lines = (study / "votes.csv").read_text().splitlines()
    told = [f"{lines[0]},task", *(f"{one},{name}" for one in lines[1:] for name in "ab")]
    (study / "votes.csv").write_text("\n".join(told) + "\n")
    code, out, said = equipoise("audit", *FILES, "--task", "b", "--json")
    assert code == 0, said
    assert json.loads(out)["audit"] == json.loads(plain[1])["audit"]
