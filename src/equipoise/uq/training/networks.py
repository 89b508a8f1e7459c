"""Networks: what turns an image into a feature, z = f(x).

- `ResNet`: four stages of two basic blocks with batch normalisation; width 64 is ResNet-18
  (He et al., CVPR 2016), 11.18 million parameters with 14 labels. The stem,
  for images under 128 px, is the usual 7 x 7 convolution of stride 2 *without* the max-pooling,
  so that 64 px become maps of 32, 16, 8 and 4.
- `ViT`: pre-norm transformer with a class token and learned positions; 192 wide, 12 deep, 3
  heads is ViT-tiny (Touvron et al., ICML 2021). Patch 8 makes 64 tokens of 64 px and 5.37
  million parameters with 14 labels.
- `Timm`: any network of timm, with its pretrained weights if wished, where timm is installed.

An architecture is a frozen record of its sizes; ``network(shape)`` makes the network for images
of a (channels, height, width). Networks start from scratch: no weights are bundled. All take
1 or 3 channels, make features of images and have ``dim``. Every ReLU, GELU and attention is a
module of its own, so that a method can put its own in its place.
"""

from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec

import torch
from torch import Tensor, nn
from torch.nn import functional

from equipoise.types import InputError, immutable, nearest
from equipoise.uq.training.data import ImageShape


class Network(nn.Module):
    """A feature extractor: what turns images (items, channels, height, width) into features.

    Attributes
    ----------
    dim
        Length of a feature.
    shape
        Size of an image.
    transformer
        As its architecture says.
    """

    def __init__(
        self, body: nn.Module, dim: int, shape: ImageShape, *, transformer: bool = False
    ) -> None:
        super().__init__()
        self.body, self.dim, self.shape, self.transformer = body, dim, shape, transformer

    def forward(self, images: Tensor) -> Tensor:
        """The features (items, dim) of images."""
        return self.body(images)


class _BasicBlock(nn.Module):
    """Two 3 x 3 convolutions around which the input is added."""

    def __init__(self, before: int, after: int, stride: int) -> None:
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(before, after, 3, stride, 1, bias=False), nn.BatchNorm2d(after),
            nn.ReLU(),
            nn.Conv2d(after, after, 3, 1, 1, bias=False), nn.BatchNorm2d(after),
        )  # fmt: skip
        self.relu = nn.ReLU()
        self.shortcut: nn.Module = nn.Identity()
        if stride != 1 or before != after:
            self.shortcut = nn.Sequential(
                nn.Conv2d(before, after, 1, stride, bias=False), nn.BatchNorm2d(after)
            )

    def forward(self, x: Tensor) -> Tensor:
        """One residual step."""
        return self.relu(self.body(x) + self.shortcut(x))


class Attention(nn.Module):
    """Multi-head self-attention; a method may put a random one in its place."""

    def __init__(self, dim: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(dim, 3 * dim)
        self.out = nn.Linear(dim, dim)

    def split(self, x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Queries, keys and values, each (items, heads, tokens, width)."""
        items, tokens, dim = x.shape
        parts = self.qkv(x).view(items, tokens, 3, self.heads, dim // self.heads)
        query, key, value = parts.permute(2, 0, 3, 1, 4)
        return query, key, value

    def join(self, heads: Tensor) -> Tensor:
        """The output projection of the heads put side by side."""
        return self.out(heads.transpose(1, 2).flatten(2))

    def forward(self, x: Tensor) -> Tensor:
        """Plain attention, softmax(QK'/sqrt d) V."""
        return self.join(functional.scaled_dot_product_attention(*self.split(x)))


class _TransformerBlock(nn.Module):
    """Attention and a two-layer perceptron, each on the normed input and added to it."""

    def __init__(self, dim: int, heads: int) -> None:
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(dim), nn.LayerNorm(dim)
        self.attention: nn.Module = Attention(dim, heads)
        self.mlp = nn.Sequential(nn.Linear(dim, 4 * dim), nn.GELU(), nn.Linear(4 * dim, dim))

    def forward(self, x: Tensor) -> Tensor:
        """One transformer step."""
        x = x + self.attention(self.norm1(x))
        return x + self.mlp(self.norm2(x))


class _Transformer(nn.Module):
    """Patches, class token, positions, blocks, norm; the feature is the class token."""

    def __init__(self, sizes: "ViT", shape: ImageShape) -> None:
        super().__init__()
        dim = sizes.dim
        tokens = (shape.height // sizes.patch) * (shape.width // sizes.patch)
        self.patches = nn.Conv2d(shape.channels, dim, sizes.patch, sizes.patch)
        self.token = nn.Parameter(torch.zeros(1, 1, dim))
        self.position = nn.Parameter(torch.zeros(1, tokens + 1, dim))
        blocks = [_TransformerBlock(dim, sizes.heads) for _ in range(sizes.depth)]
        self.blocks = nn.Sequential(*blocks)
        self.norm = nn.LayerNorm(dim)
        for module in self.modules():
            if isinstance(module, nn.Linear):
                nn.init.trunc_normal_(module.weight, std=0.02)
                nn.init.zeros_(module.bias)
        for vector in (self.token, self.position):
            nn.init.trunc_normal_(vector, std=0.02)

    def forward(self, images: Tensor) -> Tensor:
        """Images to features."""
        x = self.patches(images).flatten(2).transpose(1, 2)
        x = torch.cat([self.token.expand(len(x), -1, -1), x], 1) + self.position
        return self.norm(self.blocks(x))[:, 0]


@immutable(kw_only=True)
class ResNet:
    """A residual network; the default is ResNet-18."""

    transformer = False
    width: int = 64
    blocks: int = 2

    def check(self, shape: ImageShape) -> None:
        """Refuse images that would vanish on the way."""
        if min(shape.height, shape.width) < 16:
            raise InputError(
                "architecture ResNet", f"images of {shape.height} x {shape.width} pixels",
                "at least 16 x 16", "give larger images",
            )  # fmt: skip

    def network(self, shape: ImageShape) -> Network:
        """A new network with random weights."""
        width = self.width
        parts: list[nn.Module] = [
            nn.Conv2d(shape.channels, width, 7, 2, 3, bias=False), nn.BatchNorm2d(width),
            nn.ReLU(),
        ]  # fmt: skip
        before = width
        for stage in range(4):
            for block in range(self.blocks):
                stride = 2 if stage and not block else 1
                parts.append(_BasicBlock(before, width * 2**stage, stride))
                before = width * 2**stage
        body = nn.Sequential(*parts, nn.AdaptiveAvgPool2d(1), nn.Flatten())
        for module in body.modules():
            if isinstance(module, nn.Conv2d):
                nn.init.kaiming_normal_(module.weight, mode="fan_out", nonlinearity="relu")
        return Network(body, width * 8, shape)


@immutable(kw_only=True)
class ViT:
    """A vision transformer; the default is ViT-tiny with patches of 8 pixels."""

    transformer = True
    dim: int = 192
    depth: int = 12
    heads: int = 3
    patch: int = 8

    def check(self, shape: ImageShape) -> None:
        """Refuse images that patches do not fill, and widths that heads do not share."""
        if shape.height % self.patch or shape.width % self.patch:
            raise InputError(
                "architecture ViT", f"images of {shape.height} x {shape.width} pixels",
                f"sides that are multiples of the patch, {self.patch}",
                "resize the images or choose another patch",
            )  # fmt: skip
        if self.dim % self.heads:
            raise InputError(
                "architecture ViT", f"a width of {self.dim} for {self.heads} heads",
                "a multiple of the number of heads", "choose another width",
            )  # fmt: skip

    def network(self, shape: ImageShape) -> Network:
        """A new network with random weights."""
        return Network(_Transformer(self, shape), self.dim, shape, transformer=True)


@immutable(kw_only=True)
class Timm:
    """A network of timm by its name; methods that change attention need our own ViT."""

    transformer = False
    name: str
    pretrained: bool = True

    def check(self, shape: ImageShape) -> None:
        """Refuse when timm is not there."""
        if find_spec("timm") is None:
            raise InputError(
                f"architecture timm:{self.name}", "timm is not installed", "the package timm",
                f"run pip install timm, or choose {' or '.join(ARCHITECTURES)}",
            )  # fmt: skip
        if shape.channels not in (1, 3):
            raise InputError(
                f"architecture timm:{self.name}", f"{shape.channels} channels", "1 or 3",
                "give grey or colour images",
            )  # fmt: skip

    def network(self, shape: ImageShape) -> Network:
        """A new network, with pretrained weights if wished."""
        make: Callable[..., nn.Module] = import_module("timm").create_model
        how = {"pretrained": self.pretrained, "in_chans": shape.channels, "num_classes": 0}
        try:
            body = make(self.name, img_size=(shape.height, shape.width), **how)
        except TypeError:  # convolutional networks take any size
            body = make(self.name, **how)
        return Network(body, body.num_features, shape)


Architecture = ResNet | ViT | Timm

ARCHITECTURES: dict[str, Architecture] = {
    "resnet18": ResNet(),
    "vit_tiny": ViT(),
    "resnet_demo": ResNet(width=8, blocks=1),
    "vit_demo": ViT(dim=48, depth=3, heads=3, patch=6),
}


def architecture_of(name: str) -> Architecture:
    """The architecture of a name in the catalogue, or of ``timm:NAME``.

    Examples
    --------
    >>> architecture_of("vit_tiny").dim
    192
    """
    if name.startswith("timm:"):
        return Timm(name=name.removeprefix("timm:"))
    if name not in ARCHITECTURES:
        raise InputError(
            "architecture", repr(name), f"one of {', '.join(ARCHITECTURES)} or timm:NAME",
            nearest(name, ARCHITECTURES),
        )  # fmt: skip
    return ARCHITECTURES[name]


def replace_modules(
    root: nn.Module, kind: type[nn.Module], change: Callable[[nn.Module], nn.Module]
) -> int:
    """Put a changed module in the place of every one of a kind; says how many there were."""
    count = 0
    for module in list(root.modules()):
        for name, child in list(module.named_children()):
            if type(child) is kind:
                setattr(module, name, change(child))
                count += 1
    return count
