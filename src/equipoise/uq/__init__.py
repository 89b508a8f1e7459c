"""Uncertainty of multi-label image classifiers: methods, their training, their evaluation."""
