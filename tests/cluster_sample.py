"""A cluster of two processes of this machine; a task of which two workers died is given up."""

from contextlib import contextmanager


@contextmanager
def two_workers():
    import dask
    from distributed import LocalCluster

    with (
        dask.config.set({"distributed.scheduler.allowed-failures": 1}),
        LocalCluster(
            n_workers=2, threads_per_worker=1, host="127.0.0.1",
            dashboard_address="127.0.0.1:0", silence_logs=50,
        ) as made,
    ):  # fmt: skip
        yield made
