"""Stability: does the result survive other items, annotators, votes and choices?

One idea per file; every result has ``rows()`` for tables and a ``finding``, one sentence.
"""
