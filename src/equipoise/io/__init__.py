"""Files in and out: `read_annotations`, `read_predictions`, `write_annotations`.

One file per format: delimited text, Parquet, JSON, NumPy arrays, exports of Label Studio,
and our own Parquet, which comes back exactly as written.
"""

from equipoise.io.annotations import read_annotations
from equipoise.io.plausibilities import read_plausibilities, write_plausibilities
from equipoise.io.predictions import read_predictions
from equipoise.io.stored import write_annotations

__all__ = [
    "read_annotations",
    "read_plausibilities",
    "read_predictions",
    "write_annotations",
    "write_plausibilities",
]
