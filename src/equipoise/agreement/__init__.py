"""Agreement between annotators: coefficients with intervals, and what they mean in words."""

from equipoise.agreement._coefficients import Coefficient
from equipoise.agreement._people import Person
from equipoise.agreement.agreement_table import AgreementTable, agreement_table
from equipoise.agreement.cohen_kappa import cohen_kappa
from equipoise.agreement.cohen_kappa_pairs import Pairs, cohen_kappa_pairs
from equipoise.agreement.fleiss_kappa import fleiss_kappa
from equipoise.agreement.krippendorff_alpha import krippendorff_alpha
from equipoise.agreement.percent_agreement import percent_agreement
from equipoise.agreement.reading_agreement import ReadingAgreement, reading_agreement
from equipoise.agreement.streamed_alpha import krippendorff_alpha_of_moments
from equipoise.agreement.words import krippendorff_words, landis_koch

__all__ = [
    "AgreementTable",
    "Coefficient",
    "Pairs",
    "Person",
    "ReadingAgreement",
    "agreement_table",
    "cohen_kappa",
    "cohen_kappa_pairs",
    "fleiss_kappa",
    "krippendorff_alpha",
    "krippendorff_alpha_of_moments",
    "krippendorff_words",
    "landis_koch",
    "percent_agreement",
    "reading_agreement",
]
