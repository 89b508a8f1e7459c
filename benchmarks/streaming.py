"""Time and memory of cutting a file larger than memory into partitions, and of counting them.

Run: ``python -m benchmarks streaming``; ``EQUIPOISE_VOTES=100000000`` makes it the full size,
which takes 3 GB of a temporary folder. A hundred votes per item, five classes, a thousand
annotators. Each reader runs in a process of its own, which reports its peak memory. The peer is
pyarrow decoding the same columns and doing nothing with them: no reader can be faster.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet

from benchmarks._clock import heading

VOTES = int(os.environ.get("EQUIPOISE_VOTES", "10_000_000"))
ITEMS, ANNOTATORS, CLASSES, ROWS = VOTES // 100, 1000, "abcde", 2_000_000
MEMORY = 3e9

OURS = """
from equipoise.scale import disk
cut = disk.repartition(path, path + ".cut", 16)
middle = time.perf_counter()
assert disk.soft_labels(disk.open_votes(cut), path + ".soft").items
"""
PARQUET = """
from pyarrow import parquet
names = ["item", "annotator", "label"]
with parquet.ParquetFile(path, page_checksum_verification=True) as file:
    for batch in file.iter_batches(batch_size=1 << 22, columns=names):
        pass
middle = time.perf_counter()
"""
TEXT = """
import pyarrow
from pyarrow import csv
words = dict.fromkeys(["item", "annotator", "label"], pyarrow.string())
read, convert = csv.ReadOptions(block_size=1 << 26), csv.ConvertOptions(column_types=words)
for batch in csv.open_csv(path, read_options=read, convert_options=convert):
    pass
middle = time.perf_counter()
"""
FRAME = """
import json, resource, sys, time
path = sys.argv[1]
start = time.perf_counter()
{body}
end, used = time.perf_counter(), resource.getrusage(resource.RUSAGE_SELF)
print(json.dumps({{
    "read": middle - start, "model": end - middle,
    "processor": used.ru_utime + used.ru_stime, "memory": used.ru_maxrss * 1024,
}}))
"""


def tables(*, text: bool):
    """Yield the votes, a few million at a time."""
    random = np.random.default_rng(0)
    names = pa.array([f"scan-{code:07d}" for code in range(ITEMS)])
    people = pa.array([f"reader-{code:03d}" for code in range(ANNOTATORS)])
    classes = pa.array(list(CLASSES))
    for first in range(0, VOTES, ROWS):
        size = min(ROWS, VOTES - first)
        item = pa.array(random.integers(0, ITEMS, size))
        yield pa.table(
            {
                "item": names.take(item) if text else item,
                "annotator": people.take(pa.array(random.integers(0, ANNOTATORS, size))),
                "label": classes.take(pa.array(random.integers(0, len(CLASSES), size))),
            }
        )


def make(path: Path, *, text: bool) -> None:
    every = tables(text=text)
    first = next(every)
    if path.suffix == ".csv":
        writer = pyarrow.csv.CSVWriter(path, first.schema)
    else:
        writer = pyarrow.parquet.ParquetWriter(
            path, first.schema, write_page_checksum=True, compression="zstd"
        )
    with writer:
        writer.write_table(first)
        for table in every:
            writer.write_table(table)


def measured(body: str, path: Path) -> dict[str, float]:
    """Run a reader in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-c", FRAME.format(body=body), str(path)],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    return json.loads(done.stdout)


def shown(name: str, path: Path, peer: str) -> None:
    size = path.stat().st_size
    bare, ours = measured(peer, path), measured(OURS, path)
    print(
        f"   {name}, {size / 1e6:,.0f} MB: repartition {ours['read']:.1f} s "
        f"({size / ours['read'] / 1e6:,.0f} MB/s, {VOTES / ours['read'] / 1e6:,.1f} million "
        f"votes/s), soft labels {ours['model']:.1f} s, processor {ours['processor']:.1f} s, "
        f"peak memory {ours['memory'] / 1e9:.2f} GB (goal < {MEMORY / 1e9:.0f} GB)"
    )
    print(
        f"      peer: pyarrow {pa.__version__} decoding alone {bare['read']:.1f} s "
        f"({size / bare['read'] / 1e6:,.0f} MB/s), processor {bare['processor']:.1f} s, "
        f"{bare['memory'] / 1e9:.2f} GB; ours takes {ours['read'] / bare['read']:.1f} times it"
    )


def main() -> None:
    heading(f"Cutting and counting {VOTES:,} votes on {ITEMS:,} items")
    with tempfile.TemporaryDirectory() as folder:
        for name, ending, text, peer in (
            ("Parquet, items as numbers", "parquet", False, PARQUET),
            ("Parquet, items as text", "parquet", True, PARQUET),
            ("CSV, items as text", "csv", True, TEXT),
        ):
            path = Path(folder) / f"votes.{ending}"
            make(path, text=text)
            shown(name, path, peer)
            for left in Path(folder).iterdir():
                shutil.rmtree(left) if left.is_dir() else left.unlink()


if __name__ == "__main__":
    main()
