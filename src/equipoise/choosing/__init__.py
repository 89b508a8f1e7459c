"""Choosing: which aggregation models fit the annotations, and how far they can be trusted.

`suitable`, `recommended` and `companions` name models, `model` sets one up with `Settings`,
`fitted` fits several. `held_out` scores them on votes they have not seen, `disagreement`,
`decisions`, `contested` and `skill_ranks` show where they differ, `cautions` says what makes
the annotations hard to aggregate, and `remarks` what kind, prior and threshold do to them.
"""

from equipoise.choosing.cautions import cautions as cautions
from equipoise.choosing.cautions import refuse_too_many_classes as refuse_too_many_classes
from equipoise.choosing.cautions import remarks as remarks
from equipoise.choosing.comparing import Decisions as Decisions
from equipoise.choosing.comparing import SkillRanks as SkillRanks
from equipoise.choosing.comparing import contested as contested
from equipoise.choosing.comparing import decisions as decisions
from equipoise.choosing.comparing import differ as differ
from equipoise.choosing.comparing import disagreement as disagreement
from equipoise.choosing.comparing import held_out as held_out
from equipoise.choosing.comparing import skill_ranks as skill_ranks
from equipoise.choosing.comparing import verdict as verdict
from equipoise.choosing.models import Model as Model
from equipoise.choosing.models import Settings as Settings
from equipoise.choosing.models import companions as companions
from equipoise.choosing.models import fitted as fitted
from equipoise.choosing.models import model as model
from equipoise.choosing.models import recommended as recommended
from equipoise.choosing.models import suitable as suitable
