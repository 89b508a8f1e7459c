"""Images for uncertainty methods: every way in, every refusal, every corruption."""

import csv
import gzip
from dataclasses import replace

import numpy as np
import pytest

from equipoise.types import InputError
from equipoise.uq.training.corruptions import (
    CORRUPTIONS,
    assigned,
    calibrate,
    corrupt,
    corrupt_all,
    label_aurocs,
    macro_auroc,
)
from equipoise.uq.training.data import Recipe, demo_images, patient_split, read_images

Image = pytest.importorskip("PIL.Image")
DEMO = demo_images(120)


def test_the_demo_is_the_same_every_time():
    assert demo_images(120).fingerprint() == DEMO.fingerprint()
    assert demo_images(120, seed=1).fingerprint() != DEMO.fingerprint()
    assert set(np.unique(DEMO.labels[~np.isnan(DEMO.labels)])) == {-1, 0, 1}


def test_arrays_come_back_from_a_file(tmp_path):
    DEMO.save(tmp_path / "a.npz")
    assert read_images(tmp_path / "a.npz").fingerprint() == DEMO.fingerprint()
    plain = {
        "images": DEMO.images[..., 0],
        "labels": np.zeros((120, 5)),
        "labels_u": DEMO.labels,
    }
    np.savez(tmp_path / "b.npz", patient_id=np.arange(120), **plain)
    found = read_images(tmp_path / "b.npz")
    assert np.array_equal(found.labels, DEMO.labels, equal_nan=True)
    assert set(found.split.tolist()) == {"train", "val", "test"}


def test_policies_say_what_masked_labels_are():
    labels = np.array([[0, 1, -1, np.nan]])
    for uncertain, y, known in (("ignore", 0, 0), ("zeros", 0, 1), ("ones", 1, 1)):
        found = Recipe(uncertain=uncertain).targets(labels)
        assert [one.tolist() for one in found] == [[[0, 1, y, 0]], [[1, 1, known, 0]]]
    assert Recipe(blank="zeros").targets(labels)[1].tolist() == [[1, 1, 0, 1]]
    with pytest.raises(InputError, match="did you mean 'zeros'"):
        Recipe(uncertain="zeroes")


def test_patients_are_on_one_side_and_stay_there():
    names = [f"p{i % 500}" for i in range(1000)]
    split = patient_split(names)
    assert np.array_equal(split[:500], split[500:])
    assert np.mean(split == "train") == pytest.approx(0.7, abs=0.06)
    assert np.array_equal(patient_split(names[:10]), split[:10])


def changed(name, index, value):
    array = getattr(DEMO, name).copy()
    array[index] = value
    return {name: array}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (changed("labels", (3, 1), 2), "item 'image 0003', class 1: 2, expected 1, 0, -1"),
        (changed("labels", (slice(None), 1), np.nan), "'bar' without any 0 or 1"),
        (changed("split", slice(None), "train"), "no image in val"),
        (changed("split", 0, "dev"), "'dev', expected train, val or test"),
        (changed("split", 0, "val"), "expected all images of a patient on one side"),
        ({"images": DEMO.images.astype(float)}, "float64 of shape .* expected uint8"),
        ({"images": DEMO.images[:5]}, "5 images, 120 labels"),
        ({"classes": ("a",)}, "shape .*, expected .items, 1."),
    ],
)
def test_bad_data_is_refused_before_training(change, message):
    with pytest.raises(InputError, match=message):
        replace(DEMO, **change)


@pytest.mark.parametrize("name", ["nothing.npz", "text.npz", "bare.npz"])
def test_files_that_are_no_data_are_refused(tmp_path, name):
    (tmp_path / "text.npz").write_text("hello")
    np.savez(tmp_path / "bare.npz", images=DEMO.images)
    with pytest.raises(InputError, match=r"check the path|an array 'labels'"):
        read_images(tmp_path / name)


def folder_of(folder, paths):
    for i, path in enumerate(paths):
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        grey = np.random.default_rng(i).integers(0, 255, (40, 30), np.uint8)
        Image.fromarray(grey).save(folder / path)


def table(path, rows):
    opener = gzip.open if path.suffix == ".gz" else open
    with opener(path, "wt", newline="") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(rows)


VALUES = ["1.0", "0.0", "-1.0", ""]


def test_chexpert_folder(tmp_path):
    paths = [
        f"CheXpert-v1.0-small/train/patient{i // 2:05d}/study1/v{i}.jpg" for i in range(60)
    ]
    folder_of(tmp_path, [one.removeprefix("CheXpert-v1.0-small/") for one in paths])
    rows = [
        {"Path": path, "Sex": "M", "Age": 50, "Frontal/Lateral": "Frontal", "AP/PA": "AP",
         "Edema": VALUES[i % 4], "Fracture": VALUES[i % 2]}
        for i, path in enumerate(paths)
    ]  # fmt: skip
    table(tmp_path / "train.csv", rows)
    data = read_images(tmp_path, size=16)
    assert data.classes == ("Edema", "Fracture")
    assert data.images.shape == (60, 16, 16, 1)
    np.testing.assert_array_equal(data.labels[:4, 0], [1, 0, -1, np.nan])
    assert data.patients[:3] == ("patient00000", "patient00000", "patient00001")


def test_mimic_folder(tmp_path):
    rows = [
        {"dicom_id": f"d{i}", "study_id": f"5{i:03d}", "subject_id": f"10{i:03d}",
         "split": ("train", "validate", "test")[i % 3]}
        for i in range(24)
    ]  # fmt: skip
    paths = [
        f"files/p10/p{r['subject_id']}/s{r['study_id']}/{r['dicom_id']}.jpg" for r in rows[:-1]
    ]
    folder_of(tmp_path, paths)
    labels = [
        {"subject_id": r["subject_id"], "study_id": r["study_id"], "Edema": VALUES[i // 3 % 4]}
        for i, r in enumerate(rows)
    ]
    table(tmp_path / "mimic-cxr-2.0.0-chexpert.csv.gz", labels)
    table(tmp_path / "mimic-cxr-2.0.0-split.csv", rows)
    data = read_images(tmp_path, size=16)
    assert data.classes == ("Edema",)
    assert data.split[:3].tolist() == ["train", "val", "test"]
    assert len(data.items) == 23  # the one that is not there is left out


def test_a_label_file_without_images_is_refused(tmp_path):
    table(tmp_path / "labels.csv", [{"image": "a.png", "x": 1}])
    with pytest.raises(InputError, match=r"no image 'a.png'"):
        read_images(tmp_path, size=16)
    table(tmp_path / "labels.csv", [{"who": "a.png", "x": 1}])
    with pytest.raises(InputError, match="expected a column path"):
        read_images(tmp_path, size=16)


@pytest.mark.parametrize("name", CORRUPTIONS)
def test_corruptions_are_seeded_and_grow(name):
    images = DEMO.images[:12]
    before = images.copy()
    mild, severe = (corrupt(images, name, s).astype(float) for s in (0.1, 1.0))
    assert np.array_equal(images, before)
    assert np.array_equal(corrupt(images, name, 0.5), corrupt(images, name, 0.5))
    assert np.abs(severe - images).mean() > np.abs(mild - images).mean() * 1.1
    colour = np.repeat(images, 3, 3)
    assert corrupt(colour, name, 0.5).shape == colour.shape


def test_every_image_has_one_corruption():
    changed_images = corrupt_all(DEMO.images, dict.fromkeys(CORRUPTIONS, 0.7))
    moved = (changed_images != DEMO.images).reshape(120, -1).any(1)
    assert moved.all()
    which = assigned(120)
    assert np.unique(which, return_counts=True)[1].tolist() == [15] * 8
    rows = which == "vignette"
    alone = corrupt(DEMO.images[rows], "vignette", 0.7, seed=1)
    np.testing.assert_array_equal(changed_images[rows], alone)


def test_severity_is_that_of_the_drop_asked_for():
    images = DEMO.images

    def auroc_of(changed_images):  # falls with the noise that was put in
        noise = np.abs(changed_images.astype(float) - images).mean() / 255
        return 0.9 - noise

    found = calibrate(auroc_of, images, drop=0.1, names=("gaussian_noise", "vignette"))
    for one in found:
        assert one.auroc == pytest.approx(0.81, abs=0.01)
        assert 0 < one.severity < 1
        assert one.reached
        assert one.fall == pytest.approx(0.1, abs=0.02)


def test_a_fall_that_does_not_grow_with_severity_is_found(monkeypatch):
    said = []

    def shown(images, name, severity, *, seed):
        del images, name, seed
        said.append(severity)
        return severity

    monkeypatch.setattr("equipoise.uq.training.corruptions.corrupt", shown)

    def auroc_of(severity):  # lowest at 0.5, as of an image that is turned
        return 0.9 if not isinstance(severity, float) else 0.5 + abs(severity - 0.5)

    (found,) = calibrate(auroc_of, DEMO.images, drop=0.4, names=("rotation",))
    assert found.severity == pytest.approx(0.46, abs=0.01)  # the first of the two
    assert (found.reached, max(said)) == (True, 0.5)
    (weak,) = calibrate(auroc_of, DEMO.images, drop=0.8, names=("rotation",))
    assert (weak.severity, weak.auroc, weak.reached) == (0.5, 0.5, False)
    assert weak.fall == pytest.approx(1 - 0.5 / 0.9)


@pytest.mark.parametrize("name", [one for one in CORRUPTIONS if one != "rotation"])
def test_little_is_left_at_the_highest_severity(name):
    """A pixel tells next to nothing of what it was; a turned image has only moved."""
    images = demo_images(300).images.astype(float)
    left = corrupt(demo_images(300).images, name, 1.0).astype(float)
    for y, x in ((4, 6), (12, 12)):
        before, after = images[:, y, x, 0], left[:, y, x, 0]
        told = np.mean((before - before.mean()) * (after - after.mean()))
        assert abs(told) <= 0.5 * before.std() * max(1, after.std())


def test_auroc_is_the_share_of_pairs():
    random = np.random.default_rng(0)
    scores = random.integers(0, 6, (60, 3)).astype(float)
    labels = random.choice([0, 1, -1, np.nan], (60, 3))
    labels[labels[:, 2] == 1, 2] = 0
    found = label_aurocs(scores, labels)
    for k in range(2):
        up, down = (scores[labels[:, k] == side, k] for side in (1, 0))
        gap = up[:, None] - down
        assert found[k] == pytest.approx(((gap > 0) + 0.5 * (gap == 0)).mean())
    assert np.isnan(found[2])
    assert macro_auroc(scores, labels) == pytest.approx(found[:2].mean())
