"""What tests of verbs stand on: a small study to work in, and a way to run one verb there."""

import pytest

from tests.cli_sample import caller, write_study


@pytest.fixture
def study(tmp_path, monkeypatch):
    """The folder of a small study, in which the test works."""
    monkeypatch.chdir(tmp_path)
    return write_study(tmp_path)


@pytest.fixture
def equipoise(monkeypatch, capsys):
    """Runs one verb; returns exit code, output and messages."""
    return caller(monkeypatch, capsys)
