"""Agreement between annotators: coefficients with intervals, and what they mean in words."""

from equipoise.truth.agreement.coefficients import (
    Pairs,
    cohen_kappa,
    cohen_kappa_pairs,
    fleiss_kappa,
    krippendorff_alpha,
    krippendorff_alpha_of_moments,
    krippendorff_words,
    landis_koch,
    percent_agreement,
)
from equipoise.truth.agreement.readings import ReadingAgreement, reading_agreement
from equipoise.truth.agreement.report import agreement_findings, agreement_overview
from equipoise.truth.agreement.table import (
    AgreementTable,
    Coefficient,
    Person,
    agreement_summaries,
    agreement_table,
)
