"""Chunks: how many replicates are scored at a time, by the size of the data alone.

Neither the engine nor the number of its workers has a say, so they cannot change a result.
"""

WIDTH = 128  # replicates per chunk: the inner loops of the kernels vectorise over them
BYTES = 64 * 2**20  # most memory that one chunk's truth may take


def chunk_width(items: int, classes: int) -> int:
    """Replicates per chunk for a task of this size, a multiple of 8 of at most `WIDTH`."""
    fits = BYTES // max(items * classes * 9, 1)
    return int(min(WIDTH, max(8, fits // 8 * 8)))
