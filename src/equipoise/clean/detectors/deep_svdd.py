"""DeepSVDD: how far from the middle a network puts an item that was trained to put all there.

The score is the squared distance, after layers of 64 and 32 units, from the mean of the
embeddings before training.
"""

from dataclasses import dataclass
from typing import ClassVar

from equipoise.arrays import Floats
from equipoise.clean.detectors._outliers import OutlierDetector, PyodModel


@dataclass(frozen=True)
class DeepSvdd(OutlierDetector):
    """Deep support vector data description.

    Attributes
    ----------
    layers
        Units of the hidden layers.
    epochs, batch, learning_rate
        Of the training.
    """

    name: ClassVar[str] = "deep_svdd"
    title: ClassVar[str] = "DeepSVDD"
    packages: ClassVar[tuple[str, ...]] = ("pyod", "torch")
    seeded: ClassVar[bool] = True
    references: ClassVar[tuple[str, ...]] = ("ruff2018", "zhao2019")
    layers: tuple[int, ...] = (64, 32)
    epochs: int = 100
    batch: int = 32
    learning_rate: float = 1e-4

    def model(self, rows: Floats, seed: int) -> PyodModel:
        """The network, on the processor."""
        from pyod.models.deep_svdd import DeepSVDD

        made: PyodModel = DeepSVDD(
            n_features=rows.shape[1],
            hidden_neurons=list(self.layers),
            epochs=self.epochs,
            batch_size=min(self.batch, len(rows)),
            learning_rate=self.learning_rate,
            random_state=seed,
            verbose=0,
        )
        return made
