"""Every cell of the table of claims, with fewer studies: a lost term turns it red.

The full table is ``python -m benchmarks inference --claims``. Seeds are fixed; a share of false
claims may be what it promises and three Monte Carlo errors more, coverage as much less.
"""

import numpy as np
import pytest
from benchmarks._claims import CELLS, shares

SLOW = {"8 tasks, 6 equal models": 60, "4 looks, two equal models": 60}
STUDIES = 120


@pytest.mark.parametrize("cell", CELLS, ids=lambda cell: cell.name)
def test_a_sentence_keeps_what_it_promises(cell):
    studies = SLOW.get(cell.name, STUDIES)
    means, _ = shares(cell, studies)
    for (name, (low, high)), mean in zip(cell.columns.items(), means, strict=True):
        lowest = low - 3 * np.sqrt(low * (1 - low) / studies)
        highest = high + 3 * np.sqrt(high * (1 - high) / studies)
        assert lowest <= mean <= highest, (name, mean)
