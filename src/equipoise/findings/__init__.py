"""Finding: what an analysis says, as data that every surface renders.

A finding is a sentence, tables, charts, how it was done and what it rests on, made by the
analysis next to its numbers. The terminal (`screen`), text files (`text`), the methods with
their references (`methods`), JSON (`json`) and the page (`equipoise.page`) are renderings of
it; none of them knows which analysis a finding came from. A `Report` is what one command has to
say: findings in their order, and what the reader needs to know about all of them.
"""

from equipoise.findings.charts import (
    Band,
    Bar,
    Case,
    Cases,
    Chart,
    Dot,
    Dots,
    Heat,
    Histogram,
    Line,
    Lines,
    Matrix,
    Point,
    Scatter,
    Slopes,
)
from equipoise.findings.record import (
    Cell,
    Column,
    Finding,
    Kind,
    Report,
    Row,
    Table,
    cell,
    columns,
    largest_by,
    left_out,
    rows_of,
)

__all__ = [
    "Band",
    "Bar",
    "Case",
    "Cases",
    "Cell",
    "Chart",
    "Column",
    "Dot",
    "Dots",
    "Finding",
    "Heat",
    "Histogram",
    "Kind",
    "Line",
    "Lines",
    "Matrix",
    "Point",
    "Report",
    "Row",
    "Scatter",
    "Slopes",
    "Table",
    "cell",
    "columns",
    "largest_by",
    "left_out",
    "rows_of",
]
