"""Processes of this machine, by loky, which comes with joblib."""

import errno
import os
import tempfile
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, wait
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import Any

from equipoise.scale.engine._worker import (
    THREADS,
    EngineError,
    Group,
    GroupResult,
    Parcel,
    answer,
    begin,
    pack,
)

_IDLE = 300  # seconds after which processes without work end
_AHEAD = 2  # groups per process that are handed over: loky stumbles over more when it is ended


class Processes:
    """Worker processes; they start with the first work and stay until closed."""

    def __init__(self, workers: int) -> None:
        self.workers = workers
        self._pool: Any = None

    def run(
        self, function: Callable[[Any], Any], groups: Sequence[Group], resource: str | None
    ) -> Iterator[tuple[int, GroupResult]]:
        """Answers with the numbers of their groups, as they are there.

        Every process has one slot of any resource. Where not all answers are taken, the
        processes end at once, and others start with the next work.
        """
        from joblib.externals.loky.process_executor import BrokenProcessPool

        del resource
        with tempfile.TemporaryDirectory(
            prefix="equipoise-", ignore_cleanup_errors=True
        ) as folder:
            parcel = _in_file(pack(function), Path(folder))
            pool, left = self._started(), iter(enumerate(groups))
            waiting: dict[Any, int] = {}
            try:
                while True:
                    for number, group in islice(left, _AHEAD * self.workers - len(waiting)):
                        waiting[pool.submit(answer, parcel, group)] = number
                    if not waiting:
                        break
                    for future in wait(waiting, return_when=FIRST_COMPLETED).done:
                        yield waiting.pop(future), future.result()
            except BrokenProcessPool as error:
                self.close()
                raise EngineError(
                    f"engine processes, {self.workers} workers",
                    "a worker was killed (out of memory?)",
                    "workers that live as long as their work",
                    "run the same again with fewer workers; what is finished is kept",
                ) from error
            except BaseException:
                self.close()
                raise

    def _started(self) -> Any:
        from joblib.externals.loky import ProcessPoolExecutor

        if self._pool is None:
            self._pool = ProcessPoolExecutor(
                max_workers=self.workers,
                timeout=_IDLE,
                initializer=begin,
                initargs=(os.getpid(),),
                env=THREADS,
            )
        return self._pool

    def close(self) -> None:
        """End the processes; what they are at is thrown away."""
        pool, self._pool = self._pool, None
        if pool is not None:
            with suppress(OSError, RuntimeError):
                pool.shutdown(wait=True, kill_workers=True)


def _in_file(parcel: Parcel, folder: Path) -> Parcel:
    try:
        return parcel.in_file(folder)
    except OSError as error:
        if error.errno not in (errno.ENOSPC, errno.EDQUOT):
            raise
        raise EngineError(
            f"engine processes, {folder.parent}",
            "the disk is full",
            "room for the data that workers share",
            "make room, or name another folder in TMPDIR",
        ) from error
