"""The earlier home of rows about annotators, now in `equipoise.run.recording`."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from equipoise.evaluation.truth import TaskTruth
from equipoise.run.recording import annotator_rows as typed_rows


def annotator_rows(truths: Sequence[TaskTruth], names: Sequence[str]) -> list[dict[str, Any]]:
    """Rows about annotators as plain dicts."""
    return [
        {key: value for key, value in asdict(row).items() if value is not None}
        for row in typed_rows(truths, names)
    ]
