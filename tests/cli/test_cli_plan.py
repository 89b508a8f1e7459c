"""`equipoise plan` as a user meets it."""

import json

import pytest

from tests.cli_sample import FILES, flat, write_study

QUICK = ("--simulations", 0)


@pytest.fixture(autouse=True)
def _study(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_study(tmp_path)


def test_without_prices_the_design_has_its_reason(equipoise):
    asked = ("plan", *FILES, *QUICK, "--difference", 0.1)
    code, out, said = equipoise(*asked, "--annotators", "4,6,30")
    assert code == 0, said
    found = flat(out)
    assert "read by 4 annotators each (nearest to the pilot; fewest votes in all: " in found
    assert "--price-item and --price-vote would decide" in found
    words = (*asked, "--price-item", 1, "--price-vote", 0.5)
    assert "the cheapest of these designs" in flat(equipoise(*words)[1])


def test_a_run_brings_its_metric(equipoise):
    words = ("evaluate", *FILES, "--replicates", 20, "--metrics", "average_precision", "--json")
    assert equipoise(*words, "--out", "run")[0] == 0
    code, out, said = equipoise("plan", "run", *QUICK, "--json")
    assert code == 0, said
    assert json.loads(out)["settings"]["Metric"] == "average_precision"
    words = ("plan", "run", *QUICK, "--metric", "auroc", "--json")
    assert json.loads(equipoise(*words)[1])["settings"]["Metric"] == "auroc"


def test_a_whole_order_and_its_folder(tmp_path, equipoise):
    words = ("plan", *FILES, *QUICK, "--ranking", "--difference", 0.1, "--next", 3)
    code, out, said = equipoise(*words, "--out", "plan")
    assert code == 0, said
    assert "Wrote plan: plan.json, report.html, " in said
    assert "plan/tables/plan_next.csv: a table to fill in" in flat(said)
    assert "hardest" in out and "What does each pair of models need?" in out
    assert "Expected gain: the fall, by one more vote on the item, of the number" in flat(out)
    assert "difference=" not in said
    record = json.loads((tmp_path / "plan/plan.json").read_text())
    there = {
        str(one.relative_to(tmp_path / "plan")) for one in (tmp_path / "plan").rglob("*.*")
    }
    assert there == set(record["files"])
    assert record["title"] == "How large must the study be? (votes.csv)"
    assert [one["path"] for one in record["inputs"]] == ["../votes.csv", "../scores.csv"]
    assert len(record["pairs"]["rows"]) == 2 and len(record["next"]["rows"]) == 3
    code, _, said = equipoise(*words, "--out", "plan")
    assert code == 1 and "already holds plan.json, report.html" in said
    assert equipoise(*words, "--out", "plan", "--overwrite", "--title", "Mine")[0] == 0
    assert "<title>Mine</title>" in (tmp_path / "plan/report.html").read_text("utf-8")
    assert equipoise(*words, "--out", "next.csv")[0] == 0
    assert len((tmp_path / "next.csv").read_text().splitlines()) == 4
    code, _, said = equipoise(*words, "--out", "next.csv")
    assert "Wrote next.csv: a table to fill in (columns annotator and label)" in flat(said)
    sheet = (tmp_path / "plan/tables/plan_next.csv").read_text().splitlines()
    assert sheet[0].startswith("item,annotator,label,votes so far,")
    assert ",,,4," in sheet[1]


def test_a_pilot_that_found_nothing_asks_for_a_difference(equipoise):
    code, out, said = equipoise("plan", *FILES, *QUICK)
    assert code == 0, said
    assert "Not plannable from this pilot: good scores better than fair by " in flat(out)
    assert "Give the smallest one that matters (--difference VALUE)." in flat(out)
    words = ("plan", *FILES, *QUICK, "--models", "fair,good", "--margin", 0.1)
    assert "To find that fair is not worse than good by 0.100 or more" in flat(
        equipoise(*words)[1]
    )


def test_the_votes_that_come_next_are_counted(equipoise):
    code, out, _ = equipoise("plan", *FILES, *QUICK, "--next", 14, "--out", "next.csv")
    assert code == 0 and "... and 2 more rows" in out
    assert "lower the variance of the difference, in squared units of the metric" in flat(out)


@pytest.mark.parametrize("more", [(), ("--ranking",)])
def test_known_truths_need_no_votes(tmp_path, equipoise, more):
    lines = (tmp_path / "votes.csv").read_text().splitlines()
    first = {line.split(",")[0]: f"{line},1" for line in lines[:0:-1]}
    (tmp_path / "votes.csv").write_text("\n".join([f"{lines[0]},is_gold", *first.values()]))
    code, out, said = equipoise("plan", *FILES, *QUICK, *more, "--next", 4, "--out", "next.csv")
    assert code == 0, said
    assert "items with a known truth each." in flat(out)
    assert "No vote on any item changes what tells" in flat(out)
    assert len((tmp_path / "next.csv").read_text().splitlines()) == 1


@pytest.mark.parametrize(
    ("words", "told", "exit_code"),
    [
        (("plan", "nowhere"), "no run.json", 1),
        (("plan", "--seed", "1"), "nothing to read", 1),
        (("plan", *FILES, "--metric", "auroc,brier_score"), "expected one metric", 2),
        (("plan", *FILES, "--out", "next.csv"), "for the items of --next", 2),
        (("plan", *FILES, "--overwrite"), "belongs to --out FOLDER", 2),
        (("plan", *FILES, "--ranking", "--models", "a,b"), "leave out --models", 2),
        (("plan", *FILES, "--metric", "aurok"), "did you mean 'auroc'", 2),
        (("plan", *FILES, "--difference", 5), "expected at most 1, because AUROC", 1),
    ],
)
def test_bad_input_is_met_with_a_sentence(equipoise, words, told, exit_code):
    code, out, said = equipoise(*words)
    assert code == exit_code and told in flat(said) and not out


@pytest.fixture
def tasks(tmp_path):
    """The study twice, as two tasks; in the second the scores are noise."""
    votes = (tmp_path / "votes.csv").read_text().splitlines()
    scores = (tmp_path / "scores.csv").read_text().splitlines()
    names = ("Edema", "Effusion")
    lines = [f"{one},{name}" for name in names for one in votes[1:]]
    (tmp_path / "votes.csv").write_text("\n".join([f"{votes[0]},task", *lines]) + "\n")
    head = scores[0].split(",")
    rows = [one.split(",") for one in scores[1:]]
    moved = [[row[0], *rows[(7 * n + 3) % len(rows)][1:]] for n, row in enumerate(rows)]
    both = [",".join([*row, name]) for name, part in zip(names, (rows, moved), strict=True)
            for row in part]  # fmt: skip
    (tmp_path / "scores.csv").write_text("\n".join([",".join([*head, "task"]), *both]) + "\n")
    return names


def test_every_task_has_a_plan_and_a_row(tmp_path, equipoise, tasks):
    words = ("plan", *FILES, *QUICK, "--difference", 0.1, "--next", 2)
    code, out, said = equipoise(*words, "--out", "plan")
    assert code == 0, said
    found = flat(out)
    assert "Which task needs most?" in found and "--task shows designs" in found
    assert "Items or annotators?" not in found
    record = json.loads((tmp_path / "plan/plan.json").read_text())
    rows = record["tasks"]["rows"]
    assert [row["task"] for row in rows] == list(tasks)
    for name, row in zip(tasks, rows, strict=True):
        alone = json.loads(equipoise(*words, "--task", name, "--json")[1])
        designs = alone["designs"]["rows"]
        assert row["items"] in [one["items"] for one in designs]
    assert (tmp_path / "plan/tables/plan_designs.csv").read_text().count("Effusion") > 0


def test_next_items_of_all_tasks_are_one_table(tmp_path, equipoise, tasks):
    words = ("plan", *FILES, *QUICK, "--difference", 0.1, "--next", 2)
    assert equipoise(*words, "--out", "next.csv")[0] == 0
    head, *lines = (tmp_path / "next.csv").read_text().splitlines()
    assert head.startswith("item,task,annotator,label")
    assert [line.split(",")[1] for line in lines] == [one for one in tasks for _ in range(2)]
    assert equipoise(*words, "--task", tasks[1], "--out", "one.csv")[0] == 0
    assert len((tmp_path / "one.csv").read_text().splitlines()) == 3


@pytest.mark.usefixtures("tasks")
def test_a_task_without_a_plan_is_named_and_an_unknown_one_refused(tmp_path, equipoise):
    votes = (tmp_path / "votes.csv").read_text()
    (tmp_path / "votes.csv").write_text(votes + "odd,r1,1,Other\nodd,r2,0,Other\n")
    code, out, said = equipoise("plan", *FILES, *QUICK, "--difference", 0.1)
    assert code == 0, said
    assert "Not looked at, and why" in out and "Plan for Other" in out
    code, _, said = equipoise("plan", *FILES, *QUICK, "--task", "Odema")
    assert code == 1 and "Odema" in said
