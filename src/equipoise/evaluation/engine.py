"""Engine: map a function over chunks of replicates, on as many threads as asked.

Chunks are cut by the size of the data alone and results come back in order, so the number of
workers cannot change a byte of the result.
"""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

Chunk = TypeVar("Chunk")
Result = TypeVar("Result")

WIDTH = 128  # replicates per chunk: the inner loops of the kernels vectorise over them
BYTES = 64 * 2**20  # most memory that one chunk's truth may take


def chunk_width(items: int, classes: int) -> int:
    """Replicates per chunk for a task of this size, a multiple of 8 of at most `WIDTH`."""
    fits = BYTES // max(items * classes * 9, 1)
    return int(min(WIDTH, max(8, fits // 8 * 8)))


def map_chunks(
    function: Callable[[Chunk], Result],
    chunks: Sequence[Chunk],
    *,
    workers: int,
    progress: Callable[[int, int], None] | None = None,
) -> list[Result]:
    """Apply the function to every chunk, in order; tell progress as (done, all).

    An interrupt cancels what has not begun. One worker needs no thread.
    """
    results: list[Result] = []
    if workers == 1:
        for done, chunk in enumerate(chunks, 1):
            results.append(function(chunk))
            if progress is not None:
                progress(done, len(chunks))
        return results
    with ThreadPoolExecutor(max_workers=workers) as pool:
        futures = [pool.submit(function, chunk) for chunk in chunks]
        try:
            for done, future in enumerate(futures, 1):
                results.append(future.result())
                if progress is not None:
                    progress(done, len(chunks))
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise
    return results
