"""Tests of prediction sets."""
