"""A zoo of odd files: each is read by a stated rule, or listed with a reason."""

import os
import random
import struct
import zipfile
import zlib
from pathlib import Path

import numpy as np
import pytest

from equipoise.clean.images import ArrayImages, FileImages, look_through, read_image, thumbnail
from equipoise.types import InputError

Image = pytest.importorskip("PIL.Image")
RED = (200, 30, 40)


def picture(size=(12, 8), colour=RED):
    return Image.new("RGB", size, colour)


def corner_marked(size=(12, 8)):
    image = picture(size, (0, 0, 0))
    image.putpixel((0, 0), (255, 255, 255))
    return image


def close(pixels, colour, slack=6):
    return np.abs(pixels.reshape(-1, 3).astype(int) - colour).max() <= slack


def reason(folder, name):
    told = {one.where: one for one in look_through(folder).rejected}
    assert all((told[name].where, told[name].got, told[name].expected, told[name].do))
    return told[name]


def files_of(found):
    """How many files each notice counts."""
    return {one.code: one.values["files"] for one in found.notices}


# rules of reading


@pytest.mark.parametrize("turn", range(1, 9))
def test_every_exif_orientation_is_turned_upright(tmp_path, turn):
    upright = np.zeros((6, 10, 3), np.uint8)
    upright[0, :3] = 255
    back = {  # what a camera held that way stores
        1: lambda a: a,
        2: lambda a: a[:, ::-1],
        3: lambda a: a[::-1, ::-1],
        4: lambda a: a[::-1],
        5: lambda a: a.transpose(1, 0, 2),
        6: lambda a: np.rot90(a),
        7: lambda a: a.transpose(1, 0, 2)[::-1, ::-1],
        8: lambda a: np.rot90(a, -1),
    }[turn]
    exif = Image.Exif()
    exif[0x0112] = turn
    Image.fromarray(np.ascontiguousarray(back(upright))).save(tmp_path / "a.png", exif=exif)
    assert (read_image(tmp_path / "a.png") == upright).all()


def test_exif_that_cannot_be_read_leaves_the_image_as_stored(tmp_path):
    corner_marked().save(tmp_path / "a.jpg", exif=b"Exif\x00\x00II*\x00\xff\xff\xff\xff")
    assert read_image(tmp_path / "a.jpg").shape == (8, 12, 3)


def test_cmyk_palette_grey_and_lab_become_rgb(tmp_path):
    picture().convert("CMYK").save(tmp_path / "cmyk.jpg", quality=95)
    picture().convert("P", palette=Image.Palette.ADAPTIVE).save(tmp_path / "palette.png")
    picture().convert("L").save(tmp_path / "grey.png")
    picture().convert("1").save(tmp_path / "bits.png")
    picture().convert("YCbCr").save(tmp_path / "ycc.tif")
    assert close(read_image(tmp_path / "cmyk.jpg"), RED, 12)
    assert close(read_image(tmp_path / "palette.png"), RED)
    assert read_image(tmp_path / "grey.png").shape == (8, 12, 3)
    assert set(np.unique(read_image(tmp_path / "bits.png"))) <= {0, 255}
    assert close(read_image(tmp_path / "ycc.tif"), RED, 12)
    assert len(look_through(tmp_path).items) == 5


def test_lab_is_converted_and_not_taken_for_rgb(tmp_path):
    from PIL import ImageCms

    lab, srgb = ImageCms.createProfile("LAB"), ImageCms.createProfile("sRGB")
    ImageCms.profileToProfile(picture(), srgb, lab, outputMode="LAB").save(tmp_path / "a.tif")
    assert close(read_image(tmp_path / "a.tif"), RED, 12)


def test_what_is_transparent_lies_on_white(tmp_path):
    clear = Image.new("RGBA", (4, 4), (0, 0, 0, 0))
    clear.putpixel((0, 0), (*RED, 255))
    clear.putpixel((1, 0), (0, 0, 0, 128))
    clear.save(tmp_path / "a.png")
    seen = read_image(tmp_path / "a.png")
    assert tuple(seen[0, 0]) == RED and (seen[3, 3] == 255).all() and 120 < seen[0, 1, 0] < 135
    palette = Image.new("P", (4, 4), 0)
    palette.putpalette([0, 0, 0, *RED])
    palette.save(tmp_path / "p.gif", transparency=0)
    assert (read_image(tmp_path / "p.gif") == 255).all()
    Image.new("LA", (4, 4), (0, 0)).save(tmp_path / "la.png")
    assert (read_image(tmp_path / "la.png") == 255).all()


@pytest.mark.parametrize("ending", ["png", "tif"])
def test_sixteen_bits_are_stretched_between_their_ends(tmp_path, ending):
    deep = np.linspace(100, 4095, 96).reshape(8, 12).astype(np.uint16)  # 12 bits in 16
    Image.fromarray(deep).save(tmp_path / f"a.{ending}")
    seen = read_image(tmp_path / f"a.{ending}")
    expected = np.rint((deep.astype(float) - 100) / (4095 - 100) * 255)
    assert (seen[:, :, 0] == expected).all() and (seen[:, :, 0] == seen[:, :, 2]).all()


def test_floats_are_stretched_and_values_that_are_not_finite_are_black(tmp_path):
    deep = np.array([[0.25, 0.5], [np.nan, 0.75]], np.float32)
    Image.fromarray(deep).save(tmp_path / "a.tif")
    assert read_image(tmp_path / "a.tif")[:, :, 0].tolist() == [[0, 128], [0, 255]]
    Image.fromarray(np.full((2, 2), np.inf, np.float32)).save(tmp_path / "b.tif")
    assert "no finite value" in reason(tmp_path, "b.tif").got
    Image.fromarray(np.full((2, 2), 7, np.float32)).save(tmp_path / "c.tif")
    assert (read_image(tmp_path / "c.tif") == 0).all()


def test_of_an_animation_the_first_frame_counts_and_that_is_said(tmp_path):
    frames = [picture(colour=(0, 200, 0)), picture(colour=(0, 0, 200))]
    for name in ("a.gif", "b.webp", "c.tif", "d.png"):
        frames[0].save(tmp_path / name, save_all=True, append_images=frames[1:])
        assert close(read_image(tmp_path / name), (0, 200, 0), 12), name
    picture().save(tmp_path / "still.png")
    found = look_through(tmp_path)
    assert files_of(found) == {"first_frame": 4}
    assert len(found.items) == 5 and not found.rejected


# files that are listed


def png_claiming(width, height):
    """A PNG whose header says a size and whose data are tiny."""

    def chunk(kind, data):
        body = kind + data
        return struct.pack(">I", len(data)) + body + struct.pack(">I", zlib.crc32(body))

    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    data = zlib.compress(b"\0" * 100)
    parts = chunk(b"IHDR", header) + chunk(b"IDAT", data) + chunk(b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + parts


@pytest.mark.parametrize("side", [7072, 12_000, 30_000])  # below and above Pillow's own limits
def test_more_than_fifty_megapixels_are_refused_before_decoding(tmp_path, monkeypatch, side):
    from PIL import ImageFile

    def never(*_):
        raise AssertionError("decoded")

    monkeypatch.setattr(ImageFile.ImageFile, "load", never)
    (tmp_path / "bomb.png").write_bytes(png_claiming(side, side))
    with pytest.raises(InputError, match=r"bomb\.png.*50 megapixels"):
        read_image(tmp_path / "bomb.png")


def test_one_megapixel_under_the_cap_is_tried(tmp_path):
    (tmp_path / "a.png").write_bytes(png_claiming(7000, 7000))
    assert "damaged or cut off" in reason(tmp_path, "a.png").got


@pytest.mark.parametrize("ending", ["jpg", "png", "gif", "tif", "webp", "bmp"])
def test_a_file_that_is_cut_off_is_listed(tmp_path, ending):
    noise = np.random.default_rng(0).integers(0, 256, (64, 64, 3), np.uint8)
    Image.fromarray(noise).save(tmp_path / f"a.{ending}")
    whole = (tmp_path / f"a.{ending}").read_bytes()
    (tmp_path / f"a.{ending}").write_bytes(whole[: len(whole) // 2])
    assert f"a.{ending}" in str(reason(tmp_path, f"a.{ending}"))


def test_empty_files_and_files_that_are_no_images_are_listed(tmp_path):
    (tmp_path / "empty.jpg").touch()
    (tmp_path / "words.png").write_text("not an image")
    (tmp_path / "script.png").write_text("%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 9 9\n")
    picture().save(tmp_path / "good.png")
    assert reason(tmp_path, "empty.jpg").got == "an empty file"
    assert "not an image" in reason(tmp_path, "words.png").got
    assert "not an image" in reason(tmp_path, "script.png").got
    assert look_through(tmp_path).items == ("good.png",)


def test_archives_and_foreign_formats_are_listed_with_advice(tmp_path):
    with zipfile.ZipFile(tmp_path / "more.zip", "w") as archive:
        archive.writestr("a.png", "x")
    (tmp_path / "scan").write_bytes(b"\0" * 128 + b"DICM" + b"\0" * 20)
    (tmp_path / "scan.dcm").write_bytes(b"\0" * 128 + b"DICM")
    (tmp_path / "brain.nii.gz").write_bytes(b"\x1f\x8b")
    (tmp_path / "all.tar.gz").write_bytes(b"\x1f\x8b")
    (tmp_path / "labels.csv.gz").write_bytes(b"\x1f\x8b")
    assert "unpack" in reason(tmp_path, "more.zip").do
    assert "unpack" in reason(tmp_path, "all.tar.gz").do
    assert reason(tmp_path, "scan").got == reason(tmp_path, "scan.dcm").got == "a DICOM file"
    assert reason(tmp_path, "brain.nii.gz").got == "a volume"
    found = look_through(tmp_path)
    assert files_of(found) == {"no_images": 1, "files_rejected": 5}
    assert len(found.rejected) == 5


def test_hidden_files_are_left_aside_and_images_are_known_by_how_they_begin(tmp_path):
    picture().save(tmp_path / ".hidden.png")
    (tmp_path / ".git").mkdir()
    picture().save(tmp_path / ".git/a.png")
    (tmp_path / "labels.csv").write_text("item,label\n")
    picture().save(tmp_path / "without_ending", format="PNG")
    picture().save(tmp_path / "photo.PNG", format="PNG")
    picture().save(tmp_path / "jpeg_named.png", format="JPEG")
    found = look_through(tmp_path)
    assert found.items == ("jpeg_named.png", "photo.PNG", "without_ending")
    assert files_of(found) == {"no_images": 1} and not found.rejected


def test_links_are_followed_inside_the_folder_only(tmp_path):
    folder, outside = tmp_path / "in", tmp_path / "out"
    (folder / "sub").mkdir(parents=True)
    outside.mkdir()
    picture().save(outside / "secret.png")
    picture().save(folder / "sub/a.png")
    (folder / "inside.png").symlink_to(folder / "sub/a.png")
    (folder / "outside.png").symlink_to(outside / "secret.png")
    (folder / "gone.png").symlink_to(folder / "nothing.png")
    (folder / "self.png").symlink_to(folder / "self.png")
    (folder / "up").symlink_to(tmp_path)
    (folder / "sub/circle").symlink_to(folder)
    found = look_through(folder)
    assert found.items == ("inside.png", "sub/a.png")
    told = {one.where: one.got for one in found.rejected}
    assert told["outside.png"] == told["up"] == "a link out of the folder"
    assert told["sub/circle"] == "a link to a folder"
    assert told["gone.png"] == told["self.png"] == "a link to nothing, or to itself"
    through_a_link = tmp_path / "link"
    through_a_link.symlink_to(folder)
    assert look_through(through_a_link).items == found.items


def test_no_path_leads_out_of_the_folder(tmp_path):
    (tmp_path / "in").mkdir()
    picture().save(tmp_path / "secret.png")
    images = FileImages(tmp_path / "in", ("../secret.png",))
    for ask in (images.rgb, images.digest):
        with pytest.raises(InputError, match="out of the folder"):
            ask(0)


def test_a_pipe_does_not_hang_and_odd_names_are_listed(tmp_path):
    os.mkfifo(tmp_path / "pipe.png")
    picture().save(tmp_path / "a | b.png")
    picture().save(os.fsencode(tmp_path) + b"/\xff\xfe.png", format="PNG")
    found = look_through(tmp_path)
    assert not found.items and len(found.rejected) == 3
    assert "pipe" in reason(tmp_path, "pipe.png").got
    assert "rename" in reason(tmp_path, "a | b.png").do
    for one in found.rejected:
        str(one).encode()


@pytest.mark.skipif(os.geteuid() == 0, reason="the superuser may read everything")
def test_what_may_not_be_read_is_listed(tmp_path):
    picture().save(tmp_path / "a.png")
    (tmp_path / "a.png").chmod(0)
    (tmp_path / "shut").mkdir(mode=0)
    assert {one.where for one in look_through(tmp_path).rejected} == {"a.png", "shut/"}


# properties


@pytest.mark.parametrize("seed", range(3))
def test_the_order_of_files_on_disk_changes_nothing(tmp_path, monkeypatch, seed):
    for name in ("b/2.png", "a/1.png", "a.png", "B.png", "a/z/3.png", "broken.png"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        picture().save(tmp_path / name)
    (tmp_path / "broken.png").write_bytes(b"\x89PNG")
    for name in ("x.zip", "c.zip", "m.tar", "b/a.zip"):
        (tmp_path / name).touch()
    expected = look_through(tmp_path)
    real = os.scandir

    def shuffled(path):
        entries = list(real(path))
        random.Random(seed).shuffle(entries)
        return entries

    monkeypatch.setattr(os, "scandir", shuffled)
    found = look_through(tmp_path)
    assert found.items == expected.items == tuple(sorted(found.items))
    assert [one.where for one in found.rejected] == sorted(one.where for one in found.rejected)
    assert list(map(str, found.rejected)) == list(map(str, expected.rejected))


def test_random_damage_is_refused_or_read_and_nothing_else(tmp_path):
    rng = np.random.default_rng(1)
    for ending in ("jpg", "png", "gif", "tif", "webp", "jp2", "bmp", "ppm"):
        path = tmp_path / f"a.{ending}"
        Image.fromarray(rng.integers(0, 256, (24, 24, 3), np.uint8)).save(path)
        whole = path.read_bytes()
        for _ in range(25):
            damaged = bytearray(whole)
            for place in rng.integers(0, len(whole), 6):
                damaged[place] = rng.integers(0, 256)
            path.write_bytes(bytes(damaged))
            try:
                pixels = read_image(path)
            except InputError as error:
                assert path.name in str(error)
            else:
                assert pixels.dtype == np.uint8 and pixels.ndim == 3 and pixels.shape[2] == 3


def test_arrays_of_all_shapes_are_images():
    rng = np.random.default_rng(0)
    grey, colour = (
        rng.integers(0, 256, (2, 5, 6), np.uint8),
        rng.integers(0, 256, (2, 5, 6, 3), np.uint8),
    )
    assert (ArrayImages(grey).rgb(1) == grey[1][:, :, None]).all()
    assert (ArrayImages(colour).rgb(1) == colour[1]).all()
    clear = np.zeros((1, 4, 4, 4), np.uint8)
    assert (ArrayImages(clear).rgb(0) == 255).all()
    digests = [ArrayImages(colour).digest(i) for i in (0, 1, 0)]
    assert digests[0] == digests[2] != digests[1]
    for bad in (grey.astype(float), colour[..., :2], grey[0]):
        with pytest.raises(InputError, match="scale them"):
            ArrayImages(bad)


def test_a_digest_is_of_the_content_and_not_of_the_name(tmp_path):
    for name in ("a.png", "b.png"):
        picture().save(tmp_path / name)
    picture(colour=(1, 2, 3)).save(tmp_path / "c.png")
    images = FileImages(tmp_path, ("a.png", "b.png", "c.png"))
    assert images.digest(0) == images.digest(1) != images.digest(2)


def test_thumbnails_fit_and_small_images_are_enlarged():
    from io import BytesIO

    wide = ArrayImages(np.zeros((1, 100, 400, 3), np.uint8))
    assert Image.open(BytesIO(thumbnail(wide, 0, 96))).size == (96, 24)
    small = ArrayImages(np.zeros((1, 8, 8), np.uint8))
    assert Image.open(BytesIO(thumbnail(small, 0, 100))).size == (96, 96)


def test_a_folder_that_is_none_is_refused(tmp_path):
    with pytest.raises(InputError, match="no such folder"):
        look_through(tmp_path / "gone")
    Path(tmp_path / "file").touch()
    with pytest.raises(InputError, match="a file, expected a folder"):
        look_through(tmp_path / "file")
