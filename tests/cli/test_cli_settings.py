"""`--set NAME=VALUE`, and how many options every verb shows."""

import json
from pathlib import Path

import pytest
import typer

from equipoise.cli import app
from tests.cli_sample import FILES, flat

MOST = 32  # options that the help of `evaluate` shows
TOTAL = 230  # that the helps of all verbs show, the groups clean and uq among them
VERBS = typer.main.get_command(app).commands


def commands(group=VERBS, name=""):
    """Every verb, also those of a verb that has verbs of its own."""
    for own, one in group.items():
        if hasattr(one, "commands"):
            yield from commands(one.commands, f"{name}{own} ")
        else:
            yield f"{name}{own}", one


def options(command, *, hidden=False):
    return [
        one
        for one in command.params
        if one.param_type_name == "option" and (hidden or not one.hidden) and one.name != "help"
    ]


def test_evaluate_shows_few_options():
    assert len(options(VERBS["evaluate"])) <= MOST
    assert len(options(VERBS["evaluate"], hidden=True)) > len(options(VERBS["evaluate"]))


def test_all_verbs_together_show_few_options():
    shown = {name: len(options(one)) for name, one in commands() if not one.hidden}
    assert sum(shown.values()) <= TOTAL, shown
    assert {"stability", "compare", "threshold-plan"} & set(shown) == set()  # former names


def test_every_rare_option_is_named_by_the_help(equipoise):
    for verb in ("evaluate", "stability"):
        text = flat(equipoise(verb, "--help")[1])
        for one in options(VERBS[verb], hidden=True):
            if one.hidden:
                assert one.name in text, (verb, one.name)
                assert f"--{one.name.replace('_', '-')}" in one.opts


def settings(folder="run"):
    return json.loads(Path(folder, "run.json").read_text())


@pytest.mark.usefixtures("study")
def test_values_reach_the_records(equipoise):
    words = ("--set", "replicates=40", "--set", "resample=items", "--set", "ties=drop",
             "--set", "annotators=fixed", "--set", "labels=hard")  # fmt: skip
    code, out, said = equipoise("evaluate", *FILES, *words, "--out", "run")
    assert code == 0, said
    held = settings()
    assert held["settings"]["replicates"] == 40 and held["settings"]["resample"] == "items"
    assert held["question"]["ties"] == "drop"
    assert held["settings"]["population"] == "items like these and these annotators"
    assert dict(held["report"]["settings"])["Labels"] == "hard"
    assert "AUROC" in out and "Soft AUROC" not in out


@pytest.mark.usefixtures("study")
@pytest.mark.parametrize(
    ("name", "value"),
    [("replicates", "30"), ("ties", "negative"), ("repeats", "last"), ("items", "fixed"),
     ("inference", "mrmc"), ("on-missing", "drop"), ("matters", "0.01")],
)  # fmt: skip
def test_a_setting_and_its_own_flag_are_the_same(equipoise, name, value):
    base = ("evaluate", *FILES, "--replicates", 20)
    if name == "replicates":
        base = base[:-2]
    ways = (("--set", f"{name}={value}"), (f"--{name}", value))
    found = []
    for place, how in enumerate(ways):
        code, _, said = equipoise(*base, *how, "--out", f"run{place}")
        assert code == 0, said
        held = settings(f"run{place}")
        del held["report"]["command"], held["seal"]
        found.append(held)
    assert found[0] == found[1]


@pytest.mark.usefixtures("study")
def test_a_flag_without_a_value_takes_yes_and_no(equipoise):
    for word, there in (("yes", True), ("no", False), ("TRUE", True), ("0", False)):
        words = ("--set", f"exchangeable={word}", "--set", "replicates=20")
        out = ("--out", "run", "--overwrite")
        assert equipoise("evaluate", *FILES, *words, *out)[0] == 0
        assert settings()["question"]["exchangeable"] is there


@pytest.mark.usefixtures("study")
@pytest.mark.parametrize(
    ("word", "told"),
    [
        ("replicate=5", "did you mean 'replicates'?"),
        ("replicates", "expected NAME=VALUE"),
        ("metrics=auroc", "expected NAME=VALUE with one of"),
        ("=3", "expected NAME=VALUE"),
        ("replicates=many", "got replicates=many, expected a whole number"),
        ("replicates=1.5", "expected a whole number"),
        ("replicates=0", "got replicates=0, expected at least 1"),
        ("first_votes=0", "expected at least 1"),
        ("matters=little", "expected a number"),
        ("matters=-1", "expected a number above 0"),
        ("exchangeable=maybe", "expected yes or no"),
        ("ties=positive", "half, negative, drop"),
        ("resample=panle", "did you mean 'panel'?"),
        ("labels=sofd", "did you mean 'soft'?"),
        ("inference=mrcm", "did you mean 'mrmc'?"),
    ],
)
def test_wrong_settings_are_wrong_usage(equipoise, word, told):
    code, out, said = equipoise("evaluate", *FILES, "--set", word)
    assert code == 2 and not out
    assert told in flat(said), said


@pytest.mark.usefixtures("study")
def test_the_least_value_is_taken(equipoise):
    words = ("--set", "replicates=1", "--set", "most=1", "--out", "run")
    assert equipoise("evaluate", *FILES, *words)[0] == 0
    assert settings()["settings"]["replicates"] == 1


@pytest.mark.usefixtures("study")
def test_the_last_setting_counts_and_blanks_do_not(equipoise):
    words = ("--set", "replicates=20", "--set", " replicates = 30 ", "--out", "run")
    assert equipoise("evaluate", *FILES, *words)[0] == 0
    assert settings()["settings"]["replicates"] == 30
