"""equipoise clean rounds: find all groups of near duplicates with few questions to people."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from equipoise.cli._screen import note, output, print_json, progress, say
from equipoise.cli.clean_scan import EMBEDDINGS, check_outside
from equipoise.cli.options import FILES, RESULT, AsJson, check_choice, command, panel
from equipoise.cli.targets import check_folder, check_target
from equipoise.types.arrays import InputError
from equipoise.types.numbers import count
from equipoise.types.words import Option, hint

if TYPE_CHECKING:
    from equipoise.clean.rounds import DuplicateRounds, Judging

PAIRS = "pairs.csv"
_file = panel(
    FILES,
    out="New folder for the rounds.",
    encoder="What makes embeddings of images: `default` (works offline), a file that ends in "
    ".onnx, or `timm:NAME`.",
    cache="Folder that keeps embeddings of images. Default: one in --out.",
    answers="Votes on the pairs: pair (or item, or first and second), annotator, label (`yes`, "
    "`no` or `unsure`); or pairs.csv, filled in; or what the page of `equipoise clean scan` "
    "hands out, of which other tasks and pairs that were not asked are passed over. Repeat for "
    "several.",
)
_judged = panel(
    "How votes become answers",
    votes="Votes that a pair needs.",
    patience="How often in a row a cluster is refused before it stops asking. 1 is enough if "
    "near duplicates are closer than all else; more finds more where they are not.",
    model="How several votes become one answer: `majority_vote`, `mean_vote`, `dirichlet`, "
    "`dawid_skene` or `glad`.",
    threshold="Probability of yes that must be exceeded.",
    undecided="Tied pairs count as `no` or `yes`, or need `more` votes.",
)
_result = panel(RESULT, out="Write the groups as CSV: group, size, item.")

Folder = Annotated[
    Path, typer.Argument(metavar="DIR", help="Folder that `rounds start` wrote.")
]


@dataclass(frozen=True, slots=True, kw_only=True)
class _RoundsInput:
    """What is looked through, and where the rounds go."""

    source: Annotated[
        Path,
        typer.Argument(
            metavar="FEATURES_OR_FOLDER",
            help="A file of embeddings (.npz, .npy, .parquet, .csv), or a folder of images.",
        ),
    ]
    out: Annotated[Path, _file("out")]
    encoder: Annotated[str, _file("encoder")] = "default"
    cache: Annotated[Path | None, _file("cache", hidden=True)] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class _JudgingOptions:
    """How votes become answers, and when clusters stop asking."""

    votes: Annotated[int, _judged("votes", min=1)] = 1
    patience: Annotated[int, _judged("patience", min=1)] = 1
    model: Annotated[str, _judged("model", hidden=True)] = "majority_vote"
    threshold: Annotated[float, _judged("threshold", min=0.001, max=0.999, hidden=True)] = 0.5
    undecided: Annotated[str, _judged("undecided", hidden=True)] = "no"

    def __post_init__(self) -> None:
        """Refuse unknown words."""
        from equipoise.clean.rounds import JUDGES, UNDECIDED

        check_choice("model", self.model, JUDGES)
        check_choice("undecided", self.undecided, UNDECIDED)

    def judging(self) -> "Judging":
        """As the library has it."""
        from equipoise.clean.rounds import UNDECIDED, Judging

        return Judging(
            model=self.model,
            threshold=self.threshold,
            votes=self.votes,
            undecided=UNDECIDED[UNDECIDED.index(self.undecided)],
        )


rounds = typer.Typer(
    help="Find all groups of near duplicates with about one question per item.\n\n"
    "`start` asks of every item whether its nearest neighbour is a near duplicate; people "
    "answer; `next` joins what they confirmed and asks every group that grew about its nearest "
    "other; and so on until nothing is confirmed. `show` says where it stands.",
    no_args_is_help=True,
    rich_markup_mode="markdown",
)


@rounds.command("start", no_args_is_help=True)
@command
def start(given: _RoundsInput, judged: _JudgingOptions) -> None:
    """Open the first round: every item and its nearest neighbour, as pairs.csv.

    Example: equipoise clean rounds start images --out rounds

    Example: equipoise clean rounds start features.npz --out rounds --votes 3
    """
    from equipoise.clean.encoders import choose_encoder
    from equipoise.clean.reading import read_collection
    from equipoise.clean.rounds import DuplicateRounds
    from equipoise.clean.rounds_record import check_start

    check_folder("--out", given.out)
    check_start(given.out)
    check_outside(given.out, given.source, "name another folder")
    encoder = choose_encoder(given.encoder)
    cache = given.cache or given.out / EMBEDDINGS
    with progress("reading and embedding") as tell:
        reading = read_collection(given.source, encoder=encoder, cache=cache, progress=tell)
    note(reading.notices)
    with progress("nearest neighbours") as tell:
        state = DuplicateRounds.start(
            reading.collection,
            judging=judged.judging(),
            patience=judged.patience,
            progress=tell,
        )
    state.save(given.out)
    _hand_out(state, given.out)


@rounds.command("next", no_args_is_help=True)
@command
def next_round(
    folder: Folder,
    answers: Annotated[list[Path] | None, _file("answers")] = None,
    *,
    as_json: AsJson = False,
) -> None:
    """Take answers in, and write the pairs that are to be judged next to DIR/pairs.csv.

    A round stays open until every pair has its votes. Votes that are known already change
    nothing, so one file can grow with the rounds.

    Example: equipoise clean rounds next rounds --answers votes.csv
    """
    from equipoise.clean.rounds import DuplicateRounds, read_pair_votes

    state = DuplicateRounds.load(folder)
    given = [state.asked(read_pair_votes(path)) for path in answers or ()]
    note([said for _, notices in given for said in notices])
    state = state.answered([vote for votes, _ in given for vote in votes])
    _keep_labels(state, folder)
    state.save(folder)
    _hand_out(state, folder, as_json=as_json)


@rounds.command("show", no_args_is_help=True)
@command
def show(
    folder: Folder,
    out: Annotated[Path | None, _result("out")] = None,
    *,
    as_json: AsJson = False,
) -> None:
    """Where the rounds stand: what was asked, which groups were found, and at what cost.

    Example: equipoise clean rounds show rounds --out groups.csv
    """
    from equipoise.clean.rounds import DuplicateRounds, group_rows
    from equipoise.read.writing import write_text
    from equipoise.report.text import as_csv

    check_target("--out", out, (".csv",))
    state = DuplicateRounds.load(folder)
    if out is not None:
        rows = group_rows(state)
        write_text(out, as_csv(rows) if rows else "group,size,item\n")
        say(f"Wrote {out} ({count(len(rows))} items in {count(len(state.groups))} groups)")
    _show(state, as_json=as_json)


def _keep_labels(state: "DuplicateRounds", folder: Path) -> None:
    """Refuse to write over labels that somebody filled in and nobody handed over."""
    from equipoise.clean.rounds import read_pair_votes

    path = folder / PAIRS
    filled = read_pair_votes(path) if path.exists() else []
    if not state.knows(filled):
        raise InputError(
            f"{path}",
            f"{count(len(filled))} labels that are no answers yet",
            "no label that would be lost",
            hint("give it with {}, or move it away", Option("answers", str(path))),
        )


def _hand_out(state: "DuplicateRounds", folder: Path, *, as_json: bool = False) -> None:
    """Write the pairs that need votes, and say where the rounds stand."""
    from equipoise.clean.rounds import pair_rows
    from equipoise.read.writing import write_text
    from equipoise.report.text import as_csv

    path = folder / PAIRS
    if state.finished:
        path.unlink(missing_ok=True)
    else:
        rows = pair_rows(state)
        write_text(path, as_csv(rows))
        say(
            f"Wrote {path} ({count(len(rows))} pairs): fill in `label` with yes, no or unsure, "
            f"then equipoise clean rounds next {folder} --answers {path}"
        )
    _show(state, as_json=as_json)


def _show(state: "DuplicateRounds", *, as_json: bool) -> None:
    from equipoise.report.terminal import show as show_report
    from equipoise.types.findings import Report
    from equipoise.types.findings.record import as_json as report_json

    finding = state.report()
    note(finding.notices)
    report = Report(title=finding.title, findings=(finding,))
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
