"""The earlier names of `equipoise.votes`."""

from equipoise.votes import Votes as Ballots
from equipoise.votes import check_gold
from equipoise.votes import collect_votes as ballots

__all__ = ["Ballots", "ballots", "check_gold"]
