"""Analyses: does the result survive other items, annotators, votes and choices?

One file each; `equipoise.stability` holds the public names.
"""
