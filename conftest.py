"""Give doctests numpy and one way of printing it; point tests at the shared data sets."""

import os
from pathlib import Path

import numpy as np
import pytest
from hypothesis import settings

settings.register_profile("quick", max_examples=60, deadline=None)
settings.load_profile("quick")

SHARED = Path(__file__).resolve().parent.parent / "shared"
if (SHARED / "datasets").is_dir():
    os.environ.setdefault("EQUIPOISE_DATA", str(SHARED / "datasets"))


@pytest.fixture(autouse=True)
def _doctest_world(doctest_namespace):
    doctest_namespace["np"] = np
    with np.printoptions(precision=3):
        yield
