"""Dermatology differential diagnoses: 1,947 cases, 9,602 partial rankings of 419 conditions.

Each case was read by one to several dermatologists, who named conditions in order, ties
allowed; who they were is not published. Every condition has a fixed level of risk.
"""

import json

from equipoise.datasets._store import Dataset, File, Source, fetched
from equipoise.types import Annotations, Grouping, Nouns, immutable

RISKS = ("low", "medium", "high")

_REPOSITORY = (
    "https://raw.githubusercontent.com/google-deepmind/uncertain_ground_truth/"
    "98349d8fefc5b45f0a2fa5f28fed98ded4225368/data/"
)
_HASHES = {
    "dermatology_conditions.txt": (
        "54552e734d025c17de2df2a030583a10f356b8ffc73ad9cbadd2219da31ff035"
    ),
    "dermatology_risks.txt": "9fa83c4c7311da5bbd91bfa0b552ef47a80bb22daca93ff13aa9e4b681f22b3a",
    "dermatology_selectors.json": (
        "0e267eaa92ec005bdfc19cb7a9d8f3227c2a515d380088003f77db80d4c73050"
    ),
}


@immutable(eq=False)
class DermatologyDataset(Dataset):
    """A data set whose classes have levels of risk.

    Attributes
    ----------
    risk
        Level of risk of every condition: low, medium, high.
    """

    risk: Grouping


def load_dermatology_ddx() -> DermatologyDataset:
    """Load the differential diagnoses; cases are numbered as in the source."""
    folder = fetched(SOURCE)
    names, levels, cases = (folder / path for path in _HASHES)
    conditions = names.read_text(encoding="utf-8").splitlines()
    risks = [RISKS[int(level)] for level in levels.read_text(encoding="ascii").split()]
    annotations = Annotations.from_rankings(
        json.loads(cases.read_text(encoding="ascii")), classes=conditions
    )
    grouping = Grouping.of(dict(zip(conditions, risks, strict=True)), groups=RISKS)
    return DermatologyDataset(annotations, (), SOURCE, grouping)


SOURCE = Source(
    name="dermatology_ddx",
    title="1,947 skin cases, 9,602 differential diagnoses as partial rankings, 419 conditions",
    files={path: File(_REPOSITORY + path, sha) for path, sha in _HASHES.items()},
    licence="CC BY 4.0",
    citation="Stutz et al. (2025), Evaluating medical AI systems in dermatology under "
    "uncertain ground truth; Stutz et al. (2023), Conformal prediction under ambiguous "
    "ground truth",
    load=load_dermatology_ddx,
    references=("stutz2025", "stutz2023"),
    nouns=Nouns("case", "dermatologist"),
)
