"""Pairs of annotators: those of the agreement, and the ends are named."""

import numpy as np
import pytest

from equipoise.study.analyses.annotators import analyse_pairs
from equipoise.truth.agreement import cohen_kappa
from equipoise.types import InputError, Predictions
from tests.analysed import study_of
from tests.oracles import bootstrap
from tests.strategies import names


def test_the_finding_names_the_ends_and_has_every_pair():
    random = np.random.default_rng(3)
    truth = random.random(80) < 0.5
    votes = np.stack([np.where(random.random(80) < p, truth, ~truth) for p in (0.95, 0.9, 0.6)])
    table = bootstrap.annotations(votes.T.astype(float))
    model = Predictions("m", names(80), random.random(80))
    finding = analyse_pairs(study_of([model], table))
    (pairs,) = finding.tables
    rows = sorted(pairs.rows, key=lambda row: -row["kappa"])
    assert len(rows) == 3
    for row in rows:
        expected = cohen_kappa(table, (row["first"], row["second"])).value
        assert row["kappa"] == pytest.approx(expected, abs=1e-12)
    first, last = rows[0], rows[-1]
    assert finding.sentence.startswith(f"{first['first']} and {first['second']} agree most")
    assert f"{last['first']} and {last['second']} least" in finding.sentence
    assert finding.key == "pairs" and "[@cohen1960]" in finding.methods
    with pytest.raises(InputError, match="at least two annotators with ids"):
        analyse_pairs(study_of([model], table.anonymous()))
