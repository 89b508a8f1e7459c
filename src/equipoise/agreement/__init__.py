"""Agreement between annotators: coefficients with intervals, and what they mean in words."""

from equipoise.agreement._study import Coefficient, Person
from equipoise.agreement.agreement_report import (
    AgreementTable,
    agreement_findings,
    agreement_overview,
)
from equipoise.agreement.agreement_table import agreement_summaries, agreement_table
from equipoise.agreement.cohen_kappa import Pairs, cohen_kappa, cohen_kappa_pairs, landis_koch
from equipoise.agreement.fleiss_kappa import fleiss_kappa, percent_agreement
from equipoise.agreement.krippendorff_alpha import (
    krippendorff_alpha,
    krippendorff_alpha_of_moments,
    krippendorff_words,
)
from equipoise.agreement.reading_agreement import ReadingAgreement, reading_agreement

AgreementSummary = AgreementTable  # the former name of what a run keeps

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
