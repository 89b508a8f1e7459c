"""The first run on a machine compiles the kernels, later ones load them: same bytes, all."""

import os
import subprocess
import sys

SCRIPT = """
import hashlib
import numpy as np
from equipoise.kernels.ranking import counter, ranking_sums

random, items = np.random.default_rng(0), 300
for width in (128, 72):
    counts = random.integers(0, 5, size=(items, width)).astype(np.uint8)
    positive = np.round(random.random(items) * 8) / 8
    score = -np.sort(-np.round(random.random(items), 2))
    ends, begins = np.r_[score[1:] != score[:-1], True], np.r_[True, score[1:] != score[:-1]]
    last = np.where(ends & begins, 1, np.where(ends, 2, 0)).astype(np.int8)
    order, sure = np.arange(items), np.full((items, 1), 2, np.uint8)
    own = np.zeros(0, np.int32)
    for rows in (positive[:, None, None], np.repeat(positive[:, None, None], width, axis=2)):
        sums = ranking_sums(order, last, (own, rows, sure), counts, counter(items))
        print(hashlib.sha256(sums.tobytes()).hexdigest())
"""


def test_compiled_and_loaded_kernels_give_the_same_bytes(tmp_path):
    where = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
    runs = [
        subprocess.run(
            [sys.executable, "-c", SCRIPT],
            env=where,
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for _ in range(2)
    ]
    assert any(tmp_path.rglob("*.nbc"))
    assert len(runs[0].split()) == 4
    assert runs[0] == runs[1]
