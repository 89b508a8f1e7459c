"""Clusters of Dask and of Ray: one that runs somewhere, or processes of this machine.

Data of Dask are a task of their own, so that the scheduler makes a copy again that was lost
with its worker; work of a worker that was killed goes to another. Before anything is sent,
scheduler and workers are asked for their version of the package.
"""

import logging
import os
import pkgutil
import platform
import re
import socket
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any

from equipoise.scale.engine._worker import (
    THREADS,
    VERSION,
    EngineError,
    Group,
    GroupResult,
    answer,
    other_version,
    pack,
    package_version,
    same,
)

_PATIENCE = 30  # seconds in which a first worker must be there
_GREETING = 10  # seconds in which a scheduler must answer
_LONGEST = 2**20  # bytes of its greeting
_SET = ("MALLOC_TRIM_THRESHOLD_", "PYTHONHASHSEED")  # by Dask, here, for its workers


class Cluster:
    """A connection to a scheduler, and the cluster itself where it is ours."""

    def __init__(self, address: str | None, workers: int) -> None:
        import dask
        from distributed import Client

        if address is not None:
            _require_scheduler(address)
        dask.config.set({"distributed.nanny.environ": THREADS})
        self.address, self._lost_scheduler = address, False
        self._environment = {name: os.environ.get(name) for name in (*THREADS, *_SET)}
        self._quiet = _Quiet()
        self._own = _cluster(workers) if address is None else None
        try:
            self._client = Client(address or self._own, timeout=_PATIENCE, set_as_default=False)
            self._client.wait_for_workers(1, timeout=_PATIENCE)
        except (OSError, TimeoutError, ValueError) as error:
            self.close()
            raise _absent(address, f"no worker answers within {_PATIENCE} s") from error
        self._check()

    @property
    def workers(self) -> int:
        """Threads of all workers."""
        return max(1, int(sum(self._client.nthreads().values())))

    def _check(self) -> None:
        """Refuse a scheduler or workers without the package, or with another version."""
        ours = package_version()
        versions = self._client.run(pkgutil.resolve_name, VERSION, on_error="return")
        versions["the scheduler"] = ""
        with suppress(ImportError, AttributeError):
            versions["the scheduler"] = self._client.run_on_scheduler(
                pkgutil.resolve_name, VERSION
            )
        for who, version in versions.items():
            if version != ours:
                self.close()
                has = version if isinstance(version, str) else ""
                raise other_version(f"worker {who}" if "://" in who else who, has, ours)
        here = platform.python_version_tuple()[:2]
        for who, python in self._client.run(platform.python_version_tuple).items():
            if tuple(python[:2]) != here:
                self.close()
                do = "use the same on all machines"
                has, needs = (f"Python {'.'.join(version)}" for version in (python, here))
                raise EngineError(f"engine, worker {who}", has, needs, do)

    def run(
        self, function: Callable[[Any], Any], groups: Sequence[Group], resource: str | None
    ) -> Iterator[tuple[int, GroupResult]]:
        """Answers with the numbers of their groups, as they are there."""
        import dask
        from distributed import as_completed

        parcel = pack(function)
        slots = self._slots(resource)
        with dask.config.set({"distributed.admin.large-graph-warning-threshold": "64 GiB"}):
            shared = self._client.submit(same, parcel, key=f"equipoise-{parcel.key}")
            futures = {
                self._client.submit(answer, shared, group, pure=False, resources=slots): number
                for number, group in enumerate(groups)
            }
        try:
            there = as_completed(list(futures), loop=self._client.loop)
            for future in there:
                if self._is_made_again(future):
                    there.add(future)
                    continue
                if future.status != "finished":
                    raise self._lost(future)
                yield futures[future], future.result()
        finally:
            if not self._lost_scheduler:
                with suppress(Exception):
                    self._client.cancel([shared, *futures], force=True)

    def _is_made_again(self, future: Any) -> bool:
        """Whether an answer went with its worker before it was fetched, and is made again."""
        again = future.status in ("lost", "pending") and self._client.status == "running"
        if again:
            time.sleep(0.05)
        return again

    def _slots(self, resource: str | None) -> Mapping[str, int] | None:
        if resource is None:
            return None
        workers = self._client.scheduler_info(n_workers=-1)["workers"].values()
        if not any(worker["resources"].get(resource) for worker in workers):
            raise EngineError(
                f"engine dask, {self.address}",
                f"no worker has a slot {resource}",
                "one slot per task that may run at a time",
                f"start workers with --resources {resource}=1",
            )
        return {resource: 1}

    def _lost(self, future: Any) -> EngineError:
        """What became of work that did not finish."""
        from distributed import KilledWorker

        where = f"engine dask, {self.address or 'of this machine'}"
        again = "run the same again: what is finished is kept"
        error = future.exception() if future.status == "error" else None
        if isinstance(error, KilledWorker):
            return EngineError(
                where,
                "every worker that was given one of the tasks was killed (out of memory?)",
                "workers that live as long as their work",
                f"give workers more memory or choose fewer of them, and {again}",
            )
        if isinstance(error, ImportError):
            return other_version("a worker", "", package_version())
        if error is not None:
            return EngineError(where, f"{type(error).__name__}: {error}", "an answer", again)
        self._lost_scheduler = True
        return EngineError(
            where, "the scheduler was lost", "one that lives as long as the work", again
        )

    def close(self) -> None:
        """Leave the scheduler; end the cluster where it is ours."""
        with suppress(Exception):
            self._client.close(timeout=2)
        if self._own is not None:
            with suppress(Exception):
                self._own.close(timeout=5)
        self._quiet.end()
        for name, value in self._environment.items():  # Dask leaves what it sets for workers
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


def _absent(address: str | None, got: str) -> EngineError:
    return EngineError(
        f"engine dask, {address}",
        got,
        "the address that dask scheduler printed (tcp://HOST:8786), and at least one worker",
        "start both: dask scheduler, and dask worker ADDRESS --nthreads 1",
    )


def _require_scheduler(address: str) -> None:
    """Refuse an address where nobody answers, or somebody else does.

    A scheduler speaks first, and says in eight bytes how long its greeting is.
    """
    match = re.fullmatch(r"(?:(tcp|tls|ws|wss|ucx)://)?(.+):(\d{1,5})", address)
    if match is None or not 0 < int(match[3]) < 2**16:
        raise _absent(address, "no host with a port")
    try:
        where = (match[2].strip("[]"), int(match[3]))
        with socket.create_connection(where, _GREETING) as line:
            line.settimeout(_GREETING)
            greeting = line.recv(8) if match[1] in (None, "tcp") else b""
    except TimeoutError as error:
        raise _absent(address, f"no scheduler answers within {_GREETING} s") from error
    except OSError as error:
        raise _absent(address, f"nobody answers ({error.strerror or error})") from error
    if greeting and int.from_bytes(greeting, "little") > _LONGEST:
        raise _absent(address, "somebody answers who is no Dask scheduler")


class _Quiet:
    """Keeps what Dask logs off the screen: what goes wrong is told by our own error."""

    def __init__(self) -> None:
        names = [name for name in logging.root.manager.loggerDict if "distributed" in name]
        self._loggers = [logging.getLogger(name) for name in names]
        for logger in self._loggers:
            logger.addFilter(_nothing)

    def end(self) -> None:
        """Let it speak again."""
        for logger in self._loggers:
            logger.removeFilter(_nothing)


def _nothing(_: logging.LogRecord) -> bool:
    return False


def _cluster(workers: int) -> Any:
    """A cluster of this machine that no other machine can reach; its other users could."""
    from distributed import LocalCluster

    try:
        return LocalCluster(
            n_workers=workers,
            threads_per_worker=1,
            host="127.0.0.1",
            dashboard_address="127.0.0.1:0",
            resources={"GPU": 1},
            silence_logs=50,
        )
    except RuntimeError as error:
        raise EngineError(
            "engine dask",
            f"its workers do not start ({error})",
            "a script whose last part begins with if __name__ == '__main__':",
            "put the work there, as workers read the script too, or choose processes",
        ) from error


# ---- Ray -----------------------------------------------------------------------------------


class Ray:
    """A connection to a Ray cluster, or a cluster of this machine."""

    def __init__(self, address: str | None, workers: int) -> None:
        import ray

        self._own = not ray.is_initialized()  # one that the program has started stays
        local = {} if address else {"num_cpus": workers, "_node_ip_address": "127.0.0.1"}
        try:
            if self._own:
                ray.init(
                    address=address,
                    include_dashboard=None if address else False,
                    log_to_driver=False,
                    logging_level="ERROR",
                    runtime_env={"env_vars": THREADS},
                    **local,
                )
        except (ConnectionError, RuntimeError, ValueError) as error:
            raise EngineError(
                f"engine ray, {address}",
                f"it cannot be reached ({error})",
                "the address that ray start printed",
                "start it: ray start --head",
            ) from error
        self.workers = max(1, int(ray.cluster_resources().get("CPU", 1)))

    def run(
        self, function: Callable[[Any], Any], groups: Sequence[Group], resource: str | None
    ) -> Iterator[tuple[int, GroupResult]]:
        """Answers with the numbers of their groups, as they are there.

        Every process has one slot of any resource.
        """
        import ray
        from ray.exceptions import RayError

        del resource
        held, remote = ray.put(pack(function)), ray.remote(num_cpus=1)(answer)
        waiting = {remote.remote(held, group): number for number, group in enumerate(groups)}
        try:
            while waiting:
                for task in ray.wait(list(waiting))[0]:
                    result = ray.get(task)
                    yield waiting.pop(task), result
        except RayError as error:
            raise EngineError(
                "engine ray",
                f"{type(error).__name__}: {error}",
                "workers that live as long as their work",
                "run the same again with fewer workers; what is finished is kept",
            ) from error
        finally:
            for task in waiting:
                with suppress(Exception):
                    ray.cancel(task)

    def close(self) -> None:
        """Leave the cluster; end it where it is ours."""
        import ray

        if self._own:
            with suppress(Exception):
                ray.shutdown()
