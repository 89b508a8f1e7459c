"""Agreement: how far annotators say the same. One file per measure."""

from equipoise.agreement.reading_agreement import ReadingAgreement, reading_agreement

__all__ = ["ReadingAgreement", "reading_agreement"]
