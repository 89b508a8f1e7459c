"""Gold in a run: models and annotators against adjudicated gold, where items have some."""

from collections.abc import Sequence
from dataclasses import replace

from equipoise.analyses.gold import Gold, gold
from equipoise.annotations import Annotations
from equipoise.arrays import InputError
from equipoise.evaluation import Settings
from equipoise.findings import Finding
from equipoise.predictions import Predictions
from equipoise.run.folder import Run
from equipoise.run.record import RunRecord

MOST = 1000  # resamples: enough for the spread of a share


def with_gold(run: Run, predictions: Sequence[Predictions], annotations: Annotations) -> Run:
    """Add models and annotators against gold to a run whose annotations have both."""
    if annotations.is_gold is None or not annotations.is_gold.any():
        return run
    how, question = run.record.settings, run.record.question
    settings = Settings(level=how.level, on_missing=question.on_missing)
    try:
        found = gold(
            predictions, annotations, replicates=MOST, seed=how.seed, settings=settings
        )
    except InputError as error:
        why = f"Annotators are not scored against gold: {error.got}."
        return Run(replace(run.record, notices=(*run.record.notices, why)), run.replicates)
    return Run(replace(run.record, gold=found.scores, gold_gains=found.gains), run.replicates)


def gold_findings(record: RunRecord) -> tuple[Finding, ...]:
    """What a run says of models and annotators against gold; nothing where it has none."""
    if not record.gold or not record.gold_gains:
        return ()
    known = Gold(scores=record.gold, gains=record.gold_gains, level=record.settings.level)
    return (known.report(),)
