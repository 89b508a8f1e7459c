"""equipoise audit: how many positives lie where nobody looked."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from equipoise.arrays import InputError
from equipoise.cli._options import checked, words
from equipoise.cli._reading import (
    AtLeast,
    Classes,
    Columns,
    Kind,
    Layout,
    Positive,
    PredictionColumns,
    PredictionLayout,
    Repeats,
)
from equipoise.cli._screen import output, print_json, progress, say
from equipoise.cli._stability_options import (
    DOUBT,
    RESULT,
    AsJson,
    Level,
    Scores,
    Seed,
    Votes,
    in_options,
)

if TYPE_CHECKING:
    from equipoise.cli._audited import Audited

MARK = "audit.json"
NUMBERS = "What was audited"


def audit(
    file: Annotated[
        Path | None,
        typer.Argument(
            show_default=False,
            help="Labels of the audited items: item, label, and perhaps annotator and pool; a "
            "pair is an item with an id of its own. Or give numbers.",
        ),
    ] = None,
    found: Annotated[
        int | None,
        typer.Option(
            min=0,
            rich_help_panel=NUMBERS,
            help="Positives that the retrieval found. Default with `-a`: those by majority.",
        ),
    ] = None,
    size: Annotated[
        list[str] | None,
        typer.Option(
            rich_help_panel=NUMBERS,
            help="With FILE: how many items were left out, audited or not; `POOL=NUMBER` for "
            "each pool, or one number for every pool.",
        ),
    ] = None,
    audited: Annotated[
        int | None,
        typer.Option(min=1, rich_help_panel=NUMBERS, help="Items that were audited."),
    ] = None,
    positives: Annotated[
        int | None,
        typer.Option(min=0, rich_help_panel=NUMBERS, help="Positives among them."),
    ] = None,
    unaudited: Annotated[
        int | None,
        typer.Option(
            min=0, rich_help_panel=NUMBERS, help="Items that were left out and not audited."
        ),
    ] = None,
    pool: Annotated[
        list[str] | None,
        typer.Option(
            rich_help_panel=NUMBERS,
            help="One of several pools: `NAME,AUDITED,POSITIVES,SIZE`, where SIZE counts the "
            "audited ones too; repeat.",
        ),
    ] = None,
    infinite: Annotated[
        bool,
        typer.Option(
            "--infinite",
            rich_help_panel=DOUBT,
            help="Do not narrow intervals because pools are finite.",
        ),
    ] = False,
    annotations: Votes = None,
    predictions: Scores = None,
    metric: Annotated[
        str, typer.Option(rich_help_panel=RESULT, help="Metrics, comma-separated.")
    ] = "auroc",
    labels: Annotated[
        str,
        typer.Option(
            rich_help_panel=RESULT, help="`hard` (strict majority) or `soft` (mean vote)."
        ),
    ] = "hard",
    replicates: Annotated[
        int, typer.Option(min=1, rich_help_panel=DOUBT, help="Number of resamples.")
    ] = 500,
    seed: Seed = 0,
    level: Level = 0.95,
    task: Annotated[
        str | None,
        typer.Option(rich_help_panel=NUMBERS, help="Which question, where there are several."),
    ] = None,
    kind: Kind = None,
    classes: Classes = None,
    positive: Positive = None,
    at_least: AtLeast = None,
    columns: Columns = None,
    prediction_columns: PredictionColumns = None,
    layout: Layout = "auto",
    prediction_layout: PredictionLayout = "auto",
    repeats: Repeats = "keep",
    out: Annotated[
        Path | None,
        typer.Option(
            rich_help_panel=RESULT,
            help="Folder for audit.json, tables (CSV, Markdown, LaTeX), figures (SVG), "
            "methods.md, references.bib and report.html.",
        ),
    ] = None,
    overwrite: Annotated[
        bool,
        typer.Option(
            "--overwrite", rich_help_panel=RESULT, help="Replace an earlier one there."
        ),
    ] = False,
    title: Annotated[
        str | None, typer.Option(rich_help_panel=RESULT, help="Heading of the page.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """How many positives did the retrieval of candidates miss?

    Some of the items that were left out are drawn at random and labelled: the share of
    positives among them, with Wilson's interval, says how many were missed. With `-a` and
    `-p` the models are scored again with the audited items, before and after, paired.

    Example: equipoise audit --found 120 --audited 150 --positives 3 --unaudited 4850

    Example: equipoise audit --found 4000 --pool pHash,150,0,5000 --pool ViT,150,26,5000

    Example: equipoise audit audited.csv --size pHash=5000 --size ViT=5000 -a votes.csv -p
    scores.csv --out audit
    """
    options = dict(locals())
    from equipoise.cli._audited import read_audit

    _check(options)
    if out is not None:
        from equipoise.run.text_folder import check_folder

        check_folder(out, (MARK, "report.html"), overwrite=overwrite)
    with in_options():
        with progress("reading") as tell:
            given = read_audit(options)
            tell(1, 1)
        facts = _facts(given, options)
    say(*(f"Note: {one}" for one in given.notices))
    if out is not None:
        _write(out, facts, options)
    if as_json:
        print_json(facts)
    else:
        from equipoise.cli._threshold_screen import show_audit

        show_audit(output(), facts)


def _check(options: dict[str, Any]) -> None:
    """Check words before anything is read."""
    from functools import partial

    from equipoise.arrays import choice
    from equipoise.coding.options import ANNOTATION_LAYOUTS, KINDS, PREDICTION_LAYOUTS, REPEATS
    from equipoise.metrics import named

    known = {
        "kind": KINDS,
        "layout": ANNOTATION_LAYOUTS,
        "prediction_layout": PREDICTION_LAYOUTS,
        "repeats": REPEATS,
        "labels": ("hard", "soft"),
    }
    for name, allowed in known.items():
        if options[name] is not None:
            flag = "--" + name.replace("_", "-")
            checked(flag, partial(choice, flag, known=allowed), options[name])
    if not words(options["metric"]):
        raise typer.BadParameter("got nothing, expected a metric", param_hint="--metric")
    for word in words(options["metric"]):
        checked("--metric", named, word)
    if options["predictions"] and (options["file"] is None or options["annotations"] is None):
        raise InputError(
            "--predictions", "models, but not both FILE and -a",
            "the audited items and the benchmark that the models were scored on",
            "add them, or leave the models out",
        )  # fmt: skip
    if options["annotations"] and options["found"] is not None and not options["predictions"]:
        raise typer.BadParameter(
            "got both --found and -a, expected one, because -a is only counted; or add -p",
            param_hint="--found",
        )


def _facts(given: "Audited", options: dict[str, Any]) -> dict[str, Any]:
    """Count what was missed and score the models again, under a bar."""
    from equipoise.run.audit import AuditHow, audit_facts

    with progress("audit") as tell:
        how = AuditHow(
            level=options["level"], finite=not options["infinite"],
            metrics=words(options["metric"]), labels=options["labels"],
            replicates=options["replicates"], seed=options["seed"], progress=tell,
        )  # fmt: skip
        facts = audit_facts(given.pools, given.found, given.benchmark, how)
    facts["notices"] = list(given.notices)
    return facts


def _write(folder: Path, facts: dict[str, Any], options: dict[str, Any]) -> None:
    """Make every text, then write the folder in one go."""
    from equipoise.cli._findings_folder import write_findings
    from equipoise.cli._inputs import spread
    from equipoise.export.audit_texts import audit_texts
    from equipoise.report.audit_page import audit_figures, render_audit
    from equipoise.report.findings_page import About
    from equipoise.run import hashed

    name = options["title"] or "What did the retrieval miss?"
    inputs = [
        row
        for role, paths in (
            ("audited", [options["file"]] if options["file"] else []),
            ("annotations", [options["annotations"]] if options["annotations"] else []),
            ("predictions", spread(options["predictions"] or [])),
        )
        for row in hashed(role, paths)
    ]
    with progress("page"):
        texts = audit_texts(facts)
        texts |= {f"figures/{k}.svg": text for k, text in audit_figures(facts).items()}
        texts["report.html"] = render_audit(facts, About(name))
    write_findings(folder, MARK, texts, {"title": name, "inputs": inputs, **facts})
