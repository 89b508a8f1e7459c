"""Golden values of the count and inverse-rank models: plausibilities.json names the source."""

import json
import os
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose

from equipoise import Annotations
from equipoise.truth import dirichlet, inverse_rank, probabilistic_inverse_rank
from equipoise.types import Dirichlet

GOLDEN = json.loads((Path(__file__).parent / "plausibilities.json").read_text(encoding="utf-8"))
CLASSES = [str(k) for k in range(GOLDEN["irn"]["num_classes"])]


@pytest.fixture(scope="module")
def readings():
    return Annotations.from_rankings(GOLDEN["irn"]["selectors"], classes=CLASSES)


@pytest.mark.parametrize(
    ("ties", "key"), [("full", "irn_reference"), ("split", "irn_paper_eq3")]
)
def test_inverse_rank(readings, ties, key):
    assert_allclose(inverse_rank(readings, ties=ties).mean, GOLDEN["irn"][key], atol=1e-12)


@pytest.mark.parametrize(
    "case", GOLDEN["prirn"], ids=lambda c: f"{c['temperature']}/{c['alpha']}"
)
def test_dirichlet_certainty_is_exact(case):
    for concentration, mean, certainty in zip(
        case["dirichlet_concentration"], case["mean"], case["certainty_exact"], strict=True
    ):
        law, start = Dirichlet(np.array(concentration), np.zeros(1)), np.array([0, 5])
        assert_allclose(law.mean(start)[0], mean, atol=1e-12)
        assert_allclose(law.top(start, np.zeros(1, int))[0], certainty, atol=1e-10)


def test_the_notebook_preset_gives_the_published_concentrations(readings):
    case = next(c for c in GOLDEN["prirn"] if (c["temperature"], c["alpha"]) == (10.0, 0.01))
    made = probabilistic_inverse_rank(readings, reliability=10, prior="notebook")
    assert_allclose(made.mean, case["mean"], atol=1e-12)
    full = np.zeros((len(made.items), len(CLASSES)))
    entry, rest = made.top()
    full[np.repeat(np.arange(len(made.items)), np.diff(made.start)), made.label] = entry
    missing = len(CLASSES) - np.diff(made.start)
    for row, share, number in zip(full, rest, missing, strict=True):
        row[row == 0] = share / max(number, 1)
    assert_allclose(full, case["certainty_exact"], atol=1e-10)


@pytest.mark.parametrize(("prior", "expected"), [(1.0, 183), (0.5, 180), (0.1, 176)])
def test_cifar10h_images_below_99_percent(prior, expected):
    """Exact counts by quadrature; Stutz et al., Appendix A, publish 178 by Monte Carlo."""
    if "EQUIPOISE_DATA" not in os.environ:
        pytest.skip("set EQUIPOISE_DATA to a folder that holds cifar10h/")
    from equipoise.datasets import load_cifar10h

    made = dirichlet(load_cifar10h().annotations, prior=prior)
    assert int((made.certainty < 0.99).sum()) == expected


def test_dermatology_certainties():
    """Mean top-1 certainty of PrIRN on the public cases, recomputed from the notebook."""
    if "EQUIPOISE_DATA" not in os.environ:
        pytest.skip("set EQUIPOISE_DATA to a folder that holds dermatology_ddx/")
    path = Path(os.environ["EQUIPOISE_DATA"]) / "dermatology_ddx/dermatology_selectors.json"
    cases = Annotations.from_rankings(
        json.loads(path.read_text()), classes=map(str, range(419))
    )
    for gamma, expected in ((10, 0.751), (20, 0.818), (30, 0.846), (50, 0.874), (100, 0.901)):
        made = probabilistic_inverse_rank(cases, reliability=gamma, prior="notebook")
        assert made.certainty.mean() == pytest.approx(expected, abs=0.001)
