"""Run every benchmark, or those named: ``python -m benchmarks item_bootstrap startup``."""

import sys
from importlib import import_module

EVERY = (
    "startup",
    "read_votes",
    "kernels",
    "item_bootstrap",
    "vote_bootstrap",
    "influence",
    "inference",
    "seeds",
    "verdict",
    "plackett_luce",
    "retained",
    "glad",
    "dawid_skene",
    "count_models",
    "streaming",
    "disk",
    "draw_metrics",
    "agreement",
    "judged",
    "stability",
    "planning",
    "sets",
    "clean",
    "duplicate_rounds",
    "uq",
    "uq_training",
    "engines",
)

for name in [word for word in sys.argv[1:] if not word.startswith("-")] or EVERY:
    import_module(f"benchmarks.{name}").main()
