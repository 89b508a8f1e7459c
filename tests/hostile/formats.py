"""Everything that we write and open again, and what can become of it in the wrong hands."""

import hashlib
import io
import json
import os
import shutil
import signal
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
from hypothesis import strategies as st

from tests.cli_sample import FILES, equipoise, write_study
from tests.hostile.generators import _spots, mutated, scalars, swap

LONGEST_WAIT = 60  # seconds of a clock on the wall, when others use the machine too
DEEP = "@deep@"
ITEMS = 24


class Hang(BaseException):
    """Something takes too long; no code of ours catches it."""


@contextmanager
def hurried(seconds: float = LONGEST_WAIT) -> Iterator[None]:
    """Stop what does not come to an end by itself."""

    def stop(*_: object) -> None:
        raise Hang(f"more than {seconds} s")

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


@dataclass(frozen=True)
class Format:
    """One thing that is stored.

    Attributes
    ----------
    name
        What it is called, and the folder that it lies in.
    open
        Opens what lies in a folder; returns what is in it, to be compared.
    files
        Which of its files are changed; a pattern.
    sealed
        Whether a change is noticed: refused, or made good again.
    heals
        Whether opening may write: a cache that mends itself.
    """

    name: str
    open: Callable[[Path], object]
    files: str = "*"
    sealed: bool = False
    heals: bool = False


# ---- opening -------------------------------------------------------------------------------


def _run(folder: Path) -> object:
    from equipoise.report.page import render
    from equipoise.report.run import Run

    run = Run.load(folder)
    return json.dumps(run.header), run.replicates.tobytes(), len(render(run.report)) > 0


def _truth(folder: Path) -> object:
    from equipoise.read.plausibilities import read_plausibilities

    made = read_plausibilities(folder / "truth.npz")
    return made.items, made.classes, made.mean.tobytes(), made.draw(0).tobytes()


def _study(folder: Path, ending: str) -> object:
    from equipoise.read.canonical import read_study

    votes, predictions = read_study(folder / f"study.{ending}")
    return votes.items, votes.item.tobytes(), [one.values.tobytes() for one in predictions]


def _key(folder: Path) -> object:
    from equipoise.cli.threshold import read_key

    key = read_key(folder / "plan.csv")
    return key.options, key.size, key.items


def _cell(folder: Path) -> object:
    from equipoise.scale.cells import run_cells

    (done,) = run_cells([_a_cell()], folder)
    assert done.arrays is not None, done.reason
    return [(name, array.tobytes()) for name, array in done.arrays.items()]


def _a_cell() -> Any:
    from equipoise.scale.cells import Cell

    made = {"values": np.arange(6.0), "names": np.array(["a", "bb"])}
    return Cell("a cell", {"seed": 1}, lambda _: made)


def _embeddings(folder: Path) -> object:
    from equipoise.clean.encoders import embed

    return embed(_Pictures(), _Encoder(), cache=folder).values.tobytes()


class _Pictures:
    def __len__(self) -> int:
        return 3

    def digest(self, place: int) -> str:
        return f"picture {place}"


class _Encoder:
    fingerprint = "encoder"

    def encode(self, _: object, places: Any) -> Any:
        return np.array([[place, 1.0] for place in places], dtype=np.float32)


def _scan(folder: Path) -> object:
    from equipoise.clean.scan_findings import load_scan, scan_json, scan_report
    from equipoise.report.page import render

    scan = load_scan(folder)
    return json.dumps(scan_json(scan)), render(scan_report(scan))


def _benchmark(folder: Path) -> object:
    from equipoise.clean.benchmark_findings import check_data
    from equipoise.report.run import Run
    from tests.clean_sample import clean_study

    check_data(folder, clean_study())
    return json.dumps(Run.load(folder).header)


def _rounds(folder: Path) -> object:
    from equipoise.clean.rounds import pair_rows
    from equipoise.clean.rounds_record import finding, load

    state = load(folder)
    votes = [one.votes for one in state.rounds]
    finding(state)
    return state.fingerprint, state.patience, state.judging, votes, pair_rows(state)


def _votes(folder: Path) -> object:
    from equipoise.clean.rounds import read_pair_votes
    from equipoise.cli.clean_benchmark import _votes as task_votes

    pairs = read_pair_votes(folder / "votes.csv")
    return pairs, task_votes(folder / "votes.csv", "off_topic").items


def _features(folder: Path) -> object:
    from equipoise.clean.reading import read_features

    made = read_features(folder / "features.npz")
    labels = None if made.labels is None else made.labels.tolist()
    return made.items, made.embeddings.tobytes(), labels, made.classes, made.split


def _uq(folder: Path) -> object:
    from equipoise.uq.predictions import find_files, read_study

    study = read_study(find_files(folder))
    runs = [(one.where, one.parts["test"].mean.tobytes()) for one in study.runs]
    return study.classes, study.corruptions, runs


def _images(folder: Path) -> object:
    from equipoise.uq.training.data import read_images

    return read_images(folder / "images.npz").fingerprint()


def _picture_folder(folder: Path) -> object:
    from equipoise.uq.training.data import read_images

    return read_images(folder, size=16).fingerprint()


def _grid(folder: Path) -> object:
    from equipoise.uq.training.plan import Folder

    Folder(folder).claim({"schema": 1, "data": "abc", "ood": None})
    return None


def _corruptions(folder: Path) -> object:
    from equipoise.uq.training.corruptions import read_severities

    return read_severities(folder / "corruptions.json")


def _checkpoint(folder: Path) -> object:
    import torch

    from equipoise.uq.training.loop import read_whole

    kept = read_whole(folder / "cell.npz", "abc", torch.device("cpu"))
    return {name: str(value) for name, value in kept.items()}


def _dataset(folder: Path) -> object:
    from equipoise.datasets._store import File, Source, fetched

    digest = hashlib.sha256(b"item,annotator,label\n1,a,1\n").hexdigest()
    source = Source("set", "A set", {"votes.csv": File("", digest)}, "", "")
    with patch.dict(os.environ, {"EQUIPOISE_DATA": str(folder)}):
        return (fetched(source) / "votes.csv").read_bytes()


def _scores(folder: Path) -> object:
    from equipoise import read_predictions

    return [one.values.tobytes() for one in read_predictions(folder / "scores.csv")]


FORMATS = (
    Format("run", _run, "r*[jn]*", sealed=True),
    Format("truth", _truth, sealed=True),
    Format("study-text", partial(_study, ending="csv")),
    Format("study-parquet", partial(_study, ending="parquet")),
    Format("key", _key, "*.json"),
    Format("cell", _cell, sealed=True, heals=True),
    Format("embeddings", _embeddings, "*/*", sealed=True, heals=True),
    Format("scan", _scan, "scan.json", sealed=True),
    Format("scores", _scores, "scores.csv"),
    Format("benchmark", _benchmark, "*.json"),
    Format("rounds", _rounds),
    Format("votes", _votes),
    Format("features", _features),
    Format("uq", _uq, "*.[nj]*"),
    Format("images", _images),
    Format("pictures", _picture_folder),
    Format("grid", _grid, sealed=True),
    Format("corruptions", _corruptions, sealed=True),
    Format("checkpoint", _checkpoint, sealed=True),
    Format("dataset", _dataset, "*/*", sealed=True),
)


# ---- making --------------------------------------------------------------------------------


def write_inputs(home: Path) -> Path:
    """Files that every verb can be given."""
    write_study(home, items=ITEMS)
    random = np.random.default_rng(0)
    items = np.array([f"i{k}" for k in range(ITEMS)])
    labels = np.array(["a", "b"] * (ITEMS // 2))
    values = random.standard_normal((ITEMS, 4))
    np.savez(home / "features.npz", items=items, embeddings=values, labels=labels)
    said = random.integers(0, 2, (20, 2)).astype(float)
    np.savez(home / "labels.npz", labels=said, classes=np.array(["x", "y"]))
    for name in ("one", "two"):
        np.savez(home / f"{name}.npz", probs=random.random((3, 20, 2)))
    rows = [
        f"i{k},p{j},{'yes' if (7 * k + j) % 3 else 'no'}" for k in range(ITEMS) for j in (0, 1)
    ]
    (home / "problems.csv").write_text("\n".join(["item,annotator,label", *rows]) + "\n")
    return home


def make_all(home: Path) -> None:
    """Write one of every format, each into a folder of its name."""
    write_inputs(home)
    commands = {
        "run": ("evaluate", *FILES, "--replicates", "20", "--out", "run"),
        "scan": ("clean", "scan", "features.npz", "--out", "scan"),
        "rounds": ("clean", "rounds", "start", "features.npz", "--out", "rounds"),
        "next": ("clean", "rounds", "next", "rounds", "--answers", "filled.csv"),
        "truth": ("aggregate", "votes.csv", "--model", "dirichlet", "--out", "truth/truth.npz"),
        "study-text": ("check", "votes.csv", "scores.csv", "--out", "study-text/study.csv"),
        "study-parquet": (
            *("check", "votes.csv", "scores.csv", "--out"),
            "study-parquet/study.parquet",
        ),
        "key": (
            *("threshold", "plan", "truth/truth.npz", "--bins", "4", "--per-bin", "3"),
            *("--out", "key/plan.csv"),
        ),
    }
    for name, words in commands.items():
        if "/" in words[-1]:
            (home / name).mkdir()
        if name == "next":
            fill_in(home)
        done = equipoise(*words, cwd=home)
        assert done.returncode == 0, (words, done.stderr)
    _copies(home)
    _trained(home)
    for form in FORMATS:
        if form.heals:
            form.open(home / form.name)


def fill_in(home: Path, *, every: bool = False) -> None:
    """Answer the pairs of the first round, all but one or every one."""
    head, *rows = (home / "rounds" / "pairs.csv").read_text().splitlines()
    place = head.split(",").index("label")
    for number, row in enumerate(rows if every else rows[:-1]):
        cells = row.split(",")
        cells[place] = "yes" if number % 2 else "no"
        rows[number] = ",".join(cells)
    (home / "filled.csv").write_text("\n".join([head, *rows]) + "\n")


def _copies(home: Path) -> None:
    for name in ("votes", "uq", "features", "scores", "dataset/set", "cell", "embeddings"):
        (home / name).mkdir(parents=True)
    shutil.copy(home / "features.npz", home / "features" / "features.npz")
    shutil.copy(home / "scan" / "scores.csv", home / "scores" / "scores.csv")
    for name in ("one", "two", "labels"):
        shutil.copy(home / f"{name}.npz", home / "uq" / f"{name}.npz")
    (home / "dataset" / "set" / "votes.csv").write_text("item,annotator,label\n1,a,1\n")
    (home / "votes" / "votes.csv").write_text(
        "task,item,annotator,label\nnear_duplicates,i0 | i1,ann,yes\noff_topic,i2,ann,no\n"
        "off_topic,i3,ann,yes\nnear_duplicates,i4 | i5,ann,no\n"
    )
    _benchmark_folder(home / "benchmark")


def _benchmark_folder(folder: Path) -> None:
    from equipoise.clean.benchmark_findings import benchmark_report, save
    from equipoise.clean.detector_benchmark import Benchmark
    from tests.clean_sample import Blind, Column, clean_study

    detectors = (Column(), Blind())
    plan = Benchmark(
        clean_study(), detectors, tasks=("off_topic",), replicates=20, metrics=("auroc",)
    )
    done = plan.run()
    save(done, benchmark_report(done, analyses=()), folder)


def _trained(home: Path) -> None:
    """What training leaves, in small."""
    import torch
    from PIL import Image

    from equipoise.read import codec
    from equipoise.uq.training.data import demo_images
    from equipoise.uq.training.loop import write_whole

    for name in ("images", "pictures", "grid", "corruptions", "checkpoint"):
        (home / name).mkdir()
    demo_images(90, size=16).save(home / "images" / "images.npz")
    _grid(home / "grid")
    rows = [
        {"corruption": "blur", "severity": 1.0, "auroc": 0.7, "clean": 0.9, "reached": True}
    ]
    text = json.dumps([{**one, "fall": 0.2} for one in rows])
    facts = codec.sealed({"schema": 1, "corruptions": json.loads(text)})
    (home / "corruptions" / "corruptions.json").write_text(json.dumps(facts))
    meta = {"schema": 1, "method": "full", "architecture": "net", "seed": 0, "epochs": 3}
    meta["ood"] = {"drop": 0.2, "corruptions": json.loads(text)}
    random = np.random.default_rng(1)
    parts = {f"{part}_logits": random.random((2, 20, 2)) for part in ("test", "ood")}
    np.savez(home / "uq" / "full.npz", meta=np.array(json.dumps(meta)), **parts)
    kept = {"model": {"weight": torch.zeros(2)}, "epoch": 1}
    write_whole(home / "checkpoint" / "cell.npz", "abc", kept)
    lines = ["path,patient,split,x"]
    for number in range(6):
        lines.append(
            f"{number}.png,p{number},{('train', 'val', 'test')[number // 2]},{number % 2}"
        )
        grey = np.full((16, 16), 40 * number, np.uint8)
        Image.fromarray(grey).save(home / "pictures" / f"{number}.png")
    (home / "pictures" / "labels.csv").write_text("\n".join(lines) + "\n")


# ---- mutations -----------------------------------------------------------------------------


Change = Callable[[Path], None]
PLACES = ("empty", "gone", "folder", "loop", "pipe", "device", "other")
ARRAYS = (
    "gone", "added", "renamed", "text", "whole", "complex", "object", "bool", "flat", "taller",
    "cut", "nan", "inf", "huge", "scalar", "nothing", "claim", "packed",
)  # fmt: skip


TREES = ("replace", "replace", "replace", "remove", "add", "wrap", "double", "name")


@st.composite
def changes(draw: st.DrawFn, folder: Path, pattern: str) -> tuple[str, Change]:
    """What becomes of one of the files of a folder, with its words."""
    names = sorted(
        path.relative_to(folder).as_posix() for path in folder.glob(pattern) if path.is_file()
    )
    name = draw(st.sampled_from(names))
    whole = (folder / name).read_bytes()
    kinds = ["bytes", "place"]
    if name.endswith(".json"):
        kinds += ["tree"] * 3
    if name.endswith(".npz"):
        kinds += ["arrays"] * 3
    kind = draw(st.sampled_from(kinds))
    if kind == "bytes":
        return name, _writes(draw(mutated(whole)))
    if kind == "tree":
        return name, _writes(draw(trees(json.loads(whole))))
    if kind == "arrays":
        return name, _writes(draw(archives(whole)))
    return name, _places(draw(st.sampled_from(PLACES)), draw(st.sampled_from(names)))


def _writes(data: bytes) -> Change:
    def change(path: Path) -> None:
        path.write_bytes(data)

    return change


def _places(what: str, other: str) -> Change:
    """Something else in the place of a file."""

    def change(path: Path) -> None:
        home = path.parent
        while not (home / other).exists():
            home = home.parent
        data = (home / other).read_bytes()
        path.unlink()
        make: dict[str, Callable[[], object]] = {
            "empty": lambda: path.write_bytes(b""),
            "gone": lambda: None,
            "folder": path.mkdir,
            "loop": lambda: path.symlink_to(path.name),
            "pipe": lambda: os.mkfifo(path),
            "device": lambda: path.symlink_to("/dev/zero"),
            "other": lambda: path.write_bytes(data),
        }
        make[what]()

    return change


@st.composite
def trees(draw: st.DrawFn, document: Any) -> bytes:
    """JSON with one value changed, renamed, nested too deeply, or a number of any size."""
    spot = draw(st.sampled_from(list(_spots(document))))
    how = draw(
        st.sampled_from(("replace", "replace", "remove", "add", "wrap", "double", "name"))
    )
    depth = draw(st.sampled_from((50, 400, 900, 5000)))
    value = draw(st.one_of(scalars(), st.just(DEEP), st.just("9" * 400), st.just("x" * 10_000)))
    if how == "name" and spot and isinstance(spot[-1], str):
        held = document
        for key in spot[:-1]:
            held = held[key]
        changed = swap(document, spot, "remove", None)
        there = changed
        for key in spot[:-1]:
            there = there[key]
        there[f"{spot[-1]}x"] = held[spot[-1]]
    else:
        changed = swap(document, spot, "replace" if how == "name" else how, value)
    text = json.dumps(changed, ensure_ascii=True)
    opened, closed = draw(st.sampled_from((("[", "]"), ('{"a":', "}"))))
    return text.replace(f'"{DEEP}"', opened * depth + "1" + closed * depth).encode()


@st.composite
def archives(draw: st.DrawFn, whole: bytes) -> bytes:
    """An ``.npz`` with one array that is another, or none."""
    with np.load(io.BytesIO(whole)) as held:
        arrays = {name: held[name] for name in held.files}
    name = draw(st.sampled_from(sorted(arrays)))
    how = draw(st.sampled_from(ARRAYS))
    if how in ("claim", "packed"):
        return _damaged_archive(whole, name, how)
    array = arrays.pop(name)
    if how == "added":
        arrays |= {name: array, "extra": np.arange(3)}
    elif how == "renamed":
        arrays[f"{name}x"] = array
    elif how != "gone":
        arrays[name] = _another(array, how)
    made = io.BytesIO()
    np.savez(made, allow_pickle=True, **arrays)
    return made.getvalue()


def _another(array: Any, how: str) -> Any:
    numbers = array.dtype.kind in "iuf"
    kinds = {"text": str, "complex": complex, "object": object, "bool": bool, "whole": np.int64}
    if how in kinds:
        fits = how in ("text", "object") or numbers
        with np.errstate(all="ignore"):
            return array.astype(kinds[how]) if fits else np.zeros(array.shape, kinds[how])
    if how == "flat":
        return array.ravel()
    if how == "taller":
        return array[None]
    if how == "cut":
        return array[:-1] if array.ndim else array
    if how in ("nan", "inf", "huge"):
        return np.full(array.shape, {"nan": np.nan, "inf": np.inf, "huge": 1e300}[how])
    return np.array(3.0) if how == "scalar" else np.zeros((0, *array.shape[1:]), array.dtype)


def _damaged_archive(whole: bytes, name: str, how: str) -> bytes:
    """An archive with an array that claims terabytes, or that is packed in an unknown way."""
    made = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(whole)) as old, zipfile.ZipFile(made, "w") as new:
        for member in old.namelist():
            data = old.read(member)
            if member == f"{name}.npy" and how == "claim":
                held = io.BytesIO()
                kind = {"descr": "<f8", "fortran_order": False, "shape": (10**6, 10**6)}
                np.lib.format.write_array_header_1_0(held, kind)
                data = held.getvalue() + data[-64:]
            new.writestr(member, data)
    data = made.getvalue()
    if how == "packed":  # method 97 in the first header and in the list at the end
        for mark, place in ((b"PK\x03\x04", 8), (b"PK\x01\x02", 10)):
            spot = data.index(mark) + place
            data = data[:spot] + b"\x61\x00" + data[spot + 2 :]
    return data
