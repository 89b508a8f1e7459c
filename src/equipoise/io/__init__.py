"""Files in and out: `read_annotations`, `read_predictions`, `write_annotations`.

`stream_votes` and `stream_ratings` take files that are larger than memory.

One file per format: delimited text, Parquet, JSON, NumPy arrays, exports of Label Studio,
and our own Parquet, which comes back exactly as written.
"""

from equipoise.io.annotations import read_annotations
from equipoise.io.plausibilities import read_plausibilities, write_plausibilities
from equipoise.io.predictions import read_predictions
from equipoise.io.stored import write_annotations
from equipoise.io.streamed import stream_ratings, stream_votes

__all__ = [
    "read_annotations",
    "read_plausibilities",
    "read_predictions",
    "stream_ratings",
    "stream_votes",
    "write_annotations",
    "write_plausibilities",
]
