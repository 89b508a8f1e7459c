"""View: the models of a page that is not yet made of findings."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from equipoise.report.numerals import apart


@dataclass(frozen=True, slots=True)
class View:
    """What the parts of such a page read."""

    header: Mapping[str, Any]

    @property
    def models(self) -> Sequence[str]:
        """Names of the models."""
        return list(self.header["models"])

    def short(self, model: str, room: int) -> str:
        """Shorten the name of a model so that no other model is shown by the same letters."""
        return apart(tuple(self.models), room)[model]

    def of_task(self, part: str, task: int) -> list[Mapping[str, Any]]:
        """Entries of a per-task part of the run."""
        name = self.header["tasks"][task]
        return [entry for entry in self.header.get(part, ()) if entry["task"] == name]
