"""What a scan says: the answer, a list with pictures per kind of problem, and the check.

Its folder: ``scan.json``, the lists as CSV, and the page with its pictures.

Nothing in it depends on when or where it was made. ``scan.json`` is written last, so a folder
that has one is whole.
"""

import base64
import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path

import numpy as np

from equipoise.clean.collection import TITLES, Collection, Leak, Task
from equipoise.clean.scanning import (
    NEIGHBOURS,
    SCHEMA,
    Cells,
    Planted,
    Scan,
    Suspicion,
    TaskScan,
)
from equipoise.metrics import title as metric_title
from equipoise.read import codec
from equipoise.read.writing import write_folder
from equipoise.report.page import report_files
from equipoise.report.text import as_csv
from equipoise.scale.cells import digest
from equipoise.types import (
    Card,
    Claim,
    ClaimFamily,
    Column,
    Estimand,
    Finding,
    Gallery,
    InputError,
    JsonValue,
    Picture,
    Report,
    Row,
    Suspect,
    Table,
    as_json,
    capital,
    cite,
    columns,
    count,
    counted,
    joined,
)

SHOWN = 60  # suspects with pictures
FIRST = 5  # rows of a list in a terminal
SCORED = "the law of the scores of clean images"
SIZE, HALF = 160, 120  # pixels of a picture alone, and of one of a pair
ROOM = 2_700_000  # characters of all pictures of a page
SHRINKING = (1.0, 0.75, 0.5)  # until they fit
MARK = "scan.json"
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
LIST = (  # columns of lists, shown where a list has them
    *columns(rank="count", item="text", first="text", second="text", score="number"),
    *columns("text", "label"),
    Column("suggested", "looks like"),
    *(
        Column(key, key.replace("_", " "), brief=False)
        for key in ("first_label", "second_label", "part", "first_part", "second_part")
    ),
    *columns("count", "group"),
    Column("cut", "beyond the cut"),
)
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


def scan_json(scan: Scan) -> dict[str, JsonValue]:
    """The answer, every line of every list, and each finding."""
    report = scan_report(scan)
    return {
        "answer": "" if report.card is None else str(report.card.answer),
        **as_json(report),
        "rows": [row for task in scan.tasks for row in list_rows(task)],
    }


def save_scan(scan: Scan, folder: Path) -> list[str]:
    """Write the folder; returns the names of its files."""
    files: dict[str, str | bytes] = {**report_files(scan_report(scan))}
    for task in scan.tasks:
        files[f"{task.task}.csv"] = as_csv([line.cells() for line in task.suspects])
    files["scores.csv"] = as_csv(score_rows(scan))
    held = codec.encode(replace(scan, equipoise=version("equipoise")))
    held["files"] = sorted([*files, MARK])
    text = json.dumps(codec.sealed(held), indent=1, ensure_ascii=False, allow_nan=False)
    files[MARK] = text + "\n"
    write_folder(folder, files, mark=MARK)
    return sorted(files)


# ---- pictures ------------------------------------------------------------------------------


def pictures(data: Collection, scan: Scan) -> dict[str, str]:
    """Pictures of the items that are shown, as addresses that hold them."""
    from equipoise.clean.images import thumbnail

    addresses: dict[str, str] = {}
    if data.images is None:
        return addresses
    place = {name: number for number, name in enumerate(data.items)}
    for share in SHRINKING:
        for name, size in _shown_items(scan).items():
            picture = thumbnail(data.images, place[name], round(share * size))
            addresses[name] = f"data:image/jpeg;base64,{base64.b64encode(picture).decode()}"
        if sum(map(len, addresses.values())) <= ROOM:
            break
    return addresses


def _shown_items(scan: Scan) -> dict[str, int]:
    """Items that are shown, and how large; the largest of several places."""
    sizes: dict[str, int] = {}
    for task in scan.tasks:
        for line in task.suspects[:SHOWN]:
            for name in line.items:
                sizes[name] = max(sizes.get(name, 0), SIZE if len(line.items) == 1 else HALF)
    return sizes


def _run_key(scan: Scan) -> str:
    """The key under which a browser keeps the marks: what the lists hold."""
    held = (
        part
        for task in scan.tasks
        for part in (
            [task.task, task.detector, *(line.name for line in task.suspects)],
            np.array([line.score for line in task.suspects]),
        )
    )
    return digest(held)[:16]


# ---- rows ----------------------------------------------------------------------------------


def list_rows(task: TaskScan) -> list[Cells]:
    """Lines of a list as files and programs see them."""
    return [{"task": task.task, **line.cells()} for line in task.suspects]


def score_rows(scan: Scan) -> list[dict[str, str | float]]:
    """Scores as predictions, so that votes on the lists can be evaluated against them."""
    return [
        {"item": line.name, "model": "scan", "task": task.task, "score": line.score}
        for task in scan.tasks
        for line in task.suspects
    ]


# ---- the report ----------------------------------------------------------------------------


def scan_report(scan: Scan) -> Report:
    """Everything a scan says."""
    key = _run_key(scan)
    findings = [_task_finding(task, scan, key) for task in scan.tasks]
    findings += [*_leakage(scan), *_planted_finding(scan), *_rejected(scan.rejected)]
    findings += [
        Finding(
            key=missing.task,
            title=TITLES[missing.task],
            sentence=f"{capital(missing.reason)}.",
            left_out=True,
        )
        for missing in scan.left_out
    ]
    facts = [counted(scan.items, "image")]
    facts += [counted(len(scan.classes), "class")] if scan.labelled else ["no labels"]
    return Report(
        title=f"Scan of {scan.name}",
        findings=tuple(findings),
        known=tuple(facts),
        settings=scan.settings,
        notices=scan.notices,
        methods=(
            "Images were looked through for problems with equipoise, one detector per kind of "
            "problem, each of which ranks all images or pairs [@groger2025]",
        ),
        references=("groger2025",),
        card=_card(scan),
        command=scan.command,
    ).with_families()


def _card(scan: Scan) -> Card:
    if not scan.tasks:
        why = scan.left_out[0].reason if scan.left_out else "nothing to look at"
        return Card(answer=f"Nothing was looked for: {why}.")
    images = counted(scan.items, "image")
    cut = any(task.cut for task in scan.tasks)
    claims = _claims(scan)
    some = [clause for task in scan.tasks if (clause := _how_many(task, claims.get(task.task)))]
    rest = (
        "" if cut or len(some) == len(scan.tasks) else "; the lists rank what else to look at"
    )
    answer = f"Among {images} {joined(some)}{rest}."
    if not some:
        which = f"Nothing lies beyond the cut among {images}" if cut else f"{images} are ranked"
        answer = f"{which}; the lists say what to look at first."
    first = [f"{NAV[task.task].lower()}: {task.suspects[0].in_words}"
             for task in scan.tasks if task.suspects]  # fmt: skip
    return Card(
        answer=answer,
        lede=f"Look first at {'; '.join(first)}." if first else "",
        holds_for=_holds_for(scan),
        settled_by=JUDGED if scan.pictures else "Your eyes: look at the first of each list.",
        caveat=_caveat(scan),
        claims=tuple(claims.values()),
    )


def _claims(scan: Scan) -> dict[Task, Claim]:
    """Of every kind with a cut: more are beyond it than clean images would be by mistake."""
    cuts = {task.task: task.cut for task in scan.tasks if task.cut is not None}
    family, level = ClaimFamily("cuts of all kinds of problem", len(cuts)), 0.95
    claims = {}
    for kind, cut in cuts.items():
        estimand = Estimand("problems beyond the cut", SCORED, TITLES[kind], "clean images")
        most = cut.most_mistakes(1 - (1 - level) / len(cuts))
        ends = float(cut.flagged - most), float(cut.flagged)
        claims[kind] = Claim(estimand, "these images", family, ends[1], *ends, level)
    return claims


def _how_many(task: TaskScan, claim: Claim | None) -> str:
    """How many are suspected, beyond the cut or else the same; nothing where none is."""
    within = _pairs_of_groups(task)
    if task.cut is None:
        return (
            f"{counted(within, 'pair')} {'is' if within == 1 else 'are'} the same"
            if within
            else ""
        )
    if within > task.duplicates:
        images = sum(map(len, task.groups))
        return f"{count(images)} seem to be duplicates, in {counted(len(task.groups), 'group')}"
    number, (noun, singular, several) = task.cut.flagged, SEEM[task.task]
    words = counted(number, noun) if noun else count(number)
    if not number or claim is None:
        return ""
    mistakes = round(claim.value - claim.low)
    by_mistake = f" (at most {count(mistakes)} by mistake)" if mistakes else ""
    by_mistake = by_mistake if claim.low > 0 else " (no more than by mistake)"
    return f"{words} {singular if number == 1 else several}{by_mistake}"


def _pairs_of_groups(task: TaskScan) -> int:
    """How many pairs the groups of duplicates have, whether or not each was scored."""
    return sum(len(group) * (len(group) - 1) // 2 for group in task.groups)


def _holds_for(scan: Scan) -> str:
    encoder = dict(scan.settings).get("encoder", "")
    images = counted(scan.items, "image")
    images += f" as {encoder} sees them" if encoder else ""
    bad = len(scan.rejected)
    images += f"; {counted(bad, 'file')} could not be used" if bad else ""
    return f"{images}."


def _caveat(scan: Scan) -> str:
    """The one thing to know: leakage before a ranking that fails its check."""
    task = scan.of("near_duplicates")
    if task is not None and task.leaks:
        return LEAKS
    weak = [check for check in scan.planted if check.found < check.planted / 2]
    if weak:
        kinds = joined([TITLES[check.task].lower() for check in weak])
        return f"Less than half of the planted problems are near the top of the list: {kinds}."
    left = [TITLES[missing.task].lower() for missing in scan.left_out]
    return f"Not looked for: {joined(left)}." if left else ""


def _leaks_in_words(leaks: Sequence[Leak]) -> str:
    return "; ".join(
        f"{counted(leak.counts[0], 'image')} of {leak.parts[0]} and {count(leak.counts[1])} of "
        f"{leak.parts[1]}"
        for leak in leaks
    )


# ---- one kind of problem -------------------------------------------------------------------


def _task_finding(task: TaskScan, scan: Scan, key: str) -> Finding:
    question, yes, no = ASKED[task.task]
    claim = _claims(scan).get(task.task)
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
        rows=[_suspect(line, scan.pictures) for line in shown],
    )
    return Finding(
        key=task.task,
        title=QUESTIONS[task.task],
        sentence=_sentence(task, claim),
        more=tuple(_more(task)),
        charts=(gallery,) if scan.pictures else (),
        tables=tuple(_tables(task, open_=not scan.pictures)),
        note=_note(task),
        methods=_methods(task),
        references=task.references,
        nav=NAV[task.task],
        claims=() if claim is None else (claim,),
    )


def _suspect(line: Suspicion, addresses: Mapping[str, str]) -> Suspect:
    blank = ("",) * len(line.items)
    labels = line.labels if len(line.items) == 2 else ()
    return Suspect(
        line.name,
        float(line.rank),
        line.score,
        tuple(
            Picture(name, addresses.get(name, ""), ", ".join(filter(None, remarks)))
            for name, *remarks in zip(
                line.items, labels or blank, line.parts or blank, strict=True
            )
        ),
        _remark(line),
        flagged=line.flagged,
    )


def _remark(line: Suspicion) -> str:
    if line.suggested:
        (label,) = line.labels or ("",)
        if line.suggested == label:
            return f"labelled {label}, as its neighbours"
        return f"labelled {label}, looks like {line.suggested}"
    remarks = [f"group {count(line.group)}"] if line.group else []
    if line.leaks and line.is_duplicate:
        remarks.append("leaks")
    if len(line.items) == 2 and len(set(line.labels)) == 2 and all(line.labels):
        remarks.append("two labels")
    return ", ".join(remarks)


def _sentence(task: TaskScan, claim: Claim | None) -> str:
    if not task.suspects:
        return f"There is no {NOUNS[task.task]} to suspect."
    pairs = task.task == "near_duplicates"
    looked = counted(task.scored, "closest pair" if pairs else "image")
    first = f"{task.suspects[0].in_words} {'come' if pairs else 'comes'} first"
    clause = _how_many(task, claim)
    if not clause and task.cut is not None:
        clause = f"None of {looked} lies beyond the automatic cut"
    return f"{capital(clause or f'{looked} are ranked')}; {first}."


def _more(task: TaskScan) -> Iterator[str]:
    if task.groups:
        images = sum(map(len, task.groups))
        largest = max(map(len, task.groups))
        yield (
            f"{counted(images, 'image')} form {counted(len(task.groups), 'group')} of "
            f"duplicates, the largest of {count(largest)}: keeping one of each drops "
            f"{counted(images - len(task.groups), 'image')}."
        )
        if (possible := _pairs_of_groups(task)) > task.duplicates:
            yield (
                f"Only {count(task.duplicates)} of the {count(possible)} pairs within groups "
                "were found directly: an image is compared with its nearest, and the rest "
                "follows one through another."
            )
    if task.task == "label_errors" and task.suspects:
        suspects = [line for line in task.suspects if line.flagged is not False]
        swaps = Counter(
            (line.labels[0], line.suggested)
            for line in suspects[:SHOWN]
            if line.labels and line.suggested and line.suggested != line.labels[0]
        )
        if swaps:
            (label, other), times = swaps.most_common(1)[0]
            yield (
                f"Most often among the first {count(len(suspects[:SHOWN]))}: labelled {label}, "
                f"looks like {other} ({count(times)})."
            )
    if task.tied > 1:
        yield f"{count(task.tied)} tie for the first place; their order says nothing."


def _tables(task: TaskScan, *, open_: bool) -> Iterator[Table]:
    lines = list_rows(task)
    keys = tuple(dict.fromkeys(name for row in lines for name in row))
    hidden = {"group": not task.groups, "cut": task.cut is None}
    shown = [
        replace(column, words={"": "none"})
        for column in LIST
        if column.key in keys and not hidden.get(column.key)
    ]
    listed: list[Row] = [
        {name: "" if row.get(name) is None else row[name] for name in keys} for row in lines
    ]  # no label, no suggestion, no group: empty in a file
    yield Table(
        name=task.task,
        caption=f"{TITLES[task.task]}, most suspicious first",
        columns=shown,
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
            columns=(*columns("count", "group", "images"), Column("items", "items", "names")),
            rows=[{"group": k, "images": len(group), "items": group}
                  for k, group in enumerate(task.groups, start=1)],
        )  # fmt: skip


def _note(task: TaskScan) -> str:
    sentences = [
        f"Ranked by {task.title}; higher scores are more suspicious, those that tie share the "
        "smallest of their ranks."
    ]
    if task.task == "label_errors":
        sentences.append(
            f"Looks like: the commonest label among the {NEIGHBOURS} nearest labelled images."
        )
    if task.task == "near_duplicates":
        sentences.append(
            "Groups join pairs beyond the cut, one through another."
            if task.cut is not None
            else "Groups join pairs that are the same to the detector; with a cut (--cut) all "
            "pairs beyond it."
        )
    return " ".join(sentences)


def _methods(task: TaskScan) -> str:
    return f"{TITLES[task.task]} were ranked by {task.title}{cite(*task.references)}"


# ---- leakage, the check, and what could not be used ----------------------------------------


def _leakage(scan: Scan) -> list[Finding]:
    task = scan.of("near_duplicates")
    if task is None or task.leaks is None:
        return []
    listed: list[Row] = [
        {"first_part": leak.parts[0], "second_part": leak.parts[1], "images": len(group),
         "items": group}
        for leak in task.leaks
        for group in leak.groups
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
    sentence = f"Duplicates leak between parts of the data: {_leaks_in_words(task.leaks)}."
    if not listed:
        parts = joined(list(scan.parts))
        sentence = f"No duplicate lies in more than one part of the data ({parts})."
    return [
        Finding(
            key="leakage",
            title="Does anything leak between the parts of the data?",
            sentence=sentence,
            tables=(table,) if listed else (),
            nav="Leakage",
        )
    ]


def _planted_finding(scan: Scan) -> list[Finding]:
    title = "How well would these rankings do?"
    if not scan.planted:
        reason = scan.unchecked or "there was nothing to plant"
        return [Finding(key="check", title=title, sentence=f"{capital(reason).rstrip('.')}.",
                        left_out=True)]  # fmt: skip
    listed: list[Row] = [
        {"task": check.task, "detector": check.detector, "planted": check.planted,
         "metric": part.metric, "value": part.value, "low": part.low, "high": part.high}
        for check in scan.planted
        for part in check.metrics
    ]  # fmt: skip
    words = {
        row.metric: metric_title(row.metric) for part in scan.planted for row in part.metrics
    }
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


def _planted_words(check: Planted) -> str:
    noun, among = PLANTED[check.task]
    return (
        f"of {counted(check.planted, noun)} {count(check.found)} "
        f"{'is' if check.found == 1 else 'are'} among the first {counted(check.within, among)}"
    )


def _rejected(rejected: Sequence[tuple[str, str]]) -> list[Finding]:
    if not rejected:
        return []
    listed: list[Row] = [{"file": name, "reason": why} for name, why in rejected]
    verb = "was" if len(rejected) == 1 else "were"
    table = Table(
        name="rejected",
        caption="Files that could not be used, and why",
        columns=columns("text", "file", "reason"),
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


def load_scan(folder: Path) -> Scan:
    """Read a scan."""
    path = folder / MARK if folder.is_dir() else folder
    held = codec.read_facts(path, AGAIN)
    if held.get("schema") != SCHEMA:
        raise InputError(f"{path}", "another schema", f"schema {SCHEMA}", AGAIN)
    return codec.read(Scan, held, MARK)
