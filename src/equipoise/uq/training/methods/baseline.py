"""Binary cross-entropy per label: the baseline, one member and no epistemic uncertainty."""

from dataclasses import dataclass
from typing import ClassVar

from equipoise.uq.training.methods.method import Method


@dataclass(frozen=True, slots=True, kw_only=True)
class Baseline(Method):
    """A network with a linear head."""

    title: ClassVar[str] = "Baseline (BCE)"
    from_baseline: ClassVar[bool] = True  # which is trained as a step of its own
