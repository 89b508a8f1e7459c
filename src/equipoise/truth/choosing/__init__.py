"""Choosing: which aggregation models fit the annotations, and how far they can be trusted.

`suitable`, `recommended` and `companions` name models, `model` sets one up with `Settings`,
`fitted` fits several. `held_out` scores them on votes they have not seen, `disagreement`,
`decisions`, `contested` and `skill_ranks` show where they differ, `cautions` says what makes
the annotations hard to aggregate, and `remarks` what kind, prior and threshold do to them.
"""

from equipoise.truth.choosing.cautions import cautions as cautions
from equipoise.truth.choosing.cautions import refuse_too_many_classes as refuse_too_many_classes
from equipoise.truth.choosing.cautions import remarks as remarks
from equipoise.truth.choosing.comparing import Decisions as Decisions
from equipoise.truth.choosing.comparing import SkillRanks as SkillRanks
from equipoise.truth.choosing.comparing import contested as contested
from equipoise.truth.choosing.comparing import decisions as decisions
from equipoise.truth.choosing.comparing import differ as differ
from equipoise.truth.choosing.comparing import disagreement as disagreement
from equipoise.truth.choosing.comparing import held_out as held_out
from equipoise.truth.choosing.comparing import skill_ranks as skill_ranks
from equipoise.truth.choosing.comparing import verdict as verdict
from equipoise.truth.choosing.models import Model as Model
from equipoise.truth.choosing.models import Settings as Settings
from equipoise.truth.choosing.models import companions as companions
from equipoise.truth.choosing.models import fitted as fitted
from equipoise.truth.choosing.models import model as model
from equipoise.truth.choosing.models import recommended as recommended
from equipoise.truth.choosing.models import suitable as suitable
