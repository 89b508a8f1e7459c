"""Ballots: the former names of what `equipoise.votes` holds."""

from equipoise.votes import Votes, check_gold, collect_votes

Ballots = Votes
ballots = collect_votes

__all__ = ["Ballots", "ballots", "check_gold"]
