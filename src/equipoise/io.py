"""Files in and out: `read_annotations`, `read_predictions`, `write_annotations`.

`stream_votes` and `stream_ratings` take files that are larger than memory.

Delimited text, Parquet, JSON, NumPy arrays, exports of Label Studio, and our own Parquet, which
comes back exactly as written. `equipoise.read` has one file for each.
"""

from equipoise.read.annotations import read_annotations
from equipoise.read.parquet import write_annotations
from equipoise.read.plausibilities import read_plausibilities, write_plausibilities
from equipoise.read.predictions import read_predictions
from equipoise.read.streaming import stream_ratings, stream_votes

__all__ = [
    "read_annotations",
    "read_plausibilities",
    "read_predictions",
    "stream_ratings",
    "stream_votes",
    "write_annotations",
    "write_plausibilities",
]
