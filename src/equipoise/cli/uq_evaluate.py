"""equipoise uq evaluate: judge the uncertainty of models that were trained elsewhere."""

from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from equipoise.cli._results import input_facts, present
from equipoise.cli._screen import progress
from equipoise.cli.options import (
    FILES,
    UNCERTAINTY,
    Level,
    OutputOptions,
    check_choice,
    command,
    panel,
)
from equipoise.types.arrays import InputError

if TYPE_CHECKING:
    from equipoise.uq.evaluate import UncertaintyEvaluation
    from equipoise.uq.predictions import Files, UncertaintyStudy

MARK = "uncertainty.json"
_file = panel(
    FILES,
    ood="What the same methods say of other images (out of distribution): a file each, named "
    "as that of its predictions; repeat for several. Not needed where files hold both.",
)
_score = panel(
    "Scores",
    image="How one score per image is made of those of its labels: `mean`, `max` or `sum`.",
    decomposition="`information` (entropy of the mean less mean entropy), or `reverse_mi`.",
    binning="Bins of calibration: equally wide (`width`) or equally full (`mass`).",
)
_uncertainty = panel(UNCERTAINTY, seed="Seed of the noise that gives the null of correlations.")


@dataclass(frozen=True, slots=True, kw_only=True)
class _SavedFiles:
    """Files of predictions, the labels last; or the folder that holds them."""

    files: Annotated[
        list[Path],
        typer.Argument(
            help="Files of predictions (.npz, one per method), then the file of labels; or the "
            "folder of a benchmark."
        ),
    ]
    ood: Annotated[list[Path] | None, _file("ood")] = None

    def found(self) -> "Files":
        """The files by what they are, all of which exist."""
        from equipoise.uq.predictions import Files, find_files

        if len(self.files) == 1 and self.files[0].is_dir():
            return find_files(self.files[0])
        if len(self.files) < 2:
            do = "give predictions first, and the file of labels last"
            raise InputError(str(self.files[0]), "one file", "predictions and labels", do)
        made = Files(self.files[:-1], self.files[-1], self.ood or ())
        for path in (*made.runs, made.labels, *made.ood):
            if not path.is_file():
                do = "check its name"
                raise InputError(str(path), "no such file", "an .npz file", do)
        return made


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreOptions:
    """How scores are made and judged."""

    image: Annotated[str, _score("image")] = "mean"
    decomposition: Annotated[str, _score("decomposition")] = "information"
    binning: Annotated[str, _score("binning")] = "width"
    level: Level = 0.95
    seed: Annotated[int, _uncertainty("seed", min=0)] = 0

    def __post_init__(self) -> None:
        """Refuse unknown words."""
        from equipoise.uq.decomposition import DECOMPOSITIONS, IMAGE_LEVEL
        from equipoise.uq.tasks import BINNING

        check_choice("image", self.image, tuple(IMAGE_LEVEL))
        check_choice("decomposition", self.decomposition, DECOMPOSITIONS)
        check_choice("binning", self.binning, BINNING)

    def study(self, files: "Files") -> "UncertaintyStudy":
        """What files say, decomposed."""
        from equipoise.uq.predictions import read_study

        return read_study(files, decomposition=self.decomposition, image=self.image)

    def evaluate(
        self, study: "UncertaintyStudy", tell: Callable[[int, int], None]
    ) -> "UncertaintyEvaluation":
        """Judge all scores, and tell how far that is."""
        from equipoise.uq.evaluate import UncertaintyOptions, evaluate_study

        return evaluate_study(study, UncertaintyOptions(**asdict(self), progress=tell))


@command(heavy="maps")
def evaluate(saved: _SavedFiles, asked: ScoreOptions, output: OutputOptions) -> None:
    """Does a model's uncertainty flag bad images, ambiguous findings and its own mistakes?

    Takes predictions of any framework: arrays `probs` (members, items, classes) in one .npz
    file per method, whose name is the method, and `labels` (items, classes) with 1, 0, -1 for
    uncertain and nan for blank. `val_probs` and `val_labels` let it choose scores on validation
    images, `ood_probs` holds out-of-distribution images, `groups` the patient of each image.

    Example: equipoise uq evaluate ensemble.npz dropout.npz labels.npz --out uncertainty

    Example: equipoise uq evaluate benchmark/ --json
    """
    files = saved.found()
    output.check_folder(MARK, "report.html")
    with progress("reading") as tell:
        study = asked.study(files)
        tell(1, 1)
    with progress("uncertainty") as tell:
        result = asked.evaluate(study, tell)
    inputs = {"predictions": files.runs, "labels": [files.labels], "ood": files.ood}
    facts = {**input_facts(inputs), "rows": [row._asdict() for row in result.table()]}
    present(result.report(), output, MARK, facts)
