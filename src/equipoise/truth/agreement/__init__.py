"""Agreement between annotators: coefficients with intervals, and what they mean in words."""

from equipoise.truth.agreement._study import Coefficient as Coefficient
from equipoise.truth.agreement._study import Person as Person
from equipoise.truth.agreement.agreement_report import AgreementTable as AgreementTable
from equipoise.truth.agreement.agreement_report import agreement_findings as agreement_findings
from equipoise.truth.agreement.agreement_report import agreement_overview as agreement_overview
from equipoise.truth.agreement.agreement_table import agreement_summaries as agreement_summaries
from equipoise.truth.agreement.agreement_table import agreement_table as agreement_table
from equipoise.truth.agreement.cohen_kappa import Pairs as Pairs
from equipoise.truth.agreement.cohen_kappa import cohen_kappa as cohen_kappa
from equipoise.truth.agreement.cohen_kappa import cohen_kappa_pairs as cohen_kappa_pairs
from equipoise.truth.agreement.cohen_kappa import landis_koch as landis_koch
from equipoise.truth.agreement.fleiss_kappa import fleiss_kappa as fleiss_kappa
from equipoise.truth.agreement.fleiss_kappa import percent_agreement as percent_agreement
from equipoise.truth.agreement.krippendorff_alpha import (
    krippendorff_alpha as krippendorff_alpha,
)
from equipoise.truth.agreement.krippendorff_alpha import (
    krippendorff_alpha_of_moments as krippendorff_alpha_of_moments,
)
from equipoise.truth.agreement.krippendorff_alpha import (
    krippendorff_words as krippendorff_words,
)
from equipoise.truth.agreement.reading_agreement import ReadingAgreement as ReadingAgreement
from equipoise.truth.agreement.reading_agreement import reading_agreement as reading_agreement

AgreementSummary = AgreementTable  # the former name of what a run keeps
