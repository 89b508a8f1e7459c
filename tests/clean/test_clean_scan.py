"""A folder of images is looked through: lists, groups, leakage, the folder, bad input."""

import csv
import json
import re
from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from equipoise.clean import DETECTORS, Collection
from equipoise.clean.detector import choose
from equipoise.clean.encoders import GreyPixels
from equipoise.clean.images import ArrayImages
from equipoise.clean.reading import read_parts
from equipoise.clean.scan_findings import (
    EVALUATED,
    MARK,
    ROOM,
    SHOWN,
    load_scan,
    pictures,
    save_scan,
    scan_report,
)
from equipoise.clean.scanning import ScanPlan, _smallest_ranks, scan
from equipoise.read.annotations import read_annotations
from equipoise.read.predictions import read_predictions
from equipoise.report.page import render
from equipoise.report.text import as_csv
from equipoise.types import InputError, cell
from tests.clean_sample import catalogued
from tests.cli_sample import caller

Image = pytest.importorskip("PIL.Image", reason="images are read by Pillow")
QUICK = ScanPlan(check=False)


def photographs(number, seed=0):
    """Three kinds of pictures, by class, with noise."""
    random = np.random.default_rng(seed)
    kinds = random.integers(0, 3, number)
    x, y = np.meshgrid(np.linspace(0, 6, 16), np.linspace(0, 6, 16))
    base = np.stack([np.sin(x), np.sin(y), np.sin(x * y / 3)])
    grey = 128 + 80 * base[kinds] + random.normal(0, 14, (number, 16, 16))
    return np.repeat(grey.clip(0, 255)[..., None], 3, axis=3).astype(np.uint8), kinds


def collection(number=60, **more):
    """Embedded pictures with labels; image 5 is a copy of 0, and label 7 is wrong."""
    pixels, kinds = photographs(number)
    pixels[5], kinds[5] = pixels[0], kinds[0]
    labels = kinds.copy()
    labels[7] = (labels[7] + 1) % 3
    images = ArrayImages(pixels)
    rows = GreyPixels(8).encode(images, range(number))
    return Collection(items=tuple(f"i{n:03}.png" for n in range(number)), images=images,
                      embeddings=rows, labels=labels, classes=tuple("abc"), **more)  # fmt: skip


@pytest.fixture(scope="module")
def data():
    return collection(split=tuple("train" if n < 3 else "test" for n in range(60)))


@pytest.fixture(scope="module")
def found(data):
    return scan(data, ScanPlan(encoder=GreyPixels(8), cut=True))


@pytest.fixture
def folder(tmp_path):
    """Pictures as files, with labels and parts of the data."""
    pixels, kinds = photographs(40)
    pixels[5], kinds[5] = pixels[0], kinds[0]
    (tmp_path / "images").mkdir()
    rows = []
    for n, one in enumerate(pixels):
        Image.fromarray(one).save(tmp_path / f"images/{n:02}.png")
        rows.append((f"{n:02}.png", "abc"[kinds[n]], "train" if n < 5 else "test"))
    (tmp_path / "images/broken.png").write_bytes(b"\x89PNG")
    for name, at in (("label", 1), ("split", 2)):
        lines = [f"item,{name}", *(f"{row[0]},{row[at]}" for row in rows)]
        (tmp_path / f"{name}s.csv").write_text("\n".join(lines) + "\n")
    return tmp_path


@pytest.fixture
def call(monkeypatch, capsys):
    run = caller(monkeypatch, capsys)

    def clean(*words):
        code, out, err = run("clean", "scan", *words)
        assert "Traceback" not in err
        return code, out, err

    clean.other = run
    return clean


# ---- lists ---------------------------------------------------------------------------------


def test_ranks_of_ties_are_those_of_the_definition():
    values = np.random.default_rng(0).integers(0, 5, 40) / 5
    slow = [1 + sum(other > one for other in values) for one in values]
    assert _smallest_ranks(values).tolist() == slow


def test_known_problems_come_first(data, found):
    pairs = found.of("near_duplicates")
    assert pairs.suspects[0].items == ("i000.png", "i005.png")
    assert pairs.suspects[0].score == 1 and pairs.suspects[0].group == 1
    assert pairs.groups[0][:2] == ("i000.png", "i005.png")
    wrong = found.of("label_errors").suspects[0]
    assert wrong.items == ("i007.png",)
    assert wrong.labels != (wrong.suggested,)
    scores = [one.score for one in found.of("off_topic").suspects]
    assert scores == sorted(scores, reverse=True) and len(scores) == len(data)


def test_the_suggested_label_is_the_commonest_among_the_nearest(data, found):
    rows = np.asarray(data.embeddings, float)
    unit = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    for one in found.of("label_errors").suspects[:20]:
        place = data.items.index(one.items[0])
        far = np.delete(1 - unit @ unit[place], place)
        near = np.delete(np.arange(len(data)), place)[np.argsort(far, kind="stable")[:10]]
        votes = Counter(data.labels[near].tolist())
        assert votes[data.classes.index(one.suggested)] == max(votes.values())


def test_leakage_and_groups_without_a_cut_are_of_images_that_are_the_same(data):
    pairs = scan(data, QUICK).of("near_duplicates")
    assert pairs.cut is None and pairs.groups == (("i000.png", "i005.png"),)
    (leak,) = pairs.leaks
    assert leak.parts == ("test", "train") and leak.counts == (1, 1)
    report = scan_report(scan(data, QUICK))
    said = {one.key: one.sentence for one in report.findings}
    assert "1 image of test and 1 of train" in said["leakage"]


def copies(each, groups, **more):
    """Groups of rows of the very same direction."""
    rows = np.repeat(np.random.default_rng(0).normal(size=(groups, 16)), each, axis=0)
    names = tuple(f"m{n:04}" for n in range(each * groups))
    return Collection(items=names, embeddings=rows, **more)


def test_groups_and_leakage_are_of_all_pairs_however_few_are_listed():
    data = copies(4, 50, split=("train", "train", "test", "test") * 50)
    pairs = scan(data, ScanPlan(check=False, most=7)).of("near_duplicates")
    assert len(pairs.suspects) == 7 and pairs.duplicates == pairs.tied == 50 * 6
    assert [len(one) for one in pairs.groups] == [4] * 50
    (leak,) = pairs.leaks
    assert leak.counts == (100, 100) and len(leak.groups) == 50
    report = scan_report(scan(data, ScanPlan(check=False, most=7)))
    assert "300 pairs are the same" in report.card.answer
    assert "300 tie for the first place" in " ".join(report.findings[1].more)


def test_a_group_larger_than_what_is_compared_is_whole_and_its_pairs_are_counted():
    result = scan(copies(25, 3), QUICK)
    pairs = result.of("near_duplicates")
    assert [len(one) for one in pairs.groups] == [25] * 3 and pairs.duplicates < 900
    report = scan_report(result)
    assert "900 pairs are the same" in report.card.answer
    said = " ".join(report.findings[1].more)
    assert f"Only {pairs.duplicates} of the 900 pairs" in said
    cut = scan_report(scan(copies(25, 3), ScanPlan(cut=True, check=False)))
    assert "75 seem to be duplicates, in 3 groups" in cut.card.answer


def test_items_that_belong_to_no_part_neither_leak_nor_make_a_part():
    result = scan(copies(2, 10, split=("train", "") * 9 + ("train", "test")), QUICK)
    assert result.parts == ("train", "test")
    pairs = result.of("near_duplicates")
    (leak,) = pairs.leaks
    assert leak.parts == ("test", "train") and leak.groups == (("m0018", "m0019"),)
    assert [one.items for one in pairs.suspects if one.leaks and one.score == 1] == [
        ("m0018", "m0019")
    ]


@pytest.mark.parametrize("number", [12, 300])
def test_images_that_are_all_the_same_are_not_called_off_topic(number):
    result = scan(copies(number, 1), ScanPlan(cut=True, check=False))
    off = result.of("off_topic")
    assert off.cut.flagged == 0 and not any(one.flagged for one in off.suspects)
    assert result.of("near_duplicates").cut.flagged > 0


def test_tasks_that_lack_something_are_left_out_with_the_reason():
    plain = scan(Collection(items=collection().items, embeddings=collection().embeddings))
    (left,) = plain.left_out
    assert left.task == "label_errors" and "labels" in left.reason
    assert {one.task for one in plain.tasks} == {"off_topic", "near_duplicates"}
    with pytest.raises(InputError, match="labels"):
        scan(Collection(items=("a", "b"), embeddings=np.eye(2)),
             ScanPlan(detectors=choose(["selfclean_label_errors"], DETECTORS)))  # fmt: skip


def test_two_detectors_of_one_kind_are_refused(data):
    both = choose(["selfclean_off_topic", "knn_distance"], DETECTORS)
    with pytest.raises(InputError, match="one per kind"):
        scan(data, ScanPlan(detectors=both))


def test_other_detectors_without_bounds_rank_without_a_cut(data):
    some = choose(["knn_distance", "phash"], DETECTORS)
    result = scan(data, ScanPlan(detectors=some, cut=True, check=False))
    assert [one.detector for one in result.tasks] == ["knn_distance", "phash"]
    assert result.of("off_topic").cut is None
    assert result.of("off_topic").suspects[0].flagged is None
    assert [one.task for one in result.left_out] == ["label_errors"]
    assert any("Off-topic images: This list has no cut" in str(one) for one in result.notices)
    assert scan(data, ScanPlan(detectors=some, check=False)).notices == ()


def test_all_beyond_the_cut_are_listed_even_where_few_lines_are_asked_for(data, found):
    few = scan(data, ScanPlan(cut=True, most=1, check=False))
    for task in few.tasks:
        assert len(task.suspects) == max(1, task.cut.flagged)
        assert sum(one.flagged for one in task.suspects) == task.cut.flagged
        assert found.of(task.task).cut == task.cut


# ---- planted problems ----------------------------------------------------------------------


def test_planted_problems_are_found_and_scored_with_intervals(found):
    assert [one.task for one in found.planted] == [
        "off_topic",
        "near_duplicates",
        "label_errors",
    ]
    for one in found.planted:
        assert one.planted >= 2 and one.found <= min(one.planted, one.within)
        auroc = next(part for part in one.metrics if part.metric == "auroc")
        assert auroc.low <= auroc.value <= auroc.high and auroc.value > 0.6
    assert max(one.found / one.planted for one in found.planted) > 0.5


def test_a_ranking_that_knows_nothing_fails_the_check(data):
    def blind(_row, data, _seed, _progress):
        return np.full(len(data), 0.5)

    detectors = (replace(catalogued("selfclean_off_topic"), compute=blind),)
    result = scan(data, ScanPlan(detectors=detectors, encoder=GreyPixels(8)))
    off = result.planted[0]
    assert off.found <= off.planted / 4
    assert next(one for one in off.metrics if one.metric == "auroc").value == 0.5
    report = scan_report(result)
    assert "tie for the first place" in " ".join(report.findings[0].more)


def test_few_images_are_not_checked_and_that_is_said():
    small = scan(collection(12))
    assert small.planted == () and "20 images or more" in small.unchecked


# ---- report, pictures and the folder -------------------------------------------------------


def record(data, found):
    return replace(found, name="images", pictures=pictures(data, found))


def test_a_scan_comes_back_from_its_folder_and_is_the_same_bytes(data, found, tmp_path):
    first = record(data, found)
    save_scan(first, tmp_path / "one")
    again = record(data, scan(data, ScanPlan(encoder=GreyPixels(8), cut=True)))
    save_scan(again, tmp_path / "two")
    names = sorted(one.relative_to(tmp_path / "one") for one in (tmp_path / "one").rglob("*"))
    assert {"scan.json", "report.html", "off_topic.csv", "near_duplicates.csv",
            "label_errors.csv", "scores.csv"} <= {str(one) for one in names}  # fmt: skip
    for name in names:
        path = tmp_path / "one" / name
        assert path.is_dir() or path.read_bytes() == (tmp_path / "two" / name).read_bytes()
    loaded = load_scan(tmp_path / "one")
    assert replace(loaded, equipoise="") == first
    assert render(scan_report(loaded)) == (tmp_path / "one/report.html").read_text()


@pytest.mark.parametrize("change", ["no seal", "a flipped digit", "another version"])
def test_a_scan_that_was_changed_is_refused(data, found, tmp_path, change):
    save_scan(record(data, found), tmp_path)
    path = tmp_path / "scan.json"
    held = json.loads(path.read_text())
    if change == "no seal":
        del held["seal"]
    elif change == "a flipped digit":
        held["tasks"][0]["suspects"][0]["score"] += 0.125
    else:
        held["schema"] += 1
    path.write_text(json.dumps(held))
    with pytest.raises(InputError, match="clean scan again"):
        load_scan(tmp_path)


def test_pictures_that_are_hard_to_press_still_leave_the_page_small():
    random = np.random.default_rng(0)
    pixels = random.integers(0, 255, (200, 160, 160, 3)).astype(np.uint8)
    rows = random.normal(size=(200, 8))
    noisy = Collection(items=tuple(f"{n}.png" for n in range(200)), embeddings=rows,
                       images=ArrayImages(pixels), labels=np.arange(200) % 2,
                       classes=("a", "b"))  # fmt: skip
    result = scan(noisy, QUICK)
    known = pictures(noisy, result)
    assert sum(map(len, known.values())) <= ROOM
    page = render(scan_report(replace(result, pictures=known)))
    assert len(page.encode()) < 3_000_000
    assert page.count("class=shot ") == 3 * SHOWN


def test_an_item_without_a_label_has_none_on_the_page_and_nothing_in_its_file(data):
    some = np.where(np.arange(60) == 5, -1, data.labels)
    unlabelled = replace(data, labels=some, classes=("a", "none", "c"))
    table = scan_report(scan(unlabelled, QUICK)).findings[1].tables[0]
    row = next(one for one in table.rows if one["second"] == "i005.png")
    column = next(one for one in table.columns if one.key == "second_label")
    assert cell(row, column) == "none" and row["second_label"] == ""
    download = next(csv.DictReader(as_csv(table.rows).splitlines()))
    assert download["first"] == "i000.png" and download["second_label"] == ""


def test_files_that_could_not_be_used_are_listed(found):
    report = scan_report(replace(found, rejected=(("a.png", "zero bytes"),)))
    part = next(one for one in report.findings if one.key == "rejected")
    assert part.tables[0].rows == [{"file": "a.png", "reason": "zero bytes"}]


def test_parts_come_from_a_table_and_must_name_every_item(tmp_path):
    table = tmp_path / "parts.csv"
    table.write_text("item,fold\na,train\nb,test\nc,test\n")
    assert read_parts(table, ["b", "a"]) == ("test", "train")
    with pytest.raises(InputError, match="no part for 'd'"):
        read_parts(table, ["a", "d"])
    table.write_text("item,split\na,train\na,test\n")
    with pytest.raises(InputError, match="one part per item"):
        read_parts(table, ["a"])


# ---- the command ---------------------------------------------------------------------------


def test_a_stranger_gets_lists_and_a_folder(folder, call):
    before = set(folder.rglob("*"))
    code, out, err = call(folder / "images", "--labels", folder / "labels.csv", "--split",
                          folder / "splits.csv", "--encoder", "pixels", "--cut", "--out",
                          folder / "run")  # fmt: skip
    assert code == 0, err
    lines = out.splitlines()
    assert len(lines) <= 40
    assert lines[2].strip().startswith("Among 40 images")
    for words in ("Which images do not belong?", "Which images are there twice?",
                  "Which labels are wrong?", "00.png", "05.png", "looks like", "Leakage",
                  "Rejected", "report.html"):  # fmt: skip
        assert words in out, words
    new = set(folder.rglob("*")) - before
    assert all(one.is_relative_to(folder / "run") for one in new)
    with (folder / "run/near_duplicates.csv").open(newline="") as file:
        first = next(csv.DictReader(file))
    assert (first["rank"], first["first"], first["second"]) == ("1", "00.png", "05.png")
    assert first["cut"] == "True"


def test_json_has_a_row_for_every_line(folder, call):
    code, out, _ = call(folder / "images", "--labels", folder / "labels.csv", "--encoder",
                        "pixels", "--no-check", "--most", "7", "--json")  # fmt: skip
    made = json.loads(out)
    assert code == 0 and made["answer"].startswith("Among 40 images")
    assert [row["task"] for row in made["rows"]].count("off_topic") == 7
    assert {"task", "rank", "item", "score", "cut"} <= set(made["rows"][0])
    pair = next(row for row in made["rows"] if row["task"] == "near_duplicates")
    assert {"first", "second", "rank", "score", "cut", "group"} <= set(pair)


def test_an_earlier_scan_is_replaced_only_when_asked_and_leaves_nothing_behind(folder, call):
    words = (folder / "images", "--encoder", "pixels", "--no-check", "--out", folder / "run")
    assert call(*words, "--labels", folder / "labels.csv")[0] == 0
    assert (folder / "run/label_errors.csv").exists()
    code, _, err = call(*words)
    assert code == 1 and "--overwrite" in err
    assert call(*words, "--overwrite", "--thumbnails", "none")[0] == 0
    assert not (folder / "run/label_errors.csv").exists()
    assert "class=gallery" not in (folder / "run/report.html").read_text()
    code, _, err = call(*words[:4], "--out", folder / "images/run")
    assert code == 1 and "inside the folder" in err


def test_report_opens_a_scan_again(folder, call):
    call(folder / "images", "--encoder", "pixels", "--no-check", "--out", folder / "run")
    page = folder / "run/report.html"
    before = page.read_bytes()
    page.unlink()
    assert call.other("report", folder / "run")[0] == 0
    assert page.read_bytes() == before
    code, out, _ = call.other("report", folder / "run", "--json")
    assert code == 0 and json.loads(out)["rows"]
    assert call.other("report", folder / "run", "--export", folder / "paper")[0] == 0
    assert (folder / "paper/methods.md").exists()


def test_votes_on_a_list_can_be_evaluated_as_the_page_says(folder, call, monkeypatch):
    call(folder / "images", "--encoder", "pixels", "--no-check", "--out", folder / "run")
    scores = read_predictions(folder / "run/scores.csv")
    assert {one.task for one in scores} == {"off_topic", "near_duplicates"}
    lines = ["item,annotator,label,task"]
    for one in scores:
        order = np.argsort(-one.values, kind="stable")[:8]
        lines += [f"{one.items[at]},me,{'yes' if k < 3 else 'no'},{one.task}"
                  for k, at in enumerate(order)]  # fmt: skip
    (folder / "votes.csv").write_text("\n".join(lines) + "\n")
    assert read_annotations(folder / "votes.csv").kind == "binary"
    said = scan_report(load_scan(folder / "run")).card.settled_by
    page = re.sub("<[^>]*>", "", (folder / "run/report.html").read_text())
    assert EVALUATED in said and EVALUATED in page
    monkeypatch.chdir(folder / "run")
    (folder / "votes.csv").rename("votes.csv")
    code, out, err = call.other(*EVALUATED.split()[1:], "--json")
    assert code == 0, err
    rows = json.loads(out)["rows"]
    assert {row["task"] for row in rows} >= {"off_topic", "near_duplicates"}
    best = [row["value"] for row in rows
            if row["metric"] == "auroc" and row["task"] == "off_topic"]  # fmt: skip
    assert max(best) == 1


def test_the_help_says_what_the_page_says(call):
    code, out, _ = call("--help")
    plain = " ".join(out.replace("│", " ").split()).replace("scan/scores.csv", "scores.csv")
    assert code == 0 and EVALUATED in plain


# ---- bad input -----------------------------------------------------------------------------


def picture(path: Path, shade: int) -> None:
    path.parent.mkdir(exist_ok=True)
    noise = np.random.default_rng(shade).integers(0, 40, (12, 12, 3))
    Image.fromarray((noise + shade).astype(np.uint8)).save(path)


def test_an_empty_folder_and_one_of_broken_images_are_refused(tmp_path, call):
    (tmp_path / "empty").mkdir()
    code, _, err = call(tmp_path / "empty", "--encoder", "pixels")
    assert code == 1 and "no image" in err
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken/a.png").write_bytes(b"")
    code, _, err = call(tmp_path / "broken", "--encoder", "pixels")
    assert code == 1 and "a.png" in err
    code, _, err = call(tmp_path / "nowhere")
    assert code == 1


def test_one_image_is_nothing_to_compare(tmp_path, call):
    picture(tmp_path / "one/a.png", 3)
    code, out, _ = call(tmp_path / "one", "--encoder", "pixels", "--out", tmp_path / "run")
    assert code == 0 and "it takes two to compare" in out
    assert load_scan(tmp_path / "run").tasks == ()


def test_two_images_and_a_class_with_one_member(tmp_path, call):
    for n in range(2):
        picture(tmp_path / f"two/{n}.png", 9 * n)
    (tmp_path / "labels.csv").write_text("item,label\n0.png,cat\n1.png,dog\n")
    words = (tmp_path / "two", "--encoder", "pixels", "--labels", tmp_path / "labels.csv")
    code, out, _ = call(*words, "--cut", "--out", tmp_path / "run")
    assert code == 0 and "Nothing lies beyond the cut among 2 images" in out


def test_images_that_are_all_identical_are_one_group(tmp_path, call):
    for n in range(25):
        picture(tmp_path / f"same/{n}.png", 3)
    code, _, _ = call(tmp_path / "same", "--encoder", "pixels", "--cut", "--out",
                      tmp_path / "run")  # fmt: skip
    assert code == 0
    (group,) = load_scan(tmp_path / "run").of("near_duplicates").groups
    assert len(group) == 25
    assert "tie for the first place" in (tmp_path / "run/report.html").read_text()


def test_labels_for_none_are_refused_and_one_class_is_left_out(tmp_path, call):
    for n in range(6):
        picture(tmp_path / f"some/{n}.png", 20 * n)
    words = (tmp_path / "some", "--encoder", "pixels", "--labels", tmp_path / "labels.csv")
    (tmp_path / "labels.csv").write_text("item,label\nz.png,cat\n")
    code, _, err = call(*words)
    assert code == 1 and "z.png" in err
    lines = "\n".join(f"{n}.png,cat" for n in range(6))
    (tmp_path / "labels.csv").write_text(f"item,label\n{lines}\n")
    code, out, _ = call(*words)
    assert code == 0 and "one class" in out.lower()


def test_wrong_words_are_wrong_usage(folder, call):
    assert call(folder / "images", "--thumbnails", "big")[0] == 2
    code, _, err = call(folder / "images", "--detectors", "selfclean_of_topic")
    assert code == 1 and "selfclean_off_topic" in err
    code, _, err = call(folder / "images", "--encoder", "nothing")
    assert code == 1 and "pixels" in err


def test_a_file_that_is_no_scan_is_refused(tmp_path):
    (tmp_path / MARK).write_text('{"schema": 99}')
    with pytest.raises(InputError, match="no seal"):
        load_scan(tmp_path)
