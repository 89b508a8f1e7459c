"""equipoise stability: does the ranking survive other items, annotators, votes and choices?"""

from pathlib import Path
from typing import Annotated, Any

import typer

from equipoise.cli._dataset import Dataset
from equipoise.cli._notices import told_in_options
from equipoise.cli._options import check_choices, checked, flag, words
from equipoise.cli._reading import (
    FILES,
    AtLeast,
    Classes,
    Columns,
    Exchangeable,
    Kind,
    Layout,
    OnMissing,
    Positive,
    PredictionColumns,
    PredictionLayout,
    Repeats,
)
from equipoise.cli._screen import output, print_json, progress, say
from equipoise.cli._stability_legends import LEGENDS
from equipoise.cli._stability_options import (
    DOUBT,
    RESULT,
    AsJson,
    Given,
    Level,
    Metrics,
    Most,
    Overwrite,
    Replicates,
    Scores,
    Seed,
    Title,
    Votes,
    check,
    given,
    in_options,
)

MARK = "stability.json"
NAMES = tuple(LEGENDS)


def stability(
    run: Annotated[
        Path | None,
        typer.Argument(
            show_default=False,
            help="Folder that `equipoise evaluate --out` wrote; its files are looked for "
            "where they lay, beside it, in it and here. Or give -a and -p, or --dataset.",
        ),
    ] = None,
    annotations: Votes = None,
    predictions: Scores = None,
    dataset: Dataset = None,
    attributes: Annotated[
        Path | None,
        typer.Option(
            rich_help_panel=FILES,
            help="What is known of the items: a table with `item` and a column for each of "
            "sex, age, site, ...; adds subgroups.",
        ),
    ] = None,
    metric: Metrics = None,
    labels: Annotated[
        str,
        typer.Option(
            rich_help_panel=RESULT,
            help="`soft` (mean vote) or `hard` (strict majority) for analyses that take one.",
        ),
    ] = "soft",
    only: Annotated[
        str | None,
        typer.Option(
            rich_help_panel=RESULT,
            help=f"Analyses, comma-separated: {', '.join(f'`{one}`' for one in NAMES)}. "
            "Default: all that the data allow.",
        ),
    ] = None,
    sign_test: Annotated[
        bool,
        typer.Option(
            "--sign-test",
            rich_help_panel=DOUBT,
            help="Add the published sign test on replicates; the output says why it is no "
            "evidence.",
        ),
    ] = False,
    most: Most = 50,
    replicates: Replicates = 1000,
    seed: Seed = 0,
    level: Level = 0.95,
    kind: Kind = None,
    classes: Classes = None,
    positive: Positive = None,
    at_least: AtLeast = None,
    exchangeable: Exchangeable = False,
    columns: Columns = None,
    prediction_columns: PredictionColumns = None,
    layout: Layout = "auto",
    prediction_layout: PredictionLayout = "auto",
    repeats: Repeats = "keep",
    on_missing: OnMissing = "error",
    out: Annotated[
        Path | None,
        typer.Option(
            rich_help_panel=RESULT,
            help="Folder for stability.json, tables (CSV, Markdown, LaTeX), figures (SVG), "
            "methods.md, references.bib and report.html.",
        ),
    ] = None,
    overwrite: Overwrite = False,
    title: Title = None,
    as_json: AsJson = False,
) -> None:
    """Does the ranking survive other items, other annotators, other votes, other choices?

    Draws the data anew in every way they allow, leaves annotators out, looks for the fewest
    items or votes that would put the second model first, sets the models among the experts, and
    repeats the evaluation under other aggregation models. What the data do not allow is said.

    Example: equipoise stability -a votes.csv -p scores.csv --out stability

    Example: equipoise stability run --only ranking,flips

    Example: equipoise stability --dataset chexpert --out stability
    """
    options = dict(locals())
    _usage(options)
    if out is not None:
        from equipoise.run.text_folder import check_folder

        check_folder(out, (MARK, "report.html"), overwrite=overwrite)
    with in_options(), progress("reading") as tell:
        study = given(run, options)
        tell(1, 1)
    facts = _facts(study, options)
    say(*(f"Note: {one}" for one in facts["notices"]))
    if out is not None:
        _write(out, facts, study, title or f"How stable is the ranking? ({study.name})")
    if as_json:
        print_json(facts)
    else:
        from equipoise.cli._stability_screen import show

        show(output(), facts)


def _usage(options: dict[str, Any]) -> None:
    """Check words before anything is read."""
    from functools import partial

    from equipoise.arrays import choice

    check(options)
    check_choices(options, {"labels": ("hard", "soft")})
    asked = words(options["only"])
    if options["only"] is not None and not asked:
        message = f"got {options['only']!r}, expected analyses, for example ranking,flips"
        raise typer.BadParameter(message, param_hint="--only")
    for name in asked:
        checked("--only", partial(choice, "--only", known=NAMES), name)
    for option, name in (("sign_test", "ranking"), ("attributes", "subgroups")):
        if options[option] and asked and name not in asked:
            raise typer.BadParameter(
                f"belongs to {name}, which --only leaves out", param_hint=flag(option)
            )


def _facts(study: Given, options: dict[str, Any]) -> dict[str, Any]:
    """Everything that was asked, under a bar."""
    from equipoise.analyses.subgroups import read_attributes
    from equipoise.run.stability import StabilityHow, stability_facts

    path = options["attributes"]
    names = ("labels", "replicates", "seed", "level", "sign_test", "most")
    with in_options(), progress("analyses") as tell:
        how = StabilityHow(
            metrics=study.metrics,
            on_missing=study.on_missing,
            only=words(options["only"]),
            attributes=None if path is None else read_attributes(path),
            progress=tell,
            **{name: options[name] for name in names},
        )
        facts = stability_facts(study.predictions, study.annotations, how)
    facts["notices"] = [*study.notices, *study.annotations.notices, *facts["notices"]]
    return told_in_options(facts)


def _write(folder: Path, facts: dict[str, Any], study: Given, title: str) -> None:
    """Make every text, then write the folder in one go."""
    from equipoise.cli._findings_folder import write_findings
    from equipoise.export import stability_texts
    from equipoise.report.stability_page import StabilityPage, figures, render_stability

    inputs, source = list(study.inputs), dict(study.dataset)
    names = source.get("title") or ", ".join(one["name"] for one in inputs)
    about = StabilityPage(title, f"From {names}.")
    with progress("page"):
        texts = stability_texts({"dataset": source, **facts})
        texts |= {f"figures/{name}.svg": text for name, text in figures(facts).items()}
        texts["report.html"] = render_stability(facts, about)
    known = {"title": title, **({"dataset": source} if source else {}), "inputs": inputs}
    write_findings(folder, MARK, texts, {**known, **facts})
