"""The table of options: rare ones, `--help-all`, and how many every verb shows."""

import inspect
import json
import re
from dataclasses import fields
from pathlib import Path

import pytest
import typer

from equipoise.cli import app, verbs
from equipoise.cli.command import _choices
from equipoise.cli.options import DEFAULTS, ROWS
from equipoise.read.options import SHARED, VoteFormat
from equipoise.sets import Calibration
from equipoise.study import Settings
from equipoise.study.result import INFERENCES
from equipoise.types import InputError
from tests.cli_sample import FILES, flat

MOST = 32  # options that the help of `evaluate` shows
TOTAL = 235  # that the helps of all verbs show, the groups clean and uq among them
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
        if one.param_type_name == "option"
        and (hidden or not one.hidden)
        and one.name not in ("help", "help_all")
    ]


def test_evaluate_shows_few_options():
    assert len(options(VERBS["evaluate"])) <= MOST
    assert len(options(VERBS["evaluate"], hidden=True)) > len(options(VERBS["evaluate"]))


def test_all_verbs_together_show_few_options():
    shown = {name: len(options(one)) for name, one in commands() if not one.hidden}
    assert sum(shown.values()) <= TOTAL, shown


@pytest.mark.parametrize("name", ["evaluate", "aggregate", "clean rounds start"])
def test_every_option_is_shown_by_help_all_and_then_hidden_again(equipoise, name):
    command = dict(commands())[name]
    rare = [one for one in options(command, hidden=True) if one.hidden]
    assert rare
    code, out, _ = equipoise(*name.split(), "--help-all")
    assert code == 0
    for option in options(command, hidden=True):
        assert option.opts[0] in out, option.name
    _, usual, _ = equipoise(*name.split(), "--help")
    assert "--help-all" in usual
    assert [one.name for one in rare if f" {one.opts[0]} " in usual] == []


def test_every_row_of_the_table_belongs_to_a_verb():
    taken = {one.name for _, command in commands() for one in command.params}
    assert set(ROWS) <= taken
    assert taken - set(ROWS) == {"help_all", "key", "command"}  # the last two of `cell`


def test_a_row_without_choices_of_its_own_names_a_catalogue_that_is_there():
    for name, row in ROWS.items():
        known = _choices(row.choices)
        assert all(isinstance(word, str) for word in known), name
        assert not known or DEFAULTS[name] in (None, *known), name


def settings(folder="run"):
    return json.loads(Path(folder, "run.json").read_text())


@pytest.mark.usefixtures("study")
def test_values_reach_the_records(equipoise):
    words = ("--replicates", "40", "--resample", "items", "--ties", "drop",
             "--annotators", "fixed", "--labels", "hard")  # fmt: skip
    code, out, said = equipoise("evaluate", *FILES, *words, "--out", "run")
    assert code == 0, said
    held = settings()
    assert held["settings"]["replicates"] == 40 and held["settings"]["resample"] == "items"
    assert held["question"]["ties"] == "drop"
    assert held["settings"]["population"] == "items like these and these annotators"
    assert dict(held["report"]["settings"])["Labels"] == "hard"
    assert "AUROC" in out and "Soft AUROC" not in out


@pytest.mark.usefixtures("study")
def test_a_run_says_what_was_asked_of_it_by_rare_options(equipoise):
    words = ("--replicates", 20, "--repeats", "last", "--on-missing", "drop", "--exchangeable")
    code, _, said = equipoise(
        "evaluate", *FILES, *words, "--inference", "two-way", "--out", "run"
    )
    assert code == 0, said
    question = settings()["question"]
    assert question["repeats"] == "last" and question["on_missing"] == "drop"
    assert question["exchangeable"] is True


@pytest.mark.usefixtures("study")
@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--replicate", "5"), "--replicates"),
        (("--set", "replicates=5"), "No such option: --set"),
        (("--replicates",), "requires an argument"),
        (("--replicates", "many"), "valid integer"),
        (("--replicates", "1.5"), "valid integer"),
        (("--replicates", "0"), "greater than or equal to 1"),
        (("--replicates", "1000000"), "expected at most 100,000"),
        (("--first-votes", "0"), "greater than or equal to 1"),
        (("--matters", "little"), "valid number"),
        (("--matters", "-1"), "expected a number above 0"),
        (("--ties", "positive"), "half, negative, drop"),
        (("--resample", "panle"), "did you mean 'panel'?"),
        (("--labels", "sofd"), "did you mean 'soft'?"),
        (("--inference", "mrcm"), "per_reader_truth"),
        (("--layout", "wid"), "did you mean 'wide'?"),
        (("--columns", "item"), "expected OURS=THEIRS"),
    ],
)
def test_wrong_options_are_wrong_usage(equipoise, words, told):
    code, out, said = equipoise("evaluate", *FILES, *words)
    assert code == 2 and not out
    assert told in flat(said), said


@pytest.mark.usefixtures("study")
def test_the_least_value_is_taken(equipoise):
    words = ("--replicates", "1", "--most", "1", "--out", "run")
    assert equipoise("evaluate", *FILES, *words)[0] == 0
    assert settings()["settings"]["replicates"] == 1


KEYWORDS = (Settings, VoteFormat, Calibration)


@pytest.mark.parametrize("name", SHARED)
def test_what_python_and_the_command_line_share_stands_once(name):
    row, shared = ROWS[name], SHARED[name]
    assert (row.text, row.choices) == (shared.text, shared.choices)
    assert DEFAULTS[name] == (None if name == "labels" else shared.default)
    keywords = {field.name: field for kind in KEYWORDS for field in fields(kind)}
    taken = name in keywords
    assert taken or name in ("gold", "normalise", "prediction_layout")
    if taken:
        assert keywords[name].default == shared.default


def attributes(kind):
    """What a docstring says of every attribute."""
    text = inspect.cleandoc(kind.__doc__).split("----------\n", 1)[1]
    blocks = filter(None, re.split(r"^(?=\w)", text, flags=re.MULTILINE))
    named = (block.partition("\n") for block in blocks)
    return {name: words for names, _, words in named for name in names.split(", ")}


@pytest.mark.parametrize("kind", [Settings, VoteFormat])
def test_docstrings_of_python_name_the_words_of_the_table(kind):
    documented = attributes(kind)
    assert set(documented) == {field.name for field in fields(kind)}
    for name in documented.keys() & SHARED.keys():
        for word in SHARED[name].choices:
            assert f"``{word}``" in documented[name], (name, word)
    python_only = {"workers", "progress", "thresholds", "prevalence", "classes", "columns"}
    python_only |= {"looks"}
    assert documented.keys() - SHARED.keys() <= python_only


@pytest.mark.usefixtures("study")
@pytest.mark.parametrize(
    "name", ["items", "annotators", "ties", "labels", "inference", "on_missing", "circular"]
)
def test_a_word_that_is_none_is_refused_alike_by_both(equipoise, name):
    with pytest.raises(InputError, match=f"settings, {name}: 'sofd'") as refused:
        Settings(**{name: "sofd"})
    flag = f"--{name.replace('_', '-')}"
    code, _, said = equipoise("evaluate", *FILES, flag, "sofd")
    assert code == 2 and f"{flag}: 'sofd'" in flat(said).replace("for ", "")
    for word in SHARED[name].choices:
        assert word in refused.value.expected and word in flat(said)


def test_every_kind_of_inference_has_its_words():
    assert SHARED["inference"].choices == tuple(INFERENCES)


def test_a_verb_that_is_not_loaded_has_the_first_sentence_of_its_help():
    whole, bare = (
        dict(commands(typer.main.get_command(verbs.application(loaded)).commands))
        for loaded in (verbs.FIRST, ())
    )
    for name in [name for name in bare if "rounds" not in name]:
        first = whole[name].help.split("\n\n")[0].replace("\n", " ")
        assert first.startswith(bare[name].help), name
    assert not options(bare["evaluate"])
