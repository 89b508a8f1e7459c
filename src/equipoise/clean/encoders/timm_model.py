"""Any model of timm, by name, where timm is installed; its weights are timm's affair.

The size of the input and the normalisation are the model's own; the picture is squeezed into
the square. Output: the pooled features before the classifier.
"""

import hashlib
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, ClassVar

import numpy as np

from equipoise.clean.collection import ImageSource
from equipoise.clean.detector import require_packages
from equipoise.clean.encoders.encoder import (
    Encoder,
    as_rows,
    fingerprint_of,
    single_torch_thread,
    squeezed,
)
from equipoise.types.arrays import Floats, InputError


@dataclass(frozen=True)
class TimmModel(Encoder):
    """A model of timm.

    Attributes
    ----------
    model
        As timm calls it, for example ``vit_small_patch14_dinov2.lvd142m``.
    """

    name: ClassVar[str] = "timm"
    model: str

    @property
    def fingerprint(self) -> str:
        """A hash of name, weights and releases."""
        model, settings = self._loaded()
        import timm
        import torch

        digest = hashlib.sha256()
        for name, values in sorted(model.state_dict().items()):
            digest.update(name.encode() + values.detach().cpu().contiguous().numpy().tobytes())
        return fingerprint_of(
            name=self.name, model=self.model, settings=settings, weights=digest.hexdigest(),
            timm=timm.__version__, torch=torch.__version__,
        )  # fmt: skip

    def encode(self, images: ImageSource, places: Sequence[int]) -> Floats:
        """Embed some images."""
        import torch

        model, settings = self._loaded()
        size = int(settings["input_size"][-1])
        mean, sd = (np.asarray(settings[one], np.float32) for one in ("mean", "std"))
        with single_torch_thread(), torch.inference_mode():
            vectors = []
            for one in places:
                values = (squeezed(images.rgb(int(one)), size) - mean) / sd
                made = model(torch.from_numpy(values.transpose(2, 0, 1).copy())[None])
                vectors.append(made.numpy())
            return as_rows(vectors)

    def _loaded(self) -> tuple[Any, dict[str, Any]]:
        require_packages(f"encoder timm:{self.model}", ("torch", "timm"), "torch timm")
        return _model(self.model)


@cache
def _model(name: str) -> tuple[Any, dict[str, Any]]:
    import timm
    import torch

    with warnings.catch_warnings(), torch.random.fork_rng(devices=[]):
        warnings.simplefilter("ignore")  # of timm, on its own layers
        try:
            model = timm.create_model(name, pretrained=True, num_classes=0).eval()
        except (RuntimeError, OSError, ValueError) as error:
            raise InputError(
                f"encoder timm:{name}",
                f"cannot be loaded ({str(error).splitlines()[0]})",
                "a model that timm has, with weights it can find",
                "look its name up with timm.list_models(pretrained=True)",
            ) from error
        return model, dict(timm.data.resolve_model_data_config(model))
