"""What every number rests on is worked out once in one evaluation, whatever is asked of it."""

import sys
from collections import Counter

import pytest

from tests.cli_sample import caller, write_study

ONCE = {"collect_votes", "task_truths", "align"}


@pytest.fixture
def calls():
    """How often each function that prepares a study was called."""
    number = Counter()

    def count(frame, event, _):
        if event == "call" and frame.f_code.co_name in ONCE:
            number[frame.f_code.co_name] += 1

    sys.setprofile(count)
    yield number
    sys.setprofile(None)


def test_votes_truth_and_alignment_are_made_once(tmp_path, monkeypatch, capsys, calls):
    study = write_study(tmp_path, items=400)
    run = caller(monkeypatch, capsys)
    code, text, _ = run("evaluate", study / "votes.csv", study / "scores.csv")
    assert code == 0 and "items and annotators like these" in text
    assert calls == dict.fromkeys(ONCE, 1)
