"""Votes and scores larger than memory: time and peak memory of folders of Parquet partitions.

Run: ``python -m benchmarks.disk 100000000``, and ``--only soft`` (``em``, ``auroc``,
``scaling``) for a part; 10 million votes by default. A hundred million take 0.6 GB of a
temporary folder for the votes (1.8 GB for as many items with scores), as much again for
results, and 10 minutes on two cores. Ten votes per item in shuffled order within partitions of
two million, 20,000 annotators; for AUROC two votes per item. Every measurement is a process of
its own, which reports its wall and processor time and its peak memory. The peer of soft labels
is a streaming group-by of the same two columns by Polars, written as Parquet, which says
nothing of agreement. The passes of `equipoise.kernels.blocks` are timed within fits, as the
difference of two numbers of iterations.

Scaling is that of soft labels and of passes of Dawid-Skene, 20 partitions, on threads and on a
Dask cluster of this machine to which everything is sent: strong, all votes on one worker and on
two; weak, half of them on one and all on two. Processor time is that of the process that was
started, so on Dask it is what the votes cost there beside the workers. What k workers would
take is a model, Amdahl's with the share that the two measurements leave for one at a time.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import time
from importlib.metadata import version
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet

from benchmarks._clock import heading

VOTES, ROWS, ANNOTATORS = 10_000_000, 2_000_000, 20_000
REPEATS = 3  # of what takes little
PARTS = ("soft", "em", "auroc", "scaling")
PIECES = 20  # partitions of the votes whose scaling is measured
CLUSTERS = (4, 16, 64)  # workers of the model

FRAME = """
import json, resource, shutil, sys, time
from pathlib import Path
folder = Path(sys.argv[1])
workers = int(sys.argv[2])
{setup}
start, before = time.perf_counter(), time.process_time()
{body}
end = time.perf_counter()
used = resource.getrusage(resource.RUSAGE_SELF)
print(json.dumps(dict(
    wall=end - start, processor=time.process_time() - before,
    memory=used.ru_maxrss * 1024, said=said,
)))
"""
SOFT = """
made = disk.soft_labels(disk.open_votes(folder / "votes", workers=workers), folder / "soft")
said = dict(alpha=made.agreement.alpha, items=made.items)
shutil.rmtree(folder / "soft")
"""
POLARS = """
votes = polars.scan_parquet(folder / "votes" / "*.parquet")
yes = polars.col("label") == 1
counted = votes.group_by("item").agg(polars.len(), yes.sum().alias("yes"))
counted.sink_parquet(folder / "polars.parquet", engine="streaming")
said = {}
(folder / "polars.parquet").unlink()
"""
CODE = """
votes = disk.open_votes(folder / "votes", workers=workers)
code_votes(votes, folder / "work")
said = {}
"""
EM = """
votes = disk.open_votes(folder / "votes", workers=workers)
clock = []
used = disk.OnDisk(work=folder / "work", keep=True, progress=lambda done, most:
    clock.append((time.perf_counter(), time.process_time())))
FIT
gaps = [[b - a for a, b in zip(one, two)] for one, two in zip(clock, clock[1:])]
said = dict(wall=min(one[0] for one in gaps), processor=min(one[1] for one in gaps))
shutil.rmtree(folder / "fit")
"""
AUROC = """
votes = disk.open_votes(folder / "pairs", workers=workers)
made = disk.evaluate(votes, disk.open_scores(folder / "scores"), work=folder)
said = dict(made.models[0]._asdict())
"""
SCALING = """
def timed(work):
    start = time.perf_counter(), time.process_time()
    work()
    return time.perf_counter() - start[0], time.process_time() - start[1]

def soft():
    disk.soft_labels(votes, folder / "soft")
    shutil.rmtree(folder / "soft")

clock = []
work = folder / "WHICH.work"
used = disk.OnDisk(work=work, every=999, keep=True, progress=lambda done, most:
    clock.append((time.perf_counter(), time.process_time())))
if "KIND" == "dask":
    engine.ENOUGH = 0.0
with engine.using(engine.choose_engine("KIND", workers=workers)):
    votes = disk.open_votes(folder / "WHICH")
    soft()
    whole = min(timed(soft) for _ in range(7))
    disk.dawid_skene(votes, folder / "fit", fit=Fit(0, 21), disk=used)
gaps = [[b - a for a, b in zip(one, two)] for one, two in zip(clock, clock[1:])]
said = dict(soft=whole, em=min(gaps))
shutil.rmtree(folder / "fit")
"""
OURS = "from equipoise.scale import disk\nfrom equipoise.scale.disk.coded import code_votes"


def make_votes(
    folder: Path, votes: int, per_item: int, scores: Path | None = None, rows: int = ROWS
) -> None:
    """Write votes of people who know the answer with a chance of their own, and scores."""
    folder.mkdir()
    knows = np.random.default_rng(1).beta(6, 2, ANNOTATORS)
    for number, first in enumerate(range(0, votes, rows)):
        random = np.random.default_rng((0, number))
        size = min(rows, votes - first)
        items = size // per_item
        truth = random.random(items) < 0.3
        place = np.tile(np.arange(items, dtype=np.int64), per_item)
        place = random.permutation(place) if scores is None else np.sort(place)
        who = random.integers(0, ANNOTATORS, len(place), dtype=np.int32)
        sure = random.random(len(place)) < knows[who]
        label = np.where(sure, truth[place], random.random(len(place)) < 0.5).astype(np.int8)
        table = {"item": place + first // per_item, "annotator": who, "label": label}
        name = f"part-{number:05d}.parquet"
        pa.parquet.write_table(pa.table(table), folder / name)
        if scores is not None:
            scores.mkdir(exist_ok=True)
            score = truth + random.standard_normal(items)
            own = np.arange(items) + first // per_item
            pa.parquet.write_table(pa.table({"item": own, "model": score}), scores / name)


def measured(body: str, folder: Path, *, setup: str = OURS, workers: int = 2) -> dict:
    """Run a piece of code in a process of its own."""
    code = FRAME.format(setup=setup, body=body)
    done = subprocess.run(
        [sys.executable, "-c", code, str(folder), str(workers)],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise SystemExit(done.stderr)
    return json.loads(done.stdout.splitlines()[-1])


def told(name: str, run: dict, extra: str = "") -> None:
    """Print one measurement."""
    print(
        f"   {name}: {run['wall']:.1f} s wall, {run['processor']:.1f} s of processor, "
        f"peak {run['memory'] / 1e9:.2f} GB{extra}",
        flush=True,
    )


def soft_labels(folder: Path, votes: int) -> None:
    """Soft labels and alpha against a group-by, alternately."""
    heading(f"Soft labels and alpha of {votes:,} votes; Polars {version('polars')}")
    times = REPEATS if votes <= VOTES else 1
    ours, peer = [], []
    for _ in range(times):
        ours.append(measured(SOFT, folder))
        peer.append(measured(POLARS, folder, setup="import polars"))
    mine, theirs = (min(one, key=lambda run: run["processor"]) for one in (ours, peer))
    told("equipoise", mine, f", alpha {mine['said']['alpha']:.4f}")
    told("Polars", theirs)
    for name in ("processor", "wall"):
        ratios = [a[name] / b[name] for a, b in zip(ours, peer, strict=True)]
        print(f"   {name}: {np.median(ratios):.2f} times Polars (goal at most 1.2)")


def models(folder: Path, votes: int) -> None:
    """Passes of Dawid-Skene and GLAD over coded votes, on one and on two workers."""
    heading(f"Dawid-Skene and GLAD on {votes:,} votes of {ANNOTATORS:,} annotators")
    told("coding the votes, once", measured(CODE, folder))
    stop = "from equipoise.truth import Fit, GladFit"
    fits = {
        "Dawid-Skene": "disk.dawid_skene(votes, folder / 'fit', fit=Fit(0, 4), disk=used)",
        "GLAD": "disk.glad(votes, folder / 'fit', fit=GladFit(0, 4), disk=used)",
    }
    for name, fit in fits.items():
        for workers in (1, 2) if votes <= VOTES else (2,):
            body = EM.replace("FIT", fit)
            run = measured(body, folder, setup=f"{OURS}\n{stop}", workers=workers)
            own = run["said"]
            rate = f", a pass {own['wall']:.2f} s wall and {own['processor']:.2f} s of "
            rate += f"processor: {votes / own['wall'] / 1e6:.1f} million votes a second"
            told(f"{name}, 4 passes and writing, {workers} worker(s)", run, rate)


def ranking(folder: Path, items: int) -> None:
    """Soft AUROC with its two-way interval."""
    heading(f"Soft AUROC of {items:,} items, two votes each, with its two-way interval")
    run = measured(AUROC, folder)
    own = run["said"]
    told("equipoise", run, f", {own['value']:.5f} ({own['low']:.5f} to {own['high']:.5f})")


def scaling(folder: Path, votes: int) -> None:
    """Strong and weak scaling at one and two workers, and what more would take, as a model."""
    make_votes(folder / "all", votes, 10, rows=votes // PIECES)
    (folder / "half").mkdir()
    for part in sorted((folder / "all").iterdir())[: PIECES // 2]:
        (folder / "half" / part.name).hardlink_to(part)
    setup = "from equipoise.scale import disk, engine\nfrom equipoise.truth import Fit"
    for kind in ("local", "dask"):
        heading(f"Scaling of {votes:,} votes, {PIECES} partitions, engine {kind}")
        found = {}
        for which, workers in (("all", 1), ("all", 2), ("half", 1)):
            body = SCALING.replace("WHICH", which).replace("KIND", kind)
            said = measured(body, folder, setup=setup, workers=workers)["said"]
            found[which, workers] = said
        for name, title in (("soft", "soft labels"), ("em", "Dawid-Skene, a pass")):
            one, two, half = (found[key][name] for key in found)
            print(
                f"   {title}: 1 worker {one[0]:.3f} s wall, {one[1]:.3f} s of processor; "
                f"2 workers {two[0]:.3f} s wall, {two[1]:.3f} s of processor\n"
                f"      strong scaling {one[0] / two[0]:.2f} (2 is perfect); weak, half the "
                f"votes on one worker: {half[0] / two[0]:.2f} (1 is perfect)"
            )
            alone = min(max(2 * two[0] - one[0], 0.0), one[0])
            model = ", ".join(f"{k}: {alone + (one[0] - alone) / k:.3f} s" for k in CLUSTERS)
            print(f"      model, not measured, of k workers: {model}; {alone:.3f} s alone")


def main(arguments: list[str] | None = None) -> None:
    """Make the data, run what was asked for, and leave nothing behind."""
    parser = argparse.ArgumentParser()
    parser.add_argument("votes", nargs="?", type=int, default=VOTES)
    parser.add_argument("--only", nargs="+", default=PARTS, choices=PARTS)
    asked = parser.parse_args(arguments or [])
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        start = time.perf_counter()
        if {"soft", "em"} & set(asked.only):
            make_votes(folder / "votes", asked.votes, 10)
        if "auroc" in asked.only:
            make_votes(folder / "pairs", 2 * asked.votes, 2, folder / "scores")
        size = sum(one.stat().st_size for one in folder.rglob("*.parquet"))
        print(f"{size / 1e9:.2f} GB written in {time.perf_counter() - start:.0f} s", flush=True)
        if "soft" in asked.only:
            soft_labels(folder, asked.votes)
        if "em" in asked.only:
            models(folder, asked.votes)
        if "auroc" in asked.only:
            ranking(folder, asked.votes)
        if "scaling" in asked.only:
            scaling(folder, asked.votes)


if __name__ == "__main__":
    main(sys.argv[1:])
