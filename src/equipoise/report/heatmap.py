"""Heatmap: how often each model comes in at each rank.

Rows are models, columns are ranks, the cell is the share of resamples; a steady order is a
dark diagonal. Cells carry their percentage as long as it fits.
"""

STEPS = (0.05, 0.15, 0.25, 0.40, 0.60, 0.80)  # where the next darker colour begins
WRITTEN = 0.05  # smaller shares are colour only
