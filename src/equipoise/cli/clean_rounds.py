"""equipoise clean rounds: find all groups of near duplicates with few questions to people."""

from pathlib import Path

import typer

from equipoise.clean.encoders import choose_encoder
from equipoise.clean.reading import read_collection
from equipoise.clean.rounds import (
    UNDECIDED,
    DuplicateRounds,
    Judging,
    group_rows,
    pair_rows,
    read_pair_votes,
)
from equipoise.clean.rounds_record import check_start, finding, load, save
from equipoise.cli.clean_scan import EMBEDDINGS, USUAL_ENCODER, check_outside
from equipoise.cli.command import verb
from equipoise.cli.options import Options
from equipoise.cli.results import check_target
from equipoise.cli.screen import note, output, print_json, progress, say
from equipoise.read.writing import check_ground, write_text
from equipoise.report.terminal import show as show_report
from equipoise.report.text import as_csv
from equipoise.types import InputError, Option, Report, count, hint
from equipoise.types import as_json as report_json

PAIRS = "pairs.csv"

rounds = typer.Typer(
    help="Find all groups of near duplicates with about one question per item.\n\n"
    "`start` asks of every item whether its nearest neighbour is a near duplicate; people "
    "answer; `next` joins what they confirmed and asks every group that grew about its nearest "
    "other; and so on until nothing is confirmed. `show` says where it stands.",
    no_args_is_help=True,
    rich_markup_mode="markdown",
)


@rounds.command("start", no_args_is_help=True)
@verb(
    *("source", "out", "encoder", "cache"),
    *("votes_needed", "patience", "judge", "yes_threshold", "undecided"),
    arguments=("source",),
    required=("source", "out"),
    rare=("cache",),
    texts={
        "out": "New folder for the rounds.",
        "encoder": "What makes embeddings of images: `default` (works offline), a file that "
        "ends in .onnx, or `timm:NAME`.",
        "cache": "Folder that keeps embeddings of images. Default: one in --out.",
    },
)
def start(options: Options) -> None:
    """Open the first round: every item and its nearest neighbour, as pairs.csv.

    Example: equipoise clean rounds start images --out rounds

    Example: equipoise clean rounds start features.npz --out rounds --votes 3
    """
    source, out = options.source, options.out
    assert source is not None and out is not None
    check_ground(out, f"--out {out}")
    check_start(out)
    check_outside(out, source, "name another folder")
    encoder = choose_encoder(options.encoder or USUAL_ENCODER)
    cache = options.cache or out / EMBEDDINGS
    with progress("reading and embedding") as tell:
        data = read_collection(source, encoder=encoder, cache=cache, progress=tell)
    note(data.notices)
    judging = Judging(
        model=options.judge,
        threshold=options.yes_threshold,
        votes=options.votes_needed,
        undecided=UNDECIDED[UNDECIDED.index(options.undecided)],
    )
    with progress("nearest neighbours") as tell:
        state = DuplicateRounds.start(
            data, judging=judging, patience=options.patience, progress=tell
        )
    _hand_out(state, out)


@rounds.command("next", no_args_is_help=True)
@verb(*("folder", "answers", "as_json"), arguments=("folder",), required=("folder",))
def next_round(options: Options) -> None:
    """Take answers in, and write the pairs that are to be judged next to DIR/pairs.csv.

    A round stays open until every pair has its votes. Votes that are known already change
    nothing, so one file can grow with the rounds.

    Example: equipoise clean rounds next rounds --answers votes.csv
    """
    folder = options.folder
    assert folder is not None
    state = load(folder)
    answers = [state.without_unasked(read_pair_votes(path)) for path in options.answers or ()]
    note([notice for _, notices in answers for notice in notices])
    state = state.answered([vote for votes, _ in answers for vote in votes])
    _keep_labels(state, folder)
    _hand_out(state, folder, as_json=options.as_json)


@rounds.command("show", no_args_is_help=True)
@verb(
    *("folder", "out", "as_json"),
    arguments=("folder",),
    required=("folder",),
    texts={"out": "Write the groups as CSV: group, size, item."},
)
def show(options: Options) -> None:
    """Where the rounds stand: what was asked, which groups were found, and at what cost.

    Example: equipoise clean rounds show rounds --out groups.csv
    """
    out = options.out
    check_target("--out", out, (".csv",))
    assert options.folder is not None
    state = load(options.folder)
    if out is not None:
        rows = group_rows(state)
        write_text(out, as_csv(rows) if rows else "group,size,item\n")
        say(f"Wrote {out} ({count(len(rows))} items in {count(len(state.groups))} groups)")
    _show(state, as_json=options.as_json)


def _keep_labels(state: DuplicateRounds, folder: Path) -> None:
    """Refuse to write over labels that somebody filled in and nobody handed over."""
    path = folder / PAIRS
    filled = read_pair_votes(path) if path.exists() else []
    if not state.contains(filled):
        raise InputError(
            f"{path}",
            f"{count(len(filled))} labels that are no answers yet",
            "no label that would be lost",
            hint("give it with {}, or move it away", Option("answers", str(path))),
        )


def _hand_out(state: DuplicateRounds, folder: Path, *, as_json: bool = False) -> None:
    """Write the state with the pairs that need votes, and say where the rounds stand."""
    path, rows = folder / PAIRS, pair_rows(state)
    save(state, folder, {} if state.finished else {PAIRS: as_csv(rows)})
    if state.finished:
        path.unlink(missing_ok=True)
    else:
        say(
            f"Wrote {path} ({count(len(rows))} pairs): fill in `label` with yes, no or unsure, "
            f"then equipoise clean rounds next {folder} --answers {path}"
        )
    _show(state, as_json=as_json)


def _show(state: DuplicateRounds, *, as_json: bool) -> None:

    shown = finding(state)
    note(shown.notices)
    report = Report(title=shown.title, findings=(shown,))
    if not as_json:
        show_report(output(), report)
        if state.finished:
            output().print("Finished: nothing is left to ask.")
        return
    print_json(
        {
            "finished": state.finished,
            "round": len(state.rounds),
            "missing": len(state.missing),
            "groups": [list(group) for group in state.groups],
            **report_json(report),
        }
    )
