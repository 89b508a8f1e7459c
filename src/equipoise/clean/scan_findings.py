"""What a scan says: the answer, a list with pictures per kind of problem, and the check.

Its folder: ``scan.json``, the lists as CSV, the page, and pictures beside it.

Nothing in it depends on when or where it was made. ``scan.json`` is written last, so a folder
that has one is whole.
"""

import base64
import hashlib
import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib.metadata import version
from pathlib import Path

from equipoise.clean.collection import TITLES, Collection, Task
from equipoise.clean.detectors import DETECTORS
from equipoise.clean.pairs import Leak, pair_name
from equipoise.clean.scanning import (
    NEIGHBOURS,
    Planted,
    Scan,
    Suspicion,
    TaskScan,
    is_duplicate,
)
from equipoise.read import codec
from equipoise.read.files import content, read_json
from equipoise.read.writing import write_folder
from equipoise.report.page import report_files
from equipoise.report.text import as_csv
from equipoise.types.arrays import InputError
from equipoise.types.findings import (
    Card,
    Column,
    Finding,
    Gallery,
    Picture,
    Report,
    Row,
    Suspect,
    Table,
)
from equipoise.types.findings.record import JsonValue, as_json
from equipoise.types.notices import Notice
from equipoise.types.numbers import count, estimate, percent
from equipoise.types.words import capital, counted, joined

SHOWN = 60  # suspects with pictures
FIRST = 5  # rows of a list in a terminal
SIZE, HALF = 160, 120  # pixels of a picture alone, and of one of a pair
ROOM = 2_000_000  # bytes of all pictures inside a page
SHRINKING = (1.0, 0.75, 0.5)  # until they fit
THUMBNAILS = "thumbnails"
MARK = "scan.json"
SCHEMA = 2
AGAIN = "run equipoise clean scan again"
NAV: Mapping[Task, str] = {
    "off_topic": "Off-topic",
    "near_duplicates": "Duplicates",
    "label_errors": "Labels",
}
QUESTIONS: Mapping[Task, str] = {
    "off_topic": "Which images do not belong?",
    "near_duplicates": "Which images are there twice?",
    "label_errors": "Which labels are wrong?",
}
ASKED: Mapping[Task, tuple[str, str, str]] = {
    "off_topic": ("Does it not belong?", "off-topic", "belongs"),
    "near_duplicates": ("The same twice?", "duplicate", "different"),
    "label_errors": ("Is the label wrong?", "wrong", "right"),
}
NOUNS: Mapping[Task, str] = {
    "off_topic": "off-topic image",
    "near_duplicates": "pair of near duplicates",
    "label_errors": "wrong label",
}
SEEM: Mapping[Task, tuple[str, str, str]] = {  # noun, one, several
    "off_topic": ("", "seems off-topic", "seem off-topic"),
    "near_duplicates": ("pair", "seems to be duplicates", "seem to be duplicates"),
    "label_errors": ("label", "seems wrong", "seem wrong"),
}
PLANTED: Mapping[Task, tuple[str, str]] = {
    "off_topic": ("planted foreign image", "image"),
    "near_duplicates": ("planted copy", "pair"),
    "label_errors": ("changed label", "image"),
}
EVALUATED = "equipoise evaluate -a votes.csv -p scores.csv --on-missing drop"
JUDGED = (
    "Your eyes: judge the first of each list on the page (y problem, n fine) and download the "
    f"votes; {EVALUATED} says how good the lists are (scores.csv is beside the page)."
)
LEAKS = (
    "Parts of the data share images: a test on one part would flatter a model that learnt from "
    "the other."
)
EASIER = (
    "Problems were planted by a program into a copy of the data, without what lies beyond the "
    "cut. Planted problems are often easier than real ones, and of other kinds; what else is "
    "wrong in the data counts against the ranking. So read the numbers as a test of whether "
    "the rankings work on images like these, not as the share of real problems that they find."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ScanRecord:
    """Everything one scan found, and where it comes from.

    Attributes
    ----------
    scan
        What was found.
    name
        What was looked through, as it was typed.
    rejected
        Files that could not be used, and why.
    pictures
        A picture of each item that is shown: its address, see `pictures`.
    settings
        What was asked: name and value.
    notices
        What the reader should know of how it was read.
    command
        What was typed.
    equipoise, schema
        The version that wrote it, and the form in which.
    """

    scan: Scan
    name: str
    rejected: tuple[tuple[str, str], ...] = ()
    pictures: Mapping[str, str] = field(default_factory=dict)
    settings: tuple[tuple[str, str], ...] = ()
    notices: tuple[Notice, ...] = ()
    command: str = ""
    equipoise: str = ""
    schema: int = SCHEMA

    @property
    def report(self) -> Report:
        """What is said of it."""
        return scan_report(self)

    def with_pictures_inside(self, folder: Path) -> "ScanRecord":
        """The same with the pictures of a folder in place of the ways to them."""
        known = {
            name: address((folder / way).read_bytes())
            if way.startswith(f"{THUMBNAILS}/") and (folder / way).is_file()
            else way
            for name, way in self.pictures.items()
        }
        return replace(self, pictures=known)

    def as_json(self) -> dict[str, JsonValue]:
        """The answer, every line of every list, and each finding."""
        report = self.report
        return {
            "answer": "" if report.card is None else str(report.card.answer),
            **as_json(report),
            "rows": [row for task in self.scan.tasks for row in rows(task)],
        }

    def save(self, folder: Path, thumbnails: Mapping[str, bytes] | None = None) -> list[str]:
        """Write the folder; returns the names of its files."""
        files: dict[str, str | bytes] = {**report_files(self.report), **(thumbnails or {})}
        for task in self.scan.tasks:
            own = [{k: v for k, v in row.items() if k != "task"} for row in rows(task)]
            files[f"{task.task}.csv"] = as_csv(own)
        files["scores.csv"] = as_csv(scores(self.scan))
        held = {**codec.encode(replace(self, equipoise=version("equipoise")))}
        held["files"] = sorted([*files, MARK])
        text = json.dumps(codec.sealed(held), indent=1, ensure_ascii=False, allow_nan=False)
        files[MARK] = text + "\n"
        write_folder(folder, files, mark=MARK)
        return sorted(files)


# ---- pictures ------------------------------------------------------------------------------


def pictures(
    data: Collection, scan: Scan, *, beside: bool
) -> tuple[dict[str, str], dict[str, bytes]]:
    """Pictures of the items that are shown: their addresses, and files that lie beside."""
    from equipoise.clean.images import thumbnail

    addresses: dict[str, str] = {}
    files: dict[str, bytes] = {}
    if data.images is None:
        return addresses, files
    place = {name: number for number, name in enumerate(data.items)}
    shown = _shown_items(scan)
    for share in SHRINKING:
        drawn = {name: thumbnail(data.images, place[name], round(share * size))
                 for name, size in shown.items()}  # fmt: skip
        if beside or sum(map(len, drawn.values())) <= ROOM:
            break
    for name, made in drawn.items():
        if beside:
            path = f"{THUMBNAILS}/{hashlib.sha256(made).hexdigest()[:16]}.jpg"
            files[path] = made
            addresses[name] = path
        else:
            addresses[name] = address(made)
    return addresses, files


def address(picture: bytes) -> str:
    """A JPEG as an address that holds it."""
    return f"data:image/jpeg;base64,{base64.b64encode(picture).decode()}"


def _shown_items(scan: Scan) -> dict[str, int]:
    """Items that are shown, and how large; the largest of several places."""
    sizes: dict[str, int] = {}
    for task in scan.tasks:
        for one in task.suspects[:SHOWN]:
            for name in one.items:
                sizes[name] = max(sizes.get(name, 0), SIZE if len(one.items) == 1 else HALF)
    return sizes


def _run_key(scan: Scan) -> str:
    """The key under which a browser keeps the marks: what the lists hold."""
    held = [
        [task.task, task.detector, [[*one.items, one.score] for one in task.suspects]]
        for task in scan.tasks
    ]
    return hashlib.sha256(json.dumps(held).encode()).hexdigest()[:16]


# ---- rows ----------------------------------------------------------------------------------


def rows(task: TaskScan) -> list[dict[str, str | float | int | bool | None]]:
    """Lines of a list as files and programs see them."""
    return [{"task": task.task, **_row(one)} for one in task.suspects]


def _row(one: Suspicion) -> dict[str, str | float | int | bool | None]:
    pair = len(one.items) == 2
    made: dict[str, str | float | int | bool | None] = {"rank": one.rank}
    names = ("first", "second") if pair else ("item",)
    made |= dict(zip(names, one.items, strict=True))
    made |= {"score": one.score, "cut": one.flagged}
    if one.labels:
        heads = ("first_label", "second_label") if pair else ("label",)
        made |= dict(zip(heads, one.labels, strict=True))
    if one.suggested:
        made["suggested"] = one.suggested
    if pair:
        made["group"] = one.group or None
    if one.parts:
        heads = ("first_part", "second_part") if pair else ("part",)
        made |= dict(zip(heads, one.parts, strict=True))
    return made


def scores(scan: Scan) -> list[dict[str, str | float]]:
    """Scores as predictions, so that votes on the lists can be evaluated against them."""
    return [
        {"item": _name(one), "model": "scan", "task": task.task, "score": one.score}
        for task in scan.tasks
        for one in task.suspects
    ]


def _name(one: Suspicion) -> str:
    return one.items[0] if len(one.items) == 1 else pair_name(*one.items)


# ---- the report ----------------------------------------------------------------------------


def scan_report(record: ScanRecord) -> Report:
    """Everything a scan says."""
    scan = record.scan
    key = _run_key(scan)
    findings = [_task_finding(one, record, key) for one in scan.tasks]
    findings += [*_leakage(scan), *_check(scan), *_rejected(record.rejected)]
    findings += [
        Finding(key=one.task, title=TITLES[one.task], sentence=f"{capital(one.reason)}.",
                left_out=True)
        for one in scan.left_out
    ]  # fmt: skip
    known = [counted(scan.items, "image")]
    known += [counted(len(scan.classes), "class")] if scan.labelled else ["no labels"]
    return Report(
        title=f"Scan of {record.name}",
        findings=tuple(findings),
        known=tuple(known),
        settings=record.settings,
        notices=(*record.notices, *scan.notices),
        methods=(
            "Images were looked through for problems with equipoise, one detector per kind of "
            "problem, each of which ranks all images or pairs [@groger2025]",
        ),
        references=("groger2025",),
        card=_card(record),
        command=record.command,
    )


def _card(record: ScanRecord) -> Card:
    scan = record.scan
    if not scan.tasks:
        why = scan.left_out[0].reason if scan.left_out else "nothing to look at"
        return Card(answer=f"Nothing was looked for: {why}.")
    images = counted(scan.items, "image")
    some = [said for one in scan.tasks if (said := _how_many(one))]
    silent = len(some) < len(scan.tasks) and not any(one.cut for one in scan.tasks)
    rest = "; the lists rank what else to look at" if silent else ""
    answer = (
        f"Among {images} {joined(some)}{rest}."
        if some
        else f"Nothing stands out among {images}; the lists say what to look at first."
    )
    first = [f"{NAV[one.task].lower()}: {_called(one.suspects[0])}"
             for one in scan.tasks if one.suspects]  # fmt: skip
    return Card(
        answer=answer,
        lede=f"Look first at {'; '.join(first)}." if first else "",
        holds_for=_holds_for(record),
        settled_by=JUDGED if record.pictures else "Your eyes: look at the first of each list.",
        caveat=_caveat(scan),
    )


def _how_many(task: TaskScan) -> str:
    """How many are suspected: beyond the cut, the same, or what the scores suggest."""
    if task.cut is not None and _pairs_of_groups(task) > task.duplicates:
        images = sum(map(len, task.groups))
        return f"{count(images)} seem to be duplicates, in {counted(len(task.groups), 'group')}"
    if task.cut is not None:
        return _seem(task.task, task.cut.flagged) if task.cut.flagged else ""
    if task.task == "near_duplicates":
        same = _pairs_of_groups(task)
        return (
            f"{counted(same, 'pair')} {'is' if same == 1 else 'are'} the same" if same else ""
        )
    number = _estimated(task)
    return f"at least {_seem(task.task, number)}" if number else ""


def _pairs_of_groups(task: TaskScan) -> int:
    """How many pairs the groups of duplicates have, whether or not each was scored."""
    return sum(len(one) * (len(one) - 1) // 2 for one in task.groups)


def _seem(task: Task, number: int) -> str:
    noun, one, several = SEEM[task]
    said = counted(number, noun) if noun else count(number)
    return f"{said} {one if number == 1 else several}"


def _estimated(task: TaskScan) -> int:
    """How many items the scores suggest; 0 where they say nothing."""
    if task.share is None or not task.share.valid or task.share.low <= 0:
        return 0
    return round(task.share.value * task.scored)


def _called(one: Suspicion) -> str:
    return " and ".join(one.items)


def _holds_for(record: ScanRecord) -> str:
    encoder = dict(record.settings).get("encoder", "")
    said = counted(record.scan.items, "image")
    said += f" as {encoder} sees them" if encoder else ""
    bad = len(record.rejected)
    said += f"; {counted(bad, 'file')} could not be used" if bad else ""
    return f"{said}."


def _caveat(scan: Scan) -> str:
    """The one thing to know: leakage before a ranking that fails its check."""
    task = scan.of("near_duplicates")
    if task is not None and task.leaks:
        return LEAKS
    weak = [one for one in scan.planted if one.found < one.planted / 2]
    if weak:
        said = joined([TITLES[one.task].lower() for one in weak])
        return f"Less than half of the planted problems are near the top of the list: {said}."
    left = [TITLES[one.task].lower() for one in scan.left_out]
    return f"Not looked for: {joined(left)}." if left else ""


def _between(leaks: Sequence[Leak]) -> str:
    return "; ".join(
        f"{counted(one.counts[0], 'image')} of {one.parts[0]} and {count(one.counts[1])} of "
        f"{one.parts[1]}"
        for one in leaks
    )


# ---- one kind of problem -------------------------------------------------------------------


def _task_finding(task: TaskScan, record: ScanRecord, key: str) -> Finding:
    question, yes, no = ASKED[task.task]
    shown = task.suspects[:SHOWN]
    gallery = Gallery(
        name=task.task,
        caption=f"Most suspicious first: the first {count(len(shown))} of "
        f"{counted(task.scored, 'pair' if task.task == 'near_duplicates' else 'image')} by "
        f"{task.title}.",
        task=task.task,
        question=question,
        yes=yes,
        no=no,
        run=key,
        rows=[_suspect(one, record.pictures) for one in shown],
    )
    return Finding(
        key=task.task,
        title=QUESTIONS[task.task],
        sentence=_sentence(task),
        more=tuple(_more(task)),
        charts=(gallery,) if record.pictures else (),
        tables=tuple(_tables(task, open_=not record.pictures)),
        note=_note(task),
        methods=_methods(task),
        references=_sources(task),
        nav=NAV[task.task],
    )


def _suspect(one: Suspicion, known: Mapping[str, str]) -> Suspect:
    marks = one.labels if len(one.items) == 2 else ("",)
    parts = one.parts or ("",) * len(one.items)
    return Suspect(
        _name(one),
        float(one.rank),
        one.score,
        tuple(
            Picture(name, known.get(name, ""), ", ".join(filter(None, said)))
            for name, *said in zip(one.items, marks or ("",) * 2, parts, strict=False)
        ),
        _remark(one),
        flagged=one.flagged,
    )


def _remark(one: Suspicion) -> str:
    if one.suggested:
        (own,) = one.labels or ("",)
        if one.suggested == own:
            return f"labelled {own}, as its neighbours"
        return f"labelled {own}, looks like {one.suggested}"
    said = [f"group {count(one.group)}"] if one.group else []
    if one.leaks and is_duplicate(one):
        said.append("leaks")
    if len(one.items) == 2 and len(set(one.labels)) == 2 and all(one.labels):
        said.append("two labels")
    return ", ".join(said)


def _sentence(task: TaskScan) -> str:
    if not task.suspects:
        return f"There is no {NOUNS[task.task]} to suspect."
    pairs = task.task == "near_duplicates"
    looked = counted(task.scored, "closest pair" if pairs else "image")
    first = f"{_called(task.suspects[0])} {'come' if pairs else 'comes'} first"
    if task.cut is not None:
        if not task.cut.flagged:
            return f"None of {looked} lies beyond the automatic cut; {first}."
        lie = "lies" if task.cut.flagged == 1 else "lie"
        return f"{_seem(task.task, task.cut.flagged)} and {lie} beyond the cut; {first}."
    said = _how_many(task)
    return f"{capital(said)}; {first}." if said else (
        f"{capital(looked)} are ranked; {first}."
    )  # fmt: skip


def _share_sentence(task: TaskScan) -> str:
    """What the scores suggest on the share of problems, and whether to believe it."""
    if task.share is None or (task.share.valid and task.share.low <= 0):
        return ""
    share = task.share
    what = {"off_topic": "are off-topic", "near_duplicates": "have a near duplicate",
            "label_errors": "have a wrong label"}[task.task]  # fmt: skip
    if not share.valid:
        return (
            f"How many images {what} cannot be told from the scores: they do not follow the "
            "law that the estimate takes for granted."
        )
    said = estimate(share.value, share.low, share.high, lambda x: percent(x, 1))
    return f"The scores suggest that at least {said} of the images {what}."


def _more(task: TaskScan) -> Iterator[str]:
    if share := _share_sentence(task):
        yield share
    if task.groups:
        images = sum(map(len, task.groups))
        largest = max(map(len, task.groups))
        yield (
            f"{counted(images, 'image')} form {counted(len(task.groups), 'group')} of "
            f"duplicates, the largest of {count(largest)}: keeping one of each drops "
            f"{counted(images - len(task.groups), 'image')}."
        )
        if (every := _pairs_of_groups(task)) > task.duplicates:
            yield (
                f"Only {count(task.duplicates)} of the {count(every)} pairs within groups were "
                "found directly: an image is compared with its nearest, and the rest follows "
                "one through another."
            )
    if task.task == "label_errors" and task.suspects:
        suspects = [one for one in task.suspects if one.flagged is not False]
        swaps = Counter(
            (one.labels[0], one.suggested)
            for one in suspects[:SHOWN]
            if one.labels and one.suggested and one.suggested != one.labels[0]
        )
        if swaps:
            (own, other), times = swaps.most_common(1)[0]
            yield (
                f"Most often among the first {count(len(suspects[:SHOWN]))}: labelled {own}, "
                f"looks like {other} ({count(times)})."
            )
    if task.tied > 1:
        yield f"{count(task.tied)} tie for the first place; their order says nothing."


def _tables(task: TaskScan, *, open_: bool) -> Iterator[Table]:
    pairs = task.task == "near_duplicates"
    names = ("first", "second") if pairs else ("item",)
    made = rows(task)
    keys = tuple(dict.fromkeys(name for row in made for name in row))
    columns = [Column("rank", "rank", "count"), *(Column(one, one) for one in names)]
    columns.append(Column("score", "score", "number"))
    heads = {
        "label": "label", "suggested": "looks like", "first_label": "first label",
        "second_label": "second label", "part": "part", "first_part": "first part",
        "second_part": "second part",
    }  # fmt: skip
    columns += [
        Column(one, head, brief=not pairs and one != "part")
        for one, head in heads.items()
        if one in keys
    ]
    columns += [Column("group", "group", "count")] if task.groups else []
    columns += [Column("cut", "beyond the cut")] if task.cut is not None else []
    columns = [replace(one, words={"": "none"}) for one in columns]
    listed: list[Row] = [
        {name: "" if row.get(name) is None else row[name] for name in keys} for row in made
    ]  # no label, no suggestion, no group: empty in a file
    yield Table(
        name=task.task,
        caption=f"{TITLES[task.task]}, most suspicious first",
        columns=columns,
        rows=listed,
        brief=listed[:FIRST],
        file=False,
        open=open_,
        download=True,
    )
    if task.groups:
        yield Table(
            name="duplicate_groups",
            caption="Groups of duplicates",
            columns=(Column("group", "group", "count"), Column("images", "images", "count"),
                     Column("items", "items", "names")),
            rows=[{"group": k, "images": len(one), "items": one}
                  for k, one in enumerate(task.groups, start=1)],
        )  # fmt: skip


def _note(task: TaskScan) -> str:
    said = [f"Ranked by {task.title}; higher scores are more suspicious, those that tie share "
            "the smallest of their ranks."]  # fmt: skip
    if task.task == "label_errors":
        said.append(
            f"Looks like: the commonest label among the {NEIGHBOURS} nearest labelled images."
        )
    if task.task == "near_duplicates":
        said.append(
            "Groups join pairs beyond the cut, one through another."
            if task.cut is not None
            else "Groups join pairs that are the same to the detector; with a cut (--cut) all "
            "pairs beyond it."
        )
    return " ".join(said)


def _methods(task: TaskScan) -> str:
    cited = "".join(f" [@{key}]" for key in _sources(task))
    return f"{TITLES[task.task]} were ranked by {task.title}{cited}"


def _sources(task: TaskScan) -> tuple[str, ...]:
    """Keys of the sources of a detector."""
    return next((one.references for one in DETECTORS if one.name == task.detector), ())


# ---- leakage, the check, and what could not be used ----------------------------------------


def _leakage(scan: Scan) -> list[Finding]:
    task = scan.of("near_duplicates")
    if task is None or task.leaks is None:
        return []
    title = "Does anything leak between the parts of the data?"
    if not task.leaks:
        parts = joined(list(scan.parts))
        said = f"No duplicate lies in more than one part of the data ({parts})."
        return [Finding(key="leakage", title=title, sentence=said, nav="Leakage")]
    listed: list[Row] = [
        {"first_part": one.parts[0], "second_part": one.parts[1], "images": len(group),
         "items": group}
        for one in task.leaks
        for group in one.groups
    ]  # fmt: skip
    table = Table(
        name="leakage",
        caption="Groups of duplicates with images in two parts of the data",
        columns=(Column("first_part", "part"), Column("second_part", "and part"),
                 Column("images", "images", "count"), Column("items", "duplicates", "names")),
        rows=listed,
        brief=listed[:FIRST],
        open=True,
    )  # fmt: skip
    return [
        Finding(
            key="leakage",
            title=title,
            sentence=f"Duplicates leak between parts of the data: {_between(task.leaks)}.",
            tables=(table,),
            nav="Leakage",
        )
    ]


def _check(scan: Scan) -> list[Finding]:
    title = "How well would these rankings do?"
    if not scan.planted:
        reason = scan.unchecked or "there was nothing to plant"
        return [Finding(key="check", title=title, sentence=f"{capital(reason).rstrip('.')}.",
                        left_out=True)]  # fmt: skip
    listed: list[Row] = [
        {"task": one.task, "detector": one.detector, "planted": one.planted,
         "metric": part.metric, "value": part.value, "low": part.low, "high": part.high}
        for one in scan.planted
        for part in one.metrics
    ]  # fmt: skip
    words = {part.metric: part.title for one in scan.planted for part in one.metrics}
    table = Table(
        name="planted",
        caption="Rankings of planted problems, with 95% intervals",
        columns=(Column("task", "kind", words=TITLES), Column("planted", "planted", "count"),
                 Column("metric", "metric", words=words),
                 Column("value", "value", "number", ("low", "high"))),
        rows=listed,
        open=True,
    )  # fmt: skip
    return [
        Finding(
            key="check",
            title=title,
            sentence=f"{capital('; '.join(map(_planted_words, scan.planted)))}.",
            more=(EASIER,),
            tables=(table,),
            methods="The rankings were checked on problems that were planted by a program into "
            "a copy of the data",
            nav="Check",
        )
    ]


def _planted_words(one: Planted) -> str:
    noun, among = PLANTED[one.task]
    return (
        f"of {counted(one.planted, noun)} {count(one.found)} "
        f"{'is' if one.found == 1 else 'are'} among the first {counted(one.within, among)}"
    )


def _rejected(rejected: Sequence[tuple[str, str]]) -> list[Finding]:
    if not rejected:
        return []
    listed: list[Row] = [{"file": name, "reason": why} for name, why in rejected]
    verb = "was" if len(rejected) == 1 else "were"
    table = Table(
        name="rejected",
        caption="Files that could not be used, and why",
        columns=(Column("file", "file"), Column("reason", "reason")),
        rows=listed,
        brief=listed[:FIRST],
        open=True,
    )
    return [
        Finding(
            key="rejected",
            title="Which files could not be used?",
            sentence=f"{capital(counted(len(rejected), 'file'))} could not be used and {verb} "
            "not looked at.",
            tables=(table,),
            nav="Rejected",
        )
    ]


def load_scan(folder: Path) -> ScanRecord:
    """Read a scan."""
    path = folder / MARK if folder.is_dir() else folder
    try:
        held = read_json(content(path))
    except InputError as error:
        raise InputError(f"{path}", "not a scan", "JSON of a scan", AGAIN) from error
    if not isinstance(held, dict) or held.get("schema") != SCHEMA:
        raise InputError(f"{path}", "another schema", f"schema {SCHEMA}", AGAIN)
    record = codec.read(ScanRecord, held, MARK)
    codec.check_seal(held, f"{path}", AGAIN)
    return record
