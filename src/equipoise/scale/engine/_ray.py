"""Ray: one that runs somewhere, or processes of this machine."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from typing import Any

from equipoise.scale.engine._parcel import EngineError, pack
from equipoise.scale.engine._worker import THREADS, Group, GroupResult, answer


class Ray:
    """A connection to a Ray cluster, or a cluster of this machine."""

    def __init__(self, address: str | None, workers: int) -> None:
        import ray

        self._own = not ray.is_initialized()  # one that the program has started stays
        own = {} if address else {"num_cpus": workers, "_node_ip_address": "127.0.0.1"}
        try:
            if self._own:
                ray.init(
                    address=address,
                    include_dashboard=None if address else False,
                    log_to_driver=False,
                    logging_level="ERROR",
                    runtime_env={"env_vars": THREADS},
                    **own,
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
        waiting = {remote.remote(held, one): number for number, one in enumerate(groups)}
        try:
            while waiting:
                for one in ray.wait(list(waiting))[0]:
                    found = ray.get(one)
                    yield waiting.pop(one), found
        except RayError as error:
            raise EngineError(
                "engine ray",
                f"{type(error).__name__}: {error}",
                "workers that live as long as their work",
                "run the same again with fewer workers; what is finished is kept",
            ) from error
        finally:
            for one in waiting:
                with suppress(Exception):
                    ray.cancel(one)

    def close(self) -> None:
        """Leave the cluster; end it where it is ours."""
        import ray

        if self._own:
            with suppress(Exception):
                ray.shutdown()
