r"""Off-topic images as outliers among embeddings: the detectors of pyod.

One fit on the embeddings, with chance of its own. Features that are the same for every item say
nothing and are left out; where none is left, all items score 0. Items are worked on in the
order of their names and on one thread, so that scores depend neither on the order of the items
nor on the machine's cores.

- `KnnDistance`: how far the k-th nearest other item is, :math:`s_i = \lVert x_i - x_{(k)}
  \rVert`, Euclidean (k = 5, the largest of the k distances). With no more than k items, k is
  one less than their number.
- `IsolationForest`: how few random cuts set an item apart. Trees cut a random feature at a
  random place; the score falls with the mean depth at which an item is alone (100 trees of at
  most 256 items).
- `Hbos`: how rare an item's value of each feature is, :math:`s_i = -\sum_f \log_2 (h_f(x_{if})
  + \alpha)` with :math:`h_f` a histogram of feature f with 10 bins of equal width, up to a
  constant.
- `Ecod`: how far in the tails of every feature an item lies: the larger of the sums over
  features of minus the log of the left, of the right, and of the longer tail's probability
  under the empirical distribution.
- `AutoEncoder`: how badly a narrow network gives an item back: the Euclidean distance between
  the standardised embedding and its reconstruction through layers of 64 and 32 units and back.
- `Vae`: the same of a variational autoencoder with layers of 128, 64 and 32 units, two latent
  dimensions, and back.
- `DeepSvdd`: how far from the middle a network puts an item that was trained to put all there:
  the squared distance, after layers of 64 and 32 units, from the mean of the embeddings before
  training.
- `DeepIsolationForest`: isolation forests on the outputs of 50 random networks that are never
  trained, 6 trees each; the score is the mean of the trees' scores, weighted with how far from
  its cuts an item lies.
"""

import os
import random
import warnings
from abc import abstractmethod
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from importlib import import_module
from typing import Any, ClassVar, Literal

import numpy as np

from equipoise.clean.collection import Collection
from equipoise.clean.detector import (
    SEEDS,
    Detector,
    Progress,
    back_in_place,
    name_order,
    tell,
)
from equipoise.types.arrays import Floats, InputError
from equipoise.types.predictions import Predictions

MIN_ITEMS = 3
HASHING = "PYTHONHASHSEED"


def _pyod(module: str, name: str, **settings: object) -> Any:
    """A model of pyod, not fitted yet."""
    return getattr(import_module(f"pyod.models.{module}"), name)(**settings)


@dataclass(frozen=True)
class _OutlierDetector(Detector):
    """An outlier detector of pyod on embeddings."""

    task = "off_topic"
    needs = ("embeddings",)
    packages: ClassVar[tuple[str, ...]] = ("pyod",)

    @abstractmethod
    def model(self, rows: Floats, seed: int) -> Any:
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
        tell(progress, 1, 1)
        return self.of_items(data.items, back_in_place(values, order))

    def _fit(self, rows: Floats, seed: int, progress: Progress | None) -> Floats:
        with _private_chance(seed, torch="torch" in self.packages):
            model = self.model(rows, seed)
            if progress is not None and hasattr(model, "epoch_update"):
                model.epoch_update = _epoch_counter(progress, getattr(model, "epoch_num", 1))
            model.fit(rows)
        return np.asarray(model.decision_scores_, dtype=np.float64)


def _epoch_counter(progress: Progress, total: int) -> Callable[[], None]:
    """A function that tells of one more epoch whenever it is called."""
    epochs = iter(range(1, total + 1))
    return lambda: progress(next(epochs), total)


@contextmanager
def _private_chance(seed: int, *, torch: bool) -> Iterator[None]:
    """Seed every shared source of random numbers, and put all back; one thread meanwhile."""
    from sklearn.utils import check_random_state
    from threadpoolctl import threadpool_limits

    shared = check_random_state(None)
    numpy_state, plain, hashing = shared.get_state(), random.getstate(), os.environ.get(HASHING)
    with ExitStack() as stack:
        stack.enter_context(threadpool_limits(limits=1))
        if torch:
            stack.enter_context(_private_torch(seed))
        stack.enter_context(warnings.catch_warnings())
        warnings.filterwarnings("ignore", category=RuntimeWarning, module=r"(pyod|scipy)\.")
        warnings.filterwarnings("ignore", message="'pin_memory' argument is set")
        try:
            shared.seed(seed)
            random.seed(seed)
            yield
        finally:
            shared.set_state(numpy_state)
            random.setstate(plain)
            if hashing is None:
                os.environ.pop(HASHING, None)
            else:
                os.environ[HASHING] = hashing


@contextmanager
def _private_torch(seed: int) -> Iterator[None]:
    import torch

    from equipoise.clean.encoders.encoder import single_torch_thread

    with torch.random.fork_rng(devices=[]), single_torch_thread():
        torch.manual_seed(seed)
        yield


@dataclass(frozen=True)
class KnnDistance(_OutlierDetector):
    """Distance to the k-th nearest item.

    Attributes
    ----------
    k
        How many neighbours.
    method
        Which of the k distances: the largest, their mean or their median.

    Examples
    --------
    >>> import numpy as np
    >>> from equipoise.clean import Collection
    >>> rows = np.array([[0.0], [0.1], [0.2], [9.0]])
    >>> data = Collection(items=tuple("abcd"), embeddings=rows)
    >>> KnnDistance(k=1).score(data).values.round(1).tolist()
    [0.1, 0.1, 0.1, 8.8]
    """

    name = "knn_distance"
    title = "kNN distance"
    references = ("ramaswamy2000", "zhao2019")
    k: int = 5
    method: Literal["largest", "mean", "median"] = "largest"

    def model(self, rows: Floats, seed: int) -> Any:
        """Exact neighbours."""
        del seed
        return _pyod("knn", "KNN", n_neighbors=min(self.k, len(rows) - 1), method=self.method)


@dataclass(frozen=True)
class IsolationForest(_OutlierDetector):
    """Isolation Forest.

    Attributes
    ----------
    trees
        How many.
    max_samples
        Items per tree, at most.
    """

    name = "isolation_forest"
    title = "Isolation Forest"
    seeded = True
    references = ("liu2008", "zhao2019")
    trees: int = 100
    max_samples: int = 256

    def model(self, rows: Floats, seed: int) -> Any:
        """Trees of random cuts."""
        return _pyod(
            "iforest",
            "IForest",
            n_estimators=self.trees,
            max_samples=min(self.max_samples, len(rows)),
            random_state=seed,
        )


@dataclass(frozen=True)
class Hbos(_OutlierDetector):
    """Histogram-based outlier score.

    Attributes
    ----------
    bins
        Bins per feature.
    alpha
        Added to the height of each bin.
    tolerance
        How far beyond the outermost bins a value may lie, in widths of a bin.
    """

    name = "hbos"
    title = "HBOS"
    references = ("goldstein2012", "zhao2019")
    bins: int = 10
    alpha: float = 0.1
    tolerance: float = 0.5

    def model(self, rows: Floats, seed: int) -> Any:
        """One histogram per feature."""
        del rows, seed
        return _pyod("hbos", "HBOS", n_bins=self.bins, alpha=self.alpha, tol=self.tolerance)


@dataclass(frozen=True)
class Ecod(_OutlierDetector):
    """Outliers by empirical cumulative distributions; it has no hyper-parameters."""

    name = "ecod"
    title = "ECOD"
    references = ("li2022", "zhao2019")

    def model(self, rows: Floats, seed: int) -> Any:
        """Empirical distributions of all features."""
        del rows, seed
        return _pyod("ecod", "ECOD")


@dataclass(frozen=True)
class _Network(_OutlierDetector):
    """A detector that a network of torch is part of, on the processor."""

    packages = ("pyod", "torch")
    seeded = True


@dataclass(frozen=True)
class AutoEncoder(_Network):
    """Reconstruction error of an autoencoder.

    Attributes
    ----------
    layers
        Units of the encoder's hidden layers; the decoder mirrors them.
    epochs, batch, learning_rate
        Of the training.
    """

    name = "autoencoder"
    title = "AutoEncoder"
    references = ("aggarwal2015", "zhao2019")
    layers: tuple[int, ...] = (64, 32)
    epochs: int = 10
    batch: int = 32
    learning_rate: float = 1e-3

    def model(self, rows: Floats, seed: int) -> Any:
        """The network."""
        return _pyod(
            "auto_encoder",
            "AutoEncoder",
            hidden_neuron_list=list(self.layers),
            epoch_num=self.epochs,
            batch_size=min(self.batch, len(rows)),
            lr=self.learning_rate,
            device="cpu",
            random_state=seed,
            verbose=0,
        )


@dataclass(frozen=True)
class Vae(_Network):
    """Reconstruction error of a variational autoencoder.

    Attributes
    ----------
    layers
        Units of the encoder's hidden layers; the decoder mirrors them.
    latent
        Latent dimensions.
    epochs, batch, learning_rate
        Of the training.
    """

    name = "vae"
    title = "VAE"
    references = ("kingma2014", "zhao2019")
    layers: tuple[int, ...] = (128, 64, 32)
    latent: int = 2
    epochs: int = 30
    batch: int = 32
    learning_rate: float = 1e-3

    def model(self, rows: Floats, seed: int) -> Any:
        """The network."""
        return _pyod(
            "vae",
            "VAE",
            encoder_neuron_list=list(self.layers),
            decoder_neuron_list=list(reversed(self.layers)),
            latent_dim=self.latent,
            epoch_num=self.epochs,
            batch_size=min(self.batch, len(rows)),
            lr=self.learning_rate,
            device="cpu",
            random_state=seed,
            verbose=0,
        )


@dataclass(frozen=True)
class DeepSvdd(_Network):
    """Deep support vector data description.

    Attributes
    ----------
    layers
        Units of the hidden layers.
    epochs, batch, learning_rate
        Of the training.
    """

    name = "deep_svdd"
    title = "DeepSVDD"
    references = ("ruff2018", "zhao2019")
    layers: tuple[int, ...] = (64, 32)
    epochs: int = 100
    batch: int = 32
    learning_rate: float = 1e-4

    def model(self, rows: Floats, seed: int) -> Any:
        """The network."""
        return _pyod(
            "deep_svdd",
            "DeepSVDD",
            n_features=rows.shape[1],
            hidden_neurons=list(self.layers),
            epochs=self.epochs,
            batch_size=min(self.batch, len(rows)),
            learning_rate=self.learning_rate,
            random_state=seed,
            verbose=0,
        )


@dataclass(frozen=True)
class DeepIsolationForest(_Network):
    """Deep Isolation Forest.

    Attributes
    ----------
    networks
        How many random networks.
    trees
        Trees per network.
    dimensions
        Outputs of a network.
    max_samples
        Items per tree, at most.
    """

    name = "deep_isolation_forest"
    title = "Deep Isolation Forest"
    references = ("xu2023", "zhao2019")
    networks: int = 50
    trees: int = 6
    dimensions: int = 20
    max_samples: int = 256

    def model(self, rows: Floats, seed: int) -> Any:
        """Random networks."""
        return _pyod(
            "dif",
            "DIF",
            n_ensemble=self.networks,
            n_estimators=self.trees,
            representation_dim=self.dimensions,
            max_samples=min(self.max_samples, len(rows)),
            random_state=seed,
            device="cpu",
        )
