r"""Off-topic images as outliers among embeddings: the detectors of pyod.

One fit on the embeddings, with chance of its own. Features that are the same for every item say
nothing and are left out; where none is left, all items score 0. Items are worked on in the
order of their names and on one thread, so that scores depend neither on the order of the items
nor on the machine's cores.

- `knn_distance`: how far the k-th nearest other item is, :math:`s_i = \lVert x_i - x_{(k)}
  \rVert`, Euclidean (k = 5, the largest of the k distances). With no more than k items, k is
  one less than their number.
- `isolation_forest`: how few random cuts set an item apart. Trees cut a random feature at a
  random place; the score falls with the mean depth at which an item is alone (100 trees of at
  most 256 items).
- `hbos`: how rare an item's value of each feature is, :math:`s_i = -\sum_f \log_2 (h_f(x_{if})
  + \alpha)` with :math:`h_f` a histogram of feature f with 10 bins of equal width, up to a
  constant.
- `ecod`: how far in the tails of every feature an item lies: the larger of the sums over
  features of minus the log of the left, of the right, and of the longer tail's probability
  under the empirical distribution.
- `autoencoder`: how badly a narrow network gives an item back: the Euclidean distance between
  the standardised embedding and its reconstruction through layers of 64 and 32 units and back.
- `vae`: the same of a variational autoencoder with layers of 128, 64 and 32 units, two latent
  dimensions, and back.
- `deep_svdd`: how far from the middle a network puts an item that was trained to put all there:
  the squared distance, after layers of 64 and 32 units, from the mean of the embeddings before
  training.
- `deep_isolation_forest`: isolation forests on the outputs of 50 random networks that are never
  trained, 6 trees each; the score is the mean of the trees' scores, weighted with how far from
  its cuts an item lies.

Hyper-parameters by detector: `k` neighbours and the `method` that joins their distances
(largest, mean or median); `trees`, and `max_samples` items per tree; `bins` per feature,
`alpha` added to the height of each, and `tolerance`, how far beyond the outermost ones a value
may lie, in widths of a bin; `layers`, units of an encoder's hidden layers, mirrored in its
decoder, and `latent` dimensions; `epochs`, `batch` and `learning_rate` of the training;
`networks`, and the `dimensions` of their outputs.

>>> import numpy as np
>>> from equipoise.clean import Collection
>>> rows = np.array([[0.0], [0.1], [0.2], [9.0]])
>>> data = Collection(items=tuple("abcd"), embeddings=rows)
>>> OUTLIERS[0].with_settings(k=1).score(data).values.round(1).tolist()
[0.1, 0.1, 0.1, 8.8]
"""

import os
import random
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from functools import partial
from importlib import import_module
from typing import Any

import numpy as np

from equipoise.clean.collection import Collection
from equipoise.clean.detector import SEEDS, CatalogueDetector, Hyper
from equipoise.types import Floats, InputError, Progress

MIN_ITEMS = 3
HASHING = "PYTHONHASHSEED"
BEYOND = {"k": 1, "max_samples": 0, "batch": 0}  # at most the number of items, less these
ARGUMENTS: Mapping[str, Mapping[str, str]] = {  # of pyod, by our hyper-parameters
    "knn_distance": {"k": "n_neighbors", "method": "method"},
    "isolation_forest": {"trees": "n_estimators", "max_samples": "max_samples"},
    "hbos": {"bins": "n_bins", "alpha": "alpha", "tolerance": "tol"},
    "ecod": {},
    "autoencoder": {"layers": "hidden_neuron_list", "epochs": "epoch_num",
                    "batch": "batch_size", "learning_rate": "lr"},
    "vae": {"layers": "encoder_neuron_list", "latent": "latent_dim", "epochs": "epoch_num",
            "batch": "batch_size", "learning_rate": "lr"},
    "deep_svdd": {"layers": "hidden_neurons", "epochs": "epochs", "batch": "batch_size",
                  "learning_rate": "learning_rate"},
    "deep_isolation_forest": {"networks": "n_ensemble", "trees": "n_estimators",
                              "dimensions": "representation_dim",
                              "max_samples": "max_samples"},
}  # fmt: skip


def _fit(
    model: str,
    constants: Hyper,
    row: CatalogueDetector,
    data: Collection,
    seed: int,
    progress: Progress,
) -> Floats:
    """How far every item is from what is usual, by a module and class of pyod."""
    assert data.embeddings is not None
    if len(data) < MIN_ITEMS:
        raise InputError(
            f"detector {row.name}",
            f"{len(data)} items",
            f"at least {MIN_ITEMS}",
            "give more items: nothing is unusual among so few",
        )
    rows = np.asarray(data.embeddings, dtype=np.float64)
    rows = rows[:, rows.min(axis=0) < rows.max(axis=0)]
    values, seed = np.zeros(len(rows)), seed % SEEDS
    if rows.shape[1]:
        module, _, kind = model.partition(".")
        with _private_chance(seed, torch="torch" in row.packages):
            fitted = getattr(import_module(f"pyod.models.{module}"), kind)(
                **constants, **arguments(row, rows, seed)
            )
            if hasattr(fitted, "epoch_update"):
                fitted.epoch_update = _epoch_counter(progress, getattr(fitted, "epoch_num", 1))
            fitted.fit(rows)
        values = np.asarray(fitted.decision_scores_, dtype=np.float64)
    progress(1, 1)
    return values


def arguments(row: CatalogueDetector, rows: Floats, seed: int) -> dict[str, object]:
    """Hyper-parameters as pyod takes them; none that counts items exceeds their number."""
    words: dict[str, object] = {}
    for ours, theirs in ARGUMENTS[row.name].items():
        value = row.hyper[ours]
        if ours in BEYOND:
            value = min(value, len(rows) - BEYOND[ours])
        words[theirs] = list(value) if ours == "layers" else value
    if row.name == "vae":
        words["decoder_neuron_list"] = list(reversed(row.hyper["layers"]))
    if row.name == "deep_svdd":
        words["n_features"] = rows.shape[1]
    return words | ({"random_state": seed} if row.seeded else {})


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

    from equipoise.clean.encoders import single_torch_thread

    with torch.random.fork_rng(devices=[]), single_torch_thread():
        torch.manual_seed(seed)
        yield


def _row(
    name: str, title: str, model: str, hyper: Hyper, source: str, **more: Any
) -> CatalogueDetector:
    """A detector of pyod; more may hold constants that pyod is told besides."""
    constants = more.pop("constants", {})
    return CatalogueDetector(
        name=name, title=title, task="off_topic", compute=partial(_fit, model, constants),
        hyper=hyper, references=(source, "zhao2019"), **{"packages": ("pyod",), **more},
    )  # fmt: skip


_TRAINED = {"batch": 32, "learning_rate": 1e-3}
_TORCH: Hyper = {"packages": ("pyod", "torch"), "seeded": True}
_NETWORK: Hyper = {**_TORCH, "constants": {"device": "cpu", "verbose": 0}}
OUTLIERS = (
    _row("knn_distance", "kNN distance", "knn.KNN", {"k": 5, "method": "largest"},
         "ramaswamy2000"),
    _row("isolation_forest", "Isolation Forest", "iforest.IForest",
         {"trees": 100, "max_samples": 256}, "liu2008", seeded=True),
    _row("hbos", "HBOS", "hbos.HBOS", {"bins": 10, "alpha": 0.1, "tolerance": 0.5},
         "goldstein2012"),
    _row("ecod", "ECOD", "ecod.ECOD", {}, "li2022"),
    _row("autoencoder", "AutoEncoder", "auto_encoder.AutoEncoder",
         {"layers": (64, 32), "epochs": 10, **_TRAINED}, "aggarwal2015", **_NETWORK),
    _row("vae", "VAE", "vae.VAE",
         {"layers": (128, 64, 32), "latent": 2, "epochs": 30, **_TRAINED}, "kingma2014",
         **_NETWORK),
    _row("deep_svdd", "DeepSVDD", "deep_svdd.DeepSVDD",
         {"layers": (64, 32), "epochs": 100, "batch": 32, "learning_rate": 1e-4}, "ruff2018",
         **_TORCH, constants={"verbose": 0}),
    _row("deep_isolation_forest", "Deep Isolation Forest", "dif.DIF",
         {"networks": 50, "trees": 6, "dimensions": 20, "max_samples": 256}, "xu2023",
         **_TORCH, constants={"device": "cpu"}),
)  # fmt: skip
