"""Planted bugs: a catalogue of them, and a runner that sees whether the tests go red.

``python -m tests.mutation`` plants every bug of the catalogue in a copy of the tree, one at a
time, and runs the tests that are concerned. The working tree is never edited.
"""
