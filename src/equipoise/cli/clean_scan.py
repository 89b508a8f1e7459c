"""equipoise clean scan: ranked lists of what to look at in a folder of images."""

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from os.path import realpath
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from equipoise.cli._screen import note, output, print_json, progress, say
from equipoise.cli.options import (
    FILES,
    RESULT,
    AsJson,
    Seed,
    check_choice,
    command,
    panel,
    words,
)
from equipoise.types.arrays import InputError

if TYPE_CHECKING:
    from equipoise.clean.detector import Detector, Progress
    from equipoise.clean.encoders import Encoder
    from equipoise.clean.reading import CollectionRead
    from equipoise.clean.scan_findings import ScanRecord
    from equipoise.clean.scanning import Scan

WAYS = ("embedded", "beside", "none")
LINES, LEAST_ROWS = 40, 2  # of a screen, and of a list on it
ENCODER = {"default": "EfficientNet-Lite0"}
EMBEDDINGS = "embeddings"  # folder of the cache in the folder of results
_file = panel(
    FILES,
    labels="Table of `item, label` and perhaps `split`, or `folders`: the name of the "
    "sub-folder is the label. Without labels no wrong ones are looked for.",
    split="Which part of the data, such as train and test, each image belongs to: a table of "
    "`item, split`, or `folders`. Duplicates between parts are leakage.",
)
_seen = panel(
    "How images are seen",
    encoder="What makes embeddings of images: `default` (EfficientNet-Lite0, works offline), "
    "`lite2`, `lite0:224`, a file that ends in .onnx, `timm:NAME` or `pixels`.",
    cache="Folder that keeps embeddings, by what images hold, so that the next scan is quick "
    "and an interrupted one goes on. Default: a folder in --out; without --out none is kept.",
)
_looked = panel(
    "What is looked for",
    detectors="Comma-separated, at most one per kind of problem; one of your own as "
    "`path.py:Class`. Default: SelfClean's three.",
    cut="Cut each list automatically: say which lie beyond.",
    alpha="Share of the scores that the cut fits.",
    q="Share of false alarms that the cut allows.",
    most="Lines of each list; all beyond the cut are in it.",
    turned="Count copies that are turned or mirrored as duplicates; every image is then "
    "embedded eight times.",
    no_check="Plant no problems to see how the rankings would do.",
)
_result = panel(
    RESULT,
    thumbnails="Pictures on the page: `embedded` in it, in a folder `beside` it, or `none`.",
    out="Folder for the page, the lists (CSV), scan.json, methods.md and references.bib.",
    overwrite="Replace an earlier scan there.",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class _ScanInput:
    """What is looked through, and how images are seen."""

    source: Annotated[
        Path,
        typer.Argument(
            metavar="FOLDER_OR_FEATURES",
            help="A folder of images, or a file of embeddings (.npz, .npy, .parquet, .csv).",
        ),
    ]
    labels: Annotated[Path | None, _file("labels")] = None
    split: Annotated[Path | None, _file("split")] = None
    encoder: Annotated[str, _seen("encoder")] = "default"
    cache: Annotated[Path | None, _seen("cache")] = None

    def kept(self, out: Path | None) -> Path | None:
        """Where embeddings are kept: the cache, or a folder in that of results."""
        return self.cache or (out / EMBEDDINGS if out is not None else None)


@dataclass(frozen=True, slots=True, kw_only=True)
class _ScanChoices:
    """What is looked for."""

    detectors: Annotated[str | None, _looked("detectors")] = None
    cut: Annotated[bool, _looked("cut", "--cut")] = False
    most: Annotated[int, _looked("most", min=1)] = 1000
    turned: Annotated[bool, _looked("turned", "--turned")] = False
    no_check: Annotated[bool, _looked("no_check", "--no-check")] = False
    alpha: Annotated[float, _looked("alpha", min=0.0001, max=0.5, hidden=True)] = 0.01
    q: Annotated[float, _looked("q", min=0.0001, max=1, hidden=True)] = 0.05
    seed: Seed = 0

    def chosen(self) -> "tuple[Detector, ...]":
        """The detectors that were named."""
        from equipoise.clean.detector import choose
        from equipoise.clean.detectors import DETECTORS

        return choose(words(self.detectors), DETECTORS)


@dataclass(frozen=True, slots=True, kw_only=True)
class _ScanOutput:
    """Where results go."""

    thumbnails: Annotated[str, _result("thumbnails")] = "embedded"
    out: Annotated[Path | None, _result("out")] = None
    overwrite: Annotated[bool, _result("overwrite", "--overwrite")] = False
    as_json: AsJson = False

    def __post_init__(self) -> None:
        """Refuse unknown words."""
        check_choice("thumbnails", self.thumbnails, WAYS)

    def check(self, source: Path) -> None:
        """Refuse a folder that cannot be written, or would be looked through itself."""
        from equipoise.clean.scan_findings import MARK
        from equipoise.read.writing import check_folder

        if self.out is None:
            return
        check_folder(self.out, (MARK, "report.html"), overwrite=self.overwrite)
        do = "its pictures would be taken for images of yours; name another folder"
        check_outside(self.out, source, do)


def check_outside(out: Path, source: Path, do: str) -> None:
    """Refuse a folder for results that would be looked through itself."""
    here, there = (Path(realpath(one)) for one in (out, source))  # of loops, too
    if here == there or (there.is_dir() and here.is_relative_to(there)):
        raise InputError(
            f"--out {out}",
            "inside the folder that is looked through",
            "a folder elsewhere",
            do,
        )


@command
def scan(given: _ScanInput, choices: _ScanChoices, result: _ScanOutput) -> None:
    """What should be looked at in these images before training on them?

    Ranks images that do not belong, pairs that are there twice and labels that are wrong, each
    with the most suspicious first. With `--out` there is a page with pictures to judge with the
    keyboard: y problem, n fine, u undo; it keeps your marks and hands them out as votes.csv.
    How good the lists are by your votes says equipoise evaluate -a votes.csv -p
    scan/scores.csv --set on_missing=drop

    Example: equipoise clean scan images --labels labels.csv --out scan

    Example: equipoise clean scan features.npz --cut --json
    """
    from equipoise.clean.scanning import ScanPlan
    from equipoise.clean.scanning import scan as look_through

    result.check(given.source)
    named = choices.chosen()
    reading, encoder = _read(given, result.out)
    how = ScanPlan(
        detectors=named, most=choices.most, cut=choices.cut, alpha=choices.alpha, q=choices.q,
        check=not choices.no_check, seed=choices.seed, encoder=encoder, turned=choices.turned,
        encoder_name=given.encoder, cache=given.kept(result.out),
    )  # fmt: skip
    with _Steps() as steps:
        found = look_through(reading.collection, how, steps)
    record, thumbnails = _recorded(found, reading, given, choices, result)
    note((*reading.notices, *found.notices))
    files: list[str] = []
    if result.out is not None:
        with progress("writing"):
            files = record.save(result.out, thumbnails)
    if result.as_json:
        print_json(record.as_json())
    else:
        _show(record, files=_said(result.out, files))


class _Steps(ExitStack):
    """A bar with the time left for one step after another."""

    def __call__(self, name: str) -> "Progress":
        self.close()
        return self.enter_context(progress(name))


def _said(out: Path | None, files: Sequence[str]) -> list[str]:
    if out is None:
        return []
    lists = [one for one in files if "/" not in one and one.endswith(".csv")]
    return [f"{out / 'report.html'}", f"lists: {', '.join(lists)}"]


def _read(given: _ScanInput, out: Path | None) -> "tuple[CollectionRead, Encoder | None]":
    """Read images or embeddings, labels and parts; the encoder where there are images."""
    from equipoise.clean.encoders import choose_encoder
    from equipoise.clean.reading import FOLDERS, read_collection, read_parts

    encoder = choose_encoder(given.encoder)
    by_folder = str(given.split) == FOLDERS
    with progress("reading and embedding") as tell:
        reading = read_collection(
            given.source, labels=given.labels, split="folders" if by_folder else None,
            encoder=encoder, cache=given.kept(out), progress=tell,
        )  # fmt: skip
    data = reading.collection
    if given.split is not None and not by_folder:
        data = replace(data, split=read_parts(given.split, data.items))
    return replace(reading, collection=data), encoder if data.images is not None else None


def _recorded(
    found: "Scan",
    reading: "CollectionRead",
    given: _ScanInput,
    choices: _ScanChoices,
    result: _ScanOutput,
) -> "tuple[ScanRecord, dict[str, bytes]]":
    """The record of a scan, and the pictures that lie beside its page."""
    from equipoise.clean.scan_findings import ScanRecord, pictures

    known: dict[str, str] = {}
    thumbnails: dict[str, bytes] = {}
    if result.out is not None and result.thumbnails != "none":
        with progress("pictures"):
            beside = result.thumbnails == "beside"
            known, thumbnails = pictures(reading.collection, found, beside=beside)
    record = ScanRecord(
        scan=found,
        name=given.source.name or str(given.source),
        rejected=tuple((one.where, f"{one.got}; {one.do}") for one in reading.rejected),
        pictures=known,
        settings=_settings(reading, given, choices),
        notices=reading.notices,
    )
    return record, thumbnails


def _settings(
    reading: "CollectionRead", given: _ScanInput, choices: _ScanChoices
) -> tuple[tuple[str, str], ...]:
    seen = (
        [("encoder", ENCODER.get(given.encoder, given.encoder))]
        if reading.collection.images is not None
        else []
    )
    cut = [("alpha", f"{choices.alpha:g}"), ("q", f"{choices.q:g}")] if choices.cut else []
    return (
        ("looked through", given.source.name),
        *seen,
        *((name, path.name) for name in ("labels", "split")
          if (path := getattr(given, name)) is not None),
        ("detectors", choices.detectors or "usual"),
        ("most", str(choices.most)),
        *cut,
        ("seed", str(choices.seed)),
    )  # fmt: skip


def _show(record: "ScanRecord", files: Sequence[str]) -> None:
    """The answer, the first lines of each list, and where the rest is, in forty lines."""
    from rich.text import Text

    from equipoise.clean.collection import TASKS
    from equipoise.report.terminal import answer_lines, fact_lines, list_lines

    console, report = output(), record.report
    lines = list(answer_lines(report, console.width))
    for part in report.findings:
        if part.left_out:
            lines += fact_lines("Not done", f"{part.title}: {part.sentence}", console.width)
    lists = [(one.title, one.tables[0]) for one in report.findings
             if one.key in TASKS and one.tables and one.tables[0].brief]  # fmt: skip
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
