"""What the off-topic detectors of pyod share: one fit on the embeddings, private chance.

Features that are the same for every item say nothing and are left out; where none is left, all
items score 0. Items are worked on in the order of their names and on one thread, so that scores
depend neither on the order of the items nor on the machine's cores.
"""

import os
import random
import warnings
from abc import abstractmethod
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import ClassVar, Protocol

import numpy as np

from equipoise.arrays import Floats, InputError
from equipoise.clean.collection import Collection
from equipoise.clean.detector import Detector, Need, Progress, Task
from equipoise.clean.detectors._order import back_in_place, name_order
from equipoise.predictions import Predictions

MIN_ITEMS = 3
SEEDS = 2**32
HASHING = "PYTHONHASHSEED"


class PyodModel(Protocol):
    """What is used of a model of pyod."""

    decision_scores_: Floats

    def fit(self, rows: Floats, /) -> object:
        """Fit, and score what it was fitted to."""
        ...


@dataclass(frozen=True)
class OutlierDetector(Detector):
    """An outlier detector of pyod on embeddings."""

    task: ClassVar[Task] = "off_topic"
    needs: ClassVar[tuple[Need, ...]] = ("embeddings",)
    packages: ClassVar[tuple[str, ...]] = ("pyod",)

    @abstractmethod
    def model(self, rows: Floats, seed: int) -> PyodModel:
        """The model of pyod, not fitted yet, for features of shape (items, features)."""

    def score(
        self, data: Collection, *, seed: int = 0, progress: Progress | None = None
    ) -> Predictions:
        """How far every item is from what is usual; higher is more suspicious."""
        self.check(data)
        assert data.embeddings is not None
        if len(data) < MIN_ITEMS:
            raise InputError(
                f"detector {self.name}",
                f"{len(data)} items",
                f"at least {MIN_ITEMS}",
                "give more items: nothing is unusual among so few",
            )
        order = name_order(data.items)
        rows = np.asarray(data.embeddings, dtype=np.float64)[order]
        rows = rows[:, rows.min(axis=0) < rows.max(axis=0)]
        values = (
            self._fit(rows, seed % SEEDS, progress) if rows.shape[1] else np.zeros(len(rows))
        )
        if progress is not None:
            progress(1, 1)
        return self.of_items(data.items, back_in_place(values, order))

    def _fit(self, rows: Floats, seed: int, progress: Progress | None) -> Floats:
        with _private_chance(seed, torch="torch" in self.packages):
            made = self.model(rows, seed)
            if progress is not None and hasattr(made, "epoch_update"):
                made.epoch_update = _counted(progress, getattr(made, "epoch_num", 1))
            made.fit(rows)
        return np.asarray(made.decision_scores_, dtype=np.float64)


def _counted(progress: Progress, total: int) -> Callable[[], None]:
    """A function that tells of one more epoch whenever it is called."""
    epochs = iter(range(1, total + 1))
    return lambda: progress(next(epochs), total)


@contextmanager
def _private_chance(seed: int, *, torch: bool) -> Iterator[None]:
    """Seed every shared source of random numbers, and put all back; one thread meanwhile."""
    from sklearn.utils import check_random_state
    from threadpoolctl import threadpool_limits

    shared = check_random_state(None)
    kept, plain, hashing = shared.get_state(), random.getstate(), os.environ.get(HASHING)
    with ExitStack() as stack:
        stack.enter_context(threadpool_limits(limits=1))
        if torch:
            stack.enter_context(_one_torch_thread(seed))
        stack.enter_context(warnings.catch_warnings())
        warnings.filterwarnings("ignore", category=RuntimeWarning, module=r"(pyod|scipy)\.")
        warnings.filterwarnings("ignore", message="'pin_memory' argument is set")
        try:
            shared.seed(seed)
            random.seed(seed)
            yield
        finally:
            shared.set_state(kept)
            random.setstate(plain)
            if hashing is None:
                os.environ.pop(HASHING, None)
            else:
                os.environ[HASHING] = hashing


@contextmanager
def _one_torch_thread(seed: int) -> Iterator[None]:
    import torch

    threads = torch.get_num_threads()
    with torch.random.fork_rng(devices=[]):
        torch.set_num_threads(1)
        try:
            torch.manual_seed(seed)
            yield
        finally:
            torch.set_num_threads(threads)
