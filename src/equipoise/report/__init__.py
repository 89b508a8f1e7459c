"""Report: pages of planning, stability and thresholds, each one self-contained file."""
