"""Agreement between annotators: coefficients with intervals, and what they mean in words."""

from equipoise.agreement._study import Coefficient, Person
from equipoise.agreement.agreement_report import (
    AgreementSummary,
    agreement_findings,
    agreement_overview,
)
from equipoise.agreement.agreement_table import (
    AgreementTable,
    agreement_summaries,
    agreement_table,
)
from equipoise.agreement.cohen_kappa import Pairs, cohen_kappa, cohen_kappa_pairs
from equipoise.agreement.fleiss_kappa import fleiss_kappa, percent_agreement
from equipoise.agreement.krippendorff_alpha import (
    krippendorff_alpha,
    krippendorff_alpha_of_moments,
)
from equipoise.agreement.reading_agreement import ReadingAgreement, reading_agreement
from equipoise.agreement.words import krippendorff_words, landis_koch

__all__ = [
    "AgreementSummary",
    "AgreementTable",
    "Coefficient",
    "Pairs",
    "Person",
    "ReadingAgreement",
    "agreement_findings",
    "agreement_overview",
    "agreement_summaries",
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
