"""Votes: the entries that the page of an aggregation is made of."""

from collections.abc import Mapping
from typing import Any

Entry = Mapping[str, Any]
