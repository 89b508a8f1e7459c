"""A pipe that is named like a table, in a folder of tables: refused, never waited for."""

import os

import pytest

from tests.cli_sample import caller

VOTES = "item,annotator,label\n" + "".join(
    f"i{item},{reader},{(item + place) % 2}\n"
    for item in range(6)
    for place, reader in enumerate(("ana", "bo", "cy"))
)


@pytest.mark.parametrize(
    "words",
    [
        ("check", "votes"),
        ("agreement", "votes"),
        ("aggregate", "votes"),
        ("evaluate", "-a", "votes", "-p", "scores.csv"),
        ("agreement", "votes", "--on-disk"),
        ("aggregate", "votes", "--on-disk", "--out", "out"),
    ],
    ids=" ".join,
)
@pytest.mark.parametrize("name", ["z.parquet", "z.csv"])
def test_a_pipe_in_a_folder_of_tables_is_refused(words, name, tmp_path, monkeypatch, capsys):
    on_disk = "--on-disk" in words
    if on_disk and name == "z.csv":
        pytest.skip("votes on disk are Parquet alone")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "votes").mkdir()
    (tmp_path / "votes" / "a.csv").write_text(VOTES, encoding="utf-8")
    (tmp_path / "scores.csv").write_text(
        "item,m\n" + "".join(f"i{item},0.{item}\n" for item in range(6)), encoding="utf-8"
    )
    os.mkfifo(tmp_path / "votes" / name)
    code, _, error = caller(monkeypatch, capsys)(*words)
    assert code != 0 and "neither a file nor a link to one" in " ".join(error.split())
