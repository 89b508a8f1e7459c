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


@pytest.fixture(autouse=True)
def _errors_of_analyses_are_errors(request, monkeypatch):
    """An error inside an analysis, which a report would survive, fails its test."""
    if "survives" in request.node.name:
        return

    def again(_key, _title, error):
        raise error

    monkeypatch.setattr("equipoise.study.analyses.catalogue.failed", again)
