"""Training of uncertainty methods and their predictions, with numpy and torch only.

`grid.run_grid` runs a grid of methods, architectures and seeds on any machine that has both (a
bare GPU machine, say); `equipoise uq evaluate DIR` evaluates elsewhere what it leaves.
"""
