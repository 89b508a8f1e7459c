"""Encoders: images in, embeddings out; one file each.

`choose_encoder` takes the words of the command line. `embed` encodes a collection with a cache.
"""

from pathlib import Path

from equipoise.clean.encoders.encoder import (
    Embedded,
    Encoder,
    GivenEmbeddings,
    GreyPixels,
    embed,
)
from equipoise.clean.encoders.networks import VERSIONS, EfficientNetLite, OnnxFile, TimmModel
from equipoise.clean.features import ENDINGS, read_features
from equipoise.types.arrays import InputError

__all__ = [
    "EfficientNetLite",
    "Embedded",
    "Encoder",
    "GivenEmbeddings",
    "GreyPixels",
    "OnnxFile",
    "TimmModel",
    "choose_encoder",
    "embed",
]


def choose_encoder(name: str) -> Encoder:
    """An encoder by its words.

    ``default`` is ``lite0``; ``lite0`` and ``lite2`` are EfficientNet-Lite at 128 pixels,
    ``lite0:224`` at 224; a path that ends in ``.onnx`` is that file; ``timm:NAME`` a model of
    timm; ``pixels`` the image itself, small and grey. A file of embeddings (``.npz``,
    ``.npy``, ``.csv``, ``.parquet``) is put to the images by its ids.

    Examples
    --------
    >>> choose_encoder("lite2:224")
    EfficientNetLite(version='lite2', size=224)
    """
    word, _, rest = name.partition(":")
    if name.lower().endswith(".onnx"):
        return OnnxFile(Path(name))
    if word == "timm" and rest:
        return TimmModel(rest)
    if Path(name).suffix.lower() in ENDINGS:
        table = read_features(name)
        assert table.embeddings is not None
        return GivenEmbeddings(table.embeddings, table.items)
    if name == "pixels":
        return GreyPixels()
    version = "lite0" if word == "default" else word
    if version in VERSIONS and (not rest or rest.isdecimal()):
        return EfficientNetLite(version, int(rest)) if rest else EfficientNetLite(version)
    raise InputError(
        "encoder",
        f"{name!r}",
        "default, lite0, lite2, lite0:224, FILE.onnx, timm:NAME, pixels or FILE.npz",
        "choose one of these",
    )
