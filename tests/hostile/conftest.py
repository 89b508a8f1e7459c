"""Counts the odd cases that ran, and says so when many were asked for."""

import os

import hypothesis.core
import pytest

PHASES = ("reuse-phase", "generate-phase", "shrink-phase")
_ran = [0]
_note = hypothesis.core.note_statistics


def _counted(stats):
    _ran[0] += sum(len(stats.get(phase, {}).get("test-cases", ())) for phase in PHASES)
    _note(stats)


hypothesis.core.note_statistics = _counted


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_call(item):
    """Write the number of cases of a test into its report."""
    before = _ran[0]
    yield
    item.user_properties.append(("odd cases", _ran[0] - before))


def pytest_terminal_summary(terminalreporter):
    """Say how many cases ran, and in which tests something failed."""
    if "EQUIPOISE_HOSTILE" not in os.environ:
        return
    stats = terminalreporter.stats
    reports = {id(one): one for kind in ("passed", "failed") for one in stats.get(kind, ())}
    told = [dict(getattr(one, "user_properties", ())) for one in reports.values()]
    cases = sum(one.get("odd cases", 0) for one in told)
    failed = [one.nodeid for one in stats.get("failed", ())]
    terminalreporter.write_line(f"{cases:,} odd cases ran; {len(failed)} tests failed")
    for name in failed:
        terminalreporter.write_line(f"  {name}")
