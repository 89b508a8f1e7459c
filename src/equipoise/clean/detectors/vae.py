"""VAE: how badly a variational autoencoder gives an item back.

The score is the Euclidean distance between the standardised embedding and its reconstruction
through layers of 128, 64 and 32 units, two latent dimensions, and back.
"""

from dataclasses import dataclass
from typing import ClassVar

from equipoise.arrays import Floats
from equipoise.clean.detectors._outliers import OutlierDetector, PyodModel


@dataclass(frozen=True)
class Vae(OutlierDetector):
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

    name: ClassVar[str] = "vae"
    title: ClassVar[str] = "VAE"
    packages: ClassVar[tuple[str, ...]] = ("pyod", "torch")
    seeded: ClassVar[bool] = True
    references: ClassVar[tuple[str, ...]] = ("kingma2014", "zhao2019")
    layers: tuple[int, ...] = (128, 64, 32)
    latent: int = 2
    epochs: int = 30
    batch: int = 32
    learning_rate: float = 1e-3

    def model(self, rows: Floats, seed: int) -> PyodModel:
        """The network, on the processor."""
        from pyod.models.vae import VAE

        made: PyodModel = VAE(
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
        return made
