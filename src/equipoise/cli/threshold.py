"""equipoise threshold: where experts draw the line between negative and positive."""

from pathlib import Path
from typing import Annotated, Any

import typer

from equipoise.arrays import InputError
from equipoise.cli._chances import (
    ITEMS,
    File,
    Model,
    Task,
    Truth,
    check_truth,
    read_chances,
)
from equipoise.cli._inputs import spread
from equipoise.cli._options import check_choices, check_metrics, refuse, words
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
from equipoise.cli._stability_options import (
    DOUBT,
    RESULT,
    AsJson,
    Level,
    Overwrite,
    Seed,
    Title,
    in_options,
)
from equipoise.cli._task_models import read_models
from equipoise.cli.threshold_plan import Bins, PerBin

MARK = "threshold.json"
RULE = "How the threshold is set"
OF_MODELS = ("metric", "prediction_columns", "prediction_layout", "on_missing")


def threshold(
    file: File,
    experts: Annotated[
        list[Path],
        typer.Option(
            rich_help_panel=FILES,
            help="What the experts said: one file of votes (item, annotator, label), or a "
            "filled-in plan of each expert; repeat for several.",
        ),
    ],
    predictions: Annotated[
        list[Path] | None,
        typer.Option(
            "--predictions",
            "-p",
            rich_help_panel=FILES,
            help="Models to score against the labels of each threshold.",
        ),
    ] = None,
    truth: Truth = None,
    reliability: Annotated[
        float | None,
        typer.Option(rich_help_panel=ITEMS, help="As for `threshold-plan`."),
    ] = None,
    model: Model = None,
    task: Task = None,
    plan: Annotated[
        Path | None,
        typer.Option(
            rich_help_panel=ITEMS,
            help="The key that `threshold-plan` wrote (plan.key.json), or the plan beside it: "
            "supplies `--truth`, `--task`, `--bins` and all else that the plan was made with.",
        ),
    ] = None,
    bins: Bins = None,
    per_bin: PerBin = None,
    rule: Annotated[
        str,
        typer.Option(
            rich_help_panel=RULE,
            help="`rise`: mean probability of the first bin from which on positives are more "
            "frequent than below; `isotonic`: where a rising fit reaches `--share`.",
        ),
    ] = "rise",
    margin: Annotated[
        float | None,
        typer.Option(
            rich_help_panel=RULE,
            help="By how much more than below; of `rise`. Default: 0.1.",
            min=0,
            max=1,
        ),
    ] = None,
    share: Annotated[
        float | None,
        typer.Option(
            rich_help_panel=RULE,
            help="Share of positives to reach; of `isotonic`. Default: 0.5.",
            min=0,
            max=1,
        ),
    ] = None,
    reach: Annotated[
        float,
        typer.Option(
            rich_help_panel=RESULT, help="How far the threshold is moved.", min=0.001, max=0.999
        ),
    ] = 0.15,
    metric: Annotated[
        str | None,
        typer.Option(
            rich_help_panel=RESULT,
            help="Metrics of the models, comma-separated, the most important first. "
            "Default: auroc.",
        ),
    ] = None,
    redraw: Annotated[
        str,
        typer.Option(
            rich_help_panel=DOUBT,
            help="What is drawn anew for the interval of the threshold: `experts x items` "
            "(within their bins), `experts` alone, as published, or `items` alone.",
        ),
    ] = "experts x items",
    replicates: Annotated[
        int, typer.Option(min=1, rich_help_panel=DOUBT, help="Number of resamples.")
    ] = 1000,
    seed: Seed = 0,
    level: Level = 0.95,
    kind: Kind = None,
    classes: Classes = None,
    positive: Positive = None,
    at_least: AtLeast = None,
    exchangeable: Exchangeable = False,
    columns: Columns = None,
    expert_columns: Annotated[
        str | None,
        typer.Option(rich_help_panel=FILES, help="Other names in the experts' files."),
    ] = None,
    prediction_columns: PredictionColumns = None,
    layout: Layout = "auto",
    prediction_layout: PredictionLayout = "auto",
    repeats: Repeats = "keep",
    on_missing: OnMissing = "error",
    out: Annotated[
        Path | None,
        typer.Option(
            rich_help_panel=RESULT,
            help="Folder for threshold.json, tables (CSV, Markdown, LaTeX), figures (SVG), "
            "methods.md, references.bib and report.html.",
        ),
    ] = None,
    overwrite: Overwrite = False,
    title: Title = None,
    as_json: AsJson = False,
) -> None:
    """From which probability on do experts call an item positive, and how sure is that?

    Takes the items of `equipoise threshold-plan` back in, labels each by the majority of the
    experts, sets the threshold, and redraws experts and items for its interval. Says how many
    items become positive and, with `-p`, what models are worth as the threshold moves. Give
    FILE as for the plan, and the key of the plan, or repeat its options (`--truth`, `--bins`,
    `--per-bin`, `--seed`).

    Example: equipoise threshold votes.csv --plan plan.key.json --experts a.csv --experts b.csv
    --experts c.csv --out threshold

    Example: equipoise threshold scores.csv --model resnet --experts panel.csv --rule isotonic
    -p detectors
    """
    from equipoise.cli._plan_key import with_key

    options = with_key(dict(locals()))
    _check(options)
    if out is not None:
        from equipoise.run.text_folder import check_folder

        check_folder(out, (MARK, "report.html"), overwrite=overwrite)
    with in_options():
        facts = _facts(options)
    notices = (*facts["notices"], *facts.get("sweep", {}).get("notices", ()))
    say(*(f"Note: {one}" for one in dict.fromkeys(notices)))
    if out is not None:
        _write(out, facts, options)
    if as_json:
        print_json(facts)
    else:
        from equipoise.cli._threshold_screen import show_threshold

        show_threshold(output(), facts)


def _check(options: dict[str, Any]) -> None:
    """Check words before anything is read."""
    from equipoise.analyses.thresholds import REDRAW, RULES
    from equipoise.evaluation.alignment import ON_MISSING
    from equipoise.read.options import PREDICTION_LAYOUTS

    check_truth(options)
    known = {
        "rule": RULES,
        "redraw": tuple(REDRAW),
        "on_missing": ON_MISSING,
        "prediction_layout": PREDICTION_LAYOUTS,
    }
    check_choices(options, known)
    other = {"rise": "share", "isotonic": "margin"}[options["rule"]]
    if options[other] is not None:
        raise typer.BadParameter(
            f"does not belong to --rule {options['rule']}; leave it out",
            param_hint=f"--{other}",
        )
    check_metrics(options["metric"])
    if not options["predictions"]:
        refuse(options, OF_MODELS, "belongs to models; add -p, or leave it out")


def _facts(options: dict[str, Any]) -> dict[str, Any]:
    """Read everything and set the threshold, under a bar."""
    from equipoise.analyses.thresholds import Rule, sampling_plan
    from equipoise.cli._expert_votes import read_experts
    from equipoise.cli._plan_key import check_key
    from equipoise.run.thresholds import ThresholdHow, threshold_facts

    names = ("margin", "share", "redraw", "replicates", "seed", "level")
    given = {name: options[name] for name in names if options[name] is not None}
    rule = Rule(options["rule"], **given)
    with progress("reading") as tell:
        found = read_chances(options["file"], options)
        size = (options["bins"], options["per_bin"], options["sample_seed"])
        sample = sampling_plan(found.chances.values, found.chances.items, *size)
        check_key(options, sample)
        told = options | {"task": options["task"] or found.task}
        votes = read_experts(options["experts"], told, sample)
        _refuse_one(votes.annotators, options)
        models = read_models(options, told["task"])
        tell(1, 1)
    with progress("threshold") as tell:
        how = ThresholdHow(
            rule=rule, reach=options["reach"], metrics=words(options["metric"]) or ["auroc"],
            on_missing=options["on_missing"], progress=tell,
        )  # fmt: skip
        facts = threshold_facts(found.chances, sample, votes, models, how)
    facts["notices"] = [*found.notices, *votes.notices, *facts["notices"]]
    return facts


def _refuse_one(experts: tuple[str, ...] | None, options: dict[str, Any]) -> None:
    """Refuse to redraw a single expert, or experts without names."""
    if not options["redraw"].startswith("experts") or len(experts or ()) > 1:
        return
    got = "1 expert" if experts else "votes without annotators"
    raise InputError(
        "--experts", got, "two or more experts with names, to be drawn anew",
        "add their files, or say --redraw items",
    )  # fmt: skip


def _write(folder: Path, facts: dict[str, Any], options: dict[str, Any]) -> None:
    """Make every text, then write the folder in one go."""
    from equipoise.cli._findings_folder import write_findings
    from equipoise.export.threshold_texts import threshold_texts
    from equipoise.report.findings_page import About
    from equipoise.report.threshold_page import render_threshold, threshold_figures
    from equipoise.run import hashed

    name = options["title"] or f"{options['file'].stem}: from where on is an item positive?"
    inputs = [*hashed("items", [options["file"]]), *hashed("experts", options["experts"])]
    if options["plan"] is not None:
        inputs += hashed("plan", [options["plan"]])
    inputs += hashed("predictions", spread(options["predictions"] or []))
    with progress("page"):
        texts = threshold_texts(facts)
        texts |= {f"figures/{k}.svg": text for k, text in threshold_figures(facts).items()}
        texts["report.html"] = render_threshold(facts, About(name))
    write_findings(folder, MARK, texts, {"title": name, "inputs": inputs, **facts})
