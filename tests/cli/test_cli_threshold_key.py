"""A plan for experts is blind, and its key gives the threshold its options back."""

import csv
import json
import os
from pathlib import Path

import numpy as np
import pytest

from equipoise.cli.threshold import key_of
from tests.cli_sample import caller
from tests.threshold_study import EXPERTS, votes_csv

PLAN = ("--truth", "votes", "--bins", "8", "--per-bin", "5", "--seed", "3")
GIVEN = ("--experts", "panel.csv", "--replicates", "30")


@pytest.fixture
def equipoise(monkeypatch, capsys, tmp_path):
    monkeypatch.chdir(tmp_path)
    Path("votes.csv").write_text(votes_csv())
    return caller(monkeypatch, capsys)


def rows_of(path):
    with Path(path).open(newline="") as file:
        return list(csv.DictReader(file))


def answered(plan="plan.csv", leave=0):
    """Write votes of the experts on the items of a plan: positives start at 0.6."""
    key = json.loads(key_of(Path(plan)).read_text())
    chance = {row["item"]: row["probability"] for row in key["items"]}
    random = np.random.default_rng(0)
    lines = ["item,annotator,label"]
    for row in rows_of(plan)[leave:]:
        yes = 0.9 if chance[row["item"]] >= 0.6 else 0.02
        lines += [f"{row['item']},{name},{int(random.random() < yes)}" for name in EXPERTS]
    Path("panel.csv").write_text("\n".join(lines) + "\n")


def planned(equipoise, *more):
    code, _, said = equipoise(
        "threshold", "plan", "votes.csv", *PLAN, *more, "--out", "plan.csv"
    )
    assert code == 0, said
    return said


def test_a_plan_is_blind_and_its_key_lies_beside_it(equipoise):
    said = planned(equipoise)
    assert "Wrote plan.csv: 40 items" in said and "Wrote plan.key.json" in said
    rows, key = rows_of("plan.csv"), json.loads(Path("plan.key.json").read_text())
    assert list(rows[0]) == ["item", "label"] and not any(row["label"] for row in rows)
    assert sorted(row["item"] for row in rows) == sorted(row["item"] for row in key["items"])
    chance = {row["item"]: row["probability"] for row in key["items"]}
    order = [chance[row["item"]] for row in rows]
    assert abs(np.corrcoef(order, np.arange(40))[0, 1]) < 0.4
    assert {row["bin"] for row in key["items"]} == set(range(1, 9))
    assert key["options"]["seed"] == 3 and key["options"]["per_bin"] == 5


def test_a_key_is_not_written_over_and_nothing_is_left_of_an_interrupt(equipoise, monkeypatch):
    Path("plan.key.json").write_text("mine")
    words = ("threshold", "plan", "votes.csv", *PLAN, "--out", "plan.csv")
    code, _, said = equipoise(*words)
    assert code == 1 and "plan.key.json: is there already" in said
    assert not Path("plan.csv").exists() and Path("plan.key.json").read_text() == "mine"
    Path("plan.key.json").unlink()
    before = sorted(Path.cwd().iterdir())
    whole = os.open

    def stopping(path, *how, **more):
        if Path(path).name.startswith(".plan.key.json."):
            raise KeyboardInterrupt
        return whole(path, *how, **more)

    monkeypatch.setattr(os, "open", stopping)
    assert equipoise(*words)[0] == 130
    assert sorted(Path.cwd().iterdir()) == before


def test_a_key_that_a_killed_writing_left_alone_does_not_block_the_next(equipoise):
    words = ("threshold", "plan", "votes.csv", *PLAN, "--out", "plan.csv")
    assert equipoise(*words)[0] == 0
    both = [Path(name).read_bytes() for name in ("plan.csv", "plan.key.json")]
    Path("plan.csv").unlink()  # killed between the two
    assert equipoise(*words)[0] == 0
    assert [Path(name).read_bytes() for name in ("plan.csv", "plan.key.json")] == both


def test_the_key_gives_the_options_that_the_plan_was_made_with(equipoise):
    planned(equipoise)
    answered()
    by_hand = equipoise("threshold", "set", "votes.csv", *PLAN, *GIVEN, "--json")
    for plan in ("plan.key.json", "plan.csv"):
        words = (
            "threshold",
            "set",
            "votes.csv",
            "--plan",
            plan,
            "--seed",
            "3",
            *GIVEN,
            "--json",
        )
        code, out, _ = equipoise(*words)
        assert code == 0
        assert json.loads(out)["findings"] == json.loads(by_hand[1])["findings"]
    other = equipoise("threshold", "set", "votes.csv", "--plan", "plan.csv", *GIVEN, "--json")[
        1
    ]
    found = [json.loads(text) for text in (by_hand[1], other)]
    values = [one["threshold"]["threshold"][0]["threshold"] for one in found]
    assert values[0] == values[1]
    told = [found[1]["settings"][name] for name in ("Bins", "Seed of the sample", "Seed")]
    assert told == ["8", "3", "0"]


@pytest.mark.parametrize(
    "words", [("--truth", "votes"), ("--truth", "votes", "--bins", "8"), PLAN[:-2]]
)
def test_options_that_were_forgotten_give_no_number(equipoise, words):
    planned(equipoise)
    answered()
    code, out, said = equipoise("threshold", "set", "votes.csv", *words, *GIVEN)
    assert code == 1 and not out
    assert "items of the plan made now" in said and "--plan plan.key.json" in said


def test_answers_to_a_part_need_the_key(equipoise):
    planned(equipoise)
    answered(leave=6)
    code, out, said = equipoise("threshold", "set", "votes.csv", *PLAN, *GIVEN)
    assert code == 1 and not out and "34 of the 40 items" in said
    code, out, said = equipoise("threshold", "set", "votes.csv", "--plan", "plan.csv", *GIVEN)
    assert code == 0 and "6 items of the sample have no expert vote yet" in said
    with Path("panel.csv").open("a") as file:
        file.write("elsewhere,anna,1\n")
    code, out, said = equipoise("threshold", "set", "votes.csv", "--plan", "plan.csv", *GIVEN)
    assert code == 1 and not out and "and on 1 others" in said


def test_a_key_that_does_not_fit_is_refused(equipoise):
    planned(equipoise)
    answered()
    plan = ("--plan", "plan.key.json")
    code, _, said = equipoise("threshold", "set", "votes.csv", *plan, "--bins", "5", *GIVEN)
    assert code == 2 and "plan.key.json has 8" in said
    text = Path("votes.csv").read_text()
    Path("votes.csv").write_text(text.replace("i000,w0,0", "i000,w0,1").replace("i001", "j"))
    code, out, said = equipoise("threshold", "set", "votes.csv", *plan, *GIVEN)
    assert code == 1 and not out and "made into the plan again" in said
    key = Path("plan.key.json")
    whole = json.loads(key.read_text())
    odd = [
        json.dumps(whole | {"options": whole["options"] | one})
        for one in ({"truth": 5}, {"bins": "8"}, {"seed": True}, {"layout": None})
    ]
    for wrong in ("[]", "{", '{"options": {}}', *odd):
        key.write_text(wrong)
        code, out, said = equipoise("threshold", "set", "votes.csv", *plan, *GIVEN)
        assert code == 1 and not out and "no key of a plan" in said, wrong
    key.unlink()
    assert "no such file" in equipoise("threshold", "set", "votes.csv", *plan, *GIVEN)[2]


def test_experts_without_a_task_answer_the_one_asked_about(equipoise):
    lines = Path("votes.csv").read_text().splitlines()
    told = [f"{lines[0]},task", *(f"{one},{name}" for one in lines[1:] for name in "ab")]
    Path("votes.csv").write_text("\n".join(told) + "\n")
    planned(equipoise, "--task", "b")
    assert list(rows_of("plan.csv")[0]) == ["item", "task", "label"]
    assert {row["task"] for row in rows_of("plan.csv")} == {"b"}
    answered()
    outs = [
        equipoise("threshold", "set", "votes.csv", *words, "--seed", 3, *GIVEN, "--json")
        for words in (("--plan", "plan.csv"), (*PLAN, "--task", "b"))
    ]
    assert [code for code, _, _ in outs] == [0, 0], outs
    first, second = (json.loads(out)["findings"] for _, out, _ in outs)
    assert first == second
    rows = [row | {"label": k % 2} for k, row in enumerate(rows_of("plan.csv"))]
    for name in EXPERTS:
        with Path(f"{name}.csv").open("w", newline="") as file:
            writer = csv.DictWriter(file, rows[0])
            writer.writeheader()
            writer.writerows(rows)
    filled = [word for name in EXPERTS for word in ("--experts", f"{name}.csv")]
    code, out, said = equipoise("threshold", "set", "votes.csv", "--plan", "plan.csv", *filled)
    assert code == 0 and "threshold" in out, said
    code, _, said = equipoise("threshold", "set", "votes.csv", *PLAN, "--task", "c", *GIVEN)
    assert code == 1 and "one of 'a', 'b'" in said


def test_a_task_of_a_file_without_tasks_is_refused_in_words(equipoise):
    code, _, said = equipoise(
        "threshold", "plan", "votes.csv", "--truth", "votes", "--task", "b"
    )
    assert code == 1 and "no column task" in said and "leave out --task" in said
