"""Files in and out: `read_annotations`, `read_predictions`, `write_annotations`.

`read_study` and `write_study` hold both sides of a study in one file, exactly as they are.
`stream_votes` and `stream_ratings` take files that are larger than memory.

Delimited text, Parquet, JSON, NumPy arrays, exports of Label Studio, and our own Parquet, which
comes back exactly as written. `equipoise.read` has one file for each.
"""

from equipoise.read.annotations import read_annotations as read_annotations
from equipoise.read.canonical import is_canonical as is_canonical
from equipoise.read.canonical import read_study as read_study
from equipoise.read.canonical import write_study as write_study
from equipoise.read.parquet import write_annotations as write_annotations
from equipoise.read.plausibilities import read_plausibilities as read_plausibilities
from equipoise.read.plausibilities import write_plausibilities as write_plausibilities
from equipoise.read.predictions import read_predictions as read_predictions
from equipoise.read.streaming import stream_ratings as stream_ratings
from equipoise.read.streaming import stream_votes as stream_votes
