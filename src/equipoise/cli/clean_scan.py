"""equipoise clean scan: ranked lists of what to look at in a folder of images."""

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import replace
from os.path import realpath
from pathlib import Path

from rich.text import Text

from equipoise.clean.collection import TASKS, Collection
from equipoise.clean.detector import choose
from equipoise.clean.detectors import DETECTORS
from equipoise.clean.encoders import Encoder, choose_encoder
from equipoise.clean.reading import FOLDERS, read_collection, read_parts
from equipoise.clean.scan_findings import MARK, pictures, save_scan, scan_json, scan_report
from equipoise.clean.scanning import Scan, ScanPlan
from equipoise.clean.scanning import scan as look_through
from equipoise.cli.command import verb
from equipoise.cli.options import Options, words
from equipoise.cli.results import check_report_folder
from equipoise.cli.screen import note, output, print_json, progress, say
from equipoise.report.terminal import answer_lines, fact_lines, list_lines
from equipoise.types import InputError, Pairs, Progress

LINES, LEAST_ROWS = 40, 2  # of a screen, and of a list on it
USUAL_ENCODER = "default"
ENCODER = {"default": "EfficientNet-Lite0"}
EMBEDDINGS = "embeddings"  # folder of the cache in the folder of results


def check_outside(out: Path, source: Path, do: str) -> None:
    """Refuse a folder for results that would be looked through itself."""
    here, there = (Path(realpath(path)) for path in (out, source))  # of loops, too
    if here == there or (there.is_dir() and here.is_relative_to(there)):
        raise InputError(
            f"--out {out}",
            "inside the folder that is looked through",
            "a folder elsewhere",
            do,
        )


@verb(
    *("source", "label_table", "split", "encoder", "cache", "detectors", "cut", "longest"),
    *("no_check", "cut_alpha", "q", "seed", "thumbnails", "out", "overwrite", "as_json"),
    arguments=("source",),
    required=("source",),
    texts={
        "label_table": "Table of `item, label` and perhaps `split`, or `folders`: the name of "
        "the sub-folder is the label. Without labels no wrong ones are looked for.",
        "out": "Folder for the page, the lists (CSV), scan.json, methods.md and "
        "references.bib.",
        "overwrite": "Replace an earlier scan there.",
    },
)
def scan(options: Options) -> None:
    """What should be looked at in these images before training on them?

    Ranks images that do not belong, pairs that are there twice and labels that are wrong, each
    with the most suspicious first. With `--out` there is a page with pictures to judge with the
    keyboard: y problem, n fine, u undo; it keeps your marks and hands them out as votes.csv.
    How good the lists are by your votes says equipoise evaluate -a votes.csv -p
    scan/scores.csv --on-missing drop

    Example: equipoise clean scan images --labels labels.csv --out scan

    Example: equipoise clean scan features.npz --cut --json
    """
    _check_out(options)
    detectors = choose(words(options.detectors), DETECTORS)
    data, encoder = _read(options)
    how = ScanPlan(
        detectors=detectors,
        most=options.longest,
        cut=options.cut,
        alpha=options.cut_alpha,
        q=options.q,
        check=not options.no_check,
        seed=options.seed,
        encoder=encoder,
    )
    with _Steps() as steps:
        scanned = look_through(data, how, steps)
    scanned = _with_origin(scanned, data, options)
    note(scanned.notices)
    files: list[str] = []
    if options.out is not None:
        with progress("writing"):
            files = save_scan(scanned, options.out)
    if options.as_json:
        print_json(scan_json(scanned))
    else:
        _show(scanned, files=_said(options.out, files))


def _check_out(options: Options) -> None:
    """Refuse a folder that cannot be written, or would be looked through itself."""
    check_report_folder(options, MARK)
    if options.out is not None and options.source is not None:
        do = "its pictures would be taken for images of yours; name another folder"
        check_outside(options.out, options.source, do)


class _Steps(ExitStack):
    """A bar with the time left for one step after another."""

    def __call__(self, name: str) -> Progress:
        self.close()
        return self.enter_context(progress(name))


def _said(out: Path | None, files: Sequence[str]) -> list[str]:
    if out is None:
        return []
    lists = [name for name in files if "/" not in name and name.endswith(".csv")]
    return [f"{out / 'report.html'}", f"lists: {', '.join(lists)}"]


def _read(options: Options) -> tuple[Collection, Encoder | None]:
    """Read images or embeddings, labels and parts; the encoder where there are images."""
    encoder = choose_encoder(options.encoder or USUAL_ENCODER)
    by_folder = str(options.split) == FOLDERS
    assert options.source is not None
    beside = options.out / EMBEDDINGS if options.out is not None else None
    with progress("reading and embedding") as tell:
        data = read_collection(
            options.source, labels=options.label_table, split="folders" if by_folder else None,
            encoder=encoder, cache=options.cache or beside, progress=tell,
        )  # fmt: skip
    if options.split is not None and not by_folder:
        data = replace(data, split=read_parts(options.split, data.items))
    return data, encoder if data.images is not None else None


def _with_origin(scanned: Scan, data: Collection, options: Options) -> Scan:
    """A scan with where it comes from, and the pictures of its page."""
    assert options.source is not None
    shown: dict[str, str] = {}
    if options.out is not None and options.thumbnails != "none":
        with progress("pictures"):
            shown = pictures(data, scanned)
    return replace(
        scanned,
        name=options.source.name or str(options.source),
        rejected=tuple(
            (refusal.where, f"{refusal.got}; {refusal.do}") for refusal in data.rejected
        ),
        pictures=shown,
        settings=_settings(data, options),
        notices=(*data.notices, *scanned.notices),
    )


def _settings(data: Collection, options: Options) -> Pairs:
    """What the page says of how the scan was made."""
    assert options.source is not None
    encoder = options.encoder or USUAL_ENCODER
    images = data.images is not None
    tables = (("labels", options.label_table), ("split", options.split))
    return (
        ("looked through", options.source.name),
        *([("encoder", ENCODER.get(encoder, encoder))] if images else []),
        *((name, path.name) for name, path in tables if path is not None),
        ("detectors", options.detectors or "usual"),
        ("most", str(options.longest)),
        *(
            [("alpha", f"{options.cut_alpha:g}"), ("q", f"{options.q:g}")]
            if options.cut
            else []
        ),
        ("seed", str(options.seed)),
    )


def _show(scanned: Scan, files: Sequence[str]) -> None:
    """The answer, the first lines of each list, and where the rest is, in forty lines."""
    console, report = output(), scan_report(scanned)
    lines = list(answer_lines(report, console.width))
    for part in report.findings:
        if part.left_out:
            lines += fact_lines("Not done", f"{part.title}: {part.sentence}", console.width)
    lists = [
        (finding.title, finding.tables[0])
        for finding in report.findings
        if finding.key in TASKS and finding.tables and finding.tables[0].brief
    ]
    room = (LINES - 2 - len(lines)) // max(len(lists), 1) - 3
    for title, table in lists:
        first = replace(table, brief=(table.brief or ())[: max(LEAST_ROWS, room)])
        lines += [Text(""), Text(f"  {title}", style="bold"), *list_lines(first, console.width)]
    for line in lines:
        console.print(line, soft_wrap=True)
    if files:
        console.print(Text(f"\n  {'   '.join(files)}", style="dim"), soft_wrap=True)
    else:
        say("With --out FOLDER there is a page with the pictures to judge, and every line.")
