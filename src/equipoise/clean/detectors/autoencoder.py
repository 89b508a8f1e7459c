"""AutoEncoder: how badly a narrow network gives an item back.

The score is the Euclidean distance between the standardised embedding and its reconstruction
through layers of 64 and 32 units and back.
"""

from dataclasses import dataclass
from typing import ClassVar

from equipoise.arrays import Floats
from equipoise.clean.detectors._outliers import OutlierDetector, PyodModel


@dataclass(frozen=True)
class AutoEncoder(OutlierDetector):
    """Reconstruction error of an autoencoder.

    Attributes
    ----------
    layers
        Units of the encoder's hidden layers; the decoder mirrors them.
    epochs, batch, learning_rate
        Of the training.
    """

    name: ClassVar[str] = "autoencoder"
    title: ClassVar[str] = "AutoEncoder"
    packages: ClassVar[tuple[str, ...]] = ("pyod", "torch")
    seeded: ClassVar[bool] = True
    references: ClassVar[tuple[str, ...]] = ("aggarwal2015", "zhao2019")
    layers: tuple[int, ...] = (64, 32)
    epochs: int = 10
    batch: int = 32
    learning_rate: float = 1e-3

    def model(self, rows: Floats, seed: int) -> PyodModel:
        """The network, on the processor."""
        from pyod.models.auto_encoder import AutoEncoder as Network

        made: PyodModel = Network(
            hidden_neuron_list=list(self.layers),
            epoch_num=self.epochs,
            batch_size=min(self.batch, len(rows)),
            lr=self.learning_rate,
            device="cpu",
            random_state=seed,
            verbose=0,
        )
        return made
