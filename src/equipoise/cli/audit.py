"""equipoise audit: how many positives lie where nobody looked."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from equipoise.arrays import InputError
from equipoise.cli._options import check_choices, check_metrics, refuse, words
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
    Overwrite,
    Scores,
    Seed,
    Title,
    Votes,
    in_options,
)

if TYPE_CHECKING:
    from equipoise.cli._audited import Audited

MARK = "audit.json"
NUMBERS = "What was audited"
OF_MODELS = ("metric", "labels", "replicates", "prediction_columns", "prediction_layout")
OF_FILES = ("task", "kind", "classes", "positive", "at_least", "columns", "layout", "repeats")


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
        str | None,
        typer.Option(
            rich_help_panel=RESULT,
            help="Metrics of the models, comma-separated. Default: auroc.",
        ),
    ] = None,
    labels: Annotated[
        str | None,
        typer.Option(
            rich_help_panel=RESULT,
            help="Labels to score models against: `hard` (strict majority) or `soft` (mean "
            "vote). Default: hard.",
        ),
    ] = None,
    replicates: Annotated[
        int | None,
        typer.Option(
            min=1, rich_help_panel=DOUBT, help="Resamples of the models. Default: 500."
        ),
    ] = None,
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
    overwrite: Overwrite = False,
    title: Title = None,
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
    say(*(f"Note: {one}" for one in facts["notices"]))
    if out is not None:
        _write(out, facts, options)
    if as_json:
        print_json(facts)
    else:
        from equipoise.cli._threshold_screen import show_audit

        show_audit(output(), facts)


def _check(options: dict[str, Any]) -> None:
    """Check words before anything is read."""
    from equipoise.read.options import ANNOTATION_LAYOUTS, KINDS, PREDICTION_LAYOUTS, REPEATS

    known: dict[str, tuple[str, ...]] = {
        "kind": KINDS,
        "layout": ANNOTATION_LAYOUTS,
        "prediction_layout": PREDICTION_LAYOUTS,
        "repeats": REPEATS,
        "labels": ("hard", "soft"),
    }
    check_choices(options, known)
    check_metrics(options["metric"])
    if not options["predictions"]:
        refuse(options, OF_MODELS, "belongs to models; add -p, or leave it out")
    if options["file"] is None and options["annotations"] is None:
        refuse(options, OF_FILES, "belongs to files; add FILE or -a, or leave it out")
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

    told = {name: options[name] for name in ("labels", "replicates") if options[name]}
    with progress("audit") as tell:
        how = AuditHow(
            level=options["level"], finite=not options["infinite"], seed=options["seed"],
            metrics=words(options["metric"]) or ["auroc"], progress=tell, **told,
        )  # fmt: skip
        facts = audit_facts(given.pools, given.found, given.benchmark, how)
    facts["notices"] = [*given.notices, *facts["notices"]]
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
