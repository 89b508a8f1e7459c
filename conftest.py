"""Give doctests numpy and one way of printing it; point tests at the shared data sets."""

import gc
import os
import re
from contextlib import suppress
from functools import cache
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest
from hypothesis import settings

settings.register_profile("quick", max_examples=60, deadline=None)
settings.load_profile("quick")

ROOT = Path(__file__).resolve().parent
MADE_ONCE = re.compile(
    r"^from tests\.(odd_studies|report_stability_sample) import .*\b(odd|sample)\b",
    re.MULTILINE,
)
SHARED = ROOT.parent / "shared"
if (SHARED / "datasets").is_dir():
    os.environ.setdefault("EQUIPOISE_DATA", str(SHARED / "datasets"))


@pytest.hookimpl(wrapper=True)
def pytest_collection():
    """Look for no garbage while everything is loaded, nor later in what was loaded."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


@pytest.hookimpl(tryfirst=True)
def pytest_collect_file(file_path):
    """Import a module of ours under its own name before its examples are collected.

    Where nothing has, pytest executes it twice: once when it imports the package, once by
    itself, in whose place in `sys.modules` it puts the second copy. Tests that have met the
    first would then compare classes and enums with others of the same name.
    """
    if file_path.suffix == ".py" and file_path.is_relative_to(ROOT / "src"):
        parts = file_path.relative_to(ROOT / "src").with_suffix("").parts
        if parts[-1] != "__main__":
            with suppress(ImportError):  # of an optional part, which collecting reports
                import_module(".".join(parts).removesuffix(".__init__"))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    """Keep files together whose tests look at the same studies, which are made once."""
    from xdist.scheduler import LoadFileScheduling

    class Together(LoadFileScheduling):
        def _split_scope(self, nodeid):
            return _studies_of(super()._split_scope(nodeid))

    return Together(config, log) if config.getoption("dist") == "loadfile" else None


@cache
def _studies_of(file):
    """What the tests of a file share with those of others; else the file itself."""
    text = (ROOT / file).read_text(encoding="utf-8")
    return "studies" if MADE_ONCE.search(text) else file


@pytest.fixture(autouse=True)
def _doctest_world(doctest_namespace):
    doctest_namespace["np"] = np
    with np.printoptions(precision=3):
        yield
