"""Agreement between annotators: coefficients with intervals, and what they mean in words."""

from equipoise.agreement.cohen_kappa import Pairs, cohen_kappa, cohen_kappa_pairs
from equipoise.agreement.fleiss_kappa import fleiss_kappa
from equipoise.agreement.krippendorff_alpha import krippendorff_alpha
from equipoise.agreement.percent_agreement import percent_agreement
from equipoise.agreement.reading_agreement import ReadingAgreement, reading_agreement
from equipoise.agreement.words import krippendorff_words, landis_koch

__all__ = [
    "Pairs",
    "ReadingAgreement",
    "cohen_kappa",
    "cohen_kappa_pairs",
    "fleiss_kappa",
    "krippendorff_alpha",
    "krippendorff_words",
    "landis_koch",
    "percent_agreement",
    "reading_agreement",
]
