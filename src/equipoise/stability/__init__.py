"""Stability: how far a result rests on the people, votes, items and choices behind it."""
