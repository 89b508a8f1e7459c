"""How the two files are read: options that every verb that reads them has, said once."""

from typing import Annotated

import typer

FILES, MEANING = "Files", "What the labels mean"

Kind = Annotated[
    str | None,
    typer.Option(
        rich_help_panel=MEANING,
        help="`binary`, `nominal`, `ordinal`, `interval`, `ranking`; inferred if left out.",
    ),
]
Classes = Annotated[
    str | None,
    typer.Option(
        rich_help_panel=MEANING,
        help="All classes, comma-separated, or a .txt file with one per line; grades lowest "
        "first.",
    ),
]
Positive = Annotated[
    str | None,
    typer.Option(rich_help_panel=MEANING, help="Ask about one class: is it this one?"),
]
AtLeast = Annotated[
    str | None,
    typer.Option(rich_help_panel=MEANING, help="Grades or ratings: is it at least this?"),
]
Exchangeable = Annotated[
    bool,
    typer.Option(
        "--exchangeable",
        rich_help_panel=MEANING,
        help="Annotator names are arbitrary slots, not persons.",
    ),
]
Columns = Annotated[
    str | None,
    typer.Option(
        rich_help_panel=FILES,
        help="Other names in the annotations, OURS=THEIRS: `item=Study,group=patient`.",
    ),
]
PredictionColumns = Annotated[
    str | None, typer.Option(rich_help_panel=FILES, help="The same for the predictions.")
]
Layout = Annotated[
    str,
    typer.Option(
        rich_help_panel=FILES,
        help="Annotations: `auto`, `tidy`, `wide`, `counts`, `rankings`, `label-studio`.",
    ),
]
PredictionLayout = Annotated[
    str,
    typer.Option(rich_help_panel=FILES, help="`auto`, `long`, `wide`, `classes`, `tasks`."),
]
Repeats = Annotated[
    str,
    typer.Option(
        rich_help_panel=FILES,
        help="Several votes of one annotator on one item: `keep`, `last` or `error`.",
    ),
]
OnMissing = Annotated[
    str,
    typer.Option(
        rich_help_panel=FILES,
        help="Items that only one side has: `error`, or `drop` and say so.",
    ),
]
